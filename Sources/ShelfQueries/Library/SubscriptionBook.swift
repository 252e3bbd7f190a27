import BookModel
import CatalogStore
import LibraryFiles
import Settings

/// Adds and removes subscriptions. Works beside a run that is under way: the store takes one writer after the other.
package struct SubscriptionBook: Sendable {
    private let store: CatalogStore
    private let library: String

    /// - Parameters:
    ///   - library: created where it is missing.
    ///   - knownLibraries: what is remembered of libraries, so that one whose disk is not mounted is not begun anew.
    package static func open<Result: Sendable>(
        in library: String, knownLibraries: KnownLibraries? = nil, _ body: (SubscriptionBook) async throws -> Result
    ) async throws -> Result {
        try await CatalogStore.opened(in: library, knownLibraries: knownLibraries) {
            try await body(SubscriptionBook(store: $0, library: library))
        }
    }

    /// What subscribing to a book came to.
    package enum Outcome: String, Sendable {
        case subscribed, changed
        /// Followed before, in the same way.
        case already
    }

    package func subscribe(_ subscription: Subscription) async throws -> Outcome {
        try recordAddresses(of: [subscription])
        let former = try await stored(subscription.book)
        guard try await !store.subscribe(subscription) else { return .subscribed }
        return try await stored(subscription.book) == former ? .already : .changed
    }

    private func stored(_ book: BookIdentity) async throws -> Subscription? {
        try await store.subscriptions().first { $0.book == book }
    }

    /// Follows what is not followed yet, all or none of them; tags that are new are added.
    /// - Returns: for each, whether it was not followed before.
    package func follow(_ subscriptions: [Subscription]) async throws -> [Bool] {
        try recordAddresses(of: subscriptions)
        return try await store.follow(subscriptions)
    }

    /// Before the subscriptions: without its address a book cannot be asked for.
    private func recordAddresses(of subscriptions: [Subscription]) throws {
        for subscription in subscriptions {
            if let address = subscription.address {
                try AddressFile(of: subscription.book, in: library).record(address)
            }
        }
    }

    /// Records that a book is at another address from now on.
    package func move(_ book: BookIdentity, to address: ResourceAddress, in configuration: Configuration) async throws {
        guard try await !store.known(among: [book]).isEmpty else { throw Failure.notOnTheShelf(book) }
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
