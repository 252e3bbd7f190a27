import BookModel
import CatalogFetcher
import DownloadEngine
import Foundation
import Transport

// What the rooms are told of the configuration, each in its own terms.

extension Configuration {
    var transportOptions: TransportOptions {
        // A transfer that we hold back reads nothing for a while, which is no stall of the server's.
        let pause = downloads.limitRate > 0 ? Double(downloads.jobs << 19) / Double(downloads.limitRate) : 0
        return TransportOptions(
            connectTimeout: downloads.connectTimeout, stallTimeout: downloads.stallTimeout + pause,
            // Catalog requests must not wait behind the audio of the same host.
            connectionsPerHost: downloads.jobsPerHost + 2)
    }

    func engineSettings(_ limits: RunLimits) -> EngineSettings {
        EngineSettings(
            jobs: downloads.jobs, jobsPerHost: downloads.jobsPerHost, retry: RetryPolicy(retries: downloads.retries),
            limits: limits, limitRate: downloads.limitRate)
    }

    /// What is set other than by default and has no effect yet: a setting that is silently ignored would be a lie.
    var settingsWithoutEffect: [String] {
        let standard = Self.builtIn
        return [
            (downloads.minFreeSpace != standard.downloads.minFreeSpace, "downloads.min-free-space"),
            (onCatalogRemoval != standard.onCatalogRemoval, "on-catalog-removal"),
            (notify != standard.notify, "notify"),
        ].filter(\.0).map(\.1)
    }

    /// Whether there is no source to ask but the built-in demo catalog.
    package var usesDemoCatalog: Bool { sources.isEmpty }

    /// Makes the demo catalog, wherever it listens now, the source that it is the default for.
    package mutating func useDemoCatalog(listURL: String, detailURL: String) {
        var demo = SourceConfiguration(name: Self.demoSource, kind: .bookResource)
        demo.url = ResourceAddress(listURL)
        demo.detailURL = ResourceAddress(detailURL)
        demo.allowsPrivateAddresses = true
        sources[Self.demoSource] = demo
    }

    /// - Throws: ``Failure`` of kind `configuration` when the book's source is not configured.
    @discardableResult
    package func requireSource(of book: BookIdentity) throws -> SourceConfiguration? {
        if let source = sources[book.source] { return source }
        if usesDemoCatalog, book.source == Self.demoSource { return nil }
        let known = sources.isEmpty ? [Self.demoSource] : sources.keys.sorted()
        throw Failure(
            .configuration, disposition: .skip, what: "\(book) cannot be asked for",
            why: "no source is called '\(book.source)' (there is \(known.joined(separator: ", ")))",
            remedy: "add it under sources: in the configuration")
    }

    /// The book that a REF names.
    ///
    /// - Throws: ``Failure`` of kind `usage` when it is an address, or an ID while no source is the default.
    package func book(_ reference: BookReference) throws -> BookIdentity {
        switch reference.target {
        case .book(let book):
            return book
        case .id(let id):
            guard let defaultSource else {
                throw Failure(
                    .usage, what: "'\(id)' may be in any of several sources", why: "none of them is the default",
                    remedy: "write SOURCE:\(id), or set default-source in the configuration")
            }
            return BookIdentity(source: defaultSource, id: id)
        case .address(let address):
            throw Failure(
                .usage, what: "\(address) cannot be read", why: "this version reads book-resource catalogs only",
                remedy: "name a book by ID or SOURCE:ID")
        }
    }

    func catalogSource(for book: BookIdentity, transport: HTTPTransport) throws -> any CatalogSource {
        guard let source = try requireSource(of: book) else {
            throw Failure(
                .defect, disposition: .stop, what: "the demo catalog cannot be asked", why: "it was not started")
        }
        try source.requireVariables()
        return try source.settings().source(
            named: source.name, transport: transport, retry: RetryPolicy(retries: downloads.retries))
    }

    /// Whether a source's audio may lie on this machine or in a private network: where the source says so, or is there
    /// itself.
    func allowsLocalAddresses(of name: String, transport: HTTPTransport) async -> Bool {
        guard let source = sources[name] else { return false }
        if source.allowsPrivateAddresses { return true }
        guard let url = source.url else { return false }
        return await transport.isLocal(url)
    }

    /// Everything that mirror follows: what the configuration subscribes to, then what the listener added. Of two
    /// subscriptions to one book the configuration's counts.
    package func allSubscriptions(with stored: [Subscription]) throws -> [Subscription] {
        let configured = try subscriptions.map {
            Subscription(book: try book($0.reference), title: $0.title, filter: $0.filter)
        }
        let books = Set(configured.map(\.book))
        return configured + stored.filter { !books.contains($0.book) }
    }

    /// What a run over the subscriptions is to do.
    package func items(with stored: [Subscription]) throws -> [RunRequest.Item] {
        try allSubscriptions(with: stored).map {
            RunRequest.Item(book: $0.book, filter: $0.filter, title: $0.title)
        }
    }
}

extension SourceConfiguration {
    fileprivate func settings() throws -> SourceSettings {
        switch kind {
        case .feed:
            return .feed(
                FeedSettings(
                    address: url, query: query.map { ($0.name, $0.value.secretText) },
                    headers: headers.map { ($0.name, $0.value.secretText) }))
        case .librivox: return .librivox
        case .internetArchive: return .internetArchive
        case .directory: return .directory
        case .bookResource:
            guard let url else {
                throw Failure(
                    .configuration, disposition: .skip, what: "the source '\(name)' cannot be asked",
                    why: "it has no url", remedy: "set sources.\(name).url in the configuration")
            }
            return .bookResource(
                BookResourceSettings(
                    listAddress: url, detailAddress: detailURL, query: query.map { ($0.name, $0.value.secretText) },
                    signature: signature.map { .init(parameter: $0.parameter, secret: $0.secret.secretText) },
                    headers: headers.map { ($0.name, $0.value.secretText) }, pageSize: pageSize ?? 50))
        }
    }
}
