/// What a look into a file brought.
package struct ExaminedFile: Sendable, Hashable {
    /// What the first bytes say.
    package enum Beginning: Sendable, Hashable {
        case audio
        /// Neither known audio nor anything else that is known: encoders put all sorts of padding in front.
        case unknown
        /// Something else than audio, by its name: "an HTML page".
        case foreign(Message)
    }

    /// Of the file that was read, taken as it was opened.
    package var facts: FileAttributes
    package var beginning: Beginning
    /// Lower-case hexadecimal; empty when only the beginning was read, else with SHA-256 at least.
    package var digests: [ContentDigest.Algorithm: String]
    /// What it says of itself; nil where it bears no mark, or none was read.
    package var mark: FileMark?
    /// When the file or what the system notes of it last changed; nanoseconds since 1970.
    package var changeTime: Int64
    /// Whether it was the same file with the same times after it was read to its end.
    package var isUnchanged: Bool

    package init(
        facts: FileAttributes, beginning: Beginning, digests: [ContentDigest.Algorithm: String] = [:],
        mark: FileMark? = nil, changeTime: Int64 = 0, isUnchanged: Bool = true
    ) {
        self.facts = facts
        self.beginning = beginning
        self.digests = digests
        self.mark = mark
        self.changeTime = changeTime
        self.isUnchanged = isUnchanged
    }

    /// Lower-case hexadecimal; nil when it was not read to its end.
    package var sha256: String? { digests[.sha256] }

    /// What it begins with where that is no audio: "an HTML page".
    package var foreignContent: Message? { if case .foreign(let what) = beginning { what } else { nil } }

    /// Bytes that it had when it was fetched, as far as it says that; else those it has.
    package var originalSize: Int64 { mark?.original?.file.size ?? facts.size }

    /// Whether the file has the digest; nil when it was not computed.
    package func has(_ digest: ContentDigest) -> Bool? {
        digests[digest.algorithm].map { $0 == digest.hexadecimal }
    }

    /// Whether it says of itself that it is another one of the listed episodes. A mark of none of them says nothing: a
    /// catalog's keys may have changed.
    package func bearsMark(ofOtherThan episode: Episode, among listed: Set<EpisodeIdentity>) -> Bool {
        mark.map { $0.episode != episode.identity && listed.contains($0.episode) } ?? false
    }
}

/// How far a file must be read before it can be said whose it is.
package enum ProbeDepth: Sendable, Hashable {
    case beginning
    /// All of it, for these digests besides SHA-256.
    case whole(Set<ContentDigest.Algorithm>)

    /// Both of them.
    package func united(with other: ProbeDepth?) -> ProbeDepth {
        switch (self, other) {
        case (_, nil), (_, .beginning?): self
        case (.beginning, let other?): other
        case (.whole(let mine), .whole(let theirs)?): .whole(mine.union(theirs))
        }
    }
}
