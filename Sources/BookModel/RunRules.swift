/// After how much a run stops by itself. What it leaves is for the next run.
package struct RunLimits: Sendable, Hashable {
    /// Transfers to begin.
    package var episodes: Int?
    /// Bytes, as far as lengths are known beforehand: a transfer that would go beyond is not begun.
    package var bytes: Int64?
    /// Seconds after which everything under way is stopped, and kept.
    package var seconds: Double?

    package init(episodes: Int? = nil, bytes: Int64? = nil, seconds: Double? = nil) {
        self.episodes = episodes
        self.bytes = bytes
        self.seconds = seconds
    }

    /// What allows what either of them allows.
    package func widened(by other: RunLimits) -> RunLimits {
        func wider<Amount: Comparable>(_ one: Amount?, _ another: Amount?) -> Amount? {
            if let one, let another { max(one, another) } else { nil }
        }
        return RunLimits(
            episodes: wider(episodes, other.episodes), bytes: wider(bytes, other.bytes),
            seconds: wider(seconds, other.seconds))
    }

    /// Whether so much may have been begun.
    package func allow(episodes: Int, bytes: Int64) -> Bool {
        episodes <= self.episodes ?? .max && bytes <= self.bytes ?? .max
    }
}

/// In which order the transfers of a plan are begun.
package enum TransferOrder: String, Sendable, CaseIterable {
    /// The lowest section number first (FIFO).
    case first
    /// The highest section number first (LIFO).
    case last
    /// As the catalog lists them.
    case listed
}

/// What becomes of an episode whose file the user deleted behind booksync's back.
package enum MissingFileRule: String, Sendable, CaseIterable {
    /// It is missing, and fetched again.
    case fetch
    /// It was removed on purpose: it gets a tombstone and is not fetched again.
    case tombstone
}
