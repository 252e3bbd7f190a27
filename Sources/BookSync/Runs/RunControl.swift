import BookModel
import DownloadEngine
import Synchronization

/// What a run under way is told: what else is wanted of it, and what is not wanted any more.
package final class RunControl: Sendable {
    private struct State {
        var withdrawsAll = false
        var books: Set<BookIdentity> = []
        var episodes: Set<EpisodeIdentity> = []
        /// Books that were asked for after something of them was withdrawn.
        var wantedAgain: Set<BookIdentity> = []
        var joined: [RunRequest] = []
    }

    private let state = Mutex(State())
    let inbox = TransferInbox()
    /// Tells the run to look at what joined it.
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    package init() {
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    // MARK: For those who want something

    /// Has the run do more: the catalogs are asked beside those that it asks already, and what is to be fetched comes
    /// before all else.
    /// - Returns: false when the run is over, or about to be.
    package func join(_ request: RunRequest) -> Bool {
        let hasJoined = state.withLock { state in
            guard inbox.hold() else { return false }
            state.joined.append(request)
            state.wantedAgain.formUnion(request.items.map(\.book))
            return true
        }
        if hasJoined { signal.yield() }
        return hasJoined
    }

    /// - Parameter books: nil for everything.
    package func withdraw(allOf books: Set<BookIdentity>?) {
        state.withLock { state in
            if let books {
                state.books.formUnion(books)
                state.wantedAgain.subtract(books)
            } else {
                state.withdrawsAll = true
                state.wantedAgain = []
            }
        }
    }

    package func withdraw(_ episodes: [EpisodeIdentity]) {
        state.withLock { state in
            state.episodes.formUnion(episodes)
            state.wantedAgain.subtract(episodes.map(\.book))
        }
    }

    /// Has nothing join any more. To be called behind the run.
    /// - Returns: what joined, and the run did not come to see.
    package func close() -> [RunRequest] {
        state.withLock { state in
            _ = inbox.close()
            defer { state.joined = [] }
            return state.joined
        }
    }

    // MARK: For the run

    /// Whether the episode was cancelled since it was asked for.
    func isWithdrawn(_ episode: EpisodeIdentity) -> Bool {
        state.withLock { state in
            guard !state.wantedAgain.contains(episode.book) else { return false }
            return state.withdrawsAll || state.books.contains(episode.book) || state.episodes.contains(episode)
        }
    }

    /// What has joined the run since the last call, as soon as there is something; nil when nothing more can, or the task
    /// is cancelled.
    func nextJoined() async -> [RunRequest]? {
        for await _ in signals {
            let joined = state.withLock { state in
                defer { state.joined = [] }
                return state.joined
            }
            if !joined.isEmpty { return joined }
        }
        return nil
    }

    /// Nothing more can join.
    func end() { signal.finish() }
}
