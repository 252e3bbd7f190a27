import BookModel
import BookSync
import CatalogFetcher
import Foundation
import LibraryFiles
import Settings
import ShelfQueries

/// What becomes of the feeds of a list that another program exported (OPML). Nobody is asked anything: what an address names
/// is told from the address alone, and the next run finds out whether it is so.
package struct SubscriptionImport: Sendable {
    package enum Outcome: Sendable, Hashable {
        case subscribed
        /// It was followed before, and stays as it was but for tags that are new.
        case followedAlready
        case refused(Failure)
    }

    /// One feed of the list.
    package struct Entry: Sendable, Hashable {
        package var title: String?
        /// Without secrets; nil for a book that has no feed.
        package var address: String?
        /// Nil when it is not known.
        package var book: BookIdentity?
        package var tags: [SubscriptionTag]
        /// How often it stood in the list again with nothing new.
        package var repeats: Int
        package var outcome: Outcome
    }

    /// In the order of the list.
    package private(set) var entries: [Entry] = []
    /// What the user should know of the list besides.
    package private(set) var notices: [Message] = []

    package var counts: (subscribed: Int, already: Int) {
        (entries.count { $0.outcome == .subscribed }, entries.count { $0.outcome == .followedAlready })
    }

    package var failures: [Failure] {
        entries.compactMap { if case .refused(let failure) = $0.outcome { failure } else { nil } }
    }

    /// Follows every feed of the list that is not followed yet: all that can be, or on an error none.
    /// - Parameters:
    ///   - bytes: of the list.
    ///   - name: of the file.
    ///   - knownLibraries: what is remembered of libraries.
    /// - Throws: ``Failure`` of kind `unreadableCatalog` when it is no list of feeds; as ``SubscriptionBook`` does.
    package init(
        _ bytes: [UInt8], from name: Message, configuration: Configuration, knownLibraries: KnownLibraries?,
        at now: Date = .now
    ) async throws {
        let document = try OPMLReader.read(bytes, from: name)
        notices = Self.notices(of: document, name: name)
        try await follow(document.feeds, configuration: configuration, knownLibraries: knownLibraries, at: now)
    }

    /// Follows feeds that are not followed yet: all that can be, or on an error none.
    /// - Throws: as ``SubscriptionBook`` does.
    package init(
        _ feeds: [OPMLFeed], configuration: Configuration, knownLibraries: KnownLibraries?, at now: Date = .now
    ) async throws {
        try await follow(feeds, configuration: configuration, knownLibraries: knownLibraries, at: now)
    }

    private mutating func follow(
        _ feeds: [OPMLFeed], configuration: Configuration, knownLibraries: KnownLibraries?, at now: Date
    ) async throws {
        let configured = Set(try configuration.allSubscriptions(with: []).map(\.book))
        var subscriptions: [(entry: Int, wanted: Subscription)] = []
        // Where a book is among the entries, and among the subscriptions where it is one.
        var known: [BookIdentity: (entry: Int, subscription: Int?)] = [:]
        for feed in feeds {
            var entry = Entry(
                title: feed.title, address: feed.address?.withoutSecrets, tags: feed.tags, repeats: feed.repeats,
                outcome: .followedAlready)
            do {
                var subscription = try configuration.subscription(to: feed)
                subscription.subscribedAt = now
                entry.book = subscription.book
                entry.title = subscription.title
                if let (first, index) = known[subscription.book] {
                    // Another address of the same book.
                    entries[first].repeats += 1
                    let new = feed.tags.filter { !entries[first].tags.contains($0) }
                    entries[first].tags += new
                    if let index { subscriptions[index].wanted.tags += new }
                    continue
                }
                let isConfigured = configured.contains(subscription.book)
                known[subscription.book] = (entries.count, isConfigured ? nil : subscriptions.count)
                if !isConfigured { subscriptions.append((entries.count, subscription)) }
            } catch let failure as Failure {
                entry.outcome = .refused(failure)
            }
            entries.append(entry)
        }
        guard !subscriptions.isEmpty else { return }
        let wanted = subscriptions.map(\.wanted)
        let areNew = try await SubscriptionBook.open(in: configuration.library, knownLibraries: knownLibraries) {
            try await $0.follow(wanted)
        }
        for ((index, subscription), isNew) in zip(subscriptions, areNew) where isNew {
            entries[index].outcome = .subscribed
            if let notice = configuration.privacyNotice(of: subscription.book) { notices.append(notice) }
        }
    }

    private static func notices(of document: OPMLDocument, name: Message) -> [Message] {
        var notices: [Message] = document.lists.map { list in
            "\(name) points to another list, which is not read: \(list.address)\(list.title.map { " (\($0))" } ?? "")"
        }
        notices += document.pages.map { page in
            "\(name) names a page and no feed of it: \(page.address)\(page.title.map { " (\($0))" } ?? "")"
        }
        if !document.isWhole { notices.append("\(name) ends in the middle: what was behind that is missing") }
        if document.isBeyondCeiling {
            notices.append("\(name) holds more than \(document.feeds.count) feeds: those behind them were left out")
        }
        return notices
    }
}

extension Configuration {
    /// What following a feed of a list means here.
    fileprivate func subscription(to feed: OPMLFeed) throws -> Subscription {
        if var own = feed.booksync, feed.address == nil || source(named: own.book.source) != nil {
            try own.book.requireNoSecret()
            try requireSource(of: own.book)
            if let naming = own.naming { _ = try NamingTemplate(parsing: naming) }
            own.tags = feed.tags
            return own
        }
        guard let address = feed.address, let web = FeedSettings.webAddress(address) else {
            throw Failure(
                .unreadableCatalog,
                what: "'\(feed.title ?? feed.address?.withoutSecrets ?? "")' cannot be subscribed to",
                why: "\(feed.address?.withoutSecrets ?? "it") is no address of the web",
                remedy: "look for the feed's http or https address")
        }
        let book = book(at: web)
        let recorded = try addressToRecord(of: book, at: web)
        if !trustsReferences, let why = privacyNotice(of: book) {
            throw Failure(.configuration, what: "\(web) cannot be subscribed to", why: why)
        }
        return Subscription(book: book, address: recorded, title: feed.title, tags: feed.tags)
    }
}
