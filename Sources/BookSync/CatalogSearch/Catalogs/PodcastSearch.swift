import BookModel
import CatalogFetcher
import Foundation
import Settings
import Transport

/// A directory of podcasts that anybody may ask: Apple's
/// (https://developer.apple.com/library/archive/documentation/AudioVideo/Conceptual/iTuneSearchAPI) or fyyd's
/// (https://github.com/eazyliving/fyyd-api). Its answers lead to feeds.
struct PodcastSearch: SearchableCatalog {
    /// `itunes` or `fyyd`.
    let directory: PublicCatalog
    let address: ResourceAddress
    let client: CatalogClient
    /// The book at a feed's address.
    let book: @Sendable (ResourceAddress) -> BookIdentity

    func search(_ query: CatalogQuery) async throws -> [CatalogEntry] {
        let term = [query.text, query.author ?? ""].filter { !$0.isEmpty }.joined(separator: " ")
        let request =
            directory == .itunes
            ? address.appending(path: "search").adding(
                query: [("term", term), ("media", "podcast"), ("entity", "podcast"), ("limit", "\(query.limit)")]
                    + (Self.country(for: term, in: query.language).map { [("country", $0)] } ?? []))
            : address.appending(path: "search/podcast").adding(query: [("term", term), ("count", "\(query.limit)")])
        return Array(try await entries(at: request, about: term).prefix(query.limit))
    }

    /// The feed of a podcast by its number in Apple's directory; nil if the directory has none.
    func feed(of number: String, in country: String?) async throws -> ResourceAddress? {
        let query = [("id", number)] + (country.map { [("country", $0)] } ?? [])
        return try await entries(at: address.appending(path: "lookup").adding(query: query), about: number).first?
            .address
    }

    private func entries(at address: ResourceAddress, about term: String) async throws -> [CatalogEntry] {
        let subject = ErrorContext(book: BookIdentity(source: directory.rawValue, id: term), part: "the search")
        let (document, _) = try await client.fetchJSON(
            HTTPRequest(.get, address), for: subject, secrets: SecretMask([]))
        guard let list = document[directory == .itunes ? "results" : "data"], list.kind == .array else {
            throw subject.unreadable(why: "the answer has no list of podcasts")
        }
        return list.elements.compactMap { entry(of: $0) }
    }

    /// Apple searches one country's shop, that of the United States where none is named; Chinese podcasts are in China's.
    private static func country(for term: String, in language: String?) -> String? {
        let isChinese = term.unicodeScalars.contains { $0.properties.isIdeographic }
        guard let language = language ?? (isChinese ? "zh" : nil) else { return nil }
        return Locale.Language(identifier: Locale.Language(identifier: language).maximalIdentifier).region?.identifier
    }

    /// - Returns: nil for what has no feed; and for a feed in a private network, where only a directory that is there itself
    ///   may lead.
    private func entry(of element: JSONValue) -> CatalogEntry? {
        let keys =
            directory == .itunes
            ? (title: "collectionName", author: "artistName", feed: "feedUrl", count: "trackCount")
            : (title: "title", author: "author", feed: "xmlURL", count: "episode_count")
        guard let title = element[keys.title]?.text.flatMap(CatalogText.title),
            let text = element[keys.feed]?.string, let feed = FeedSettings.webAddress(ResourceAddress(text)),
            !feed.isPlainlyPrivate || address.isPlainlyPrivate
        else { return nil }
        var entry = CatalogEntry(identity: book(feed), title: title)
        entry.address = feed
        entry.author = element[keys.author]?.text.flatMap(CatalogText.title)
        entry.language = element["language"]?.text.flatMap(CatalogText.language)
        entry.summary = HTMLText.summary(element["description"]?.string)
        entry.episodes = element[keys.count]?.integer.flatMap { (1...999_999).contains($0) ? Int($0) : nil }
        return entry
    }
}
