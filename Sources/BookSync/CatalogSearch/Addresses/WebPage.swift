import BookModel
import CatalogFetcher
import Transport

/// The feeds and the title of a web page whose address was typed instead of a feed's.
final class WebPage: HTMLHandler {
    /// The feeds it names by `rel="alternate"` in its order, those of comments last.
    var feeds: [ResourceAddress] { own + ofComments }
    private(set) var title: [UInt8] = []

    private static let maxFeeds = 100
    private var own: [ResourceAddress] = []
    private var ofComments: [ResourceAddress] = []
    private var base: ResourceAddress
    private var isInTitle = false

    init(_ bytes: [UInt8], at address: ResourceAddress) {
        base = address
        _ = HTMLReader.read(bytes, into: self)
    }

    func open(_ name: String, attributes: [String: String]) {
        switch name {
        case "base": base = attributes["href"].flatMap(base.resolving) ?? base
        case "title": isInTitle = title.isEmpty
        case "link", "a": add(attributes)
        default: break
        }
    }

    private func add(_ link: [String: String]) {
        let (relation, type) = (link["rel"]?.lowercased() ?? "", link["type"]?.lowercased() ?? "")
        guard relation.split(whereSeparator: \.isWhitespace).contains("alternate"), type.contains(/rss|atom|\/xml/),
            let feed = link["href"].flatMap(base.resolving).flatMap(FeedSettings.webAddress),
            feeds.count < Self.maxFeeds, !feeds.contains(feed)
        else { return }
        let isOfComments = "\(feed) \(link["title"] ?? "")".lowercased().contains("comment")
        if isOfComments { ofComments.append(feed) } else { own.append(feed) }
    }

    func close(_ name: String) { isInTitle = isInTitle && name != "title" }

    func text(_ piece: UnsafeBufferPointer<UInt8>) {
        if isInTitle, title.count < 1000 { title += piece }
    }
}
