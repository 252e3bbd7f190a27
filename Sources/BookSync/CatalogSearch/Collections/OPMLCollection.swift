import BookModel
import CatalogFetcher
import Transport

/// The feeds of an OPML document in the web, which is read whole each time. Those are left out whose addresses hold a secret.
struct OPMLCollection: BookCollection {
    let name: BookIdentity
    let address: ResourceAddress
    let client: CatalogClient
    /// The book at a feed's address.
    let book: @Sendable (ResourceAddress) -> BookIdentity

    func page(at cursor: String?) async throws -> CollectionPage {
        let subject = ErrorContext(book: name, part: "the list")
        let (bytes, _) = try await client.fetch(HTTPRequest(.get, address), for: subject) { .document($0) }
        let document = try OPMLReader.read(bytes, from: "\(name)")
        guard document.isWhole, !document.isBeyondCeiling else {
            throw subject.unreadable(why: document.isWhole ? "it lists too many feeds" : "it ends in the middle")
        }
        let entries = document.feeds.compactMap { feed -> CatalogEntry? in
            guard let web = feed.address.flatMap(FeedSettings.webAddress),
                FeedSettings.isWholeAddress(FeedSettings.bookID(of: web))
            else { return nil }
            var entry = CatalogEntry(identity: book(web), title: feed.title ?? web.withoutSecrets)
            entry.address = web
            return entry
        }
        return CollectionPage(entries: entries)
    }
}
