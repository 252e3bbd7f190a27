import BookModel
import Foundation
import SyncPlanner

/// Which books of a list a subscription to it follows.
struct CompiledCollectionFilter {
    /// Of titles and times.
    private let names: CompiledFilter
    private let start: Date?
    private let filter: CollectionFilter
    /// The same for the same subscription.
    let description: String

    init(_ subscription: Subscription, now: Date) throws {
        names = try CompiledFilter(subscription.filter)
        start = names.start(now: now)
        filter = subscription.collection
        let parts = [
            subscription.filter.match, subscription.filter.exclude, subscription.filter.since?.description,
            filter.language, filter.minHours.map { "\($0)" },
        ]
        description = (parts.map { $0 ?? "" } + (filter.shard.map { [$0.description] } ?? [])).joined(separator: "\n")
    }

    func isWanted(_ entry: CatalogEntry) -> Bool {
        if let shard = filter.shard, !shard.has(entry.identity) { return false }
        if let language = filter.language, entry.isIn(language: language) != true { return false }
        if let hours = filter.minHours, let seconds = entry.seconds, seconds < hours * 3600 { return false }
        return names.passes(entry.title, publishedAt: entry.publishedAt, from: start)
    }
}
