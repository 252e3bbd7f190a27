/// How fast the transfers of another process are, told from how much of them is on disk at every look. Pure: the instants are
/// given.
package struct ObservedSpeeds: Sendable {
    private var meters: [EpisodeIdentity: SpeedMeter] = [:]

    package init() {}

    /// Takes a look; what it does not name is not transferred any more.
    /// - Parameter bytesDone: on disk, by transfer.
    package mutating func record(_ bytesDone: [EpisodeIdentity: Int64], at now: ContinuousClock.Instant) {
        meters = meters.filter { bytesDone[$0.key] != nil }
        for (episode, bytes) in bytesDone { meters[episode, default: SpeedMeter()].record(bytes, at: now) }
    }

    /// - Returns: nil as long as there is too little to tell.
    package func bytesPerSecond(of episode: EpisodeIdentity, at now: ContinuousClock.Instant) -> Double? {
        meters[episode]?.bytesPerSecond(at: now)
    }
}
