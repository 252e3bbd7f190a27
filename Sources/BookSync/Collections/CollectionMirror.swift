import BookModel
import CatalogFetcher
import CatalogStore
import Foundation
import Logging
import Settings
import Transport

/// Follows collections: lists each as a mirror begins, and has its books fetched in runs of some hundreds, so that a run of a hundred
/// thousand books needs no more memory than one of few.
package struct CollectionMirror: Sendable {
    private static let booksInRun = 500
    /// Pages in sequence that bring no book: whoever gives more of them has no end.
    static let maxEmptyPages = 20

    private let configuration: Configuration
    private let store: CatalogStore
    private let logger: Logger
    private let tell: @Sendable (Message) async -> Void

    /// - Parameters:
    ///   - session: its library's lock is held meanwhile.
    ///   - tell: is told of each collection that was listed, in a sentence; what could not be is told by the first run.
    package init(
        _ configuration: Configuration, in session: LibrarySession, logger: Logger,
        tell: @escaping @Sendable (Message) async -> Void
    ) {
        (self.configuration, store, self.logger, self.tell) = (configuration, session.store, logger, tell)
    }

    /// Lists the collections among the subscriptions, and does the runs that fetch their books. The first one fetches the other
    /// subscriptions, too; it is done even if there is nothing to do.
    /// - Parameters:
    ///   - limits: of all runs together.
    ///   - isWhole: whether these are all subscriptions.
    ///   - run: does one run, within what is left of the limits.
    /// - Returns: what the last run came to, the failures of all, and last among them why books were not checked, which no
    ///   run has reported; nil where all were.
    package func execute(
        _ subscriptions: [Subscription], order: TransferOrder? = nil, within limits: RunLimits = RunLimits(),
        isWhole: Bool = true,
        run: ([RunRequest.Item], [RunRequest.ListAnswer], RunLimits) async throws -> RunReport
    ) async throws -> (report: RunReport, failures: [Failure], unchecked: Failure?) {
        let mirrors = isWhole ? try await store.requests().filter { $0.kind == .mirror } : []
        let deadline = limits.seconds.map { ContinuousClock.now + .seconds($0) }
        var limits = limits
        let collections = subscriptions.filter(\.book.isCollection)
        var lists = try await list(collections)
        var failures: [Failure] = []
        var items = configuration.items(of: subscriptions, order: order)
        var taken = Set(items.map(\.book))
        var last: [BookIdentity: Int64] = [:]
        var previous: RunReport?
        while true {
            var books: [BookIdentity] = []
            for collection in collections where books.count < Self.booksInRun {
                let found = try await store.booksToFetch(
                    of: collection.book, after: last[collection.book] ?? 0, limit: collection.collection.maxBooks,
                    count: Self.booksInRun - books.count)
                if let number = found.last?.number { last[collection.book] = number }
                // A book that is subscribed to is brought as its own subscription says; one of two collections once.
                let new = found.map(\.book).filter { taken.insert($0).inserted }
                items += configuration.items(of: new.map { collection.of($0) }, order: order)
                books += found.map(\.book)
            }
            limits.seconds = deadline.map { max(0, ($0 - .now) / .seconds(1)) }
            if let previous {
                let areLimitsReached = limits.isReached || limits.seconds ?? 1 <= 0
                guard !books.isEmpty else {
                    // Within limits perhaps only a part was done of it.
                    if limits.allowAll || failures.isEmpty && !areLimitsReached {
                        try await telling { try await store.end(mirrors.map(\.id)) }
                    }
                    return (previous, failures, nil)
                }
                guard !areLimitsReached, previous.booksLeft.isEmpty else {
                    let unchecked = Failure(
                        .temporary, what: "\(Message(books.count, "book")) or more not checked",
                        why: "the limits of the run were reached", remedy: "run again, or with wider limits")
                    return (previous, failures + [unchecked], unchecked)
                }
            }
            let report = try await run(items, lists, limits)
            failures += report.failures
            // Of the others the list is believed another night.
            try await telling { [books] in
                try await store.noteFetched(Array(Set(books).intersection(report.listedBooks)))
            }
            if Task.isCancelled || report.failures.contains(where: { $0.disposition == .stop }) {
                return (report, failures, nil)
            }
            (items, lists, previous, limits) = ([], [], report, report.limits)
        }
    }

    /// Where the disk is too full to record that something was done, the next run does it once more: this one's result, which is
    /// told by now, stays what it is.
    private func telling(_ record: () async throws -> Void) async throws {
        do {
            try await record()
        } catch let failure as Failure where failure.isLackOfRoom {
            await tell(failure.message)
        }
    }

    private func list(_ collections: [Subscription]) async throws -> [RunRequest.ListAnswer] {
        try await store.forgetCollections(except: collections.map(\.book))
        guard !collections.isEmpty else { return [] }
        return try await withHTTPTransport(options: configuration.transportOptions, logger: logger) { transport in
            var answers: [RunRequest.ListAnswer] = []
            for subscription in collections {
                do {
                    let list = try configuration.requireCollection(subscription.book, over: transport)
                    let (changes, declared) = try await read(list, of: subscription)
                    await tell(Self.sentence(changes, of: subscription.book, declared: declared))
                    answers.append(.init(subscription.book))
                } catch let failure as Failure where failure.kind != .libraryUnwritable {
                    // The other lists, and the books that are known, can be had all the same.
                    let skipped = Failure(failure.kind, what: failure.what, why: failure.why, remedy: failure.remedy)
                    answers.append(.init(subscription.book, failure: skipped))
                }
            }
            return answers
        }
    }

    /// Reads the list of a collection page by page into the store, each page in a transaction of its own: what is cut off goes on
    /// at its cursor another night.
    /// - Returns: what it came to, and how many books the catalog says there are.
    private func read(
        _ list: any BookCollection, of subscription: Subscription
    ) async throws -> (changes: CollectionChanges, declared: Int?) {
        let collection = subscription.book
        let filter = try CompiledCollectionFilter(subscription, now: .now)
        var cursor = try await store.beginListing(
            of: collection, filter: filter.description, naming: subscription.naming)
        var (mayRestart, emptyPages) = (cursor != nil, 0)
        while true {
            let page: CollectionPage
            do {
                page = try await list.page(at: cursor)
            } catch let failure as Failure where failure.reason == .expiredCursor && mayRestart {
                (mayRestart, cursor, emptyPages) = (false, nil, 0)
                try await store.restartListing(of: collection)
                continue
            }
            // A cursor may be an address; one that holds a secret is not stored, and a listing that is cut there begins anew.
            let isStorable = page.next.map { !ResourceAddress($0).holdsSecrets } ?? true
            let count = try await store.record(
                page.entries, wanted: page.entries.map(filter.isWanted), next: isStorable ? page.next : nil,
                of: collection)
            guard let next = page.next else {
                let changes = try await store.endListing(
                    of: collection, limit: subscription.collection.maxBooks, declared: page.declared)
                return (changes, page.declared)
            }
            emptyPages = count == 0 ? emptyPages + 1 : 0
            guard emptyPages < Self.maxEmptyPages, next != cursor else {
                try await store.restartListing(of: collection)
                throw Failure.endlessList(collection)
            }
            cursor = next
        }
    }

    private static func sentence(
        _ changes: CollectionChanges, of name: BookIdentity, declared: Int?
    ) -> Message {
        let others = changes.gone > changes.goneTitles.count ? ", …" : ""
        let titles = changes.goneTitles.joined(separator: ", ") + others
        let differs = declared.map { $0 != changes.listed } ?? false
        let parts: [Message?] = [
            changes.wanted < changes.listed
                ? "\(changes.wanted) of \(Message(changes.listed, "book"))" : Message(changes.wanted, "book"),
            changes.new > 0 ? "\(changes.new) new" : nil,
            changes.gone > 0 ? "\(changes.gone) no longer listed, and kept (\(titles))" : nil,
            differs ? "the catalog says that there are \(declared ?? 0)" : nil,
        ]
        return "\(name): \(parts.compactMap(\.self).joined(separator: ", "))"
    }
}

extension Subscription {
    /// What the subscription to a collection says of one of its books.
    fileprivate func of(_ book: BookIdentity) -> Subscription {
        Subscription(book: book, order: order, limits: limits, naming: naming, keep: keep)
    }
}
