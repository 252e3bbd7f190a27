import BookModel
import CatalogFetcher
import Foundation
import TextParsing
import Transport

/// A directory of podcasts that anybody may ask: Apple's
/// (https://developer.apple.com/library/archive/documentation/AudioVideo/Conceptual/iTuneSearchAPI) or fyyd's
/// (https://github.com/eazyliving/fyyd-api). Its answers lead to feeds.
package struct PodcastSearch: SearchableCatalog {
    enum Directory: String {
        case itunes, fyyd
    }

    let directory: Directory
    let address: ResourceAddress
    let client: CatalogClient
    /// The book at a feed's address.
    let book: @Sendable (ResourceAddress) -> BookIdentity

    init(
        _ directory: Directory, at address: ResourceAddress, connection: CatalogConnection,
        book: @escaping @Sendable (ResourceAddress) -> BookIdentity
    ) {
        self.directory = directory
        self.address = address
        self.client = connection.exchange(maxResponseBytes: 32 << 20)
        self.book = book
    }

    package func search(_ query: CatalogQuery) async throws -> [CatalogEntry] {
        let term = [query.text, query.author ?? ""].filter { !$0.isEmpty }.joined(separator: " ")
        let request =
            switch directory {
            case .itunes:
                address.appending(path: "search").adding(
                    query: [("term", term), ("media", "podcast"), ("entity", "podcast"), ("limit", "\(query.limit)")]
                        + (Self.country(for: query).map { [("country", $0)] } ?? []))
            case .fyyd:
                address.appending(path: "search/podcast").adding(
                    query: [("term", term), ("count", "\(query.limit)")])
            }
        let subject = ErrorContext(book: BookIdentity(source: directory.rawValue, id: term), part: "the search")
        let (document, _) = try await client.fetchJSON(
            HTTPRequest(.get, request), for: subject, secrets: SecretMask([]))
        guard let list = document[directory == .itunes ? "results" : "data"], list.kind == .array else {
            throw subject.unreadable(why: "the answer has no list of podcasts")
        }
        return Array(list.elements.lazy.compactMap { entry(of: $0) }.prefix(query.limit))
    }

    /// Apple searches one country's shop, that of the United States where none is named; Chinese podcasts are in China's.
    static func country(for query: CatalogQuery) -> String? {
        let isChinese = query.text.unicodeScalars.contains { $0.properties.isIdeographic }
        guard let language = query.language ?? (isChinese ? "zh" : nil) else { return nil }
        return Locale.Language(identifier: Locale.Language(identifier: language).maximalIdentifier).region?.identifier
    }

    /// - Returns: nil for what has no feed; and for a feed in a private network, where only a directory that is there itself
    ///   may lead.
    private func entry(of element: JSONValue) -> CatalogEntry? {
        let keys =
            switch directory {
            case .itunes: (title: "collectionName", author: "artistName", feed: "feedUrl", count: "trackCount")
            case .fyyd: (title: "title", author: "author", feed: "xmlURL", count: "episode_count")
            }
        guard let title = element[keys.title]?.text.flatMap(CatalogText.title),
            let text = element[keys.feed]?.string, let feed = FeedSettings.webAddress(ResourceAddress(text)),
            !feed.isPlainlyPrivate || address.isPlainlyPrivate
        else { return nil }
        var entry = CatalogEntry(identity: book(feed), title: title)
        entry.address = feed
        entry.author = element[keys.author]?.text.flatMap(CatalogText.title)
        entry.language = element["language"]?.text.flatMap(CatalogText.language)
        entry.summary = element["description"]?.string.map { HTMLText.plain(String($0.prefix(2000))) }
            .flatMap { $0.isEmpty ? nil : $0 }
        entry.episodes = element[keys.count]?.integer.flatMap { (1...999_999).contains($0) ? Int($0) : nil }
        return entry
    }
}
