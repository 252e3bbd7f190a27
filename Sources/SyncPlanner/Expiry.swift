import BookModel
import Foundation

/// What a ``KeepRule`` means for the episodes of a book.
///
/// Only files that are as they were fetched, and where booksync put them, expire: what the user edited, moved or renamed is
/// theirs. So is what the catalog no longer lists. From a listing that may be incomplete nothing expires.
///
/// The newest episodes are those with the latest dates, where all have one, and else those with the highest numbers. What is
/// among the last by either stays: an archive that a feed opens, and a season that begins with 1 again, empty no shelf.
struct Expiry {
    /// Episodes whose files go to the trash, by their keys.
    private(set) var expired: Set<String> = []
    /// Episodes that are not on disk and that the rule would not keep there.
    private(set) var unwanted: Set<String> = []

    /// Files that stay although there are as many newer ones as the rule keeps: each with the reason.
    private(set) var beyondRule: [Message] = []

    private typealias Entry = (shelved: EpisodeRecord, condition: FileCondition, rank: Rank)

    /// How many listed episodes are newer.
    private struct Rank {
        var byNumber = 0
        /// The same as `byNumber` where not all have a date.
        var byDate = 0
    }

    /// - Parameters:
    ///   - episodes: in section order.
    ///   - conditions: of their files.
    ///   - wanted: the keys of those that the filter lets pass.
    init(_ episodes: [EpisodeRecord], conditions: [FileCondition], wanted: Set<String>, input: PlannerInput) {
        guard let rule = input.rules.keep, !input.rules.force else { return }
        let newest = Self.newest(episodes, conditions: conditions, wanted: wanted)
        func isKept(_ entry: Entry, atRank rank: Int) -> Bool {
            Self.keeps(rule, entry.shelved, rank: rank, input: input)
        }
        var kept = Set(
            newest.filter { isKept($0, atRank: min($0.rank.byNumber, $0.rank.byDate)) }.map(\.shelved.key))
        var fetched = Set(newest.filter { isKept($0, atRank: $0.rank.byDate) }.map(\.shelved.key))
        if let maxBytes = rule.maxBytes {
            let sizes = newest.compactMap(\.shelved.bytes)
            // Of what nobody knows no more is fetched at a time than stays in any case.
            let usual =
                sizes.isEmpty
                ? maxBytes / Int64(KeepRule.minFiles) : sizes.saturatedSum(of: \.self) / Int64(sizes.count)
            var bytes: Int64 = 0
            for entry in newest where kept.contains(entry.shelved.key) {
                bytes.addSaturated(max(0, entry.shelved.bytes ?? usual))
                let mustStay = rule.isUnheard && !input.heard.contains(entry.shelved.key)
                guard bytes > maxBytes, !mustStay else { continue }
                kept.remove(entry.shelved.key)
                fetched.remove(entry.shelved.key)
            }
        }
        for (shelved, condition) in zip(episodes, conditions) where shelved.isGone {
            if case .intact = condition { stays(shelved, "no longer in the catalog") }
        }
        var files = 0
        for (shelved, condition, rank) in newest where shelved.removedAt == nil && !shelved.episode.isLocked {
            if case .intact(let file, let touched, let recordedPath) = condition {
                files += 1
                let isOwn = touched || file.isNamedByUser || file.path != recordedPath
                let isLastByBoth = isKept((shelved, condition, rank), atRank: max(rank.byNumber, rank.byDate))
                switch (kept.contains(shelved.key), files <= KeepRule.minFiles) {
                case (true, _) where isLastByBoth: break
                case (true, _): stays(shelved, "among the last by its date or its number alone")
                case (false, true): stays(shelved, "one of the \(KeepRule.minFiles) newest files")
                case (false, false) where isOwn: stays(shelved, "touched, renamed or moved since it was fetched")
                case (false, false): if input.isListingComplete { expired.insert(shelved.key) }
                }
            } else if shelved.file == nil, !fetched.contains(shelved.key) {
                unwanted.insert(shelved.key)
            }
        }
    }

    private mutating func stays(_ shelved: EpisodeRecord, _ why: Message) {
        beyondRule.append("\(shelved.episode.section) (\(why))")
    }

    /// What counts, the newest first: all that the subscription follows, and what is on disk. What was removed, or is locked
    /// for a while, counts as well: nothing takes its turn.
    private static func newest(
        _ episodes: [EpisodeRecord], conditions: [FileCondition], wanted: Set<String>
    ) -> [Entry] {
        var entries: [Entry] = zip(episodes, conditions).filter { shelved, _ in
            !shelved.isGone && (shelved.file != nil || wanted.contains(shelved.key))
        }.reversed().enumerated().map { ($0.element.0, $0.element.1, Rank(byNumber: $0.offset, byDate: $0.offset)) }
        let dates = entries.compactMap(\.shelved.episode.publishedAt)
        guard dates.count == entries.count else { return entries }
        let order = entries.indices.sorted {
            (dates[$0], entries[$1].rank.byNumber) > (dates[$1], entries[$0].rank.byNumber)
        }
        for (rank, index) in order.enumerated() { entries[index].rank.byDate = rank }
        return order.map { entries[$0] }
    }

    private static func keeps(_ rule: KeepRule, _ shelved: EpisodeRecord, rank: Int, input: PlannerInput) -> Bool {
        if rule.text == nil { return true }
        if let latest = rule.latest, rank < latest { return true }
        if rule.isUnheard, !input.heard.contains(shelved.key) { return true }
        guard let age = rule.age else { return false }
        let dates = [shelved.episode.publishedAt, shelved.file?.fetchedAt].compactMap(\.self)
        // How old it is, nobody knows.
        guard let youngest = dates.max() else { return true }
        return input.rules.now.timeIntervalSince(youngest) <= age
    }
}

extension EpisodeRecord {
    fileprivate var key: String { episode.identity.key }
    /// Of its file, or as far as its server or the catalog says it.
    fileprivate var bytes: Int64? { file?.size ?? transfer?.total ?? episode.size }
}
