import Foundation

/// The ordered difference between catalog and library for one book, as a value: what a dry run prints is what a run
/// executes.
package struct SyncPlan: Sendable, Hashable {
    package var book: Book
    package var actions: [SyncAction]
    /// What is counted and not listed in ``actions``: episodes that stay as they are, where nobody asked which.
    package var unlisted: PlanTotals
    /// The sections of files that stay beyond what the book's ``KeepRule`` keeps, each with the reason.
    package var beyondRule: [Message] = []

    package init(book: Book, actions: [SyncAction], unlisted: PlanTotals = PlanTotals()) {
        self.book = book
        self.actions = actions
        self.unlisted = unlisted
    }

    package var totals: PlanTotals {
        var totals = unlisted
        for action in actions {
            switch action.countedKind {
            case .fetch: totals.fetch += 1
            case .resume: totals.resume += 1
            case .replace: totals.replace += 1
            case .rename: totals.rename += 1
            case .adopt: totals.adopt += 1
            case .keep: totals.keep += 1
            case .expire: totals.expire += 1
            case .skip(let skip): totals.skipped[skip, default: 0] += 1
            }
            if action.kind.isTransfer { totals.bytes.addSaturated(action.bytes ?? 0) }
        }
        return totals
    }
}

/// One thing to do, or to leave, about one episode.
package struct SyncAction: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// Fetch from the first byte.
        case fetch
        /// Go on with a partial file.
        case resume
        /// The catalog has another version than the file on disk: fetch it and put it in its place.
        case replace
        /// Move the file from ``SyncAction/fromPath`` to ``SyncAction/path``.
        case rename
        /// Recognise a file that is already there. With ``SyncAction/fromPath`` its record follows it from there.
        case adopt
        /// The file is there and right.
        case keep
        /// The file goes to the trash: its book's ``KeepRule`` does not keep it.
        case expire
        case skip(Skip)

        /// Whether executing it asks the audio server for bytes.
        package var isTransfer: Bool {
            switch self {
            case .fetch, .resume, .replace: true
            case .rename, .adopt, .keep, .expire, .skip: false
            }
        }

        /// The word in `--json` and on the terminal.
        package var keyword: String {
            switch self {
            case .fetch: "fetch"
            case .resume: "resume"
            case .replace: "replace"
            case .rename: "rename"
            case .adopt: "adopt"
            case .keep: "keep"
            case .expire: "expire"
            case .skip: "skip"
            }
        }
    }

    /// Why an episode is left alone.
    package enum Skip: String, Sendable, Hashable, Codable, CodingKeyRepresentable {
        case locked
        /// The user removed it.
        case tombstone
        /// It failed before and waits for its next try.
        case waits
        case paused
        /// The filter does not want it.
        case filtered
        /// No longer in the catalog.
        case gone
        /// Something that booksync did not put there, or that belongs to another episode, is at the path.
        case obstructed
        /// Its file was changed since it was fetched, and stays as it is.
        case changed
        /// The same, and a part of what was fetched is not there any more.
        case truncated
        /// The limits of its book's subscription leave it for the next run.
        case limited
    }

    package var kind: Kind
    /// Whether the filter asks for the episode.
    package var isAsked = true
    package var episode: Episode
    /// Where the file is to be, relative to the library.
    package var path: String
    /// Of a rename: where it is now. Of a keep or an adoption: the path that is recorded, when the file was found at
    /// ``path``.
    package var fromPath: String?
    /// Bytes still to be fetched, when known; for keep and rename the file's size.
    package var bytes: Int64?
    /// Why, in words for the user.
    package var reason: Message
    /// Of an adoption without ``fromPath``: how far the file is known to be the episode's.
    package var verification: LocalFile.Verification?
    /// Of a replace: what the present file's bytes came with, to ask whether they really changed.
    @Boxed package var replacing: LocalFile?

    package init(
        kind: Kind, episode: Episode, path: String, fromPath: String? = nil, bytes: Int64? = nil, reason: Message,
        verification: LocalFile.Verification? = nil, replacing: LocalFile? = nil
    ) {
        self.kind = kind
        self.episode = episode
        self.path = path
        self.fromPath = fromPath
        self.bytes = bytes
        self.reason = reason
        self.verification = verification
        self.replacing = replacing
    }

    /// What it counts as: an episode that stays as it is, and was not asked for, is nothing else.
    package var countedKind: Kind {
        switch kind {
        case .keep where !isAsked, .skip where !isAsked: .skip(.filtered)
        default: kind
        }
    }
}

/// How many actions of each kind a plan holds, and the bytes that its transfers are expected to bring.
package struct PlanTotals: Sendable, Hashable, Codable {
    package var fetch = 0
    package var resume = 0
    package var replace = 0
    package var rename = 0
    package var adopt = 0
    package var keep = 0
    package var expire = 0
    package var skipped: [SyncAction.Skip: Int] = [:]
    package var bytes: Int64 = 0

    /// What a ``CachedPlan`` has: it changes nothing.
    private enum CodingKeys: CodingKey { case keep, skipped }

    package init() {}

    package var skip: Int { skipped.values.saturatedSum(of: \.self) }

    /// How many are skipped for this reason.
    package func skip(_ reason: SyncAction.Skip) -> Int { skipped[reason, default: 0] }
}

/// What is remembered of a book in which nothing was to be done: a plan depends on nothing but the store, the rules and
/// what stands on disk, so that it need not be made again while none of them changed.
package struct CachedPlan: Sendable, Hashable, Codable {
    /// Of the rules and of what stood in ``folders``.
    package var fingerprint: String
    /// Relative to the library: all that the plan looked into.
    package var folders: [String]
    /// What it came to: episodes kept and skipped, and nothing else.
    package var totals: PlanTotals

    package init(fingerprint: String, folders: [String], totals: PlanTotals) {
        self.fingerprint = fingerprint
        self.folders = folders
        self.totals = totals
    }
}
