/// Keeps count of a run from its events. Pure: the instants are given.
package struct ProgressBoard: Sendable {
    private struct Running {
        var progress: TransferProgress
        var meter = SpeedMeter()
        var fetched: Int64 { max(0, progress.bytesDone.subtractingSaturated(progress.bytesReused)) }
    }

    private struct Waiting {
        var subject: WaitSubject
        var wait: Wait
        var since: ContinuousClock.Instant
        var end: ContinuousClock.Instant { since + .seconds(wait.seconds ?? 0) }
    }

    /// In the order in which they began.
    private var waiting: [Waiting] = []
    /// Catalogs that were to be asked so far, and those of them that need not be asked any more.
    private var catalogs = (all: 0, answered: 0)
    private var running: [EpisodeIdentity: Running] = [:]
    /// In the order in which they began.
    private var order: [EpisodeIdentity] = []
    /// Bytes that each transfer of the plans is to bring; nil where nobody knows.
    private var expected: [EpisodeIdentity: Int64?] = [:]
    /// Bytes that ended transfers brought.
    private var brought: Int64 = 0
    /// Bytes that those under way have brought.
    private var bringing: Int64 = 0
    /// Bytes that ended transfers found held.
    private var resumed: Int64 = 0
    private var done = 0
    private var failed = 0
    private var meter = SpeedMeter()
    /// Files whose durations are still to be read.
    private var unreadFiles = 0

    package init() {}

    package mutating func apply(_ event: SyncEvent, at now: ContinuousClock.Instant) {
        switch event {
        case .notice, .alert, .detail, .advanced, .measured, .adopted, .renamed, .summarised: return
        case .asking(let count):
            catalogs.all += count
            return
        case .reading(let count):
            unreadFiles = count
            return
        case .waiting(let subject, let wait):
            waiting.removeAll { $0.subject == subject }
            if wait == nil, subject.isCatalog { catalogs.answered += 1 }
            if let wait { waiting.append(Waiting(subject: subject, wait: wait, since: now)) }
            return
        case .planned(let plan):
            for action in plan.actions where action.kind.isTransfer {
                expected[action.episode.identity] = .some(action.bytes)
            }
        case .started(let progress), .progressed(let progress):
            let episode = progress.episode
            waiting.removeAll { $0.subject == .episode(episode) }
            let former = running[episode]
            if former == nil { order.append(episode) }
            // A later attempt finds more in the partial file; what this run put there is not of an earlier one.
            let reused = min(progress.bytesReused, former?.progress.bytesReused ?? .max)
            var latest = former ?? Running(progress: progress)
            latest.progress = progress
            latest.progress.bytesReused = reused
            latest.meter.record(progress.bytesDone, at: now)
            bringing = bringing.subtractingSaturated(former?.fetched ?? 0).addingSaturated(latest.fetched)
            running[episode] = latest
            // The server's length counts more than the plan's.
            if let total = progress.total { expected[episode] = .some(max(0, total.subtractingSaturated(reused))) }
        case .finished(let receipt):
            done += 1
            let fetched =
                receipt.outcome == .unchanged ? 0 : max(0, receipt.file.size.subtractingSaturated(receipt.bytesReused))
            end(receipt.file.episode, bytes: fetched)
        case .failed(let report):
            guard let episode = report.episode else { return }
            failed += 1
            end(episode)
        case .paused(let episode, _), .cancelled(let episode, _): end(episode)
        }
        meter.record(bytesDone, at: now)
    }

    /// What it brought is what it was to bring: whatever is left is not awaited in this run any more.
    /// - Parameter bytes: nil for those that were counted meanwhile.
    private mutating func end(_ episode: EpisodeIdentity, bytes: Int64? = nil) {
        let ended = running.removeValue(forKey: episode)
        let bytes = bytes ?? ended?.fetched ?? 0
        brought.addSaturated(bytes)
        bringing = bringing.subtractingSaturated(ended?.fetched ?? 0)
        resumed.addSaturated(ended?.progress.bytesReused ?? 0)
        expected[episode] = .some(bytes)
        order.removeAll { $0 == episode }
        waiting.removeAll { $0.subject == .episode(episode) }
    }

    private var bytesDone: Int64 { brought.addingSaturated(bringing) }

    package func state(at now: ContinuousClock.Instant) -> ProgressState {
        let paused = Set(waiting.map(\.subject))
        let shown = order.filter { !paused.contains(.episode($0)) }
        let transfers = shown.compactMap { running[$0] }.map { running in
            ProgressState.Transfer(
                name: running.progress.name,
                bytes: ByteProgress(
                    bytesDone: running.progress.bytesDone, total: running.progress.total,
                    bytesPerSecond: running.meter.bytesPerSecond(at: now)))
        }
        var state = ProgressState(transfers: transfers, run: run(at: now))
        state.failures = failed > 0 ? "\(failed) failed" : nil
        state.bytesResumed = resumed.addingSaturated(running.values.saturatedSum { $0.progress.bytesReused })
        state.waits = [asking, reading].compactMap(\.self) + waits(at: now) + stalls(of: shown, at: now)
        return state
    }

    /// Where several catalogs are asked; of a single one its own line tells.
    private var asking: Message? {
        let asked = waiting.count { $0.subject.isCatalog }
        guard asked > 0, catalogs.all > 1 else { return nil }
        return catalogs.answered == 0
            ? "asking \(asked) of \(catalogs.all) catalogs"
            : "asking \(asked) of \(catalogs.all) catalogs, \(catalogs.answered) answered"
    }

    private var reading: Message? { unreadFiles > 0 ? "reading durations of \(Message(unreadFiles, "file"))" : nil }

    /// A line for each that waits; those that one server lets wait have one together.
    private func waits(at now: ContinuousClock.Instant) -> [Message] {
        var told: Set<String> = []
        return waiting.compactMap { one in
            guard let server = one.wait.server else { return Self.line(one, at: now) }
            let held = waiting.filter { $0.wait.server == server }
            guard held.count > 1 else { return Self.line(one, at: now) }
            guard told.insert(server).inserted else { return nil }
            var whole = held.min { $0.end < $1.end } ?? one
            whole.wait.name = server
            whole.wait.reason = "\(whole.wait.reason), \(held.count) waiting"
            return Self.line(whole, at: now)
        }
    }

    /// Seconds without a word of what is waited for.
    private static let patience = 3.0

    private static func line(_ waiting: Waiting, at now: ContinuousClock.Instant) -> Message? {
        let passed = (now - waiting.since) / .seconds(1)
        let begin: Message = "\(waiting.wait.name): \(waiting.wait.reason)"
        if let seconds = waiting.wait.seconds {
            let left = (seconds - passed).rounded(.up)
            return left > 0 ? "\(begin); next try in \(describeSeconds(left))" : "\(begin); next in turn"
        }
        // Most answer at once.
        return passed < 1 ? nil : "\(begin), for \(describeSeconds(passed.rounded(.down)))"
    }

    private func stalls(of episodes: [EpisodeIdentity], at now: ContinuousClock.Instant) -> [Message] {
        episodes.compactMap { episode in
            guard let running = running[episode], let last = running.meter.lastInstant else { return nil }
            let silence = (now - last) / .seconds(1)
            return silence < Self.patience
                ? nil : "\(running.progress.name): no data for \(describeSeconds(silence.rounded(.down)))"
        }
    }

    package func run(at now: ContinuousClock.Instant) -> RunProgress {
        let known = expected.values.compactMap { $0 }
        return RunProgress(
            episodesDone: done, episodesFailed: failed, episodesInAll: expected.count,
            bytes: ByteProgress(
                bytesDone: bytesDone, total: known.count == expected.count ? known.saturatedSum(of: \.self) : nil,
                bytesPerSecond: meter.bytesPerSecond(at: now)))
    }

    /// Of a transfer that is under way; nil as long as there is too little to tell.
    package func bytesPerSecond(of episode: EpisodeIdentity, at now: ContinuousClock.Instant) -> Double? {
        running[episode]?.meter.bytesPerSecond(at: now)
    }
}

extension WaitSubject {
    fileprivate var isCatalog: Bool {
        switch self {
        case .book, .address: true
        case .episode: false
        }
    }
}
