import BookModel
import Foundation
import Transport

/// How the engine works.
package struct EngineSettings: Sendable {
    /// Episodes at once, in all and from one server.
    package var jobs = 4
    package var jobsPerHost = 4
    /// How often a transfer is tried again without progress before it is given up for this run, and after which waits.
    package var retry = RetryPolicy()
    package var limits = RunLimits()
    /// Bytes per second for all transfers together; 0 for no limit.
    package var limitRate: Int64 = 0
    /// Bytes per second for all transfers of a source together, by its name; a source that is not here has no limit of
    /// its own.
    package var sourceRates: [String: Int64] = [:]
    /// Bytes that stay free on the library's disk, a tenth of it at most; 0 to use it up.
    package var minFreeSpace: Int64 = 0
    /// Bytes of a file at most, where neither the server nor the catalog says how long it is.
    package var maxUndeclaredSize: Int64 = 4 << 30
    /// Bytes from which on a file is fetched in pieces, where its length is known beforehand. A variable of the environment makes it
    /// less, to simulate kills and power cuts with small files.
    package var minDividedLength =
        ProcessInfo.processInfo.environment["BOOKSYNC_MIN_SPLIT_SIZE"].flatMap(parseByteCount) ?? 64 << 20

    package init() {}

    /// Bytes of each piece: what one helper brings at least before its slot is assigned again.
    var pieceLength: Int64 { min(4 << 20, max(4096, minDividedLength / 8)) }

    /// Bytes at most of a body whose length the server does not declare. The catalog may be wrong: a size that no audio of its
    /// duration has says nothing, and a small one without a duration may be in other units.
    func maxLength(ofUndeclared episode: Episode) -> Int64 {
        let seconds = episode.duration.flatMap { $0 > 0 ? $0 : nil }
        if let size = episode.plausibleSize {
            return max(4 * size + (1 << 20), seconds == nil && size < 1_000_000 ? 64 << 20 : 0)
        }
        guard let seconds else { return maxUndeclaredSize }
        // More than audio of CD quality without compression has.
        return min(maxUndeclaredSize, 200_000 * Int64(min(seconds, 1e6)) + (1 << 20))
    }

    /// Bytes of a file at most whose origin only the file itself tells, until it is whole: where its attributes get lost,
    /// all transfers under way together are to lose no more than a kill may cost.
    var maxLengthWithoutJournal: Int64 { Int64(jobs) * 64 << 10 }

    /// Bytes between two durable offsets.
    static let commitInterval: Int64 = 8 << 20

    /// Bytes of a transfer between two looks at the free space.
    static let lookInterval: Int64 = 1 << 20

    /// As many runs in a row a file counts to have failed before, that came twice with the same broken audio, or will fail again.
    static let attemptsOfSpoiled = 5

    /// Seconds until an episode that failed in `attempts` runs in a row is tried again; nil for "with the next run".
    ///
    /// | attempts | 1, 2 | 3 | 4 | 5 | 6 | 7 and more |
    /// | --- | --- | --- | --- | --- | --- | --- |
    /// | wait | none | 1 h | 4 h | 16 h | 64 h | 7 days |
    static func waitBetweenRuns(attempts: Int) -> Double? {
        guard attempts > 2 else { return nil }
        var hours = 1.0
        for _ in 3..<attempts where hours < 168 { hours *= 4 }
        return min(hours * 3600, TransferRecord.longestWait)
    }
}

extension Episode {
    /// The catalog's size, where audio of the catalog's duration can have it; nil where it is absurd.
    var plausibleSize: Int64? {
        let seconds = duration.flatMap { $0 > 0 ? $0 : nil }
        let smallest = max(10_000, 100 * (seconds ?? 0))
        let largest = seconds.map { 1_000_000 * $0 + 10_000_000 } ?? Double(16 << 30)
        return FileSize.sensible(size).flatMap { (smallest...max(smallest, largest)).contains(Double($0)) ? $0 : nil }
    }

    /// True if so little audio cannot be the episode: far less than the catalog's size, and than its duration needs. One of
    /// these alone has to be very far off.
    func isStub(_ bytes: Int64) -> Bool {
        guard bytes != size else { return false }
        return switch (plausibleSize, duration.flatMap { $0 > 0 ? $0 : nil }) {
        case (let size?, let seconds?): bytes < size / 20 && Double(bytes) < 250 * seconds
        case (let size?, nil): bytes < min(size / 20, 100_000)
        case (nil, let seconds?): Double(bytes) < min(100 * seconds, 100_000)
        case (nil, nil): false
        }
    }
}
