import BookModel
import CatalogFetcher
import LibraryFiles

extension SubscriptionSetting {
    /// In the order in which they are shown.
    static let settings: [Setting<SubscriptionSetting>] = [
        .readElsewhere("book") { ShownSetting($0.reference) },
        .optional("title", \.title) { text, _ in text },
        .count("latest", \.filter.latest),
        .stated("only", \.filter.only) { try SectionRanges(parsing: $0) },
        .pattern("match", \.filter.match), .pattern("exclude", \.filter.exclude),
        .stated("since", \.filter.since) { try PublicationStart(parsing: $0) },
        .entry("headers", shown: \.shownHeaders) {
            $0.headers += try $1.readHeaders($2, in: $3)
        },
        .entry("user-agent") { $0.headers += try $1.readHeaders($2, in: $3) },
        .choice("order", \.order),
        .count("max-episodes", \.limits.episodes),
        .stated("max-bytes", \.limits.bytes, expected: "bytes such as 500M or 2G") { positiveByteCount($0) },
        .naming(\.naming), .keep(\.keep), .maxSize(\.keep), .choice("on-catalog-change", \.onCatalogChange),
        .stated("language", \.collection.language, expected: "a language such as zh or Chinese") {
            CatalogText.languageAlone($0)
        },
        .stated("min-hours", \.collection.minHours, expected: "hours such as 2 or 0.5") {
            Double($0).flatMap { $0 > 0 && $0.isFinite ? $0 : nil }
        },
        .count("max-books", \.collection.maxBooks),
        .optional("library", \.library) { text, _ in text },
    ]

    private var shownHeaders: ShownSetting? { Masking.shown(headers) }
}

extension ConfigurationReader {
    /// - Parameter keyPath: of the subscription: `subscriptions[0]`.
    func readSubscription(_ item: SettingNode, at keyPath: String) throws -> SubscriptionSetting {
        let entries = try map(item, of: "subscriptions")
        guard let book = entries.first(where: { $0.key == "book" }) else {
            throw refusal(item.line, "subscriptions", expected: "a 'book' in every item")
        }
        let named = try expanded(try text(book), line: book.line)
        let reference = try asFault(line: book.line) { try BookReference(parsing: named) }
        if case .address(let address) = reference.target,
            !FeedSettings.isWholeAddress(FeedSettings.bookID(of: address))
        {
            recordSecret(try text(book), "\(keyPath).book", line: book.line)
        }
        var subscription = SubscriptionSetting(reference: reference, filter: reference.filter)
        for entry in entries {
            try findings.attempt {
                try read(
                    entry, in: keyPath, into: &subscription, among: SubscriptionSetting.settings, of: "subscriptions")
            }
        }
        return subscription
    }
}
