import BookModel

/// The attributes of outlines that are looked at, in any case; those of booksync's own with their namespace.
enum OutlineAttribute: UInt8 {
    case other = 0
    case text, title, type, feed, page, url, category
    case book, ownTitle, only, latest, match, exclude, since, order, episodes, bytes, naming, keep, maxSize
    case language, minHours, maxBooks

    private static let common: [String: OutlineAttribute] = [
        "text": .text, "title": .title, "type": .type, "xmlurl": .feed, "htmlurl": .page, "url": .url,
        "category": .category,
    ]
    private static let own: [String: OutlineAttribute] = [
        "book": .book, "title": .ownTitle, "only": .only, "latest": .latest, "match": .match, "exclude": .exclude,
        "since": .since, "order": .order, "maxepisodes": .episodes, "maxbytes": .bytes, "naming": .naming,
        "keep": .keep, "maxsize": .maxSize, "language": .language, "minhours": .minHours, "maxbooks": .maxBooks,
    ]

    init(_ name: XMLName) {
        let isOwn = name.namespace == OPMLDocument.namespace || name.namespace == nil && name.prefix == "booksync"
        let names = isOwn ? Self.own : name.prefix == nil ? Self.common : [:]
        self = names[name.local.lowercased()] ?? .other
    }
}

/// What one outline says; what it leaves empty is nil.
struct OPMLAttributes {
    private let values: [OutlineAttribute: String]

    init(_ attributes: XMLAttributes) {
        values = attributes.values()
    }

    var text: String? { values[.text] }
    var title: String? { values[.title] }
    var type: String? { values[.type] }
    /// Where the feed is. The schemes that some programs register for feeds stand for http, or for what comes after them.
    var feed: String? {
        guard let address = values[.feed] else { return nil }
        for scheme in ["feed", "itpc", "pcast", "podcast"] where address.lowercased().hasPrefix(scheme + ":") {
            let rest = address.dropFirst(scheme.count + 1)
            return rest.hasPrefix("//") ? "http:" + rest : String(rest)
        }
        return address
    }
    var page: String? { values[.page] }
    var url: String? { values[.url] }
    var category: String? { values[.category] }

    /// The subscription that booksync wrote; nil when it wrote none, or nothing that can be read.
    var booksync: Subscription? {
        guard let text = values[.book] else { return nil }
        do {
            guard case .book(let book) = try BookReference(parsing: text).target else { return nil }
            return Subscription(
                book: book, title: values[.ownTitle],
                filter: EpisodeFilter(
                    only: try values[.only].map { try SectionRanges(parsing: $0) },
                    latest: positive(.latest), match: try pattern(.match), exclude: try pattern(.exclude),
                    since: try values[.since].map { try PublicationStart(parsing: $0) }),
                order: values[.order].flatMap(TransferOrder.init(rawValue:)),
                limits: RunLimits(episodes: positive(.episodes), bytes: positive(.bytes)), naming: values[.naming],
                keep: try KeepRule(storedText: values[.keep], maxBytes: positive(.maxSize)),
                collection: CollectionFilter(
                    language: values[.language],
                    minHours: values[.minHours].flatMap { Double($0) }.flatMap { $0 > 0 ? $0 : nil },
                    maxBooks: positive(.maxBooks)))
        } catch {
            return nil
        }
    }

    private func positive<Number: FixedWidthInteger>(_ attribute: OutlineAttribute) -> Number? {
        values[attribute].flatMap { Number($0) }.flatMap { $0 > 0 ? $0 : nil }
    }

    private func pattern(_ attribute: OutlineAttribute) throws -> String? {
        guard let text = values[attribute] else { return nil }
        _ = try Regex(text)
        return text
    }
}
