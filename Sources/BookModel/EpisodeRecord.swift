import Foundation

/// An episode together with all that the store knows of it. Its address is without secrets: enough to show, not
/// always enough to fetch.
package struct EpisodeRecord: Sendable, Hashable {
    package var episode: Episode
    /// Whether the catalog no longer lists it; its file is kept.
    package var isGone: Bool
    /// Since when it counts as removed (the tombstone); it is not fetched again.
    package var removedAt: Date?
    /// Why it does, where it does.
    package var removedBy: RemovalCause
    @Boxed package var file: LocalFile?
    @Boxed package var transfer: TransferRecord?
    /// What its file says of itself; nil where it has not been read.
    package var media: MediaSummary?

    package init(
        episode: Episode, isGone: Bool = false, removedAt: Date? = nil, removedBy: RemovalCause = .user,
        file: LocalFile? = nil, transfer: TransferRecord? = nil, media: MediaSummary? = nil
    ) {
        self.episode = episode
        self.isGone = isGone
        self.removedAt = removedAt
        self.removedBy = removedBy
        self.file = file
        self.transfer = transfer
        self.media = media
    }

    /// Whether it has no file, and a run that is asked for it could fetch one.
    package var isFetchable: Bool { file == nil && removedAt == nil && !isGone && !episode.isLocked }

    /// Seconds of its audio: as the file has it, else as the catalog says.
    package var duration: Double? { media?.duration ?? episode.duration }

    private var isUnderWay: Bool { transfer?.state == .downloading }

    package var state: EpisodeState {
        if removedAt != nil { return .removed }
        // Whatever became of its transfer, none can be begun.
        if file == nil, isGone || episode.isLocked, !isUnderWay { return isGone ? .gone : .locked }
        // A replacement under way leaves the old file in place: the transfer is what there is to tell. One that only
        // waits, or is over, says nothing that the rest does not say better.
        if let transfer, transfer.state != .waiting, transfer.state != .finished,
            let state = EpisodeState(rawValue: transfer.state.rawValue)
        {
            return state
        }
        guard file != nil else { return .waiting }
        return isGone ? .gone : .finished
    }
}

extension EpisodeRecord {
    /// The same as it stands now: what a killed run left as under way only waits.
    package func effective(isRunUnderWay: Bool) -> EpisodeRecord {
        guard !isRunUnderWay, isUnderWay else { return self }
        var effective = self
        effective.transfer?.state = .waiting
        return effective
    }
}

/// What `list` shows of an episode: the state of its transfer, or why it has none.
package enum EpisodeState: String, Sendable, CaseIterable {
    case waiting, downloading, finished, paused, failed, cancelled
    /// The catalog lists it and gives no address for it.
    case locked
    /// Tombstone: it was removed, or another program had fetched it.
    case removed
    /// No longer in the catalog.
    case gone
}

/// A book with the counts that a shelf shows.
package struct BookSummary: Sendable, Hashable {
    package var book: Book
    /// Episodes that the catalog lists (those that are gone and have no file are not counted).
    package var episodes: Int
    /// Listed, not locked, not removed, and not on disk.
    package var missing: Int
    package var locked: Int
    /// On disk.
    package var present: Int
    /// Bytes on disk.
    package var bytes: Int64
    /// The folder that most of its files are in, relative to the library; nil while there is none.
    package var path: String?
    /// When the catalog's content last changed.
    package var updatedAt: Date
    /// The name of its library; nil where only one is looked at.
    package var library: String?

    package init(
        book: Book, episodes: Int, missing: Int, locked: Int, present: Int, bytes: Int64, path: String?,
        updatedAt: Date
    ) {
        self.book = book
        self.episodes = episodes
        self.missing = missing
        self.locked = locked
        self.present = present
        self.bytes = bytes
        self.path = path
        self.updatedAt = updatedAt
    }
}

/// A book that `mirror` follows.
package struct Subscription: Sendable, Hashable {
    package var book: BookIdentity
    /// The address of the book's catalog, if it has to be recorded beside the subscription.
    package var address: ResourceAddress?
    /// Overrides what the catalog says.
    package var title: String?
    package var filter: EpisodeFilter
    /// In which order its episodes are fetched; nil for the order of the run.
    package var order: TransferOrder?
    /// How much of it one run begins, in episodes and bytes.
    package var limits: RunLimits
    /// The template by which its files are named; nil for that of its source, or of all.
    package var naming: String?
    /// Which of its episodes stay on disk; nil for what its source says, or all.
    package var keep: KeepRule?
    /// Of a list of books, of whose titles and dates the filter is.
    package var collection: CollectionFilter
    package var subscribedAt: Date?
    /// The folders that it is filed under, in the order in which they were given.
    package var tags: [SubscriptionTag]

    package init(
        book: BookIdentity, address: ResourceAddress? = nil, title: String? = nil, filter: EpisodeFilter = .init(),
        order: TransferOrder? = nil,
        limits: RunLimits = RunLimits(), naming: String? = nil, keep: KeepRule? = nil,
        collection: CollectionFilter = .init(), subscribedAt: Date? = nil, tags: [SubscriptionTag] = []
    ) {
        self.book = book
        self.address = address
        self.title = title
        self.filter = filter
        self.order = order
        self.limits = limits
        self.naming = naming
        self.keep = keep
        self.collection = collection
        self.subscribedAt = subscribedAt
        self.tags = tags
    }
}
