import BookModel
import Synchronization

/// Counts the bytes of one transfer, from whichever connection they come, and tells how far it is: ten times a second
/// at most.
final class TransferMeter: Sendable {
    private struct State {
        var progress: TransferProgress
        /// Bytes that are there.
        var bytes: Int64 = 0
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

    /// Bytes are about to arrive beside those that are there.
    func begin(at bytes: Int64, reused: Int64, total: Int64?) {
        state.withLock { state in
            state.bytes = bytes
            state.progress.bytesDone = bytes
            state.progress.bytesReused = reused
            state.progress.total = total
            state.lastReport = .now
            // Under the lock, so that no older count is told after a newer one.
            emit(.started(state.progress))
        }
    }

    /// So many bytes are there now; without any, tells what came too soon after something else was told, as before a server
    /// falls silent.
    func move(to bytes: Int64? = nil) {
        state.withLock { state in
            state.bytes = bytes ?? state.bytes
            let now = ContinuousClock.now
            // Before the beginning was told nobody waits for news.
            guard let last = state.lastReport, now - last >= Self.interval, state.bytes != state.progress.bytesDone
            else { return }
            state.lastReport = now
            state.progress.bytesDone = state.bytes
            emit(.progressed(state.progress))
        }
    }
}
