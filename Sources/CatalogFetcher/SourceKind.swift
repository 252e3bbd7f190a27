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
