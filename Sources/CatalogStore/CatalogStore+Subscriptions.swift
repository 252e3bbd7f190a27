import BookModel
import Foundation
import GRDB

extension CatalogStore {
    /// What `mirror` follows, in the order in which it was subscribed to.
    package func subscriptions() async throws -> [Subscription] {
        try await read("the subscriptions cannot be read") { database in
            var subscriptions = try database.subscriptions("ORDER BY rowid", [])
            let paths = try database.rows("SELECT source, key, path FROM subscription_tag ORDER BY rowid") { columns in
                let book = try BookIdentity(&columns)
                let path = try columns.next(String.self).split(separator: "\n").map(String.init)
                return (book, SubscriptionTag(path: path))
            }
            let tags = Dictionary(grouping: paths, by: \.0).mapValues { $0.compactMap(\.1) }
            for index in subscriptions.indices { subscriptions[index].tags = tags[subscriptions[index].book] ?? [] }
            return subscriptions
        }
    }

    /// Those of the table that are of none of the books that its argument names.
    private static let withoutBooks =
        "WHERE (source, key) NOT IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))"

    private static func names(of books: [BookIdentity]) throws -> String? {
        try jsonText(books.map { [$0.source, $0.id] })
    }

    /// How many of ``subscriptions()`` there are without those of some books.
    package func subscriptionCount(without books: [BookIdentity]) async throws -> Int {
        let sql = "SELECT COUNT(*) FROM subscription \(Self.withoutBooks)"
        return try await value("the subscriptions cannot be counted", sql, [Self.names(of: books)]) ?? 0
    }

    /// Some of ``subscriptions()``, without their tags.
    /// - Parameters:
    ///   - books: that are left out.
    ///   - first: how many of them come before, 0 or more.
    ///   - count: how many at most.
    package func subscriptions(
        without books: [BookIdentity], from first: Int, count: Int
    ) async throws -> [Subscription] {
        try await read("the subscriptions cannot be read") { database in
            try database.subscriptions(
                "\(Self.withoutBooks) ORDER BY rowid LIMIT ? OFFSET ?", [try Self.names(of: books), count, first])
        }
    }

    /// The template that a subscribed book is named by; nil where it has none of its own.
    package func namingTemplate(of book: BookIdentity) async throws -> String? {
        let sql = """
            SELECT naming FROM subscription WHERE source = ?1 AND key = ?2 AND naming IS NOT NULL
            UNION ALL SELECT c.naming FROM collection_book b JOIN collection c ON c.id = b.collection_id
            WHERE b.source = ?1 AND b.key = ?2 AND c.naming IS NOT NULL
            """
        return try await value("the naming of \(book) cannot be read", sql, [book.source, book.id])
    }

    /// Follows books that are not followed yet, all or none of them. What is followed already stays as it is, but for
    /// tags that it has not: those are added.
    /// - Returns: for each, whether it was not followed before.
    package func follow(_ subscriptions: [Subscription]) async throws -> [Bool] {
        try await write("the subscriptions cannot be recorded", .durable) { database in
            try subscriptions.map { subscription in
                let isNew = try !database.isSubscribed(to: subscription.book)
                if isNew { try database.insert(subscription) }
                try database.add(subscription.tags, to: subscription.book)
                return isNew
            }
        }
    }

    /// Follows a book, or follows it otherwise than before. The time of the first subscription and its tags stay; tags that
    /// it has not are added.
    /// - Returns: whether the book was not followed before.
    package func subscribe(_ subscription: Subscription) async throws -> Bool {
        try await write("the subscription to \(subscription.book) cannot be recorded", .durable) { database in
            let isNew = try !database.isSubscribed(to: subscription.book)
            try database.insert(subscription)
            try database.add(subscription.tags, to: subscription.book)
            return isNew
        }
    }

    /// - Returns: whether the book was followed.
    package func unsubscribe(_ book: BookIdentity) async throws -> Bool {
        try await write("the subscription to \(book) cannot be ended", .durable) { database in
            try database.run("DELETE FROM subscription WHERE source = ? AND key = ?", [book.source, book.id])
            return database.changesCount > 0
        }
    }
}

extension Database {
    fileprivate func subscriptions(_ condition: String, _ arguments: StatementArguments) throws -> [Subscription] {
        let sql = """
            SELECT source, key, title, only_sections, latest, "match", "exclude", since, transfer_order,
                max_episodes, max_bytes, naming, keep, max_size, language, min_hours, max_books, subscribed_at
            FROM subscription \(condition)
            """
        return try rows(sql, arguments) { try Subscription(&$0) }
    }

    fileprivate func isSubscribed(to book: BookIdentity) throws -> Bool {
        try value("SELECT 1 FROM subscription WHERE source = ? AND key = ?", [book.source, book.id]) == 1
    }

    /// Or changes the one there is.
    fileprivate func insert(_ subscription: Subscription) throws {
        let (filter, limits, collection) = (subscription.filter, subscription.limits, subscription.collection)
        try insert(
            into: "subscription",
            [
                ("source", subscription.book.source), ("key", subscription.book.id), ("title", subscription.title),
                ("transfer_order", subscription.order?.rawValue), ("max_episodes", limits.episodes),
                ("max_bytes", limits.bytes), ("naming", subscription.naming), ("keep", subscription.keep?.text),
                ("max_size", subscription.keep?.maxBytes), ("language", collection.language),
                ("min_hours", collection.minHours), ("max_books", collection.maxBooks),
                ("subscribed_at", stored(subscription.subscribedAt)),
            ] + filter.row,
            key: ["source", "key"],
            changes: ["subscribed_at": "COALESCE(subscribed_at, excluded.subscribed_at)"])
    }

    fileprivate func add(_ tags: [SubscriptionTag], to book: BookIdentity) throws {
        for tag in tags {
            try run(
                "INSERT OR IGNORE INTO subscription_tag (source, key, path) VALUES (?, ?, ?)",
                [book.source, book.id, tag.path.joined(separator: "\n")])
        }
    }
}

extension Subscription {
    fileprivate init(_ columns: inout ColumnReader) throws {
        self.init(
            book: try BookIdentity(&columns), title: try columns.next(),
            filter: try EpisodeFilter(&columns),
            order: try columns.next(String?.self).flatMap(TransferOrder.init(rawValue:)),
            limits: RunLimits(episodes: try columns.next(), bytes: try columns.next()),
            naming: try columns.next(), keep: try KeepRule(storedText: columns.next(), maxBytes: columns.next()),
            collection: CollectionFilter(
                language: try columns.next(), minHours: try columns.next(), maxBooks: try columns.next()),
            subscribedAt: try columns.nextTime())
    }
}

extension EpisodeFilter {
    /// The columns that ``init(_:)`` reads.
    var row: ColumnValues {
        [
            ("only_sections", only?.description), ("latest", latest), ("match", match), ("exclude", exclude),
            ("since", since?.description),
        ]
    }

    /// From the columns `only_sections`, `latest`, `match`, `exclude` and `since`.
    init(_ columns: inout ColumnReader) throws {
        self.init(
            only: try columns.next(String?.self).map(SectionRanges.init(stored:)), latest: try columns.next(),
            match: try columns.next(), exclude: try columns.next(),
            since: try columns.next(String?.self).map(PublicationStart.init(parsing:)))
    }
}

extension SectionRanges {
    /// No ranges at all are stored as the empty text, which the user could not write.
    fileprivate init(stored text: String) throws {
        if text.isEmpty { self.init([]) } else { try self.init(parsing: text) }
    }
}
