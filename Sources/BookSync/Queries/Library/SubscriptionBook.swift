import BookModel
import CatalogFetcher
import CatalogStore
import LibraryFiles
import Settings

/// Adds and removes subscriptions. Works beside a run that is under way: the store takes one writer after the other.
package struct SubscriptionBook: Sendable {
    private let store: CatalogStore
    private let configuration: Configuration

    /// - Parameters:
    ///   - configuration: whose library is created where it is missing.
    ///   - knownLibraries: what is remembered of libraries, so that one whose disk is not mounted is not begun anew.
    package static func open<Result: Sendable>(
        of configuration: Configuration, knownLibraries: KnownLibraries? = nil,
        _ body: (SubscriptionBook) async throws -> Result
    ) async throws -> Result {
        try await CatalogStore.opened(in: configuration.library, knownLibraries: knownLibraries) {
            try await body(SubscriptionBook(store: $0, configuration: configuration))
        }
    }

    /// What subscribing to a book came to.
    package enum Outcome: String, Sendable {
        case subscribed, changed
        /// Followed before, in the same way.
        case already
    }

    /// - Returns: what it came to, and what to report of the book's address.
    package func subscribe(_ subscription: Subscription) async throws -> (outcome: Outcome, notice: Message?) {
        let notice = try record(subscription)
        let former = try await stored(subscription.book)
        guard try await !store.subscribe(subscription) else { return (.subscribed, notice) }
        return (try await stored(subscription.book) == former ? .already : .changed, notice)
    }

    private func stored(_ book: BookIdentity) async throws -> Subscription? {
        try await store.subscriptions().first { $0.book == book }
    }

    /// Follows what is not followed yet, all or none of them; tags that are new are added. No book of the library is moved to
    /// another address: a list may come from anyone.
    /// - Returns: for each, whether it was not followed before.
    package func follow(_ subscriptions: [Subscription]) async throws -> [Bool] {
        let known = Set(try await store.known(among: subscriptions.map(\.book)))
        for subscription in subscriptions
        where !known.contains(subscription.book) || FeedSettings.newAddress(of: subscription) == nil {
            _ = try record(subscription)
        }
        return try await store.follow(subscriptions)
    }

    /// Before the subscription: without its address a book cannot be asked for.
    private func record(_ subscription: Subscription) throws -> Message? {
        try subscription.address.flatMap { try configuration.record($0, of: subscription.book) }
    }

    /// Records that a book is at another address from now on.
    package func move(_ book: BookIdentity, to address: ResourceAddress) async throws {
        _ = try configuration.record(address, of: book)
        try await store.forgetListingValidator(of: book)
    }

    /// - Returns: whether the book was followed.
    package func unsubscribe(_ book: BookIdentity) async throws -> Bool {
        try await store.unsubscribe(book)
    }
}

extension CatalogStore {
    /// Opens the store of a library for writing, and makes both where they are missing.
    /// - Parameter knownLibraries: what is remembered of libraries, so that one whose disk is not mounted is not begun anew.
    package static func opened<Result: Sendable>(
        in library: String, knownLibraries: KnownLibraries?, _ body: (CatalogStore) async throws -> Result
    ) async throws -> Result {
        try await knownLibraries?.requireMounted(library)
        // A new store in the place of a lost one would hide the loss.
        try await LibraryFolder.existing(at: library).refuseLostStore()
        let folder = try await LibraryFolder.open(at: library)
        return try await folder.writingStore(body)
    }
}
