import BookModel
import Foundation
import Logging
import Transport

/// What a run of the engine came to.
package struct EngineReport: Sendable {
    package var receipts: [TransferReceipt] = []
    package var failures: [FailureReport] = []
    /// Body bytes off the wire, those of failed transfers included.
    package var bytesReceived: Int64 = 0
    /// Why the run ended early: a full disk, a library that is gone.
    package var stop: Failure?
}

/// Brings episodes to disk: several at once, each resumed, verified, and published only when whole.
///
/// One task owns the schedule and the counts; attempts and publications are its children, and everything they find
/// out comes back as a value, so there is nothing to lock. A transfer gives up its place while it waits for its next
/// try and while it is being published.
///
/// Guaranteed: a file at its final name is whole and verified, and its record is committed after the file and its
/// folder have reached the disk; bytes held under a validator that still holds are not fetched again. Not guaranteed:
/// that a server which sends no validator lets a transfer be resumed, or that bytes without any declared length or
/// digest are right (they are recorded as unverified).
package struct DownloadEngine: Sendable {
    private let transport: HTTPTransport
    private let journal: any TransferJournal
    private let library: String
    private let partialFolder: String
    private let settings: EngineSettings
    private let emit: @Sendable (SyncEvent) -> Void
    private let logger: Logger

    /// - Parameters:
    ///   - library: absolute path of the library.
    ///   - partialFolder: absolute path of the folder for partial files, on the library's own filesystem.
    package init(
        transport: HTTPTransport, journal: any TransferJournal, library: String, partialFolder: String,
        settings: EngineSettings, logger: Logger, emit: @escaping @Sendable (SyncEvent) -> Void
    ) {
        self.transport = transport
        self.journal = journal
        self.library = library
        self.partialFolder = partialFolder
        self.settings = settings
        self.emit = emit
        self.logger = logger
    }

    /// Publications under way beyond which no new transfer starts: each holds a file open.
    private static let greatestBacklog = 64

    /// Fetches the episodes, starting in the order given. Returns when all are finished, failed or, after
    /// cancellation, stopped; never throws, since one episode's failure is not the others'.
    package func run(_ requests: [TransferRequest]) async -> EngineReport {
        await withTaskGroup(of: ChildResult.self) { group in
            var run = Run(requests: requests, settings: settings)
            while true {
                if run.mayStart(backlog: Self.greatestBacklog), !Task.isCancelled {
                    while let place = run.schedule.startNext(now: run.now) { start(place, of: &run, in: &group) }
                    armTimer(of: &run, in: &group)
                }
                guard let result = await group.next() else { break }
                switch result {
                case .timer:
                    run.armedTimer = nil
                case .attempted(let place, let result):
                    run.schedule.end(place)
                    await settle(place, result, of: &run, in: &group)
                case .published(let place, let outcome):
                    run.backlog -= 1
                    await settlePublication(place, outcome, of: &run)
                }
                if run.report.stop != nil { group.cancelAll() }
                if run.schedule.isEmpty, run.backlog == 0 { group.cancelAll() }
            }
            return run.report
        }
    }

    private enum ChildResult: Sendable {
        case timer
        case attempted(Int, AttemptResult)
        case published(Int, Result<LocalFile, Failure>)
    }

    private func start(_ place: Int, of run: inout Run, in group: inout TaskGroup<ChildResult>) {
        let transfer = run.transfers[place]
        if transfer.startedAt == nil { run.transfers[place].startedAt = .now }
        var attempt = TransferAttempt(
            wanted: transfer.wanted, record: transfer.record, transport: transport, journal: journal,
            partialPath: partialFolder + "/" + PartialFile.name(for: transfer.wanted.episode.identity), emit: emit)
        let startOver = transfer.mustStartOver
        group.addTask { .attempted(place, await attempt.run(startOver: startOver)) }
    }

    /// Wakes the loop when the next waiting transfer's time has come.
    private func armTimer(of run: inout Run, in group: inout TaskGroup<ChildResult>) {
        guard let wake = run.schedule.nextWake(now: run.now), wake < run.armedTimer ?? .infinity else { return }
        run.armedTimer = wake
        let wait = wake - run.now
        group.addTask {
            do {
                try await Task.sleep(for: .seconds(wait))
            } catch {
                // A cancelled wait just ends early.
            }
            return .timer
        }
    }

    private func settle(
        _ place: Int, _ result: AttemptResult, of run: inout Run, in group: inout TaskGroup<ChildResult>
    ) async {
        run.note(result, at: place)
        let wanted = run.transfers[place].wanted
        switch result.ending {
        case .received(let file):
            run.backlog += 1
            let publisher = run.publisher ?? Publisher(library: library, journal: journal)
            run.publisher = publisher
            group.addTask {
                do {
                    return .published(place, .success(try await publisher.publish(file)))
                } catch {
                    return .published(place, .failure(Self.publicationFailure(error)))
                }
            }
        case .unchanged:
            guard var file = wanted.replacing else { return }
            file.catalogSize = wanted.episode.size
            file.catalogModifiedAt = wanted.episode.modifiedAt
            await settlePublication(place, await recorded(file), of: &run)
        case .restart(let why):
            if run.transfers[place].hasStartedOver {
                await giveUp(place, wanted.failure(why, remedy: "try again later"), of: &run)
            } else {
                logger.notice("starting over", metadata: ["episode": "\(wanted.episode.identity)", "why": "\(why)"])
                run.transfers[place].mustStartOver = true
                run.transfers[place].hasStartedOver = true
                run.schedule.postpone(place, until: run.now)
            }
        case .retry(let why, let requested):
            let failures = run.transfers[place].failuresInARow
            let wait = settings.retry.wait(afterFailures: failures, random: .random(in: 0..<1))
            if let wait, !Task.isCancelled {
                run.schedule.postpone(place, until: run.now + max(wait, requested ?? 0))
            } else if !Task.isCancelled {
                await giveUp(place, wanted.failure("\(why), \(failures) times in a row"), of: &run)
            }
        case .fail(let failure):
            await giveUp(place, failure, of: &run)
        case .stopped:
            break
        }
    }

    private func recorded(_ file: LocalFile) async -> Result<LocalFile, Failure> {
        do {
            try await journal.finish([file])
            return .success(file)
        } catch {
            return .failure(Self.publicationFailure(error))
        }
    }

    private static func publicationFailure(_ error: any Error) -> Failure {
        error as? Failure
            ?? Failure(
                .inputOutput, disposition: .stop, what: "a received episode cannot be put into the library",
                why: "\(error)", remedy: "run again; it is not fetched twice")
    }

    private func settlePublication(_ place: Int, _ outcome: Result<LocalFile, Failure>, of run: inout Run) async {
        switch outcome {
        case .success(let file):
            let receipt = run.receipt(for: file, at: place)
            run.report.receipts.append(receipt)
            emit(.finished(receipt))
        case .failure(let failure):
            // When the disk or the store ends the run, the file may be in its place already: the announcement, which
            // stays in the journal, is what the next run finds it by.
            await giveUp(place, failure, of: &run, records: failure.disposition != .stop)
        }
    }

    /// Tells that the episode failed in this run, and records it. What was received of it is kept.
    private func giveUp(_ place: Int, _ failure: Failure, of run: inout Run, records: Bool = true) async {
        let transfer = run.transfers[place]
        let report = FailureReport(
            book: transfer.wanted.episode.identity.book, episode: transfer.wanted.episode.identity,
            section: transfer.wanted.episode.section, name: transfer.wanted.episode.name, failure: failure)
        if failure.disposition == .stop, run.report.stop == nil { run.report.stop = failure }
        run.report.failures.append(report)
        emit(.failed(report))
        guard records else { return }
        var record = transfer.record
        record.state = .failed
        record.error = failure.description
        // The run's own end is nothing the episode has to wait for.
        record.attempts += failure.disposition == .stop ? 0 : 1
        record.nextTryAt = EngineSettings.waitBetweenRuns(attempts: record.attempts).map { Date() + $0 }
        do {
            let failed = record
            try await Task { try await journal.save([failed]) }.value
        } catch {
            logger.error("a failure could not be recorded", metadata: ["error": "\(error)"])
            if run.report.stop == nil { run.report.stop = Self.publicationFailure(error) }
        }
    }
}

/// The state of one run, owned by its one task.
private struct Run {
    struct Transfer {
        let wanted: TransferRequest
        var record: TransferRecord
        var failuresInARow = 0
        /// The greatest length that an attempt of this run came to. Only what lies beyond is progress: a server that can
        /// not be resumed from, and cuts every answer at the same place, would be asked for ever.
        var farthest: Int64 = 0
        var mustStartOver = false
        var hasStartedOver = false
        var startedAt: ContinuousClock.Instant?
        var bytesReceived: Int64 = 0
        /// Of earlier runs; nil until an attempt has put bytes to use.
        var bytesReused: Int64?
    }

    var transfers: [Transfer]
    var schedule: TransferSchedule
    var report = EngineReport()
    var publisher: Publisher?
    var backlog = 0
    var armedTimer: Double?
    private let begin = ContinuousClock.now

    init(requests: [TransferRequest], settings: EngineSettings) {
        transfers = requests.map {
            Transfer(wanted: $0, record: $0.record ?? TransferRecord(episode: $0.episode.identity))
        }
        schedule = TransferSchedule(
            servers: requests.map(\.server), jobs: settings.jobs, jobsPerHost: settings.jobsPerHost)
    }

    /// Seconds since the run began.
    var now: Double {
        let elapsed = ContinuousClock.now - begin
        return Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) * 1e-18
    }

    func mayStart(backlog limit: Int) -> Bool {
        report.stop == nil && backlog < limit
    }

    mutating func note(_ result: AttemptResult, at place: Int) {
        report.bytesReceived += result.bytesReceived
        transfers[place].record = result.record
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
        if isProgress { transfers[place].record.attempts = 0 }
        if case .retry = result.ending {
            transfers[place].failuresInARow = isProgress ? 1 : transfers[place].failuresInARow + 1
        }
    }

    func receipt(for file: LocalFile, at place: Int) -> TransferReceipt {
        let transfer = transfers[place]
        let reused = transfer.bytesReused ?? 0
        let isUnchanged = file.fetchedAt == transfer.wanted.replacing?.fetchedAt
        var remarks: [String] = []
        if !isUnchanged, let declared = transfer.wanted.episode.size, declared != file.size {
            remarks.append("the catalog says \(declared) bytes, the server sent \(file.size)")
        }
        let outcome: TransferReceipt.Outcome =
            if isUnchanged { .unchanged } else if transfer.wanted.overwrites { .replaced } else {
                reused > 0 ? .resumed : .fetched
            }
        let elapsed = (transfer.startedAt ?? .now).duration(to: .now)
        return TransferReceipt(
            outcome: outcome, section: transfer.wanted.episode.section, name: transfer.wanted.episode.name, file: file,
            bytesReceived: transfer.bytesReceived, bytesReused: reused,
            seconds: Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) * 1e-18,
            remarks: remarks)
    }
}
