import Foundation

/// A point in an episode that a user wants to find again.
package struct Bookmark: Sendable, Hashable, Identifiable {
    package var id: Int64
    package var episode: EpisodeIdentity
    /// From the beginning of the episode, 0 to ``ListeningPosition/maximum``.
    package var seconds: Double
    /// ``maxNote`` characters at most; may be empty.
    package var note: String
    package var createdAt: Date

    package static let maxNote = 500
    /// Of one user in one book.
    package static let maxCount = 1000

    package init(id: Int64, episode: EpisodeIdentity, seconds: Double, note: String, createdAt: Date) {
        self.id = id
        self.episode = episode
        self.seconds = seconds
        self.note = note
        self.createdAt = createdAt
    }
}
