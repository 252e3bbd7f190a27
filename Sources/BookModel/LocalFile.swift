import Foundation

/// What is recorded of an episode's file in the library.
package struct LocalFile: Sendable, Hashable {
    /// How far the bytes were held against what was promised.
    package enum Verification: String, Sendable {
        /// A digest from the catalog or the server fitted.
        case digest
        /// The length fitted the one declared.
        case length
        /// Nothing was declared that could be checked.
        case unverified
    }

    /// What a file was when it was fetched that has tags embedded by now.
    package struct Original: Sendable, Hashable {
        /// Bytes.
        package var size: Int64
        package var sha256: String
        /// SHA-256 of the audio stream's packets, which is that of the file with the tags too.
        package var streamSHA256: String

        package init(size: Int64, sha256: String, streamSHA256: String) {
            (self.size, self.sha256, self.streamSHA256) = (size, sha256, streamSHA256)
        }
    }

    package var episode: EpisodeIdentity
    /// Relative to the library, with `/` between its parts.
    package var path: String
    /// Bytes on disk.
    package var size: Int64
    /// Lower-case hexadecimal.
    package var sha256: String
    /// Nanoseconds since 1970, as `fstat` gave it when the file was published; with size and inode it tells whether
    /// the file was touched since.
    package var modificationTime: Int64
    package var inode: UInt64
    /// Of the answer that the bytes came from.
    package var validator: ContentValidator
    /// What the catalog said when the file was fetched; a later difference means that the episode was replaced. Set by
    /// ``recordClaims(of:)``.
    package var catalogSize: Int64?
    package var catalogModifiedAt: Date?
    package var fetchedAt: Date
    package var verification: Verification
    /// Whether the user gave the file its path: the naming does not move it then.
    package var isNamedByUser: Bool
    /// The address that the bytes came from, without secrets; nil where they were not fetched, or nobody noted it.
    package var fetchedFrom: String?
    /// Nil where the file is as it was fetched.
    package var original: Original?

    /// Of the file as it was fetched: the same with embedded tags and without.
    package var fetchedSHA256: String { original?.sha256 ?? sha256 }
    /// Bytes of the file as it was fetched.
    package var fetchedSize: Int64 { original?.size ?? size }

    package init(
        episode: EpisodeIdentity, path: String, size: Int64, sha256: String, modificationTime: Int64, inode: UInt64,
        validator: ContentValidator = .init(), catalogSize: Int64? = nil, catalogModifiedAt: Date? = nil,
        fetchedAt: Date, verification: Verification, isNamedByUser: Bool = false,
        fetchedFrom: String? = nil, original: Original? = nil
    ) {
        self.episode = episode
        self.path = path
        self.size = size
        self.sha256 = sha256
        self.modificationTime = modificationTime
        self.inode = inode
        self.validator = validator
        self.catalogSize = catalogSize
        self.catalogModifiedAt = catalogModifiedAt
        self.fetchedAt = fetchedAt
        self.verification = verification
        self.isNamedByUser = isNamedByUser
        self.fetchedFrom = fetchedFrom
        self.original = original
    }

    /// Records what the catalog says of the file now. A size that is not the file's is left out: it says nothing when it
    /// changes, and some catalogs have another one each night.
    package mutating func recordClaims(of episode: Episode) {
        catalogSize = episode.size == fetchedSize ? episode.size : nil
        catalogModifiedAt = episode.modifiedAt
    }
}

extension LocalFile {
    /// True if the file on disk has the recorded time, or what a filesystem with coarser times makes of it (FAT: two
    /// seconds).
    package func hasTime(of facts: FileAttributes) -> Bool {
        let lost = modificationTime.subtractingSaturated(facts.modificationTime)
        return lost == 0 || facts.modificationTime % 1_000_000_000 == 0 && (0..<2_000_000_000).contains(lost)
    }
}
