/// Keeps count of work on files, several of them at once. Pure: the instants are given.
package struct FileBoard: Sendable {
    private let files: Int
    private let bytes: Int64
    private var done = 0
    private var bad = 0
    private var bytesDone: Int64 = 0
    private var meter = SpeedMeter()

    /// - Parameter files: all that are to be worked on, as recorded.
    package init(_ files: some Collection<LocalFile>) {
        self.files = files.count
        bytes = files.saturatedSum(of: \.size)
    }

    package mutating func finish(_ files: some Collection<LocalFile>, areGood: Bool = true) {
        done += files.count
        if !areGood { bad += files.count }
        bytesDone.addSaturated(files.saturatedSum(of: \.size))
    }

    /// - Parameter running: what is being worked on now; it is not among the finished files.
    package mutating func state(running: [ProgressState.Transfer], at now: ContinuousClock.Instant) -> ProgressState {
        let moved = bytesDone.addingSaturated(running.saturatedSum(of: \.bytes.bytesDone))
        meter.record(moved, at: now)
        let measure = ByteProgress(bytesDone: moved, total: bytes, bytesPerSecond: meter.bytesPerSecond(at: now))
        var state = ProgressState(
            transfers: running,
            run: RunProgress(episodesDone: done, episodesFailed: bad, episodesInAll: files, bytes: measure))
        state.failures = bad > 0 ? "\(bad) bad" : nil
        return state
    }
}
