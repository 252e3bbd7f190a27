/// How far something is that is measured in bytes: a transfer, or a whole run.
package struct ByteProgress: Sendable, Hashable {
    package var bytesDone: Int64
    /// nil when unknown.
    package var total: Int64?
    /// Over the last seconds; nil while there is too little to tell.
    package var bytesPerSecond: Double?

    package init(bytesDone: Int64, total: Int64?, bytesPerSecond: Double? = nil) {
        self.bytesDone = bytesDone
        self.total = total
        self.bytesPerSecond = bytesPerSecond
    }

    /// Between 0 and 1; nil when the total is unknown.
    package var fraction: Double? {
        guard let total, total > 0 else { return nil }
        return min(1, max(0, Double(bytesDone) / Double(total)))
    }

    /// At this speed; nil when that, or the total, is unknown.
    package var secondsLeft: Double? {
        guard let total, let bytesPerSecond, bytesPerSecond > 0 else { return nil }
        return Double(max(0, total.subtractingSaturated(bytesDone))) / bytesPerSecond
    }
}

/// How far a run is.
package struct RunProgress: Sendable, Hashable {
    package var episodesDone: Int
    package var episodesFailed: Int
    /// Of all plans so far.
    package var episodesInAll: Int
    /// Those of earlier runs are not counted.
    package var bytes: ByteProgress
}
