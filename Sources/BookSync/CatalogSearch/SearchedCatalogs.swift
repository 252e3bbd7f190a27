import BookModel
import CatalogFetcher
import Settings
import Transport

extension Configuration {
    /// The catalogs that can be searched: the configured sources, those that need no configuration, and the library.
    ///
    /// - Parameter names: of those that are to be asked; empty for all, without those that `find.sources` leaves out.
    /// - Throws: ``Failure`` of kind `usage` for a name that no searchable source has.
    package func catalogSearch(in names: [String] = [], over transport: HTTPTransport) throws -> CatalogSearch {
        // What an archive has of LibriVox, LibriVox knows better.
        let isArchive = { (source: SourceConfiguration) in source.kind == .internetArchive ? 1 : 0 }
        let configured = sources.values.sorted { (isArchive($0), $0.name) < (isArchive($1), $1.name) }
        let kinds = Set(sources.values.map(\.kind.rawValue))
        let others = PublicCatalog.allCases.filter { catalog in
            !kinds.contains(catalog.rawValue) && sources[catalog.rawValue] == nil
                && (names.isEmpty ? find.sources.contains(catalog) : names.contains(catalog.rawValue))
        }
        var paces: [String: HostThrottle] = [:]
        var catalogs = configured.compactMap { source in
            searchable(source, over: transport, &paces).map { (source: source.name, catalog: $0) }
        }
        catalogs += others.compactMap { other in
            searchable(other, over: transport, &paces).map { (source: other.rawValue, catalog: $0) }
        }
        catalogs.append((source: CatalogSearch.librarySource, catalog: LibraryCatalog(library: library)))
        if let unknown = names.first(where: { name in !catalogs.contains { $0.source == name } }) {
            let known = Set(catalogs.map(\.source)).union(PublicCatalog.allCases.map(\.rawValue)).sorted()
            throw Failure(
                .usage, what: "'\(unknown)' cannot be searched",
                why: sources[unknown] == nil
                    ? "no source has that name" : "its type has no search, or its search-url is not configured",
                remedy: "name one of \(known.joined(separator: ", "))")
        }
        return CatalogSearch(names.isEmpty ? catalogs : catalogs.filter { names.contains($0.source) })
    }

    /// The list of books that an id names: `collection:NAME` and `search:QUERY` of an archive, `author:NAME` and
    /// `language:NAME` of LibriVox, `feed:ADDRESS` of OPDS, `library:ID` of Audiobookshelf, `opml:ADDRESS` of feeds; nil where
    /// it names none.
    package func bookCollection(
        _ name: BookIdentity, over transport: HTTPTransport
    ) throws -> (any BookCollection)? {
        guard let source = source(named: name.source), let (kind, text) = name.collection, !text.isEmpty else {
            return nil
        }
        try source.requireVariables()
        let address = text.contains("://") ? ResourceAddress(text) : nil
        let client = CatalogClient(
            transport: transport.using(access(to: source, naming: address)),
            retry: RetryPolicy(retries: downloads.retries), maxResponseBytes: Self.maxSearchResponse)
        func list(_ expression: String, _ settings: InternetArchiveSettings, librivox: String? = nil)
            -> ArchiveCollection
        {
            let archive = ArchiveSearch(
                source: librivox == nil ? source.name : archiveName, librivox: librivox, settings: settings,
                client: client)
            return ArchiveCollection(name: name, expression: expression, archive: archive)
        }
        switch (try source.settings(), kind) {
        case (let settings as InternetArchiveSettings, "collection") where ArchiveAddress.isItem(text):
            return list("collection:\(text) AND mediatype:audio", settings)
        case (let settings as InternetArchiveSettings, "search"):
            return list("(\(text)) AND mediatype:audio", settings)
        case (let settings as LibriVoxSettings, "author"):
            let librivox = LibriVoxSearch(source: source.name, settings: settings, client: client)
            return LibriVoxAuthor(name: name, author: text, librivox: librivox)
        case (let settings as LibriVoxSettings, "language"):
            let language = ArchiveSearch.expression(forLanguage: CatalogText.language(text) ?? text)
            return list("collection:librivoxaudio AND \(language)", settings.archive, librivox: source.name)
        case (let settings as OPDSSettings, "feed"):
            return address.map {
                OPDSCollection(of: $0, source: source.name, settings: settings, client: client)
            }
        case (is FeedSettings, "opml"):
            return address.map { OPMLCollection(name: name, address: $0, client: client, book: { book(at: $0) }) }
        case (let settings as AudiobookshelfSettings, "library"):
            return AudiobookshelfLibrary(
                text, of: AudiobookshelfSource(name: source.name, settings: settings, client: client))
        default: return nil
        }
    }

    /// The list of all books by the author of one that was found, where a source that has it has such lists.
    package func authorList(of book: FoundBook) -> (author: String, reference: BookIdentity)? {
        for place in book.places where source(named: place.entry.identity.source)?.kind == .librivox {
            guard let author = place.entry.author else { continue }
            return (author, BookIdentity(source: place.entry.identity.source, id: "author:\(author)"))
        }
        return nil
    }

    /// - Returns: nil for a source that has no search. One that cannot be asked for now says so when it is.
    private func searchable(
        _ source: SourceConfiguration, over transport: HTTPTransport, _ paces: inout [String: HostThrottle]
    ) -> (any SearchableCatalog)? {
        guard source.kind != .bookResource || source.searchURL != nil else { return nil }
        do {
            let client = client(to: source, at: source.ownAddresses.first, over: transport, &paces)
            let catalog: (any SearchableCatalog)?
            switch try source.settings(knownAddresses: givenAddresses) {
            case let settings as BookResourceSettings:
                catalog = BookResourceSearch(source: source.name, settings: settings, client: client)
            case let settings as InternetArchiveSettings:
                catalog = ArchiveSearch(source: source.name, settings: settings, client: client)
            case let settings as LibriVoxSettings:
                let beside = self.client(to: source, at: settings.archive.address, over: transport, &paces)
                catalog = LibriVoxSearch(
                    source: source.name, settings: settings, client: client,
                    archive: ArchiveSearch(
                        source: archiveName, librivox: source.name, settings: settings.archive,
                        client: beside))
            case let settings as OPDSSettings:
                catalog =
                    source.url.map { _ in OPDSSource(name: source.name, settings: settings, client: client) }
            case let settings as AudiobookshelfSettings:
                catalog = AudiobookshelfSource(name: source.name, settings: settings, client: client)
            default: catalog = nil
            }
            if catalog != nil { try source.requireVariables() }
            return catalog
        } catch {
            return UnusableCatalog(failure: .of(error))
        }
    }

    private func searchable(
        _ catalog: PublicCatalog, over transport: HTTPTransport, _ paces: inout [String: HostThrottle]
    ) -> (any SearchableCatalog)? {
        if let source = source(named: catalog.rawValue) { return searchable(source, over: transport, &paces) }
        return podcasts(of: catalog, over: transport, &paces)
    }

    private func podcasts(
        of catalog: PublicCatalog, over transport: HTTPTransport, _ paces: inout [String: HostThrottle],
        retries: Int = 2
    ) -> PodcastSearch {
        var source = SourceConfiguration(name: catalog.rawValue, kind: .feed)
        let address = catalog == .itunes ? find.itunesURL : find.fyydURL
        source.url = address
        return PodcastSearch(
            directory: catalog, address: address,
            client: client(to: source, at: address, over: transport, &paces, retries: retries),
            book: { book(at: $0) })
    }

    /// Asks once: what it is asked for can be searched for as well.
    func appleDirectory(over transport: HTTPTransport) -> PodcastSearch {
        var paces: [String: HostThrottle] = [:]
        return podcasts(of: .itunes, over: transport, &paces, retries: 0)
    }

    /// What archive items are called that are no LibriVox books.
    private var archiveName: String {
        source(for: .internetArchive, at: InternetArchiveSettings.standardAddress)
    }

    /// - Parameters:
    ///   - address: of the server that is asked.
    ///   - paces: by server.
    private func client(
        to source: SourceConfiguration, at address: ResourceAddress?, over transport: HTTPTransport,
        _ paces: inout [String: HostThrottle], retries: Int = 2
    ) -> CatalogClient {
        let pace = paces[address?.server ?? ""] ?? HostThrottle()
        paces[address?.server ?? ""] = pace
        // Somebody waits for it.
        let retry = RetryPolicy(retries: min(downloads.retries, retries))
        return CatalogClient(
            transport: transport.using(access(to: source)), retry: retry, pace: pace,
            maxResponseBytes: Self.maxSearchResponse)
    }

    /// Bytes; no page of a search or a list is longer.
    private static let maxSearchResponse = 32 << 20
}

/// Of a source whose settings are not complete.
private struct UnusableCatalog: SearchableCatalog {
    let failure: Failure

    func search(_ query: CatalogQuery) async throws -> [CatalogEntry] { throw failure }
}
