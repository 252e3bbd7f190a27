import BookModel
import CatalogFetcher
import Foundation
import LibraryFiles
import Settings

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
        _ bytes: [UInt8], from name: Message, configuration: Configuration, knownLibraries: KnownLibraries?
    ) async throws {
        let document = try OPMLReader.read(bytes, from: name)
        try await self.init(document.feeds, configuration: configuration, knownLibraries: knownLibraries)
        notices = Self.notices(of: document, name: name) + notices
    }

    /// Follows feeds that are not followed yet: all that can be, or on an error none.
    /// - Throws: as ``SubscriptionBook`` does.
    package init(
        _ feeds: [OPMLFeed], configuration: Configuration, knownLibraries: KnownLibraries?
    ) async throws {
        let addresses = feeds.compactMap { $0.address.flatMap(FeedSettings.webAddress) }
        let configuration = try await configuration.knowing(
            addresses.compactMap { try? BookReference(parsing: $0.secretText) })
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
                subscription.subscribedAt = .now
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
        let areNew = try await SubscriptionBook.open(of: configuration, knownLibraries: knownLibraries) {
            try await $0.follow(wanted)
        }
        for ((index, _), isNew) in zip(subscriptions, areNew) where isNew { entries[index].outcome = .subscribed }
        let added = zip(wanted, areNew).compactMap { $1 ? $0.book : nil }
        if let notice = configuration.privacyNotice(of: added) { notices.append(notice) }
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
        let web = feed.address.flatMap(FeedSettings.webAddress)
        var subscription: Subscription
        if let own = feed.booksync, feed.address == nil || source(named: own.book.source) != nil {
            subscription = try self.subscription(own, at: web)
        } else if let web {
            let book = book(at: web)
            subscription = Subscription(
                book: book, address: try addressToRecord(of: book, at: web), title: feed.title)
        } else {
            throw Failure(
                .unreadableCatalog,
                what: "'\(feed.title ?? feed.address?.withoutSecrets ?? "")' cannot be subscribed to",
                why: "\(feed.address?.withoutSecrets ?? "it") is no address of the web",
                remedy: "look for the feed's http or https address")
        }
        subscription.tags = feed.tags
        var asking = self
        asking.moved[subscription.book] = web
        if !trustsReferences, let why = asking.privacyNotice(of: [subscription.book]) {
            throw Failure(.configuration, what: "\(subscription.book) cannot be subscribed to", why: why)
        }
        return subscription
    }

    /// The subscription that booksync wrote.
    /// - Parameter web: the address of its feed, which may be another than the book's id; nil if the list has none.
    private func subscription(_ own: Subscription, at web: ResourceAddress?) throws -> Subscription {
        var own = own
        try own.book.requireNoSecret()
        try requireSource(of: own.book)
        if let naming = own.naming { _ = try NamingTemplate(parsing: naming) }
        guard source(named: own.book.source)?.kind == .feed, own.book.id.contains("://") else { return own }
        if let web {
            own.book = recognised[web] ?? own.book
            own.address = FeedSettings.isID(own.book.id, of: web) ? try addressToRecord(of: own.book, at: web) : web
        } else if !hasAddress(of: own.book) {
            throw Failure(
                .unreadableCatalog, what: "'\(own.title ?? own.book.id)' cannot be subscribed to",
                why: "its address holds a secret and is not in the file",
                remedy: "subscribe to it by hand: booksync subscribe ADDRESS")
        }
        return own
    }
}
