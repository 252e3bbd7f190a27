import BookModel
import CatalogStore
import Settings

/// What a run is to do.
package struct RunRequest: Sendable {
    /// One book of the run.
    package struct Item: Sendable, Hashable {
        package var book: BookIdentity
        package var filter: EpisodeFilter
        /// Overrides what the catalog says.
        package var title: String?
        /// Of its transfers; nil for the order of the run.
        package var order: TransferOrder?
        /// How much of this book is begun; ``RunRequest/limits`` are those of all together.
        package var limits: RunLimits
        /// Which of its episodes stay on disk; nil for all.
        package var keep: KeepRule?
        /// Whether none of the episodes waits for its next try: the user named them one by one.
        package var triesAtOnce: Bool
        /// Whether the user asks for these episodes now, so that it is an error where there is none of them. A subscription may
        /// wait for them.
        package var mustExist: Bool

        package init(
            book: BookIdentity, filter: EpisodeFilter = .init(), title: String? = nil, order: TransferOrder? = nil,
            limits: RunLimits = RunLimits(), keep: KeepRule? = nil, triesAtOnce: Bool = false, mustExist: Bool = false
        ) {
            self.keep = keep
            self.triesAtOnce = triesAtOnce
            self.mustExist = mustExist
            self.book = book
            self.filter = filter
            self.title = title
            self.order = order
            self.limits = limits
        }
    }

    /// How much of what is not to be done a plan has to list, and not only to count.
    package enum Detail: Sendable, Comparable {
        /// Nothing of it.
        case changes
        /// What is skipped and was asked for.
        case skips
        case everything
    }

    /// A list of books that was read for the run, or could not be read; or a book that was asked for by an address at which no
    /// catalog was found.
    package struct ListAnswer: Sendable {
        var list: BookIdentity
        /// nil where it was read.
        var failure: Failure?

        package init(_ list: BookIdentity, failure: Failure? = nil) {
            (self.list, self.failure) = (list, failure)
        }
    }

    /// Each book once.
    package internal(set) var items: [Item]
    /// What lists that could not be read came to is told with what catalogs came to.
    package let lists: [ListAnswer]
    package let order: TransferOrder
    /// Also what has a tombstone, is paused, or waits for its next try.
    package let force: Bool
    /// True if episodes get the numbers that their catalogs give them now.
    package let renumbers: Bool
    package let limits: RunLimits
    /// Episodes whose files were found bad, each with what is wrong, as a sentence begins with it. Where it is set, the
    /// run fetches these again, to where they are recorded, and does nothing else.
    package let repairs: [EpisodeIdentity: String]?
    package let detail: Detail
    /// Whether new episodes come before old ones over all books (``RunOrder``); else the books come one after the other.
    package let bringsNewsFirst: Bool
    /// Those of the store that it does, with their books.
    package var ids: [Int64: BookIdentity] = [:]
    /// When the work on it began, such as finding out which books its addresses name; nil where the run is all of it.
    package let begunAt: ContinuousClock.Instant?

    /// True if catalogs are read whole, unchanged or not.
    var asksAnew: Bool { force || renumbers }

    /// - Parameter items: a book may be named several times, with other episodes each time.
    /// - Throws: ``Failure`` of kind `usage` when the episodes wanted of a book cannot be said in one filter, or it is a list of books.
    package init(
        items: [Item], lists: [ListAnswer] = [], order: TransferOrder = .first, force: Bool = false,
        renumbers: Bool = false, limits: RunLimits = RunLimits(), repairs: [EpisodeIdentity: String]? = nil,
        detail: Detail = .everything,
        bringsNewsFirst: Bool = false, begunAt: ContinuousClock.Instant? = nil
    ) throws {
        self.begunAt = begunAt
        self.lists = lists
        self.items = try Self.combined(items)
        self.order = order
        self.force = force
        self.renumbers = renumbers
        self.limits = limits
        self.repairs = repairs
        self.detail = detail
        self.bringsNewsFirst = bringsNewsFirst
    }

    /// Two plans for one book would fetch into the same partial files.
    private static func combined(_ items: [Item]) throws -> [Item] {
        var combined: [Item] = []
        var indices: [BookIdentity: Int] = [:]
        for item in items {
            if item.book.isCollection {
                throw Failure(
                    .usage, what: "\(item.book) cannot be fetched", why: "it is a list of books",
                    remedy: "subscribe to it, and booksync mirror fetches its books")
            }
            guard let index = indices[item.book] else {
                indices[item.book] = combined.count
                combined.append(item)
                continue
            }
            guard let filter = combined[index].filter.united(with: item.filter) else {
                throw Failure(
                    .usage, what: "\(item.book) is named twice with different episodes",
                    why: "its filters cannot be combined", remedy: "name it once, or run booksync once for each")
            }
            combined[index].filter = filter
            combined[index].limits = combined[index].limits.widened(by: item.limits)
            combined[index].title = combined[index].title ?? item.title
            combined[index].triesAtOnce = combined[index].triesAtOnce && item.triesAtOnce
            combined[index].mustExist = combined[index].mustExist && item.mustExist
        }
        return combined
    }
}

extension [RunRequest.Item] {
    /// These with the titles that subscriptions give them.
    package func titled(by subscriptions: [Subscription]) -> [RunRequest.Item] {
        let titles = Dictionary(subscriptions.map { ($0.book, $0.title) }) { first, _ in first }
        return map { item in
            var item = item
            item.title = item.title ?? titles[item.book] ?? nil
            return item
        }
    }
}

extension EpisodeFilter {
    /// Without episodes that were named one by one; nil when nothing is left. A whole book stays whole.
    func without(_ sections: Set<Int>) -> EpisodeFilter? {
        guard let only, !sections.isEmpty else { return self }
        guard let rest = only.without(sections) else { return nil }
        var filter = self
        filter.only = rest
        return filter
    }
}

extension SectionRanges {
    /// - Returns: nil when nothing is left.
    fileprivate func without(_ dropped: Set<Int>) -> SectionRanges? {
        var left = ranges
        for section in dropped.sorted() {
            left = left.flatMap { range -> [ClosedRange<Int>] in
                guard range.contains(section) else { return [range] }
                let below = range.lowerBound < section ? [range.lowerBound...(section - 1)] : []
                return below + (range.upperBound > section ? [(section + 1)...range.upperBound] : [])
            }
        }
        return left.isEmpty ? nil : SectionRanges(left)
    }
}

extension RunRequest.Item {
    /// Whether it is an error where the book has none of the episodes.
    var mayBeUnmet: Bool { mustExist && filter.only != nil }

    /// Which of the episodes that somebody named the book has not; nil where it has each number, and one of each range.
    /// - Parameter isComplete: whether these are all.
    func unmet(among episodes: [EpisodeRecord], isComplete: Bool) -> Failure? {
        guard mayBeUnmet, let only = filter.only else { return nil }
        let sections = Set(episodes.map(\.episode.section))
        // Of a range the book may have a part, and what a listing that was cut lacks may come.
        let hasSome = sections.contains(where: only.contains)
        let absent = only.ranges.filter {
            !hasSome || isComplete && $0.lowerBound == $0.upperBound && !sections.contains($0.lowerBound)
        }
        guard !absent.isEmpty else { return nil }
        let why: Message? = sections.min().map { "its episodes are numbered \($0) to \(sections.max() ?? $0)" }
        return Failure(
            .unknownBook, what: "\(book) has no episode \(SectionRanges(absent))",
            why: why ?? "its catalog lists no episode",
            remedy: "booksync list \(book) lists what it has")
    }
}

extension RunRequest.Item {
    /// Why episodes that the user named one by one, or all that were named, are not fetched; nil where none was removed.
    func removed(by plan: SyncPlan) -> Failure? {
        guard mayBeUnmet else { return nil }
        let asked = plan.actions.filter(\.isAsked)
        let removed = asked.filter { $0.kind == .skip(.tombstone) }
        guard let first = removed.first, filter.namesEpisodes || removed.count == asked.count else { return nil }
        let (name, others) = (first.episode.named(in: plan.book.name), removed.count - 1)
        let reference = BookReference.example(SectionRanges(of: removed.map(\.episode.section)), of: book)
        return Failure(
            .temporary, what: others == 0 ? name : "\(name) and \(others) more", why: first.reason,
            remedy: "booksync fetch \(reference) --force fetches it all the same, booksync trash restore \(reference) "
                + "brings back a file that is still in the trash")
    }

    /// Why the plan begins nothing, and no later one will: what comes first is larger than all that one run may begin.
    func starved(by plan: SyncPlan) -> Failure? {
        guard !plan.actions.contains(where: { $0.kind.isTransfer }),
            let first = plan.actions.first(where: { $0.kind == .skip(.limited) }), let bytes = first.bytes,
            limits.neverAllow(bytes: bytes)
        else { return nil }
        return .neverBegun(first.episode, of: plan.book.name, bytes: bytes, limit: "the max-bytes of its subscription")
    }
}

extension Configuration {
    /// What a run over the subscriptions is to do.
    ///
    /// - Parameter order: of all of them, whatever each of them says.
    package func items(with stored: [Subscription], order: TransferOrder? = nil) throws -> [RunRequest.Item] {
        items(of: try allSubscriptions(with: stored), order: order)
    }

    /// The same of some of them, without lists of books.
    package func items(of subscriptions: [Subscription], order: TransferOrder? = nil) -> [RunRequest.Item] {
        subscriptions.filter { !$0.book.isCollection }.map {
            RunRequest.Item(
                book: $0.book, filter: $0.filter, title: $0.title, order: order ?? $0.order, limits: $0.limits,
                keep: keepRule(of: $0))
        }
    }
}

extension RunRequest.Item {
    /// What fetches these episodes, and those that share a number with one of them.
    package static func items(of episodes: [EpisodeRecord]) -> [RunRequest.Item] {
        let books = Dictionary(grouping: episodes, by: \.episode.identity.book)
        return books.sorted { $0.key < $1.key }.map { book, episodes in
            RunRequest.Item(
                book: book, filter: EpisodeFilter(only: SectionRanges(of: episodes.map(\.episode.section))))
        }
    }
}
