import BookModel
import Foundation
import LibraryFiles
import Logging
import Transport

/// What a run of the engine came to.
package struct EngineReport: Sendable {
    package var receipts: [TransferReceipt] = []
    package var failures: [FailureReport] = []
    /// Body bytes off the wire, those of failed transfers included.
    package var bytesReceived: Int64 = 0
    /// Transfers that the run did not come to, or broke off: interrupted, or because of its limits.
    package var left = 0
    /// What is told of those among them that no run with these limits ever begins; nil where there are none.
    package var neverBegun: FailureReport?
    /// Those of the run, with what it began within them.
    package var limits = RunLimits()
    /// Transfers that the user paused or cancelled meanwhile.
    package var stopped: [EpisodeIdentity: TransferState] = [:]
    /// Bytes that are still to come of everything that was not finished, as far as lengths are known.
    package var bytesLeft: Int64 = 0
    /// Why the run ended early: a full disk, a library that is gone.
    package var stop: Failure?
}

/// Brings episodes to disk: several at once, each resumed, verified, and published only when whole.
///
/// One task owns the schedule and the counts; attempts and publications are its children, and everything they find
/// out comes back as a value, so there is nothing to lock. A transfer gives up its slot while it waits for its next
/// try and while it is being published.
///
/// Guaranteed: a file at its final name is whole and verified, and its record is committed after the file and its
/// folder have reached the disk; bytes held under a validator that still holds are not fetched again. Not guaranteed:
/// that a server which sends no validator lets a transfer be resumed, or that bytes without any declared length or
/// digest are right (they are recorded as unverified).
package struct DownloadEngine: Sendable {
    let transport: HTTPTransport
    let journal: any TransferJournal
    private let library: String
    let partialFolder: String
    private let settings: EngineSettings
    private let rates: TransferRates
    let watch: DiskGuard
    let threads = TransferThreads()
    private let publisherThread = SerialQueueExecutor(label: "booksync.publisher")
    private let look: @Sendable () async throws -> Void
    let makeRoom: @Sendable (Int64) async -> Bool
    private let keepReplaced: @Sendable (EpisodeIdentity, String) throws -> Void
    private let objection: @Sendable (String, Episode) async -> Message?
    let emit: @Sendable (SyncEvent) -> Void
    let logger: Logger

    /// - Parameters:
    ///   - library: absolute path of the library.
    ///   - partialFolder: absolute path of the folder for partial files, on the library's own filesystem.
    ///   - look: looks at what users want since the last call, and puts it into the inbox; is called four times a second.
    ///   - makeRoom: gets how many bytes the disk lacks, and says whether it has freed that many.
    ///   - keepReplaced: gets an episode and the path of its file before that is replaced; where it throws, the file stays. May
    ///     block.
    ///   - requireHeld: throws when another run has the library now; is called before each publication, and may block.
    ///   - objection: gets the absolute path of a file that nothing vouches for, and says what is wrong with it; nil where it
    ///     may be put into the library.
    package init(
        transport: HTTPTransport, journal: any TransferJournal, library: String, partialFolder: String,
        settings: EngineSettings, logger: Logger,
        look: @escaping @Sendable () async throws -> Void = {},
        makeRoom: @escaping @Sendable (Int64) async -> Bool = { _ in false },
        keepReplaced: @escaping @Sendable (EpisodeIdentity, String) throws -> Void = { _, _ in },
        requireHeld: @escaping @Sendable () throws -> Void = {},
        objection: @escaping @Sendable (String, Episode) async -> Message? = { _, _ in nil },
        emit: @escaping @Sendable (SyncEvent) -> Void
    ) {
        self.transport = transport
        self.journal = journal
        self.library = library
        self.partialFolder = partialFolder
        self.settings = settings
        self.rates = TransferRates(settings)
        self.watch = DiskGuard(
            library: library, partialFolder: partialFolder, minFreeSpace: settings.minFreeSpace,
            minDividedLength: settings.minDividedLength, requireHeld: requireHeld)
        self.look = look
        self.makeRoom = makeRoom
        self.keepReplaced = keepReplaced
        self.objection = objection
        self.emit = emit
        self.logger = logger
    }

    /// Makes sure that the library is the one that the run began with.
    /// - Throws: ``Failure`` that ends the run.
    package func requireLibrary() async throws { try await threads.aside { try watch.requireSameDisk() } }

    /// Received files beyond which no new transfer starts: each is held open.
    private static let maxBacklog = 64
    /// Files that are published together, and seconds that a file waits for others.
    private static let maxGroup = 32
    private static let publicationInterval = 0.02

    /// Fetches the episodes that come into the inbox, those of the lowest rank first. Returns when the inbox is closed and
    /// all are finished, failed or, after cancellation, stopped; never throws, since one episode's failure is not the
    /// others'.
    package func run(_ inbox: TransferInbox) async -> EngineReport {
        // Where half of the transfers run: what they came to is known without a change of thread.
        await withTaskExecutorPreference(threads.engineLoop) { await runHere(inbox) }
    }

    private func runHere(_ inbox: TransferInbox) async -> EngineReport {
        await withTaskGroup(of: ChildResult.self) { group in
            var run = EngineRun(settings)
            if let seconds = settings.limits.seconds { addTimer(seconds, .timeIsUp, to: &group) }
            group.addTask { await inbox.hasMore() ? .arrived : .closed }
            addTimer(Self.controlInterval, .control, to: &group)
            await obey(&run)
            inbox.engineIsIdle()
            while true {
                if run.mayStart(backlog: Self.maxBacklog), !Task.isCancelled {
                    while await startNext(of: &run, in: &group) {}
                    while let (index, pieces) = run.assignSlot() {
                        group.addTask { .helped(index, await pieces.help()) }
                    }
                    armTimer(of: &run, in: &group)
                }
                guard let result = await group.next() else { break }
                switch result {
                case .arrived:
                    await take(inbox.takeAll(), into: &run)
                    group.addTask { await inbox.hasMore() ? .arrived : .closed }
                case .closed:
                    run.isOpen = false
                case .timer:
                    run.armedTimer = nil
                case .timeIsUp:
                    run.isOver = true
                case .groupIsDue:
                    run.isGroupTimerArmed = false
                case .control:
                    await lookAfterLibrary(&run)
                    await obey(&run)
                    for meter in run.meters.values { meter.tellRest() }
                    if run.isOpen || !run.isIdle { addTimer(Self.controlInterval, .control, to: &group) }
                case .measured(let index, let length):
                    await startMeasured(index, length, of: &run, in: &group)
                case .attempted(let index, let result):
                    run.schedule.end(index)
                    run.meters[index] = nil
                    await finishTransfer(index, result, of: &run, in: &group)
                case .helped(let index, let busy):
                    run.schedule.giveBack(of: index)
                    if let busy { run.holdServer(of: index, because: busy, now: run.now) }
                case .renewed(let index, let outcome):
                    run.renewals -= 1
                    await finishRenewal(index, outcome, of: &run)
                case .published(let outcomes):
                    run.publishing = 0
                    for (index, outcome) in outcomes { await finishPublication(index, outcome, of: &run) }
                }
                publishReceived(of: &run, in: &group)
                if run.isIdle { inbox.engineIsIdle() }
                if run.isOver || run.report.stop != nil || run.isIdle && !run.isOpen { group.cancelAll() }
            }
            return run.finalReport
        }
    }

    /// Begins with the first that come, and adds what comes later.
    private func take(_ requests: [TransferRequest], into run: inout EngineRun) async {
        if run.transfers.count == 0 { await lookAfterLibrary(&run) }
        do {
            let stopped = run.hasHaltedTransfers ? Set(try await journal.stoppedTransfers().keys) : []
            let added = run.add(requests, stopped: stopped)
            if run.report.stop == nil { await announce(added, in: &run) }
            await leaveClosed(of: &run)
        } catch {
            run.report.stop = run.report.stop ?? Self.publicationFailure(error)
        }
    }

    /// Seconds between two looks at what the user paused or cancelled, and at the library.
    private static let controlInterval = 0.25
    /// Looks in a row.
    private static let maxFailedLooks = 3

    /// Ends the run when the library is no longer there.
    private func lookAfterLibrary(_ run: inout EngineRun) async {
        do {
            try await requireLibrary()
        } catch {
            if run.report.stop == nil { run.report.stop = Self.publicationFailure(error) }
        }
    }

    /// Lets everybody see what this run is going to fetch.
    private func announce(_ added: [TransferRecord], in run: inout EngineRun) async {
        do {
            let records = added.map { record in
                var record = record
                record.state = .waiting
                return record
            }
            try await threads.aside { try journal.commit(records) }
        } catch {
            run.report.stop = Self.publicationFailure(error)
        }
    }

    /// Shows what has begun, stops what the user paused or cancelled since the last look, and has ``look`` find what they want.
    private func obey(_ run: inout EngineRun) async {
        do {
            let begun = run.newlyBegun()
            if !begun.isEmpty { try await threads.aside { try journal.commit(begun: begun) } }
            let stopped = try await journal.stoppedTransfers()
            for (episode, state) in stopped {
                guard let wanted = run.stop(episode, as: state) else { continue }
                await finishStop(state, of: wanted)
            }
            await dropPartials(of: run.newlyCancelled(stopped))
            run.knownStopped = stopped
            try await look()
            run.failedLooks = 0
        } catch {
            // The next look may tell. A store may stay unreadable and be written to all the same; then each look takes as
            // long as the store waits for its locks, and the run would go on for hours that obeys nobody.
            logger.error("the requested changes cannot be read", metadata: ["error": "\(error)"])
            run.failedLooks += 1
            let failure = Failure.of(error)
            guard failure.disposition == .stop, run.failedLooks >= Self.maxFailedLooks, !Task.isCancelled else {
                return
            }
            run.report.stop = run.report.stop ?? failure
        }
    }

    enum ChildResult: Sendable {
        /// There is more to fetch.
        case arrived
        /// Nothing more comes.
        case closed
        case timer
        case timeIsUp
        case control
        case groupIsDue
        /// How long a file is by its server's word, if it says.
        case measured(Int, Int64?)
        case attempted(Int, AttemptResult)
        case published([(Int, Result<LocalFile, Failure>)])
        case renewed(Int, Result<ResourceAddress, Failure>)
        /// A helper brought a piece, or did not; with the reason when the server has too much to do.
        case helped(Int, AttemptResult.RetryReason?)
    }

    func start(_ index: Int, of run: inout EngineRun, in group: inout TaskGroup<ChildResult>) {
        let transfer = run.transfers[index]
        if transfer.startedAt == nil { run.transfers[index].startedAt = .now }
        let partialPath = partialFolder + "/" + transfer.partialName
        let limiter = rates.limiter(of: transfer.wanted.episode.identity.book.source)
        let transport = transport.using(transfer.wanted.access)
        let meter = TransferMeter(transfer.wanted, emit: emit)
        run.meters[index] = meter
        // A server that contradicted itself once is not asked for pieces again.
        let isDivided = !transfer.hasStartedOver && transfer.length ?? 0 >= settings.minDividedLength
        let pieces =
            isDivided
            ? SegmentedDownload(
                partialPath: partialPath, transport: transport, limiter: limiter, meter: meter, threads: threads,
                settings: settings)
            : nil
        run.transfers[index].pieces = pieces
        let slot = threads.takeSlot()
        let attempt = TransferAttempt(
            wanted: transfer.wanted, record: transfer.record, transport: transport, journal: journal, watch: watch,
            settings: settings, slot: slot, partialPath: partialPath, limiter: limiter, meter: meter,
            endedEarly: transfer.endedEarly, pieces: pieces, objection: objection)
        let startOver = transfer.mustStartOver
        // A task of its own, so that one transfer can be stopped without the others.
        let task = Task(executorPreference: slot.loop) {
            var attempt = attempt
            return await attempt.run(startOver: startOver)
        }
        run.transfers[index].task = task
        group.addTask {
            .attempted(
                index,
                await withTaskCancellationHandler {
                    await task.value
                } onCancel: {
                    task.cancel()
                })
        }
    }

    /// Wakes the loop when the next waiting transfer's time has come.
    private func armTimer(of run: inout EngineRun, in group: inout TaskGroup<ChildResult>) {
        guard let wake = run.schedule.nextWake(now: run.now), wake < run.armedTimer ?? .infinity else { return }
        run.armedTimer = wake
        addTimer(wake - run.now, .timer, to: &group)
    }

    private func addTimer(_ seconds: Double, _ result: ChildResult, to group: inout TaskGroup<ChildResult>) {
        group.addTask {
            do {
                try await Task.sleep(for: .seconds(seconds))
                return result
            } catch {
                // A cancelled wait just ends early, and means nothing.
                return .timer
            }
        }
    }

    /// Has the next group of received files published: when it is full, when it has waited long enough, or when nothing
    /// is under way that could join it.
    private func publishReceived(of run: inout EngineRun, in group: inout TaskGroup<ChildResult>) {
        let files = run.takeReceived(upTo: Self.maxGroup, within: Self.publicationInterval)
        guard !files.isEmpty else {
            if run.mustArmGroupTimer() { addTimer(Self.publicationInterval, .groupIsDue, to: &group) }
            return
        }
        let publisher = Publisher(
            library: library, journal: journal, watch: watch, keepReplaced: keepReplaced,
            onUnsyncedFolder: { noteUnsyncedFolders() })
        group.addTask(executorPreference: publisherThread) {
            let outcomes = publisher.publish(files.map(\.file)).map { $0.mapError(Self.publicationFailure) }
            return .published(Array(zip(files.map(\.index), outcomes)))
        }
    }

    /// Reports once for each library that the names of new files are not safe from a power cut. Blocks on the disk.
    private func noteUnsyncedFolders() {
        let mark = open(library + "/.booksync/folders-not-synced", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard mark >= 0 else { return }
        close(mark)
        emit(
            .notice(
                "the library's filesystem cannot sync folders: a power cut may take the files that were downloaded last, and "
                    + "the next run downloads them again"))
    }

    private func finishTransfer(
        _ index: Int, _ result: AttemptResult, of run: inout EngineRun, in group: inout TaskGroup<ChildResult>
    ) async {
        run.record(result, at: index)
        let wanted = run.transfers[index].wanted
        run.recordResponses(to: result, at: index)
        if let state = run.transfers[index].stoppedAs, !result.isReceived {
            return await halt(index, as: state, of: &run)
        }
        switch result.ending {
        case .received(let file):
            run.addReceived(file, at: index)
        case .unchanged:
            guard var file = wanted.replacing else { return }
            file.recordClaims(of: wanted.episode)
            await finishPublication(index, recorded(file), of: &run)
        case .restart(let why):
            if run.transfers[index].hasStartedOver {
                // The same bytes twice: the next nights would bring them again.
                if let spoiled = result.spoiled, spoiled == run.transfers[index].spoiled {
                    run.transfers[index].countAsHopeless()
                }
                await giveUp(index, wanted.failure(why, remedy: "try again later"), of: &run)
            } else {
                logger.notice("starting over", metadata: ["episode": "\(wanted.episode.identity)", "why": "\(why)"])
                run.transfers[index].mustStartOver = true
                run.transfers[index].hasStartedOver = true
                run.transfers[index].spoiled = result.spoiled
                run.schedule.postpone(index, until: run.now)
            }
        case .retry(let reason)
        where reason.after ?? 0 > RetryPolicy.longestRequestedWait && !Task.isCancelled && !run.isOver:
            await closeServer(because: reason, insteadOf: index, of: &run)
        case .retry(let reason):
            let failures = run.transfers[index].failuresInARow
            let wait = settings.retry.wait(afterFailures: failures, random: .random(in: 0..<1))
            let gap = reason.isServerBusy ? run.holdServer(of: index, because: reason, now: run.now) : 0
            let server = reason.server ?? wanted.server
            let troubles = run.troubles[server] ?? 0
            if reason.isServerBusy, troubles > max(settings.retry.retries, 2), !Task.isCancelled, !run.isOver {
                await closeServer(because: reason, afterTroubles: troubles, insteadOf: index, of: &run)
            } else if let wait, !Task.isCancelled, !run.isOver {
                logger.info(
                    "trying again",
                    metadata: [
                        "episode": "\(wanted.episode.identity)", "why": "\(reason.why)",
                        "in_seconds": "\(max(wait, reason.after ?? 0))",
                    ])
                // Another transfer shows first whether it is the server's trouble, or that of the one file.
                let seconds = max(wait, reason.after ?? 0, 1.1 * gap)
                run.schedule.postpone(index, until: run.now + seconds)
                let episode = wanted.episode
                emit(
                    .waiting(
                        .episode(episode.identity),
                        Wait(
                            name: episode.name, reason: reason.why, seconds: gap > 0 ? gap : seconds,
                            server: gap > 0 ? server : nil)))
            } else if !Task.isCancelled, !run.isOver {
                await giveUp(index, wanted.failure("\(reason.why), \(failures) times in a row"), of: &run)
            }
        case .endedEarly(let length):
            if let before = run.transfers[index].endedEarly {
                let size = wanted.episode.size.map { ", and the catalog says \($0)" } ?? ""
                let why: Message = "the server ended it after \(before) bytes, and after \(length) the next time\(size)"
                await giveUp(index, wanted.failure(why, remedy: "try again later"), of: &run)
            } else {
                // Where its end is only doubtful, a server with ranges may tell the rest.
                run.transfers[index].mustStartOver = !result.isNotClosed
                run.transfers[index].endedEarly = length
                run.schedule.postpone(index, until: run.now)
            }
        case .stub(let reason):
            if run.isServerOfStubs(reason.server ?? wanted.server, sending: result.spoiled ?? "") {
                await closeServer(because: reason, afterTroubles: 1, insteadOf: index, of: &run)
            } else {
                // The claim may be wrong: that is the episode's own trouble.
                await giveUp(index, wanted.failure(reason.why), of: &run)
            }
        case .fail(let failure):
            if result.isForGood { run.transfers[index].countAsHopeless() }
            await giveUp(index, failure, of: &run)
        case .expired(let failure):
            guard let address = wanted.episode.address, let renew = wanted.renewAddress,
                run.transfers[index].mayRenew()
            else { return await giveUp(index, failure, of: &run) }
            run.renewals += 1
            group.addTask { .renewed(index, await Self.renewed(address, renew, otherwise: failure)) }
        case .stopped:
            // Whoever had it stopped wants it again.
            if !Task.isCancelled, !run.isOver, run.report.stop == nil { run.schedule.postpone(index, until: run.now) }
        }
    }
}
