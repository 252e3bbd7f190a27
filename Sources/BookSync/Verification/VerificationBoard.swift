import BookModel

/// Keeps count of a verification for those who watch it. Pure: the instants are given.
struct VerificationBoard: Sendable {
    private let files: Int
    private let bytes: Int64
    private var done = 0
    private var bad = 0
    private var bytesDone: Int64 = 0
    private var meter = SpeedMeter()
    private var reading: [(name: String, bytes: Int64, total: Int64)] = []

    /// - Parameters:
    ///   - files: to be looked at.
    ///   - bytes: of all of them, as recorded.
    init(files: Int, bytes: Int64) {
        self.files = files
        self.bytes = bytes
    }

    mutating func record(_ verdict: FileVerdict, of file: LocalFile) {
        done += 1
        if verdict != .intact { bad += 1 }
        bytesDone.addSaturated(file.size)
    }

    /// - Parameter reading: what is being read now.
    mutating func advance(_ reading: [(name: String, bytes: Int64, total: Int64)], at now: ContinuousClock.Instant) {
        self.reading = reading
        meter.record(bytesDone.addingSaturated(reading.saturatedSum(of: \.bytes)), at: now)
    }

    func state(at now: ContinuousClock.Instant) -> ProgressState {
        let measure = ByteProgress(
            bytesDone: bytesDone.addingSaturated(reading.saturatedSum(of: \.bytes)), total: bytes,
            bytesPerSecond: meter.bytesPerSecond(at: now))
        var state = ProgressState(
            transfers: reading.map { .init(name: $0.name, bytes: ByteProgress(bytesDone: $0.bytes, total: $0.total)) },
            run: RunProgress(episodesDone: done, episodesFailed: bad, episodesInAll: files, bytes: measure))
        state.failures = bad > 0 ? "\(bad) bad" : nil
        return state
    }
}
