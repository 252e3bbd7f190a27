import BookModel
import DownloadEngine
import Synchronization

/// The requests that join a run under way.
package final class RunControl: Sendable {
    private struct State {
        var joined: [RunRequest] = []
        /// Requests of the store that the run does.
        var taken: [Int64: BookIdentity] = [:]
        /// Whether the run looks at what joins it.
        var isListening = true
        var isBroken = false
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
            guard state.isListening, inbox.hold() else { return false }
            state.joined.append(request)
            state.taken.merge(request.ids) { $1 }
            return true
        }
        if hasJoined { signal.yield() }
        return hasJoined
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

    /// The requests of the store that the run does, with their books.
    var takenRequests: [Int64: BookIdentity] { state.withLock { $0.taken } }

    // MARK: For the run

    /// Records that the run does requests of the store.
    func take(_ ids: [Int64: BookIdentity]) { state.withLock { $0.taken.merge(ids) { $1 } } }

    /// Forgets the requests that were deleted from the store.
    /// - Parameter ids: the others.
    func keepTaken(only ids: Set<Int64>) { state.withLock { $0.taken = $0.taken.filter { ids.contains($0.key) } } }

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

    /// Nothing more can join: the engine has ended.
    /// - Parameter isBroken: whether something ended it that would end all else as well.
    func end(isBroken: Bool) {
        state.withLock { $0.isBroken = isBroken }
        signal.finish()
    }

    /// Whether the engine was ended by something that would end all else as well.
    var isBroken: Bool { state.withLock { $0.isBroken } }

    /// Nobody looks any more at what joins. What has joined and was not looked at is left for ``close()``, and keeps the
    /// inbox open no longer.
    /// - Parameter unread: what ``nextJoined()`` has handed out, and nobody looked at.
    func stopListening(unread: [RunRequest]) {
        let left = state.withLock { state in
            state.isListening = false
            state.joined.insert(contentsOf: unread, at: 0)
            return state.joined.count
        }
        if left > 0 { inbox.release(left) }
    }
}
