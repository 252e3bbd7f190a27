import Foundation

/// Where a transfer stands: `waiting → downloading → finished`, and from either of the first two `paused`, `failed`,
/// `cancelled`.
package enum TransferState: String, Sendable, CaseIterable {
    case waiting, downloading, finished, paused, failed, cancelled
}

/// What a server said by which a later answer can be recognised as the same representation (RFC 9110 §8.8).
package struct ContentValidator: Sendable, Hashable, Codable {
    /// The entity tag with its quotes and, where it is weak, its `W/`.
    package var entityTag: String?
    /// The `Last-Modified` field as sent.
    package var lastModified: String?
    /// Seconds between `Last-Modified` and the answer's `Date`; nil when either is missing. From 1 s on the
    /// modification time counts as strong (RFC 9110 §8.8.2.2).
    package var age: Int?

    package init(entityTag: String? = nil, lastModified: String? = nil, age: Int? = nil) {
        self.entityTag = entityTag
        self.lastModified = lastModified
        self.age = age
    }

    package var hasStrongEntityTag: Bool {
        guard let entityTag else { return false }
        return !entityTag.isEmpty && !entityTag.hasPrefix("W/")
    }

    /// What `If-Range` may carry (RFC 9110 §13.1.5): the strong entity tag, else the strong modification time.
    package var ifRange: String? {
        if hasStrongEntityTag { return entityTag }
        // A weak tag says that the server tells representations apart; its modification time may still be strong.
        guard let lastModified, let age, age >= 1 else { return nil }
        return lastModified
    }
}

/// The journal of one episode's transfer, as kept in the store from before the first byte until it is finished.
package struct TransferRecord: Sendable, Hashable {
    package var episode: EpisodeIdentity
    package var state: TransferState
    /// Of the answer whose bytes the partial file holds; committed before the first byte is written.
    package var validator: ContentValidator
    /// Length of the whole representation, when the server declared it.
    package var total: Int64?
    /// Bytes of the partial file that are known to be on disk even after a power cut.
    package var committedLength: Int64
    /// The kernel's boot id at the last write. While it has not changed, the whole partial file can be trusted.
    package var bootID: String?
    /// How many runs gave up on the episode since it last made progress.
    package var attempts: Int
    /// The sentence of the last failure.
    package var error: Message?
    /// Not to be tried again before this time, unless forced; see ``waits(at:)``.
    package var nextTryAt: Date?
    /// When the server first did not have the file, and when it last did not: since then it has had none of it.
    package var missingSince: Date?
    package var missingUntil: Date?

    package init(
        episode: EpisodeIdentity, state: TransferState = .waiting, validator: ContentValidator = .init(),
        total: Int64? = nil, committedLength: Int64 = 0, bootID: String? = nil,
        attempts: Int = 0, error: Message? = nil, nextTryAt: Date? = nil
    ) {
        self.episode = episode
        self.state = state
        self.validator = validator
        self.total = total
        self.committedLength = committedLength
        self.bootID = bootID
        self.attempts = attempts
        self.error = error
        self.nextTryAt = nextTryAt
    }

    /// Seconds that a server has to lack a file for before it counts as gone.
    private static let timeUntilGone: Double = 14 * 86400

    /// True if the server has lacked the file for weeks: that was reported once, and no run is incomplete without it. It is
    /// requested once a week, and at once when the catalog lists it differently.
    package var isGoneAtSource: Bool {
        guard state == .failed, attempts > 2, let missingSince, let missingUntil else { return false }
        return missingUntil.timeIntervalSince(missingSince) >= Self.timeUntilGone
    }

    /// Records that the server does not have the file now.
    package mutating func recordMissing(at now: Date) {
        missingSince = missingSince.map { min($0, now) } ?? now
        missingUntil = now
    }

    /// Seconds that a failed episode waits for its next try at most.
    package static let longestWait: Double = 7 * 86400

    /// Whether it is too early for the next try. A time further off than any wait can be was set while the clock was
    /// wrong (or is wrong now), and means nothing.
    package func waits(at now: Date) -> Bool {
        guard let nextTryAt else { return false }
        let wait = nextTryAt.timeIntervalSince(now)
        return wait > 0 && wait <= Self.longestWait
    }
}
