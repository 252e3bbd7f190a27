import Synchronization

/// Hands a run's events on, and adds to them how fast things go and how far the run is.
package final class RunMeter: Sendable {
    private struct State {
        var board = ProgressBoard()
        var lastReport: ContinuousClock.Instant?
    }

    /// Between two words about the run as a whole.
    private static let interval = Duration.milliseconds(500)
    private let emit: @Sendable (SyncEvent) -> Void
    private let state = Mutex(State())

    package init(emit: @escaping @Sendable (SyncEvent) -> Void) {
        self.emit = emit
    }

    package func pass(_ event: SyncEvent, at now: ContinuousClock.Instant = .now) {
        // Under the lock, so that what is told in order stays in order.
        state.withLock { state in
            state.board.apply(event, at: now)
            switch event {
            case .progressed(var progress):
                progress.bytesPerSecond = state.board.bytesPerSecond(of: progress.episode, at: now)
                emit(.progressed(progress))
            case .started, .finished, .failed, .paused, .cancelled:
                emit(event)
            case .notice, .alert, .detail, .planned, .adopted, .advanced, .measured, .asking, .reading, .waiting,
                .renamed, .summarised:
                return emit(event)
            }
            if let last = state.lastReport, now - last < Self.interval { return }
            state.lastReport = now
            emit(.advanced(state.board.run(at: now)))
        }
    }
}
