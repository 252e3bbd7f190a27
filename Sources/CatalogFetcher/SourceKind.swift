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

/// A source's kind with what is configured for it.
package enum SourceSettings: Sendable {
    case bookResource(BookResourceSettings)
    case feed(FeedSettings)
    case internetArchive
    case librivox
    case directory

    package var kind: SourceKind {
        switch self {
        case .bookResource: .bookResource
        case .feed: .feed
        case .internetArchive: .internetArchive
        case .librivox: .librivox
        case .directory: .directory
        }
    }

    /// The source itself.
    ///
    /// - Parameter name: what the configuration calls it.
    /// - Throws: ``Failure`` of kind `configuration` for a kind that cannot be read yet.
    package func source(
        named name: String, transport: HTTPTransport, retry: RetryPolicy = RetryPolicy(),
        pause: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) throws -> any CatalogSource {
        switch self {
        case .bookResource(let settings):
            return BookResourceSource(settings: settings, transport: transport, retry: retry, pause: pause)
        case .feed(let settings):
            return FeedSource(settings: settings, transport: transport, retry: retry, pause: pause)
        case .internetArchive, .librivox, .directory:
            throw Failure(
                .configuration, disposition: .skip, what: "source \(name) cannot be used",
                why: "sources of type \(kind.rawValue) cannot be read by this version",
                remedy: "use a source of type \(SourceKind.bookResource.rawValue)")
        }
    }
}
