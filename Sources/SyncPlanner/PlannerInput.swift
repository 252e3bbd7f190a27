import BookModel
import Foundation

/// Everything that a plan for one book depends on, as values: the planner looks at no disk and no clock.
package struct PlannerInput {
    package var book: Book
    /// The catalog's episodes with what the store knows of each, those that are gone included. Their order counts
    /// only for ``TransferOrder/listed``.
    package var episodes: [EpisodeRecord]
    /// Episode key → the library-relative path that the naming wants for it.
    package var paths: [String: String]
    /// Library-relative path → what stands there, for every recorded and every wanted path that is taken, and for all
    /// else where a file of the book may be.
    package var files: [String: FileAttributes]
    /// Paths that are other books' files.
    package var others: Set<String>
    /// Library-relative path → what a look into the file brought (``makeProvisionalPlan(for:)``).
    package var examined: [String: ExaminedFile]
    /// Episode key → how long its audio is by its server's word, where that was asked.
    package var declaredLengths: [String: Int64] = [:]
    /// The keys of episodes whose servers were asked for a length, and were not to be had.
    package var unansweredLengths: Set<String> = []
    /// Episode key → bytes of its partial file.
    package var partials: [String: Int64]
    package var rules: PlanRules
    /// Folders where files of the book may lie that the naming wants elsewhere.
    package var formerFolders: Set<String> = []
    /// Episode key → what is wrong with its file, as a sentence begins with it: these are to be fetched again.
    package var damaged: [String: String] = [:]
    /// Keys of episodes that were heard to their end, and that nobody is in the middle of.
    package var heard: Set<String> = []
    /// Keys of episodes whose files were replaced so often that they are kept (``CatalogChangeRule/maxReplacements``).
    package var oftenReplaced: Set<String> = []
    /// Whether the catalog's listing is known to be all of it.
    package var isListingComplete = false
    /// Whether the store is an older copy: files may be of versions that neither it nor the catalog tells of.
    package var isStoreOlder = false

    package init(
        book: Book, episodes: [EpisodeRecord], paths: [String: String], files: [String: FileAttributes],
        partials: [String: Int64], rules: PlanRules, others: Set<String> = [], examined: [String: ExaminedFile] = [:]
    ) {
        self.book = book
        self.episodes = episodes
        self.paths = paths
        self.files = files
        self.partials = partials
        self.rules = rules
        self.others = others
        self.examined = examined
    }

    /// Whether a file of so many bytes may be an earlier version of the episode: the catalog has it otherwise, and so has
    /// the server, or it could not be asked.
    package func mayBeEarlierVersion(_ size: Int64, of episode: Episode) -> Bool {
        let key = episode.identity.key
        guard episode.digest == nil, let listed = episode.size, listed != size else { return false }
        return unansweredLengths.contains(key) || declaredLengths[key].map { $0 != size } ?? false
    }

    /// Where files are that bear marks of other books' episodes, whether the store records them or not. A mark of an episode that
    /// this book lists as well may be its own, from before its feed or its source moved.
    package var pathsMarkedForOthers: Set<String> {
        let keys = Set(episodes.lazy.map(\.episode.identity.key))
        let marked = examined.filter { _, file in
            file.mark.map { $0.episode.book != book.identity && !keys.contains($0.episode.key) } ?? false
        }
        return Set(marked.keys)
    }
}

extension [String: FileAttributes] {
    /// Whether a symbolic link stands in the place of one of the path's folders: links are not followed, so nobody
    /// knows what is behind it.
    package func isBehindLink(_ path: String) -> Bool {
        var rest = path[...]
        while let slash = rest.utf8.lastIndex(of: UInt8(ascii: "/")) {
            rest = rest[..<slash]
            if self[String(rest)]?.kind == .symbolicLink { return true }
        }
        return false
    }
}

/// What the user asked for.
///
/// Not sendable, because a compiled regular expression is not: compile the filter where the plan is made.
package struct PlanRules {
    package var filter: CompiledFilter
    package var order: TransferOrder
    /// How much of this book a run may begin.
    package var limits: RunLimits
    /// Which episodes stay on disk; nil for all.
    package var keep: KeepRule?
    /// Also what has a tombstone, is paused, waits for its next try, or was changed on disk by the user.
    package var force: Bool
    /// Also what waits for its next try, and nothing else that ``force`` brings.
    package var triesAtOnce: Bool
    /// What becomes of episodes whose file is gone from the disk.
    package var onMissingFile: MissingFileRule
    package var onCatalogChange = CatalogChangeRule.replace
    /// The time to hold next tries against.
    package var now: Date

    package init(
        filter: CompiledFilter = .everything, order: TransferOrder = .first, limits: RunLimits = RunLimits(),
        keep: KeepRule? = nil, force: Bool = false, triesAtOnce: Bool = false, onMissingFile: MissingFileRule = .fetch,
        now: Date
    ) {
        self.filter = filter
        self.order = order
        self.limits = limits
        self.keep = keep
        self.force = force
        self.triesAtOnce = triesAtOnce
        self.onMissingFile = onMissingFile
        self.now = now
    }
}
