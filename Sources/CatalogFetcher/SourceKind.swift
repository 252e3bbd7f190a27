import BookModel
import Transport

/// The kinds of source that a configuration may name (`type`).
package enum SourceKind: String, Sendable, CaseIterable {
    case bookResource = "book-resource"
    case feed
    case internetArchive = "internet-archive"
    case librivox
    case directory
}

/// A source's kind with what is configured for it: the one place that says which kind is read by what.
package enum SourceSettings: Sendable {
    case bookResource(BookResourceSettings)
    case feed
    case internetArchive(InternetArchiveSettings)
    case librivox(LibriVoxSettings)
    case directory(DirectorySettings)

    package var kind: SourceKind {
        switch self {
        case .bookResource: .bookResource
        case .feed: .feed
        case .internetArchive: .internetArchive
        case .librivox: .librivox
        case .directory: .directory
        }
    }

    /// What reads this kind of catalog; nil for a kind that cannot be read yet.
    private var readableFormat: (any CatalogFormat)? {
        switch self {
        case .bookResource(let settings): settings
        case .internetArchive(let settings): settings
        case .librivox(let settings): settings
        case .directory(let settings): settings
        case .feed: nil
        }
    }

    /// What reads this kind of catalog.
    ///
    /// - Parameter name: what the configuration calls the source.
    /// - Throws: ``Failure`` of kind `configuration` for a kind that cannot be read yet.
    package func format(named name: String) throws -> any CatalogFormat {
        if let readableFormat { return readableFormat }
        let kinds = SourceKind.allCases.filter { $0 != kind }.map(\.rawValue).joined(separator: ", ")
        throw Failure(
            .configuration, disposition: .skip, what: "source \(name) cannot be used",
            why: "sources of type \(kind.rawValue) cannot be read by this version",
            remedy: "use a source of another type (\(kinds))")
    }

    /// The source itself.
    ///
    /// - Parameter name: what the configuration calls it.
    /// - Throws: ``Failure`` of kind `configuration` for a kind that cannot be read yet.
    package func source(
        named name: String, transport: HTTPTransport, retry: RetryPolicy = RetryPolicy(),
        pause: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) throws -> any CatalogSource {
        try format(named: name).source(over: CatalogConnection(transport: transport, retry: retry, pause: pause))
    }
}
