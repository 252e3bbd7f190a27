import BookModel
import Foundation
import Transport

/// The state of one run, which ``Dispatcher`` keeps. Its changes may block on the disk and on the journal.
struct EngineRun {
    struct Worker {
        let task: Task<Void, Never>
        /// The index of its event loop.
        let loop: Int
    }

    /// Received files beyond which no new transfer starts: each is held open.
    private static let maxBacklog = 64
    /// Files that are published together, and seconds that a file waits for others.
    private static let maxGroup = 32
    private static let publicationInterval = 0.02

    let tools: EngineTools
    var workers: [Int: Worker] = [:]
    var nextWorker = 0
    /// When the time has come for something that only waits for its time, and what waits for that.
    var timer: (time: Double, task: Task<Void, Never>)?
    /// Who waits for the run's end.
    var waiting: CheckedContinuation<Void, Never>?
    var transfers = Transfers()
    var schedule: TransferSchedule
    var report = EngineReport()
    /// Files that wait to be published, first come first, and how many are being published now.
    private var received: [(index: Int, file: ReceivedFile)] = []
    var publishing = 0
    private var receivedSince = 0.0
    /// The transfer whose server is being asked for the length, or that room is made for. Nothing else starts meanwhile:
    /// whether this one counts against the limits, and what room it takes, is not known yet.
    var measured: Int?
    /// Of the attempts under way, by their transfers' indices.
    var meters: [Int: TransferMeter] = [:]
    /// Whether the run was cancelled, or its time is up.
    var isOver = false
    /// Whether something was taken out of the inbox that is not among the transfers yet.
    var isTaking = false
    /// Whether more may yet come to be fetched.
    var isOpen = true
    /// Whether what has not begun is left.
    private var beginsNothingMore = false
    /// Whether something was deleted to make room, and made none: hard links or snapshots hold it.
    var hasFreedInVain = false
    /// Why something was not begun.
    var lackOfRoom: Failure?
    /// Bytes for which the disk had room besides what was under way, and until when it is not looked at again for them.
    var spareRoom = (bytes: Int64(0), end: 0.0)
    private var limits: RunLimits
    /// Larger than all that the limits let the run begin.
    private var tooLarge: [TransferRequest] = []
    private var indexByEpisode: [EpisodeIdentity: Int] = [:]
    /// What was paused or cancelled at the last look.
    var knownStopped: [EpisodeIdentity: TransferState] = [:]
    /// Looks at what the user wants that failed, since the last one that did not.
    var failedLooks = 0
    /// Seconds that each server was last left alone for because it was too busy, and when that ends.
    private var gaps: [String: Double] = [:]
    private var heldUntil: [String: Double] = [:]
    /// How often each server was left alone since it last answered.
    var troubles: [String: Int] = [:]
    /// Attempts that each server responded to.
    private var responses: [String: Int] = [:]
    /// SHA-256 of what each server sent in place of episodes since it last sent one.
    private var stubs: [String: [String]] = [:]
    private let firstGap: Double
    /// A server that is asked nothing more: it wants to be left alone for longer than a run waits, or does not answer.
    struct ClosedServer {
        var name: String
        /// Where one beyond a redirect wants that, which may be no other book's: the book.
        var book: BookIdentity?
        var why: Message
        var remedy: Message?
        /// nil where the next run may try.
        var end: Date?
    }
    var closedServers: [ClosedServer] = []
    private let begin = ContinuousClock.now

    init(_ tools: EngineTools) {
        self.tools = tools
        let settings = tools.settings
        limits = settings.limits
        firstGap = 2 * settings.retry.firstWait
        schedule = TransferSchedule(jobs: settings.jobs, jobsPerHost: settings.jobsPerHost)
    }

    /// Takes over what has come to be fetched. Of what is among its transfers already, and has not ended, it only takes
    /// over the rank. Whoever planned to fetch what was published or given up meanwhile did not know of it.
    /// - Parameter stopped: what the user has paused or cancelled by now.
    /// - Returns: what is new.
    mutating func add(_ requests: [TransferRequest], stopped: Set<EpisodeIdentity>) -> [EpisodeIdentity] {
        var added: [EpisodeIdentity] = []
        var raised: [(index: Int, rank: Int)] = []
        for var request in requests {
            let episode = request.episode.identity
            if let index = indexByEpisode[episode], !mayBegin(&request, anew: index, stopped) {
                if isAmongTransfers(episode) { raised.append((index, request.rank)) }
                continue
            }
            indexByEpisode[episode] = transfers.add(request)
            added.append(episode)
            schedule.add(for: request.server, rank: request.rank)
        }
        // What was asked for twice among them is one of these.
        schedule.raise(raised)
        if beginsNothingMore { beginNothingMore() }
        return added
    }

    /// Whether what was among the run's transfers already is to be one of them once more: it was published, given up, or has
    /// come to a halt, and whoever wants it knew that. What was stopped and has not halted yet goes on.
    private mutating func mayBegin(
        _ request: inout TransferRequest, anew index: Int, _ stopped: Set<EpisodeIdentity>
    ) -> Bool {
        if let finishedAt = transfers.finished[index] { return finishedAt <= request.asOf }
        if let failedAt = transfers[index].failedAt {
            guard failedAt <= request.asOf else { return false }
            // What came of it before is no longer what came of it.
            report.failures.removeAll { $0.episode == request.episode.identity }
            transfers.withdraw(index)
            return true
        }
        guard transfers[index].hasHalted else {
            if transfers[index].stoppedAs != nil { transfers[index].stoppedAs = nil }
            return false
        }
        // The user's last word counts: a plan may be older than it.
        guard !stopped.contains(request.episode.identity) else { return false }
        // The plan may have read what was recorded of its bytes before it halted.
        if transfers[index].stoppedAs == .paused { request.record = transfers[index].record }
        transfers.withdraw(index)
        return true
    }

    /// Seconds since the run began.
    var now: Double {
        (ContinuousClock.now - begin) / .seconds(1)
    }

    /// Whether what has begun is to be brought to its end.
    var goesOn: Bool { !isOver && report.stop == nil }

    var mayStart: Bool { goesOn && measured == nil && received.count + publishing < Self.maxBacklog }

    /// Whether nothing runs, waits for its turn, or is being published.
    var isIdle: Bool {
        workers.isEmpty && schedule.isEmpty && received.isEmpty && publishing == 0 && !isTaking
    }

    mutating func stop(because failure: Failure) { report.stop = report.stop ?? failure }

    /// Breaks off what is under way where the run is over.
    /// - Returns: who waits for its end, where nothing is under way any more.
    mutating func end() -> CheckedContinuation<Void, Never>? {
        guard !goesOn || isIdle && !isOpen else { return nil }
        for worker in workers.values { worker.task.cancel() }
        guard workers.isEmpty, received.isEmpty, publishing == 0 else { return nil }
        timer?.task.cancel()
        defer { waiting = nil }
        return waiting
    }

    mutating func addReceived(_ file: ReceivedFile, at index: Int) {
        if received.isEmpty { receivedSince = now }
        received.append((index, file))
    }

    /// Takes the files that are to be published next, if it is time and no others are being published.
    mutating func takeReceived() -> [(index: Int, file: ReceivedFile)] {
        guard publishing == 0,
            received.count >= Self.maxGroup || schedule.running.isEmpty
                || now - receivedSince >= Self.publicationInterval
        else { return [] }
        let files = Array(received.prefix(Self.maxGroup))
        received.removeFirst(files.count)
        publishing = files.count
        receivedSince = now
        return files
    }

    /// When something that only waits for its time could begin: a transfer, or the publication of a group; nil where nothing may.
    mutating func nextWake() -> Double? {
        let start = mayStart ? schedule.nextWake(now: now) : nil
        guard publishing == 0, !received.isEmpty else { return start }
        return min(start ?? .infinity, receivedSince + Self.publicationInterval)
    }

    /// Records that the user paused or cancelled a transfer, and stops it. One that is being published is past that.
    mutating func stop(_ episode: EpisodeIdentity, as state: TransferState) {
        guard let index = indexByEpisode[episode], transfers.finished[index] == nil, transfers[index].stoppedAs != state
        else { return }
        // What is paused, or was given up, can still be cancelled.
        let hasEnded = transfers[index].hasHalted || transfers[index].failedAt != nil
        if hasEnded, state != .cancelled { return }
        transfers[index].stoppedAs = state
        if !hasEnded, let worker = transfers[index].worker {
            workers[worker]?.task.cancel()
        } else if hasEnded || schedule.drop(index) {
            _ = halt(index)
        }
    }

    /// Whether any of the transfers was stopped by the user.
    var hasHaltedTransfers: Bool { transfers.begun.values.contains(where: \.hasHalted) }

    /// Whether an episode is among the run's transfers, and neither finished nor given up.
    func isAmongTransfers(_ episode: EpisodeIdentity) -> Bool {
        indexByEpisode[episode].map { transfers.finished[$0] == nil && transfers[$0].failedAt == nil } ?? false
    }

    /// Takes the next transfer out of the schedule. One that a limit does not let begin ends the schedule: what has
    /// begun is brought to its end, and nothing else starts.
    mutating func startNext() -> Int? {
        while let index = schedule.startNext(now: now) {
            guard transfers[index].startedAt == nil else { return index }
            let bytes = transfers[index].wanted.expectedBytes
            let sum = limits.begunBytes.addingSaturated(bytes ?? 1)
            if limits.allow(episodes: limits.begunEpisodes + 1, bytes: sum) {
                limits.begunEpisodes += 1
                limits.begunBytes.addSaturated(bytes ?? 0)
                return index
            }
            schedule.end(index)
            // One that no run with these limits ever begins must not keep the others from being begun.
            if limits.neverAllow(bytes: bytes ?? 0) {
                tooLarge.append(transfers[index].wanted)
            } else {
                limits.isReached = true
                beginNothingMore()
            }
        }
        return nil
    }

    /// What runs and was not handed out by an earlier call.
    mutating func newlyBegun() -> [EpisodeIdentity] {
        let indices = schedule.running.filter { !transfers[$0].isShown }
        for index in indices { transfers[index].isShown = true }
        return indices.map { transfers[$0].wanted.episode.identity }
    }

    /// What has begun is brought to its end, and nothing else starts.
    private mutating func beginNothingMore() {
        beginsNothingMore = true
        let begun = transfers.begun
        schedule.dropWaiting { begun[$0]?.startedAt == nil }
    }

    /// Gives a slot that nothing else could take to a large transfer that others can help.
    mutating func assignSlot() -> EngineJob? {
        for index in schedule.mayBeHelped(now: now) {
            guard let pieces = transfers[index].pieces, pieces.wantsHelp else { continue }
            schedule.lend(to: index)
            return .help(index, pieces)
        }
        return nil
    }

    /// Starts nothing from a server for a while: it is too busy. A server beyond a redirect is the server of the book alone.
    ///
    /// A transfer that fails again although the server responded to others meanwhile is the only one to wait. Starts are
    /// spread over time when the server says that there are too many, or another transfer fails as well.
    /// - Returns: for how many seconds; 0 when the server is not to blame.
    @discardableResult
    mutating func holdServer(
        of index: Int, because reason: AttemptResult.RetryReason, now: Double? = nil
    ) -> Double {
        let (wanted, now) = (transfers[index].wanted, now ?? self.now)
        let server = reason.server ?? wanted.server
        let isOfFile = transfers[index].responsesAtTrouble.map { $0 < responses[server] ?? 0 } ?? false
        transfers[index].responsesAtTrouble = responses[server] ?? 0
        guard reason.isRateLimit || !isOfFile else {
            schedule.serverAnswered(index)
            return 0
        }
        let isHeld = heldUntil[server] ?? 0 > now
        if !isHeld {
            troubles[server, default: 0] += 1
            if server == wanted.server {
                let mustSlowDown = reason.isRateLimit || troubles[server] ?? 0 > 1
                schedule.slowDown(
                    serverOf: index, to: mustSlowDown ? firstGap : nil, isRateLimit: reason.isRateLimit)
            }
        }
        let gap = gap(of: server, asked: reason.after, isHeld: isHeld)
        heldUntil[server] = max(heldUntil[server] ?? 0, now + gap)
        let transfers = transfers
        if server == wanted.server {
            schedule.holdServer(of: index, until: now + gap)
            // One that has not failed yet tells more of the server.
            schedule.postponeWaiting(for: server, until: now + 1.1 * gap) {
                transfers.begun[$0]?.responsesAtTrouble != nil
            }
        } else {
            schedule.postponeWaiting(for: wanted.server, until: now + gap) {
                transfers[$0].wanted.episode.identity.book == wanted.episode.identity.book
            }
        }
        return gap
    }

    /// Records which servers responded to an attempt: a redirect is a response of the transfer's own.
    mutating func recordResponses(to result: AttemptResult, at index: Int) {
        let own = transfers[index].wanted.server
        var servers = [result.respondingServer].compactMap(\.self)
        var hasAnswered = !servers.isEmpty
        if case .retry(let reason) = result.ending, reason.server ?? own != own { hasAnswered = true }
        if hasAnswered, servers.first != own { servers.append(own) }
        for server in servers {
            responses[server, default: 0] += 1
            if troubles.removeValue(forKey: server) != nil { gaps[server] = (gaps[server] ?? 0) / 2 }
            if result.isReceived { stubs[server] = nil }
        }
        if !servers.isEmpty { schedule.serverAnswered(index) }
    }

    /// Records audio that is too little to be the episode.
    /// - Returns: true if the server sends it for others too, or nothing but such audio.
    mutating func isServerOfStubs(_ server: String, sending digest: String) -> Bool {
        defer { stubs[server, default: []].append(digest) }
        return stubs[server]?.contains(digest) == true || stubs[server]?.count ?? 0 > 1
    }

    /// The transfers under way, and the one that was just taken out of the schedule.
    var running: [Transfer] { schedule.running.map { transfers[$0] } }

    /// Gives up the transfer at `index`, which was to start. For want of room, what is under way and what is smaller goes
    /// on; anything else ends the run.
    mutating func end(because failure: Failure, insteadOf index: Int) {
        schedule.end(index)
        if transfers[index].startedAt == nil {
            limits.begunEpisodes -= 1
            limits.begunBytes = limits.begunBytes.subtractingSaturated(transfers[index].wanted.expectedBytes ?? 0)
        }
        guard failure.isLackOfRoom else { return stop(because: failure) }
        lackOfRoom = lackOfRoom ?? failure
    }

    /// How long a server that is too busy is left alone: as long as it asks, else twice as long as the last time.
    /// Requests that were under way together and are all refused are one time.
    private mutating func gap(of server: String, asked: Double?, isHeld: Bool) -> Double {
        if asked == nil, let gap = gaps[server], isHeld { return gap }
        let gap = min(asked ?? max(2 * (gaps[server] ?? 0), firstGap), RetryPolicy.longestRequestedWait)
        gaps[server] = gap
        return gap
    }

    /// With what was begun and not ended, or not begun at all, counted.
    var finalReport: EngineReport {
        var report = report
        report.stop = report.stop ?? lackOfRoom
        report.bytesLeft = transfers.unfinished.saturatedSum { transfer in
            var wanted = transfer.wanted
            wanted.record = transfer.record
            return wanted.expectedBytes ?? 0
        }
        let ended = Set(report.receipts.map(\.file.episode) + report.failures.compactMap(\.episode))
        for transfer in transfers.begun.values where !ended.contains(transfer.wanted.episode.identity) {
            report.stopped[transfer.wanted.episode.identity] = transfer.stoppedAs
        }
        report.left = max(
            0, transfers.count - report.receipts.count - report.failures.count - report.stopped.count)
        report.neverBegun = neverBegun
        report.limits = limits
        return report
    }

    private var neverBegun: FailureReport? {
        guard let first = tooLarge.first else { return nil }
        return FailureReport(
            first.episode,
            .neverBegun(
                first.episode, of: first.title, bytes: first.expectedBytes ?? 0, others: tooLarge.count - 1,
                limit: "--max-bytes"))
    }

    mutating func record(_ result: AttemptResult, at index: Int) {
        report.bytesReceived += result.bytesReceived
        transfers[index].record = result.record
        transfers[index].worker = nil
        transfers[index].pieces = nil
        if let validator = result.answered { transfers[index].tags.record(validator) }
        transfers[index].mustStartOver = false
        transfers[index].isNotClosed = result.isNotClosed
        transfers[index].bytesReceived += result.bytesReceived
        if result.bytesReused > 0 {
            // Bytes that an earlier attempt of this run brought are no reuse.
            let earlier = transfers[index].bytesReceived - result.bytesReceived
            let reused = transfers[index].bytesReused ?? max(0, result.bytesReused - earlier)
            transfers[index].bytesReused = max(0, reused - result.bytesRepeated)
        } else if result.progress > 0 {
            transfers[index].bytesReused = 0
        }
        let reached = result.bytesReused + result.progress
        var isProgress = result.progress > 0 && reached > transfers[index].farthest
        transfers[index].farthest = max(transfers[index].farthest, reached)
        if case .restart = result.ending {
            isProgress = false
            transfers[index].farthest = 0
        }
        if case .retry(let reason) = result.ending, reason.isServerTooSlow { isProgress = false }
        if isProgress {
            // What an earlier run had already brings the episode no farther.
            if reached > transfers[index].wanted.record?.committedLength ?? 0 { transfers[index].record.attempts = 0 }
            transfers[index].record.missingSince = nil
        }
        if case .retry = result.ending {
            transfers[index].failuresInARow = isProgress ? 1 : transfers[index].failuresInARow + 1
        }
    }

    /// Records that a transfer has come to its end.
    mutating func finish(_ file: LocalFile, at index: Int) -> TransferReceipt {
        let transfer = transfers.finish(index)
        let reused = transfer.bytesReused ?? 0
        let isUnchanged = file.fetchedAt == transfer.wanted.replacing?.fetchedAt
        var remarks: [Message] = []
        if !isUnchanged, let declared = transfer.wanted.episode.size, declared != file.size {
            remarks.append("the catalog says \(declared) bytes, the server sent \(file.size)")
        }
        if transfer.isNotClosed, file.verification == .unverified {
            remarks.append(
                "the server declares no length and closes TLS improperly: the same \(file.size) bytes came twice")
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
            bytesReceived: transfer.bytesReceived, bytesReused: reused, seconds: elapsed / .seconds(1),
            remarks: remarks)
    }
}
