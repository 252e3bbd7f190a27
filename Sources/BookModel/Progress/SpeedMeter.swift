/// Bytes per second over the last five seconds.
///
/// Fed with a running count of bytes and monotonic instants, so that neither a clock that jumps nor bytes of an
/// earlier run count.
package struct SpeedMeter: Sendable {
    package init() {}

    static let window = Duration.seconds(5)
    /// Closer samples are merged: it holds some fifty of them at most.
    private static let grain = Duration.milliseconds(100)

    private struct Sample {
        var instant: ContinuousClock.Instant
        var bytes: Int64
    }

    /// Rising in both; at most one of them is older than the window.
    private var samples: [Sample] = []
    private var latest: Sample?

    /// When something was recorded last.
    package var lastInstant: ContinuousClock.Instant? { latest?.instant }

    /// - Parameter bytes: all so far. The first call sets from where to count; fewer than before begin anew, and so
    ///   does the first call after a whole window without one: the process was stopped, or the machine slept.
    package mutating func record(_ bytes: Int64, at instant: ContinuousClock.Instant) {
        if let latest, bytes < latest.bytes || latest.instant <= instant - Self.window { samples = [] }
        latest = Sample(instant: instant, bytes: bytes)
        if let last = samples.last, instant - last.instant < Self.grain { return }
        samples.append(Sample(instant: instant, bytes: bytes))
        let stale = samples.prefix { $0.instant <= instant - Self.window }.count
        if stale > 1 { samples.removeFirst(stale - 1) }
    }

    /// - Returns: nil as long as there is too little to tell.
    package func bytesPerSecond(at now: ContinuousClock.Instant) -> Double? {
        guard let latest else { return nil }
        if latest.instant <= now - Self.window { return 0 }
        guard let base = samples.last(where: { $0.instant <= now - Self.window }) ?? samples.first else { return nil }
        let elapsed = now - base.instant
        guard elapsed >= .milliseconds(250) else { return nil }
        return Double(latest.bytes.subtractingSaturated(base.bytes)) / (elapsed / .seconds(1))
    }
}
