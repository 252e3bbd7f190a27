import BookModel
import Foundation

/// An ``EpisodeFilter`` whose regular expressions proved readable.
///
/// The expressions come from the user's own command line or configuration and are searched for in names of a few
/// dozen characters; one that backtracks catastrophically hurts only the one who wrote it, and is not guarded against.
package struct CompiledFilter {
    package static var everything: CompiledFilter { CompiledFilter() }

    private var only: SectionRanges?
    private var latest: Int?
    private var match: Regex<AnyRegexOutput>?
    private var exclude: Regex<AnyRegexOutput>?
    private var since: PublicationStart?
    /// What it asks for, in words for the user.
    private(set) var rule: Message = ""

    private init() {}

    /// - Throws: ``Failure`` of kind `usage` when an expression cannot be read.
    package init(_ filter: EpisodeFilter) throws {
        self.only = filter.only
        self.latest = filter.latest
        self.since = filter.since
        self.rule = filter.conditions.joined(separator: ", ")
        self.match = try filter.match.map { try Self.compile($0, option: "match") }
        self.exclude = try filter.exclude.map { try Self.compile($0, option: "exclude") }
    }

    private static func compile(_ pattern: String, option: String) throws -> Regex<AnyRegexOutput> {
        do {
            return try Regex(pattern)
        } catch {
            throw Failure(
                .usage, disposition: .stop, what: "the regular expression '\(pattern)' of \(option) cannot be read",
                why: "it is not a regular expression",
                remedy: "put a backslash before characters that are meant literally, such as ( [ * + ?")
        }
    }

    /// The keys of the episodes that pass. Everything that is set must hold; `latest` counts the highest sections of
    /// the whole listing, before the other conditions, and never an episode that is gone.
    func wantedKeys(among episodes: [EpisodeRecord], now: Date) -> Set<String> {
        var wanted = episodes
        if let latest {
            wanted = Array(wanted.filter { !$0.isGone }.sorted(by: inSectionOrder).suffix(max(0, latest)))
        }
        var keys = Set<String>(minimumCapacity: wanted.count)
        let start = start(now: now)
        for shelved in wanted where passes(shelved.episode, from: start) { keys.insert(shelved.episode.identity.key) }
        return keys
    }

    private func passes(_ episode: Episode, from start: Date?) -> Bool {
        if let only, !only.contains(episode.section) { return false }
        return passes(episode.name, publishedAt: episode.publishedAt, from: start)
    }

    /// Whether something of that name passes what the filter says of names and times.
    /// - Parameter start: ``start(now:)``.
    package func passes(_ name: String, publishedAt: Date?, from start: Date?) -> Bool {
        if let start, let publishedAt, publishedAt < start { return false }
        if let match, name.firstMatch(of: match) == nil { return false }
        if let exclude, name.firstMatch(of: exclude) != nil { return false }
        return true
    }

    /// What was published earlier does not pass; nil for no limit.
    package func start(now: Date) -> Date? { since?.time(now: now) }
}

/// By section number; the key decides between equal ones, so that no order is left to chance.
func inSectionOrder(_ one: EpisodeRecord, _ other: EpisodeRecord) -> Bool {
    (one.episode.section, one.episode.identity.key) < (other.episode.section, other.episode.identity.key)
}
