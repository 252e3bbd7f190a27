import BookModel
import CatalogFetcher
import Settings
import TextParsing
import Transport

extension Configuration {
    /// The catalogs that can be searched, and the library: the configured sources, then those that need no configuration.
    ///
    /// - Parameter names: of those that are to be asked; empty for all, without those that `find.sources` leaves out.
    /// - Throws: ``Failure`` of kind `usage` for a name that no searchable source has.
    package func catalogSearch(in names: [String] = [], over transport: HTTPTransport) throws -> CatalogSearch {
        var paces = Paces()
        // What an archive has of LibriVox, LibriVox knows better.
        let isArchive = { (source: SourceConfiguration) in source.kind == .internetArchive ? 1 : 0 }
        let configured = sources.values.sorted { (isArchive($0), $0.name) < (isArchive($1), $1.name) }
        var catalogs = configured.compactMap { source in
            searchable(source, over: transport, &paces).map { CatalogSearch.Catalog(source: source.name, catalog: $0) }
        }
        let kinds = Set(sources.values.map(\.kind.rawValue))
        for catalog in PublicCatalog.allCases where !kinds.contains(catalog.rawValue) {
            guard names.isEmpty ? find.sources.contains(catalog) : names.contains(catalog.rawValue) else { continue }
            let found = searchable(catalog, over: transport, &paces)
            if let found { catalogs.append(CatalogSearch.Catalog(source: catalog.rawValue, catalog: found)) }
        }
        catalogs.append(CatalogSearch.Catalog(source: LibraryCatalog.name, catalog: LibraryCatalog(library: library)))
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
    /// `language:NAME` of LibriVox; nil where it names none.
    package func bookCollection(
        _ name: BookIdentity, over transport: HTTPTransport, onWait: @escaping CatalogConnection.OnWait = { _ in }
    ) throws -> (any BookCollection)? {
        guard let source = source(named: name.source), let colon = name.id.firstIndex(of: ":") else { return nil }
        let (kind, text) = (name.id[..<colon], String(name.id[colon...].dropFirst()))
        guard !text.isEmpty else { return nil }
        try source.requireVariables()
        var paces = Paces()
        let connection = connection(to: source, at: nil, over: transport, &paces, onWait: onWait)
        switch try source.settings() {
        case .internetArchive(let settings) where kind == "collection" && ArchiveAddress.isItem(text):
            return ArchiveCollection(
                name: name, expression: "collection:\(text) AND mediatype:audio",
                archive: ArchiveSearch(source: source.name, settings: settings, connection: connection))
        case .internetArchive(let settings) where kind == "search":
            return ArchiveCollection(
                name: name, expression: "(\(text)) AND mediatype:audio",
                archive: ArchiveSearch(source: source.name, settings: settings, connection: connection))
        case .librivox(let settings) where kind == "author":
            return LibriVoxAuthor(
                name: name, author: text,
                librivox: LibriVoxSearch(source: source.name, settings: settings, connection: connection))
        case .librivox(let settings) where kind == "language":
            let code = CatalogText.language(text) ?? text
            return ArchiveCollection(
                name: name, expression: "collection:librivoxaudio AND \(ArchiveSearch.expression(forLanguage: code))",
                archive: ArchiveSearch(
                    source: archiveName, librivox: source.name, settings: settings.archive, connection: connection))
        default: return nil
        }
    }

    // MARK: One of them

    /// - Returns: nil for a source that has no search. One that cannot be asked for now says so when it is.
    private func searchable(
        _ source: SourceConfiguration, over transport: HTTPTransport, _ paces: inout Paces
    ) -> (any SearchableCatalog)? {
        guard source.kind != .bookResource || source.searchURL != nil else { return nil }
        do {
            let settings = try source.settings(knownAddresses: givenAddresses)
            let connection = connection(to: source, at: source.url, over: transport, &paces)
            let catalog: (any SearchableCatalog)? =
                switch settings {
                case .bookResource(let settings):
                    BookResourceSearch(source: source.name, settings: settings, connection: connection)
                case .internetArchive(let settings):
                    ArchiveSearch(source: source.name, settings: settings, connection: connection)
                case .librivox(let settings):
                    LibriVoxSearch(
                        source: source.name, settings: settings, connection: connection,
                        archive: ArchiveSearch(
                            source: archiveName, librivox: source.name, settings: settings.archive,
                            connection: self.connection(
                                to: source, at: settings.archive.address, over: transport, &paces)))
                default: settings.format.source(over: connection) as? any SearchableCatalog
                }
            if catalog != nil { try source.requireVariables() }
            return catalog
        } catch {
            return UnusableCatalog(failure: .of(error))
        }
    }

    private func searchable(
        _ catalog: PublicCatalog, over transport: HTTPTransport, _ paces: inout Paces
    ) -> (any SearchableCatalog)? {
        let (directory, address): (PodcastSearch.Directory, ResourceAddress)
        switch catalog {
        case .librivox, .internetArchive:
            return source(named: catalog.rawValue).flatMap { searchable($0, over: transport, &paces) }
        case .itunes: (directory, address) = (.itunes, find.itunesURL)
        case .fyyd: (directory, address) = (.fyyd, find.fyydURL)
        }
        var source = SourceConfiguration(name: catalog.rawValue, kind: .feed)
        source.url = address
        return PodcastSearch(
            directory, at: address, connection: connection(to: source, at: address, over: transport, &paces)
        ) { book(at: $0) }
    }

    /// What archive items are called that are no LibriVox books.
    private var archiveName: String {
        source(for: .internetArchive, at: InternetArchiveSettings.standardAddress)
    }

    /// By server.
    private typealias Paces = [String: HostThrottle]

    /// - Parameter address: of the server that is asked; nil for the source's own.
    private func connection(
        to source: SourceConfiguration, at address: ResourceAddress?, over transport: HTTPTransport,
        _ paces: inout Paces, onWait: @escaping CatalogConnection.OnWait = { _ in }
    ) -> CatalogConnection {
        let server = (address ?? source.ownAddresses.first)?.server ?? ""
        let pace = paces[server] ?? HostThrottle()
        paces[server] = pace
        return CatalogConnection(
            transport: transport.using(access(to: source)), retry: RetryPolicy(retries: min(downloads.retries, 2)),
            pace: pace, onWait: onWait)
    }
}

/// Of a source whose settings are not complete.
private struct UnusableCatalog: SearchableCatalog {
    let failure: Failure

    func search(_ query: CatalogQuery) async throws -> [CatalogEntry] { throw failure }
}
