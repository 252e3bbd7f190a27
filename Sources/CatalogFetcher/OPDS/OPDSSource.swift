import BookModel
import NIOHTTP1
import Transport

/// Audiobooks of OPDS catalogs, each by the address of its manifest, or of its entry.
package struct OPDSSource: CatalogSource, SearchableCatalog {
    private let name: String
    private let feed: FeedSettings
    private let client: CatalogClient

    /// - Parameter name: what the configuration calls the source; books that are found are named after it.
    package init(name: String = "", settings: OPDSSettings, client: CatalogClient) {
        (self.name, feed) = (name, settings.feed)
        self.client = client.limited(to: 16 << 20)
    }

    package func list(_ book: BookIdentity, onPage: PageHandler) async throws -> CatalogListing {
        let subject = ErrorContext(book: book, part: "the manifest")
        var publication = try await document(at: try feed.address(of: book), for: subject).book(for: subject)
        if let manifest = publication.manifest {
            publication = try await document(at: manifest, for: subject).book(for: subject)
        }
        let contents = try publication.contents(as: book, for: subject)
        try await contents.deliver(to: onPage)
        return contents.listing
    }

    func document(at address: ResourceAddress, for subject: ErrorContext) async throws -> OPDSDocument {
        try OPDSDocument(await answer(at: address, for: subject), for: subject, secrets: feed.secrets(in: address))
    }

    private func answer(at address: ResourceAddress, for subject: ErrorContext) async throws -> CatalogResponse {
        // The query is for the source's own server alone.
        let isOwn = feed.address?.server == address.server
        let request = HTTPRequest(.get, isOwn ? address.adding(query: feed.credentials.query) : address)
        let (bytes, end) = try await client.fetch(request, for: subject) { .document($0) }
        return CatalogResponse(bytes: bytes, address: end)
    }

    package func search(_ query: CatalogQuery) async throws -> [CatalogEntry] {
        let id = feed.address?.withoutSecrets ?? ""
        let subject = ErrorContext(book: BookIdentity(source: name, id: id), part: "the search")
        guard let root = feed.address else { throw subject.unreadable(why: "the source has no url") }
        let document = try await document(at: root, for: subject)
        let link = document.links.first { $0.relations.contains("search") }
        var (base, template) = (document.base, link?.href)
        if let link, link.type == "application/opensearchdescription+xml", let address = link.address {
            let answer = try await answer(at: address, for: subject)
            base = answer.address ?? address
            let urls = XMLElement.all(in: answer.bytes).elements.filter { $0.name == "Url" }.map(\.attributes)
            template = urls.first { $0["type"]?.contains(/atom\+xml|opds\+json/) == true }?["template"]
        }
        let terms = [query.text, query.author ?? ""].filter { !$0.isEmpty }.joined(separator: " ")
        guard let text = template.map({ URITemplate.filled($0, searchTerms: terms) }),
            let address = CatalogAddress.resolve(text, against: base)
        else { throw subject.unreadable(why: "the feed does not say where it is searched") }
        let publications = try await self.document(at: address, for: subject).publications
        return Array(publications.lazy.compactMap { $0.entry(in: name) }.filter(query.admits).prefix(query.limit))
    }
}

/// The audiobooks that a feed lists, page after page (`rel="next"`). Those are left out that are not open to everybody, or
/// have no address of their own; the feed's number of books counts only where there are none.
package actor OPDSCollection: BookCollection {
    private let source: String
    private let feed: ResourceAddress
    private let catalog: OPDSSource
    /// The addresses of the pages that were read, by what they list.
    private var pages: [Int: String] = [:]

    package init(of feed: ResourceAddress, source: String, settings: OPDSSettings, client: CatalogClient) {
        (self.source, self.feed) = (source, feed)
        catalog = OPDSSource(name: source, settings: settings, client: client)
    }

    /// The pages are asked for in their order. A cursor is a page's whole address, which may hold a secret.
    package func page(at cursor: String?) async throws -> CollectionPage {
        if cursor == nil { pages = [:] }
        let subject = ErrorContext(
            book: BookIdentity(source: source, id: FeedSettings.bookID(of: feed)), part: "page \(pages.count + 1)")
        let address = cursor.map { ResourceAddress($0) } ?? feed
        let document = try await catalog.document(at: address, for: subject)
        let publications = document.publications
        let next = document.links.first { $0.relations.contains("next") }?.address?.secretText
        let mark = publications.flatMap { $0.links.map(\.href) }.hashValue
        let earlier = pages.updateValue(address.secretText, forKey: mark)
        // A list that goes on for ever leads back, or lists the same again.
        guard earlier ?? address.secretText == address.secretText, next.map(pages.values.contains) != true else {
            throw subject.unreadable(why: "the feed leads back to a page that was read")
        }
        let entries = publications.compactMap { $0.entry(in: source) }
        return CollectionPage(
            entries: entries, declared: entries.count == publications.count ? document.declared : nil, next: next)
    }
}
