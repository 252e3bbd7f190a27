import BookModel
import Foundation

/// What a ``KeepRule`` means for the episodes of a book.
///
/// Only files that are as they were fetched, and where booksync put them, expire: what the user edited, moved or renamed is
/// theirs. So is what the catalog no longer lists. From a listing that may be incomplete nothing expires.
struct Expiry {
    /// Episodes whose files go to the trash, by their keys.
    private(set) var expired: Set<String> = []
    /// Episodes that are not on disk and that the rule would not keep there.
    private(set) var unwanted: Set<String> = []

    /// - Parameters:
    ///   - episodes: in section order.
    ///   - conditions: of their files.
    init(_ episodes: [EpisodeRecord], conditions: [FileCondition], input: PlannerInput) {
        guard let rule = input.rules.keep, !input.rules.force else { return }
        let listed = zip(episodes, conditions).filter {
            !$0.0.isGone && $0.0.removedAt == nil && !$0.0.episode.isLocked
        }
        let newest = Array(listed.reversed())
        var kept = Set(
            newest.enumerated().filter { index, entry in
                Self.keeps(rule, entry.0, rank: index, input: input)
            }.map(\.element.0.episode.identity.key))
        if let maxBytes = rule.maxBytes {
            var bytes: Int64 = 0
            for (shelved, _) in newest where kept.contains(shelved.episode.identity.key) {
                let sum = bytes.addingReportingOverflow(max(0, shelved.file?.size ?? shelved.episode.size ?? 0))
                bytes = sum.overflow ? .max : sum.partialValue
                let mustStay = rule.isUnheard && !input.heard.contains(shelved.episode.identity.key)
                if bytes > maxBytes, !mustStay { kept.remove(shelved.episode.identity.key) }
            }
        }
        var files = 0
        for (shelved, condition) in newest {
            let key = shelved.episode.identity.key
            if case .intact(let file, _, let recordedPath) = condition {
                files += 1
                guard !kept.contains(key), files > KeepRule.minFiles, input.isListingComplete,
                    !file.isNamedByUser, file.path == recordedPath
                else { continue }
                expired.insert(key)
            } else if shelved.file == nil, !kept.contains(key) {
                unwanted.insert(key)
            }
        }
    }

    /// - Parameter rank: how many listed episodes are newer.
    private static func keeps(_ rule: KeepRule, _ shelved: EpisodeRecord, rank: Int, input: PlannerInput) -> Bool {
        if rule.text == nil { return true }
        if let latest = rule.latest, rank < latest { return true }
        if rule.isUnheard, !input.heard.contains(shelved.episode.identity.key) { return true }
        guard let age = rule.age else { return false }
        let dates = [shelved.episode.publishedAt, shelved.file?.fetchedAt].compactMap(\.self)
        // How old it is, nobody knows.
        guard let youngest = dates.max() else { return true }
        return input.rules.now.timeIntervalSince(youngest) <= age
    }
}
