import BookModel
import Foundation

/// Which books of a list a subscription to it follows.
struct CompiledCollectionFilter {
    private let match: Regex<AnyRegexOutput>?
    private let exclude: Regex<AnyRegexOutput>?
    private let start: Date?
    private let filter: CollectionFilter
    /// The same for the same subscription.
    let description: String

    init(_ subscription: Subscription, now: Date) throws {
        match = try subscription.filter.match.map { try Regex($0) }
        exclude = try subscription.filter.exclude.map { try Regex($0) }
        start = subscription.filter.since?.time(now: now)
        filter = subscription.collection
        description = [
            subscription.filter.match, subscription.filter.exclude, subscription.filter.since?.description,
            filter.language, filter.minHours.map { "\($0)" },
        ].map { $0 ?? "" }.joined(separator: "\n")
    }

    func isWanted(_ entry: CatalogEntry) -> Bool {
        if let language = filter.language, entry.language?.prefix(while: { $0 != "-" }) != language[...] {
            return false
        }
        if let hours = filter.minHours, let seconds = entry.seconds, seconds < hours * 3600 { return false }
        if let start, let publishedAt = entry.publishedAt, publishedAt < start { return false }
        if let match, entry.title.firstMatch(of: match) == nil { return false }
        if let exclude, entry.title.firstMatch(of: exclude) != nil { return false }
        return true
    }
}
