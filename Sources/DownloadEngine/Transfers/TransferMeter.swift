import BookModel
import Synchronization

/// Counts the bytes of one transfer, from whichever connection they come, and tells how far it is: ten times a second
/// at most.
final class TransferMeter: Sendable {
    private struct State {
        var progress: TransferProgress
        /// Bytes at the front of the partial file, and of pieces ahead of it.
        var front: Int64 = 0
        var inPieces: Int64 = 0
        /// Bytes that helpers received and nobody has accounted for yet.
        var broughtByHelpers: Int64 = 0
        var lastReport: ContinuousClock.Instant?
    }

    private static let interval = Duration.milliseconds(100)
    private let emit: @Sendable (SyncEvent) -> Void
    private let state: Mutex<State>

    init(_ wanted: TransferRequest, emit: @escaping @Sendable (SyncEvent) -> Void) {
        self.emit = emit
        state = Mutex(
            State(
                progress: TransferProgress(
                    episode: wanted.episode.identity, section: wanted.episode.section, name: wanted.episode.name,
                    path: wanted.path, bytesDone: 0, bytesReused: 0, total: nil)))
    }

    /// Bytes are about to arrive behind those of the partial file.
    func begin(behind front: Int64, reused: Int64, total: Int64?) {
        state.withLock { state in
            state.front = front
            state.progress.bytesDone = front + state.inPieces
            state.progress.bytesReused = reused
            state.progress.total = total
            state.lastReport = .now
            // Under the lock, so that no older count is told after a newer one.
            emit(.started(state.progress))
        }
    }

    func moveFront(to length: Int64) {
        change { $0.front = length }
    }

    /// A helper received bytes of a piece and put them to their place.
    func grewPiece(by bytes: Int64) {
        change { state in
            state.inPieces += bytes
            state.broughtByHelpers += bytes
        }
    }

    /// Bytes of pieces, after they were looked at or taken over.
    func setPieces(_ bytes: Int64, front: Int64) {
        change { state in
            state.inPieces = bytes
            state.front = front
        }
    }

    /// What helpers received since this was last asked.
    func takeBroughtByHelpers() -> Int64 {
        state.withLock { state in
            defer { state.broughtByHelpers = 0 }
            return state.broughtByHelpers
        }
    }

    /// Tells what came too soon after something else was told, as before a server falls silent.
    func tellRest() { change { _ in } }

    private func change(_ change: (inout State) -> Void) {
        state.withLock { state in
            change(&state)
            let (now, bytes) = (ContinuousClock.now, state.front + state.inPieces)
            // Before the beginning was told nobody waits for news.
            guard let last = state.lastReport, now - last >= Self.interval, bytes != state.progress.bytesDone else {
                return
            }
            state.lastReport = now
            state.progress.bytesDone = bytes
            emit(.progressed(state.progress))
        }
    }
}
