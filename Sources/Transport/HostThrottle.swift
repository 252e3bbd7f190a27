/// How soon a server's catalogs may be asked again, shared by everything in a run that asks that server: what one listing
/// is told ("too often", `Retry-After`) holds for all of them.
package actor HostThrottle {
    /// Between two requests.
    private var gap = Duration.zero
    private var next = ContinuousClock.now
    /// Until when the server is asked nothing.
    private var closedUntil: ContinuousClock.Instant?

    package init() {}

    /// Takes the next turn.
    /// - Returns: how long to wait for it.
    package func takeTurn() -> Duration {
        let now = ContinuousClock.now
        let turn = max(next, now)
        next = turn + gap
        return turn - now
    }

    /// Lets nobody take a turn for so many seconds.
    package func hold(for seconds: Double) {
        next = max(next, .now + .seconds(seconds))
    }

    /// Lets nobody ask for so many seconds, which are more than anybody waits.
    package func close(for seconds: Double) {
        closedUntil = max(closedUntil ?? next, .now + .seconds(seconds))
    }

    /// Seconds for which nobody is to ask, nor to wait until they may; nil where that is not so.
    package var secondsClosed: Double? {
        guard let closedUntil, closedUntil > ContinuousClock.now else { return nil }
        return (closedUntil - ContinuousClock.now) / .seconds(1)
    }

    /// Leaves at least this between two requests from now on.
    package func widen(to gap: Duration) {
        self.gap = max(self.gap, gap)
    }
}
