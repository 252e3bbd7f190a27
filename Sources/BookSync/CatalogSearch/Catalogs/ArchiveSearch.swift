import BookModel
import CatalogFetcher
import Foundation

/// The Internet Archive's search for audio (https://archive.org/help/aboutsearch.htm).
struct ArchiveSearch: SearchableCatalog {
    /// What the configuration calls the archive.
    let source: String
    /// What it calls LibriVox, where only LibriVox's books are looked for.
    var librivox: String?
    let settings: InternetArchiveSettings
    let client: CatalogClient

    func search(_ query: CatalogQuery) async throws -> [CatalogEntry] {
        let fields = [
            "identifier", "title", "creator", "language", "item_size", "publicdate", "call_number", "runtime",
            "description",
        ]
        let address = settings.address.appending(path: "advancedsearch.php").adding(
            query: [("q", expression(for: query))] + fields.map { ("fl[]", $0) }
                + [("rows", String(query.limit)), ("page", "1"), ("output", "json")])
        let subject = ErrorContext(book: BookIdentity(source: source, id: query.text), part: "the search")
        let document = try await document(at: address, for: subject)
        guard let found = document["response"]?["docs"], found.kind == .array else {
            throw subject.unreadable(why: Self.complaint(document["error"]?.text))
        }
        return found.elements.prefix(query.limit).compactMap { entry(of: $0) }
    }

    func document(at address: ResourceAddress, for subject: ErrorContext) async throws -> JSONValue {
        try await client.fetchJSON(
            settings.credentials.request(address), for: subject, secrets: settings.credentials.secrets
        ).document
    }

    /// - Parameter text: what the archive says is wrong.
    static func complaint(_ text: String?) -> Message {
        guard let text else { return "the answer has no list of items" }
        return "it answers \"\(CatalogText.quotation(text, length: 200))\""
    }

    // MARK: The query

    /// As Lucene reads it. Each word has to be in the title or among the creators.
    func expression(for query: CatalogQuery) -> String {
        var parts = [librivox == nil ? "mediatype:audio" : "collection:librivoxaudio"]
        parts += Self.phrases(of: query.text).map { "(title:\($0) OR creator:\($0))" }
        parts += Self.phrases(of: query.author ?? "").map { "creator:\($0)" }
        if let language = query.language { parts.append(Self.expression(forLanguage: language)) }
        return parts.joined(separator: " AND ")
    }

    static func expression(forLanguage code: String) -> String {
        "language:(\(CatalogText.spellings(ofLanguage: code).map(phrase).joined(separator: " OR ")))"
    }

    /// More words make no better search.
    private static let maxWords = 20

    private static func phrases(of text: String) -> [String] {
        text.split(whereSeparator: \.isWhitespace).prefix(maxWords).map { phrase(String($0)) }
    }

    private static func phrase(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    // MARK: The answer

    /// - Returns: nil for what is no item, or has no title.
    func entry(of document: JSONValue) -> CatalogEntry? {
        var fields: [String: [String]] = [:]
        for (key, value) in document.members {
            fields[key] = (value.kind == .array ? value.elements.prefix(5).map(\.self) : [value]).compactMap(\.text)
        }
        guard let item = fields["identifier"]?.first, ArchiveAddress.isItem(item),
            let title = fields["title"]?.first.flatMap(CatalogText.title)
        else { return nil }
        // LibriVox writes its own number there.
        let number = fields["call_number"]?.first.map(CatalogText.trimmed).flatMap {
            (1...12).contains($0.utf8.count) && $0.allSatisfy { "0"..."9" ~= $0 } ? $0 : nil
        }
        let identity =
            librivox.flatMap { source in number.map { BookIdentity(source: source, id: $0) } }
            ?? BookIdentity(source: source, id: item)
        var entry = CatalogEntry(identity: identity, title: title)
        let creators = fields["creator"]?.compactMap(CatalogText.title) ?? []
        entry.author = creators.isEmpty ? nil : creators.joined(separator: ", ")
        entry.language = fields["language"]?.first.flatMap(CatalogText.language)
        entry.size = fields["item_size"]?.first.flatMap { FileSize.sensible(Int64($0)) }
        entry.seconds = fields["runtime"]?.first.flatMap(CatalogDuration.archivedSeconds)
        entry.publishedAt = fields["publicdate"]?.first.flatMap(CatalogDate.seconds)
            .map { Date(timeIntervalSince1970: $0) }
        entry.summary = HTMLText.summary(fields["description"]?.first)
        return entry
    }
}
