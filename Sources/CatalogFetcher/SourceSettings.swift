import BookModel

/// The kinds of source that a configuration may name (`type`).
package enum SourceKind: String, Sendable, CaseIterable {
    case bookResource = "book-resource"
    case feed
    case internetArchive = "internet-archive"
    case librivox
    case directory
    case opds
    case audiobookshelf

    /// Whether a source of this kind is nothing without an address of its own.
    package var needsAddress: Bool { self == .bookResource || self == .audiobookshelf }

    /// What recognises catalogs of this kind.
    package var format: any CatalogFormat.Type {
        switch self {
        case .bookResource: BookResourceSettings.self
        case .feed: FeedSettings.self
        case .internetArchive: InternetArchiveSettings.self
        case .librivox: LibriVoxSettings.self
        case .directory: DirectorySettings.self
        case .opds: OPDSSettings.self
        case .audiobookshelf: AudiobookshelfSettings.self
        }
    }
}

/// A source's kind with what is configured for it: the one place that says which kind is read by what.
package enum SourceSettings: Sendable {
    case bookResource(BookResourceSettings)
    case feed(FeedSettings)
    case internetArchive(InternetArchiveSettings)
    case librivox(LibriVoxSettings)
    case directory(DirectorySettings)
    case opds(OPDSSettings)
    case audiobookshelf(AudiobookshelfSettings)

    package var kind: SourceKind {
        switch self {
        case .bookResource: .bookResource
        case .feed: .feed
        case .internetArchive: .internetArchive
        case .librivox: .librivox
        case .directory: .directory
        case .opds: .opds
        case .audiobookshelf: .audiobookshelf
        }
    }

    /// What reads this kind of catalog.
    package var format: any CatalogFormat {
        switch self {
        case .bookResource(let settings): settings
        case .feed(let settings): settings
        case .internetArchive(let settings): settings
        case .librivox(let settings): settings
        case .directory(let settings): settings
        case .opds(let settings): settings
        case .audiobookshelf(let settings): settings
        }
    }
}
