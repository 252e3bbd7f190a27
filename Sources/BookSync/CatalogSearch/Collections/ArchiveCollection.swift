import BookModel
import CatalogFetcher

/// All audio items of the Internet Archive that a query finds, through its scrape API
/// (https://archive.org/help/aboutsearch.htm): 5,000 to a page, however many there are.
struct ArchiveCollection: BookCollection {
    let name: BookIdentity
    /// As Lucene reads it.
    let expression: String
    let archive: ArchiveSearch

    /// No `count` is asked for: beside one the archive does not look at the cursor.
    func page(at cursor: String?) async throws -> CollectionPage {
        let fields = "identifier,title,creator,language,item_size,publicdate,call_number"
        let address = archive.settings.address.appending(path: "services/search/v1/scrape").adding(
            query: [("q", expression), ("fields", fields)] + (cursor.map { [("cursor", $0)] } ?? []))
        let subject = ErrorContext(book: name, part: "the list")
        let document: JSONValue
        do {
            document = try await archive.document(at: address, for: subject)
        } catch let failure as Failure where cursor != nil && failure.isRefusal {
            throw failure.expired
        }
        guard let items = document["items"], items.kind == .array else {
            let failure = subject.unreadable(why: ArchiveSearch.complaint(document["error"]?.text))
            throw cursor != nil && document["error"] != nil ? failure.expired : failure
        }
        let next = document["cursor"]?.text.flatMap { $0.isEmpty || $0 == cursor ? nil : $0 }
        return CollectionPage(
            entries: items.elements.compactMap { archive.entry(of: $0) },
            declared: document["total"]?.integer.flatMap { $0 < 0 ? nil : Int(exactly: $0) }, next: next)
    }
}

extension Failure {
    /// Whether the server answered, and wants no such request.
    fileprivate var isRefusal: Bool {
        kind == .unknownBook || kind == .catalogUnavailable && disposition == .skip
    }

    /// The same, of a page whose cursor the server no longer knows.
    fileprivate var expired: Failure {
        Failure(
            .catalogUnavailable, disposition: .retry, what: what, why: why, remedy: "read the list from its beginning",
            reason: .expiredCursor)
    }
}
