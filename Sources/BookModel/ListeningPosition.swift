import Foundation

/// Where a user stopped in an episode.
package struct ListeningPosition: Sendable, Hashable {
    package var episode: EpisodeIdentity
    /// From the beginning of the episode, 0 to ``maximum``.
    package var seconds: Double
    /// Of the whole episode in seconds, as the player found it; nil where it did not say.
    package var duration: Double?
    /// Whether it was heard to its end.
    package var isFinished: Bool
    package var updatedAt: Date
    /// What it was listened to with, as its user knows it: `Firefox, Android`; nil where nobody knows.
    package var device: String?

    /// Grows with each change: what a player that saw this one knows of (milliseconds since 1970).
    package var revision: Int64 { Int64(clamping: updatedAt.timeIntervalSince1970 * 1000) }

    /// Seconds: no episode is longer.
    package static let maximum: Double = 1e9

    package init(
        episode: EpisodeIdentity, seconds: Double, duration: Double? = nil, isFinished: Bool = false, updatedAt: Date,
        device: String? = nil
    ) {
        self.episode = episode
        self.seconds = seconds
        self.duration = duration
        self.isFinished = isFinished
        self.updatedAt = updatedAt
        self.device = device
    }
}
