import BookModel
import CatalogFetcher

/// LibriVox's API, which finds titles by their beginning and authors by their family name alone, and beside it the archive's
/// search, which finds every word of LibriVox's books.
struct LibriVoxSearch: SearchableCatalog {
    let source: String
    let settings: LibriVoxSettings
    let client: CatalogClient
    /// Nil for a list of the API's alone.
    var archive: ArchiveSearch?
    /// Seconds that one of the two is waited for, so that the other one's books are shown.
    var patience: Double = 20

    /// One of the two that fails is no failure where the other one found something: they know the same books.
    func search(_ query: CatalogQuery) async throws -> [CatalogEntry] {
        async let inArchive = Result.of {
            try await answered(within: patience) { try await archive?.search(query) ?? [] }
        }
        let own = await Result.of {
            try await answered(within: patience) {
                try await books(
                    (query.text.isEmpty ? [] : [("title", "^" + query.text)])
                        + (query.author.map { [("author", Self.familyName($0))] } ?? []),
                    limit: query.limit,
                    for: ErrorContext(book: BookIdentity(source: source, id: query.text), part: "the search"))
            }
        }
        let others = await inArchive
        try Task.checkCancellation()
        let listed = (try? own.get())?.books ?? []
        var known: [BookIdentity: Int] = [:]
        var entries = listed.map(\.entry)
        for (index, book) in listed.enumerated() {
            known[book.entry.identity] = index
            if let item = book.item, let archive { known[BookIdentity(source: archive.source, id: item)] = index }
        }
        for other in (try? others.get()) ?? [] {
            if let index = known[other.identity] { entries[index].size = other.size } else { entries.append(other) }
        }
        guard entries.isEmpty else { return Array(entries.prefix(query.limit)) }
        _ = try own.get()
        return try others.get()
    }

    /// What the API has an author under.
    static func familyName(_ author: String) -> String {
        author.split(whereSeparator: \.isWhitespace).last.map(String.init) ?? author
    }

    /// - Returns: the books that the API lists for some parameters, each with its archive item; and how many it lists.
    func books(
        _ parameters: [(name: String, value: String)], limit: Int, offset: Int = 0, for subject: ErrorContext
    ) async throws -> (books: [(entry: CatalogEntry, item: String?)], listed: Int) {
        let base = ResourceAddress(String(settings.address.secretText.prefix { $0 != "?" && $0 != "#" }))
        let address = base.appending(path: "api/feed/audiobooks").adding(
            query: parameters + [("limit", String(min(limit, Self.maxPage))), ("offset", String(offset))]
                + [("format", "json")])
        let document: JSONValue
        do {
            document = try await client.fetchJSON(
                settings.credentials.request(address), for: subject, secrets: settings.credentials.secrets
            ).document
        } catch let failure as Failure where failure.kind == .unknownBook {
            // Status 404 says that there is none.
            return ([], 0)
        }
        let listed = try LibriVoxBook.all(in: document, for: subject)
        let books = listed.compactMap { book -> (CatalogEntry, String?)? in
            guard let id = book.id, id.allSatisfy({ "0"..."9" ~= $0 }),
                let title = book.description.title.flatMap(CatalogText.title)
            else { return nil }
            var entry = CatalogEntry(identity: BookIdentity(source: source, id: id), title: title)
            entry.author = book.description.author
            entry.language = book.description.language
            entry.summary = book.description.summary
            entry.episodes = book.declared
            entry.seconds = book.seconds
            return (entry, book.archiveItem)
        }
        return (books, listed.count)
    }

    /// What LibriVox gives at once at most.
    static let maxPage = 500
}
