import BookModel

/// The search of a book-resource catalog whose address is configured.
package struct BookResourceSearch: SearchableCatalog {
    private let source: String
    private let catalog: BookResourceSource

    /// - Parameter source: what the configuration calls it.
    package init(source: String, settings: BookResourceSettings, client: CatalogClient) {
        self.source = source
        self.catalog = BookResourceSource(settings: settings, client: client)
    }

    /// The API knows one text, which it looks for in titles and people alike.
    package func search(_ query: CatalogQuery) async throws -> [CatalogEntry] {
        guard let address = catalog.settings.searchAddress else { return [] }
        let text = [query.text, query.author ?? ""].filter { !$0.isEmpty }.joined(separator: " ")
        let request = BookResourceRequest.search(for: text, at: address, settings: catalog.settings)
        let subject = ErrorContext(book: BookIdentity(source: source, id: text), part: "the search")
        var pace = Backoff()
        let (answer, _, secrets) = try await catalog.ask(request, for: subject, pace: &pace)
        switch answer.elements {
        case .missing: return []
        case .foreign(let why): throw subject.unreadable(why: "\(why): '\(answer.beginning(masked: secrets))'")
        case .list(let elements):
            let entries = elements.lazy.compactMap { element -> CatalogEntry? in
                CatalogEntry(bookResourceElement: element, source: source)
            }
            return Array(entries.prefix(query.limit))
        }
    }
}

extension CatalogEntry {
    /// - Returns: nil for an element without a title, or without an id that can be written in a REF.
    fileprivate init?(bookResourceElement element: JSONValue, source: String) {
        func text(_ keys: String...) -> String? {
            keys.lazy.compactMap { element[$0]?.text.flatMap(CatalogText.title) }.first
        }
        guard let title = text("name", "bookName", "title", "resName"),
            let id = CatalogText.id(text("bookId", "id", "entityId", "resId")), id != "0",
            !id.contains(where: { "/@#: ".contains($0) })
        else { return nil }
        self.init(identity: BookIdentity(source: source, id: id), title: title)
        author = text("author", "authorName")
        narrator = text("announcer", "announcerName", "nickName")
        summary = HTMLText.summary(element["desc"]?.string) ?? HTMLText.summary(element["description"]?.string)
        episodes = [element["sections"], element["sectionCount"]].lazy.compactMap { $0?.integer }
            .first { (1...99_999).contains($0) }.map { Int($0) }
    }
}
