/// After how much a run stops by itself. What it leaves is for the next run.
package struct RunLimits: Sendable, Hashable {
    /// Transfers to begin.
    package var episodes: Int?
    /// Bytes, as far as lengths are known beforehand: a transfer that would go beyond is not begun.
    package var bytes: Int64?
    /// Seconds after which everything under way is stopped, and kept.
    package var seconds: Double?
    /// Transfers begun so far by the runs that share these limits, and their bytes as far as lengths are known.
    package var begunEpisodes = 0
    package var begunBytes: Int64 = 0
    /// True once a transfer was left because of them.
    package var isReached = false

    package init(episodes: Int? = nil, bytes: Int64? = nil, seconds: Double? = nil) {
        self.episodes = episodes
        self.bytes = bytes
        // No clock waits for longer than 30 years.
        self.seconds = seconds.map { min($0, 1e9) }
    }

    /// Whether they allow everything.
    package var allowAll: Bool { episodes == nil && bytes == nil && seconds == nil }

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

    /// Whether no run within the limits ever begins what is so large. Who allows no byte at all wants nothing begun.
    package func neverAllow(bytes: Int64) -> Bool {
        self.bytes.map { $0 > 0 && bytes > $0 } ?? false
    }
}

extension Failure {
    /// What is told of episodes that no run within its limits ever begins.
    /// - Parameters:
    ///   - title: of the book of the first.
    ///   - bytes: of the first of them, still to be fetched.
    ///   - others: how many there are besides.
    ///   - limit: what they go beyond, by its name.
    package static func neverBegun(
        _ first: Episode, of title: String, bytes: Int64, others: Int = 0, limit: Message
    ) -> Failure {
        let name = first.named(in: title)
        return Failure(
            .temporary,
            what: others == 0 ? "\(name) is never begun" : "\(name) and \(others) more are never begun",
            why: "\(describeBytes(bytes)) are more than \(limit) lets one run begin",
            remedy: "allow more, or fetch it by itself: booksync fetch \(first.identity.book) --only \(first.section)")
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

/// The rule for a file of which the catalog lists another version.
package enum CatalogChangeRule: String, Sendable, CaseIterable {
    /// The new version is downloaded, and the old one goes to the trash; see ``maxReplacements``.
    case replace
    case keep

    /// So many times within 30 days a file is replaced. Then it is kept unless the user forces it: its catalog claims another
    /// version with each listing, as where advertisements are inserted anew.
    package static let maxReplacements = 3
}

/// What becomes of an episode whose file the user deleted behind booksync's back.
package enum MissingFileRule: String, Sendable, CaseIterable {
    /// It is missing, and fetched again.
    case fetch
    /// It was removed on purpose: it gets a tombstone and is not fetched again.
    case tombstone
}
