import BookModel
import Foundation
import Transport

/// The state of one run, owned by its one task.
struct EngineRun {
    var transfers: Transfers
    var schedule: TransferSchedule
    var report = EngineReport()
    var publisher: Publisher?
    var backlog = 0
    /// Transfers for which the catalog is being asked for another address.
    var renewals = 0
    var armedTimer: Double?
    /// The transfer whose server is being asked for the length. Nothing else starts meanwhile: whether this one counts
    /// against the limits, and what room it takes, is not known yet.
    var measured: Int?
    /// Whether the run's time is up.
    var isOver = false
    /// Why something was not begun.
    private var lackOfRoom: Failure?
    private let limits: RunLimits
    private let places: [EpisodeIdentity: Int]
    private var started = 0
    private var expectedBytes: Int64 = 0
    /// Seconds that each server was last left alone for because it was too busy.
    private var gaps: [String: Double] = [:]
    private let begin = ContinuousClock.now

    init(requests: [TransferRequest], settings: EngineSettings) {
        transfers = Transfers(requests)
        limits = settings.limits
        places = Dictionary(requests.enumerated().map { ($0.element.episode.identity, $0.offset) }) { first, _ in first
        }
        schedule = TransferSchedule(
            servers: requests.map(\.server), jobs: settings.jobs, jobsPerHost: settings.jobsPerHost)
    }

    /// Seconds since the run began.
    var now: Double {
        (ContinuousClock.now - begin) / .seconds(1)
    }

    func mayStart(backlog limit: Int) -> Bool {
        !isOver && report.stop == nil && measured == nil && backlog < limit
    }

    /// Whether nothing runs, waits for something that may come, is being published, or is about to get another address.
    var isIdle: Bool {
        schedule.isEmpty && backlog == 0 && renewals == 0
    }

    /// Notes that the listener paused or cancelled a transfer, and stops it. One that is being published is past that.
    /// - Returns: the transfer, when there was nothing under way that has to come to a halt first.
    mutating func stop(_ episode: EpisodeIdentity, as state: TransferState) -> TransferRequest? {
        guard let place = places[episode], !transfers.isFinished(place), transfers[place].stoppedAs == nil else {
            return nil
        }
        transfers[place].stoppedAs = state
        if let task = transfers[place].task {
            task.cancel()
            return nil
        }
        return schedule.drop(place) ? transfers[place].wanted : nil
    }

    /// Notes which transfers the listener wants before all others.
    /// - Returns: how many come earlier than before.
    @discardableResult
    mutating func prefer(_ episodes: [EpisodeIdentity]) -> Int {
        schedule.prefer(episodes.compactMap { places[$0] }).count
    }

    /// Takes the next transfer out of the schedule. One that a limit does not let begin ends the schedule: what has
    /// begun is brought to its end, and nothing else starts.
    mutating func startNext() -> Int? {
        while let place = schedule.startNext(now: now) {
            guard transfers[place].startedAt == nil else { return place }
            let bytes = transfers[place].wanted.expectedBytes
            if limits.allow(episodes: started + 1, bytes: expectedBytes + (bytes ?? 1)) {
                started += 1
                expectedBytes += bytes ?? 0
                return place
            }
            schedule.end(place)
            // One that no run with these limits ever begins must not keep the others from being begun.
            if limits.allow(episodes: 0, bytes: bytes ?? 0) { beginNothingMore() }
        }
        return nil
    }

    /// What has begun is brought to its end, and nothing else starts.
    mutating func beginNothingMore() {
        schedule.keepWaiting(only: Set(transfers.begun.filter { $0.value.startedAt != nil }.keys))
    }

    /// Gives a place that nothing else could take to a large transfer that others can help.
    mutating func lendPlace() -> (place: Int, pieces: SegmentedDownload)? {
        for place in schedule.mayBeHelped(now: now) {
            guard let pieces = transfers[place].pieces, pieces.wantsHelp else { continue }
            schedule.lend(to: place)
            return (place, pieces)
        }
        return nil
    }

    /// Starts nothing from the transfer's server for a while: it is too busy.
    mutating func holdServer(of place: Int, asked: Double?) {
        schedule.holdServer(of: place, until: now + gap(forServerOf: place, asked: asked))
    }

    /// What the transfers under way, and the one that was just taken out of the schedule, are to bring.
    var loads: [DiskGuard.Load] {
        schedule.running.map { DiskGuard.Load(transfers[$0]) }
    }

    /// Where there was no room for something, nothing of unknown length is begun either.
    func lackOfRoom(forUnmeasured place: Int) -> Failure? {
        transfers[place].length == nil ? lackOfRoom : nil
    }

    /// Whether to ask the server how long the file at `place` is, because the size in the catalog may be wrong. Once a
    /// server has confirmed that there is no room, the other sizes are believed.
    func mayMeasure(_ place: Int) -> Bool {
        lackOfRoom == nil && transfers[place].record.total == nil && transfers[place].declaredLength == nil
    }

    /// Gives up the transfer at `place`, which was to start. For want of room, what is under way and what is smaller goes
    /// on; anything else ends the run.
    mutating func end(because failure: Failure, insteadOf place: Int) {
        schedule.end(place)
        if transfers[place].startedAt == nil {
            started -= 1
            expectedBytes -= transfers[place].wanted.expectedBytes ?? 0
        }
        guard failure.isLackOfRoom else {
            report.stop = report.stop ?? failure
            return
        }
        lackOfRoom = lackOfRoom ?? failure
    }

    /// How long a server that is too busy is left alone: as long as it asks, else twice as long as the last time.
    /// Requests that were under way together and are all refused are one time.
    mutating func gap(forServerOf place: Int, asked: Double?) -> Double {
        let server = transfers[place].wanted.server
        if asked == nil, let gap = gaps[server], schedule.isServerHeld(of: place, now: now) { return gap }
        let gap = asked ?? min(max(gaps[server] ?? 0, 0.5) * 2, RetryPolicy.longestRequestedWait)
        gaps[server] = gap
        return gap
    }

    /// With what was begun and not ended, or not begun at all, counted.
    var finalReport: EngineReport {
        var report = report
        report.stop = report.stop ?? lackOfRoom
        report.bytesLeft = transfers.unfinished.reduce(0) { sum, transfer in
            var wanted = transfer.wanted
            wanted.record = transfer.record
            return sum + (wanted.expectedBytes ?? 0)
        }
        let ended = Set(report.receipts.map(\.file.episode) + report.failures.compactMap(\.episode))
        for transfer in transfers.begun.values where !ended.contains(transfer.wanted.episode.identity) {
            report.stopped[transfer.wanted.episode.identity] = transfer.stoppedAs
        }
        report.left = max(
            0, transfers.count - report.receipts.count - report.failures.count - report.stopped.count)
        return report
    }

    mutating func note(_ result: AttemptResult, at place: Int) {
        report.bytesReceived += result.bytesReceived
        transfers[place].record = result.record
        transfers[place].task = nil
        transfers[place].pieces = nil
        if let validator = result.answered { transfers[place].tags.note(validator) }
        transfers[place].mustStartOver = false
        transfers[place].bytesReceived += result.bytesReceived
        if result.bytesReused > 0 {
            // Bytes that an earlier attempt of this run brought are no reuse.
            let earlier = transfers[place].bytesReceived - result.bytesReceived
            let reused = max(0, result.bytesReused - earlier)
            transfers[place].bytesReused = transfers[place].bytesReused ?? reused
        } else if result.progress > 0 {
            transfers[place].bytesReused = 0
        }
        let reached = result.bytesReused + result.progress
        var isProgress = result.progress > 0 && reached > transfers[place].farthest
        transfers[place].farthest = max(transfers[place].farthest, reached)
        if case .restart = result.ending {
            isProgress = false
            transfers[place].farthest = 0
        }
        if case .retry(let reason) = result.ending, reason.isServerTooSlow { isProgress = false }
        if isProgress { transfers[place].record.attempts = 0 }
        if case .retry = result.ending {
            transfers[place].failuresInARow = isProgress ? 1 : transfers[place].failuresInARow + 1
        }
    }

    /// Notes that a transfer has come to its end.
    mutating func finish(_ file: LocalFile, at place: Int) -> TransferReceipt {
        let transfer = transfers.finish(place)
        let reused = transfer.bytesReused ?? 0
        let isUnchanged = file.fetchedAt == transfer.wanted.replacing?.fetchedAt
        var remarks: [String] = []
        if !isUnchanged, let declared = transfer.wanted.episode.size, declared != file.size {
            remarks.append("the catalog says \(declared) bytes, the server sent \(file.size)")
        }
        if transfer.tags.areUnsteady {
            remarks.append(
                "the server gives another ETag with each answer, so that a transfer from it that is interrupted starts over"
            )
        }
        let outcome: TransferReceipt.Outcome =
            if isUnchanged { .unchanged } else if transfer.wanted.overwrites { .replaced } else {
                reused > 0 ? .resumed : .fetched
            }
        let elapsed = (transfer.startedAt ?? .now).duration(to: .now)
        return TransferReceipt(
            outcome: outcome, section: transfer.wanted.episode.section, name: transfer.wanted.episode.name, file: file,
            bytesReceived: transfer.bytesReceived, bytesReused: reused,
            seconds: elapsed / .seconds(1),
            remarks: remarks)
    }
}

extension DiskGuard.Load {
    init(_ transfer: EngineRun.Transfer) {
        self.init(name: transfer.partialName, total: transfer.length)
    }
}
