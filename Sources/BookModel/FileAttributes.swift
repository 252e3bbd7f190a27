/// What one look at a path of the library found, without following symbolic links.
package struct FileAttributes: Sendable, Hashable {
    package enum Kind: String, Sendable {
        case file, folder, symbolicLink, other
    }

    /// Bytes.
    package var size: Int64
    /// Nanoseconds since 1970.
    package var modificationTime: Int64
    package var inode: UInt64
    package var kind: Kind

    package init(size: Int64, modificationTime: Int64, inode: UInt64, kind: Kind) {
        (self.size, self.modificationTime) = (size, modificationTime)
        (self.inode, self.kind) = (inode, kind)
    }
}

/// Sizes of files of audio.
package enum FileSize {
    /// One tebibyte. Who says that a file is larger is mistaken.
    package static let max: Int64 = 1 << 40

    /// The size, if a file can have it; nil for zero, which is written for "not known", and for what is absurd.
    package static func sensible(_ bytes: Int64?) -> Int64? {
        bytes.flatMap { (1...max).contains($0) ? $0 : nil }
    }
}

/// What a published file says of itself, beside its bytes: it tells whose it is when the store is lost.
///
/// It speaks of the bytes that were published; whether they are still the same, their digest tells.
package struct FileMark: Sendable, Hashable {
    package var episode: EpisodeIdentity
    /// Lower-case hexadecimal.
    package var sha256: String
    /// The address that the bytes came from, without secrets; nil where nobody noted it.
    package var address: String?
    /// What the file was when it was fetched, where it has tags embedded by now.
    package var original: Original?

    package struct Original: Sendable, Hashable {
        package var file: LocalFile.Original
        /// The catalog's digest, which that file had.
        package var promised: ContentDigest?

        package init(_ file: LocalFile.Original, promised: ContentDigest? = nil) {
            (self.file, self.promised) = (file, promised)
        }
    }

    package init(episode: EpisodeIdentity, sha256: String, address: String? = nil, original: Original? = nil) {
        self.episode = episode
        self.sha256 = sha256
        self.address = address
        self.original = original
    }
}
