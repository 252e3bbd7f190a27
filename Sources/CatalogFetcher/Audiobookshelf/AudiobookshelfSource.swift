import BookModel

/// Books of an Audiobookshelf server.
package struct AudiobookshelfSource: CatalogSource, SearchableCatalog {
    fileprivate let name: String
    fileprivate let settings: AudiobookshelfSettings
    private let client: CatalogClient

    /// - Parameter name: what the configuration calls the source; books that are found are named after it.
    package init(name: String = "", settings: AudiobookshelfSettings, client: CatalogClient) {
        (self.name, self.settings) = (name, settings)
        self.client = client.limited(to: 64 << 20)
    }

    package func list(_ book: BookIdentity, onPage: PageHandler) async throws -> CatalogListing {
        let subject = ErrorContext(book: book, part: "the item")
        let item = settings.address("items", book.id)
        let answer = try await ask(item, query: [("expanded", "1")], for: subject)
        let contents = try AudiobookshelfItem.contents(of: answer, as: book, at: settings, for: subject)
        try await contents.deliver(to: onPage)
        return contents.listing
    }

    fileprivate func ask(
        _ address: ResourceAddress, query: [CatalogCredentials.Field] = [], for subject: ErrorContext
    ) async throws -> JSONValue {
        try await client.fetchJSON(
            settings.credentials.request(address.adding(query: query)), for: subject,
            secrets: settings.credentials.secrets
        ).document
    }

    /// In every library of books, one after the other.
    package func search(_ query: CatalogQuery) async throws -> [CatalogEntry] {
        let text = query.text.isEmpty ? query.author ?? "" : query.text
        if text.isEmpty { return [] }
        let subject = ErrorContext(
            book: BookIdentity(source: name, id: settings.address.withoutSecrets), part: "the search")
        let libraries = try await ask(settings.librariesAddress, for: subject)["libraries"]
        var found: [CatalogEntry] = []
        for library in libraries.map({ Array($0.elements) }) ?? [] where library["mediaType"]?.string == "book" {
            let address = settings.address("libraries", library["id"]?.string ?? "", "search")
            let answer = try await ask(address, query: [("q", text), ("limit", "\(query.limit)")], for: subject)
            let items = answer["book"]?.elements.compactMap { $0["libraryItem"].flatMap(AudiobookshelfItem.init) }
            found += items?.compactMap { $0.entry(in: name) }.filter(query.admits) ?? []
        }
        return Array(found.prefix(query.limit))
    }
}

/// The audiobooks of a library, page after page; ebooks are left out, and then the library's number of books does not
/// count.
package struct AudiobookshelfLibrary: BookCollection {
    private let id: String
    private let server: AudiobookshelfSource
    private static let pageSize = 100

    package init(_ id: String, of server: AudiobookshelfSource) { (self.id, self.server) = (id, server) }

    /// A cursor is the number of the page, from 0 on.
    package func page(at cursor: String?) async throws -> CollectionPage {
        let page = cursor.flatMap { Int32($0) }.map { max(0, Int($0)) } ?? 0
        let subject = ErrorContext(book: BookIdentity(source: server.name, id: id), part: "page \(page + 1)")
        let answer = try await server.ask(
            server.settings.address("libraries", id, "items"),
            query: [("limit", "\(Self.pageSize)"), ("page", "\(page)"), ("minified", "1")], for: subject)
        let items = answer["results"]?.elements.map(AudiobookshelfItem.init) ?? []
        let total = answer["total"]?.integer.flatMap { Int(exactly: max(0, $0)) } ?? 0
        let isAnother = answer["page"]?.integer.map { $0 != page } ?? false
        guard !isAnother, items.count == min(Self.pageSize, max(0, total - page * Self.pageSize)) else {
            throw subject.unreadable(
                why: "it lists \(Message(items.count, "book")) of \(total), which is no whole page")
        }
        let entries = items.compactMap { $0?.entry(in: server.name) }
        return CollectionPage(
            entries: entries, declared: entries.count == items.count ? total : nil,
            next: (page + 1) * Self.pageSize < total ? "\(page + 1)" : nil)
    }
}
