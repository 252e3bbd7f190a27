import BookModel
import CatalogFetcher
import DownloadEngine
import Foundation
import LibraryFiles
import Transport

// The settings of each module, made from the configuration.

extension Configuration {
    package var transportOptions: TransportOptions {
        // A transfer that we hold back reads nothing for a while, which is no stall of the server's.
        let slowest = ([downloads.limitRate] + sources.values.map(\.limitRate)).filter { $0 > 0 }.min()
        let pause = slowest.map { Double(downloads.jobs << 19) / Double($0) } ?? 0
        var options = TransportOptions(
            connectTimeout: downloads.connectTimeout, stallTimeout: downloads.stallTimeout + pause,
            minRate: Double(downloads.minRate), answerTimeout: downloads.answerTimeout,
            proxies: proxies, authorities: authorities?.content)
        options.sharedWaits = waitsFolder
        options.readResponses = readResponses
        return options
    }

    package func engineSettings(_ limits: RunLimits) -> EngineSettings {
        var settings = EngineSettings()
        settings.jobs = downloads.jobs
        settings.jobsPerHost = downloads.jobsPerHost
        settings.retry.retries = downloads.retries
        settings.limits = limits
        settings.limitRate = downloads.limitRate
        settings.sourceRates = sources.mapValues(\.limitRate)
        settings.minFreeSpace = downloads.minFreeSpace
        settings.maxUndeclaredSize = downloads.maxUndeclaredSize
        return settings
    }

    /// Whether there is no source to ask but the built-in demo catalog.
    package var usesDemoCatalog: Bool { sources.isEmpty }

    /// True if `demo:ID` is a book of the built-in demo catalog: no source of the user's own has that name.
    package var hasDemoCatalog: Bool { sources[Self.demoSource] == nil }

    /// Makes the demo catalog, wherever it listens now, a source.
    package mutating func useDemoCatalog(listURL: String, detailURL: String) {
        var demo = SourceConfiguration(name: Self.demoSource, kind: .bookResource)
        demo.url = ResourceAddress(listURL)
        demo.detailURL = ResourceAddress(detailURL)
        demo.allowsPrivateAddresses = true
        // It listens on this machine, where no proxy finds it.
        demo.proxy = .direct
        sources[Self.demoSource] = demo
    }

    /// A source of that name: a configured one, or the one of a type that needs no configuration, under the type's own
    /// name.
    package func source(named name: String) -> SourceConfiguration? {
        if let source = sources[name] { return source }
        guard let kind = SourceKind(rawValue: name), !kind.needsAddress else { return nil }
        return SourceConfiguration(name: name, kind: kind)
    }

    /// - Throws: ``Failure`` of kind `configuration` when the book's source is not configured.
    @discardableResult
    package func requireSource(of book: BookIdentity) throws -> SourceConfiguration? {
        if let source = source(named: book.source) { return source }
        if hasDemoCatalog, book.source == Self.demoSource { return nil }
        let known = sources.isEmpty ? [Self.demoSource] : sources.keys.sorted()
        throw Failure(
            .configuration, disposition: .skip, what: "\(book) cannot be asked for",
            why: "no source is called '\(book.source)' (there is \(known.joined(separator: ", ")))",
            remedy: "add it under sources: in the configuration")
    }

    /// The book that a REF names.
    ///
    /// - Throws: ``Failure`` of kind `usage` when it is an ID while no source is the default, or an address with a secret
    ///   that would be shown; `unknownBook` for an ID where there is no source.
    package func book(_ reference: BookReference) throws -> BookIdentity {
        if !named.isEmpty, let book = named[reference.description] { return book }
        switch reference.target {
        case .book(let book):
            try book.requireNoSecret()
            return withSource(book)
        case .id(let id):
            guard let defaultSource else {
                guard !sources.isEmpty else { throw BookReference.noBook(called: id) }
                throw Failure(
                    .usage, what: "'\(id)' may be in any of several sources", why: "none of them is the default",
                    remedy: "write SOURCE:\(id), or set default-source in the configuration")
            }
            return BookIdentity(source: defaultSource, id: id)
        case .address(let address): return self.book(at: address)
        }
    }

    /// `archive` is short for the source of the Internet Archive, where no other is called so.
    package func withSource(_ book: BookIdentity) -> BookIdentity {
        guard book.source == "archive", source(named: book.source) == nil else { return book }
        let archive = source(for: .internetArchive, at: InternetArchiveSettings.standardAddress)
        return BookIdentity(source: archive, id: book.id)
    }

    /// Which episodes of a book stay on disk; nil for all.
    package func keepRule(of subscription: Subscription) -> KeepRule? {
        subscription.keep ?? source(named: subscription.book.source)?.keep
    }

    /// The rule for a book's files of which its catalog lists other versions.
    package func catalogChangeRule(of book: BookIdentity) -> CatalogChangeRule {
        // A subscription that names no book is not this book's.
        let subscribed = subscriptions.first { $0.onCatalogChange != nil && (try? self.book($0.reference)) == book }
        return subscribed?.onCatalogChange ?? source(named: book.source)?.onCatalogChange ?? onCatalogChange
    }

    /// The server that a book's catalog is asked at, without secrets: what one of its books meets, the others will.
    package func catalogServer(of book: BookIdentity) -> String {
        // The id of a book, and the name of a list, may be the very address that the user gave.
        let name = book.collection?.name ?? book.id
        if name.contains("://") { return (recordedAddress(of: book) ?? ResourceAddress(name)).server }
        let source = source(named: book.source)
        if let url = source?.url { return url.server }
        switch source?.kind {
        case .internetArchive: return InternetArchiveSettings.standardAddress.server
        case .librivox: return LibriVoxSettings.standardAddress.server
        case .feed, .directory, .bookResource, .opds, .audiobookshelf, nil: return "source \(book.source)"
        }
    }

    /// - Parameters:
    ///   - address: where the book is asked for; nil for where it is known to be.
    ///   - pace: shared by all that ask the book's server at the same time.
    ///   - onWait: hears of the waits between requests.
    package func catalogSource(
        for book: BookIdentity, at address: ResourceAddress? = nil, transport: HTTPTransport, pace: HostThrottle? = nil,
        onWait: @escaping CatalogClient.OnWait = { _ in }
    ) throws -> any CatalogSource {
        guard let source = try requireSource(of: book) else {
            throw Failure(
                .defect, disposition: .stop, what: "the demo catalog cannot be asked", why: "it was not started")
        }
        try source.requireVariables()
        let client = CatalogClient(
            transport: transport.using(access(of: book)), retry: RetryPolicy(retries: downloads.retries), pace: pace,
            onWait: onWait)
        return try source.settings(
            knownAddresses: givenAddresses, recordedAddress: address ?? recordedAddress(of: book)
        ).source(over: client)
    }

    /// All subscriptions: the configuration's, then those that the user added. Of two
    /// subscriptions to one book the configuration's counts.
    package func allSubscriptions(with stored: [Subscription]) throws -> [Subscription] {
        let configured = try subscriptions.map {
            Subscription(
                book: try book($0.reference), title: $0.title, filter: $0.filter, order: $0.order, limits: $0.limits,
                naming: $0.naming?.description, keep: $0.keep, collection: $0.collection)
        }
        let books = Set(configured.map(\.book))
        return configured + stored.filter { !books.contains($0.book) }
    }
}

extension SourceConfiguration {
    /// What must be masked where a server sends it back.
    private var secretsOfAccess: [String] {
        let fields = (cookies?.content.cookies.map(\.value.secretText) ?? []) + headers.map(\.value.secretText)
        return switch authorization {
        case .basic(let user, let password): fields + [user.secretText, password.secretText]
        case .bearer(let token): fields + [token.secretText]
        case nil: fields
        }
    }

    /// - Parameters:
    ///   - knownAddresses: whole addresses, secrets included, that the user gave.
    ///   - recordedAddress: of the book that is asked for, where it is another than its id.
    package func settings(
        knownAddresses: [ResourceAddress] = [], recordedAddress: ResourceAddress? = nil
    ) throws -> any CatalogFormat {
        let credentials = CatalogCredentials(
            query: query.map { ($0.name, $0.value.secretText) }, alsoSecret: secretsOfAccess)
        switch kind {
        case .feed, .opds:
            let feed = FeedSettings(
                address: url, knownAddresses: knownAddresses, recordedAddress: recordedAddress,
                credentials: credentials)
            return kind == .feed ? feed : OPDSSettings(feed)
        case .librivox:
            return LibriVoxSettings(
                address: url ?? LibriVoxSettings.standardAddress, credentials: credentials,
                archive: InternetArchiveSettings(
                    address: archiveURL ?? InternetArchiveSettings.standardAddress, formats: formats))
        case .internetArchive:
            return InternetArchiveSettings(
                address: url ?? InternetArchiveSettings.standardAddress, formats: formats, credentials: credentials)
        case .directory: return DirectorySettings(address: url, depth: depth ?? 1, credentials: credentials)
        case .bookResource, .audiobookshelf:
            guard let url else {
                throw Failure(
                    .configuration, disposition: .skip, what: "the source '\(name)' cannot be asked",
                    why: "it has no url", remedy: "set sources.\(name).url in the configuration")
            }
            guard kind == .bookResource else {
                return AudiobookshelfSettings(address: url, credentials: credentials)
            }
            return BookResourceSettings(
                listAddress: url, detailAddress: detailURL, searchAddress: searchURL, credentials: credentials,
                signature: signature, pageSize: pageSize ?? 50)
        }
    }
}
