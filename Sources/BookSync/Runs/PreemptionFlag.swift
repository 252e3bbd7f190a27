import BookModel
import Synchronization

/// What a run under way is told: that something else wants to be done, and what is no longer wanted of it.
package final class PreemptionFlag: Sendable {
    private struct State {
        var isRaised = false
        var withdrawsAll = false
        var books: Set<BookIdentity> = []
        var episodes: Set<EpisodeIdentity> = []
    }

    private let state = Mutex(State())
    /// Ends when the sign is raised.
    private let untilRaised: AsyncStream<Never>
    private let end: AsyncStream<Never>.Continuation

    package init() {
        (untilRaised, end) = AsyncStream.makeStream()
    }

    /// Whether the run should begin nothing more.
    package var isRaised: Bool { state.withLock { $0.isRaised } }

    /// Whether the episode was cancelled since the run was asked for.
    package func isWithdrawn(_ episode: EpisodeIdentity) -> Bool {
        state.withLock {
            $0.withdrawsAll || $0.books.contains(episode.book) || $0.episodes.contains(episode)
        }
    }

    /// Waits until the run should begin nothing more, or the task is cancelled.
    func waitUntilRaised() async {
        for await _ in untilRaised {}
    }

    package func raise() {
        state.withLock { $0.isRaised = true }
        end.finish()
    }

    /// - Parameter books: nil for everything.
    package func withdraw(allOf books: Set<BookIdentity>?) {
        state.withLock {
            if let books { $0.books.formUnion(books) } else { $0.withdrawsAll = true }
        }
    }

    package func withdraw(_ episodes: [EpisodeIdentity]) { state.withLock { $0.episodes.formUnion(episodes) } }
}
