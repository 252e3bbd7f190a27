import BookModel
import CatalogFetcher
import CatalogStore
import Foundation

/// Reads the list of a collection page by page into the store, each page in a transaction of its own: what is cut off goes on at its
/// cursor another night.
struct CollectionListing {
    /// Pages in sequence that bring no book: whoever gives more of them has no end.
    static let maxEmptyPages = 20

    let store: CatalogStore
    let subscription: Subscription
    let list: any BookCollection

    /// What a listing came to.
    struct Outcome {
        var changes: CollectionChanges
        /// How many books the catalog says there are.
        var declared: Int?
    }

    func execute() async throws -> Outcome {
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
                return Outcome(changes: changes, declared: page.declared)
            }
            emptyPages = count == 0 ? emptyPages + 1 : 0
            guard emptyPages < Self.maxEmptyPages, next != cursor else {
                try await store.restartListing(of: collection)
                throw Failure.endlessList(collection)
            }
            cursor = next
        }
    }
}
