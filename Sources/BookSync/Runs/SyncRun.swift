import BookModel
import CatalogFetcher
import CatalogStore
import DownloadEngine
import Foundation
import LibraryFiles
import LibraryMedia
import Logging
import MediaProbe
import Settings
import ShelfQueries
import Transport

/// The main job: read the books' catalogs, plan what the disk lacks, fetch just that.
///
/// One failed book never stops the others; what ends a run early is only what would fail every transfer, such as a
/// full disk. Cancellation stops all transfers at once and keeps everything received.
package struct SyncRun: Sendable {
    let configuration: Configuration
    let logger: Logger
    private let control: RunControl
    private let media: MediaProbe?
    let writer: MediaProbe?
    let emit: @Sendable (SyncEvent) -> Void
    /// When what expires or is replaced in this run counts as removed, so that one undo brings it back.
    private let startedAt = Date()

    /// - Parameters:
    ///   - control: tells it what to leave, and what else to do; good for one run.
    ///   - media: what looks into the audio files; nil where nothing does.
    ///   - writer: what writes audio files; nil where ffmpeg is not installed.
    package init(
        configuration: Configuration, logger: Logger, control: RunControl = RunControl(), media: MediaProbe? = nil,
        writer: MediaProbe? = nil, emit: @escaping @Sendable (SyncEvent) -> Void
    ) {
        self.control = control
        self.configuration = configuration
        self.logger = logger
        self.media = media
        self.writer = writer
        let meter = RunMeter(emit: emit)
        self.emit = { meter.pass($0) }
    }

    /// Executes the request in an opened library as a run that is recorded, and tells of it those who are to be told.
    ///
    /// - Parameters:
    ///   - command: what it is recorded as.
    ///   - exitCode: what the process will exit with after these failures.
    package func execute(
        _ request: RunRequest, as command: String, in session: LibrarySession,
        exitCode: @Sendable ([Failure]) -> Int
    ) async throws -> RunReport {
        let recording = RunRecording(configuration: configuration, store: session.store, emit: emit)
        let record = await recording.begin(command, of: request.items.map(\.book))
        do {
            let report = try await execute(request, in: session)
            guard let record else { return report }
            let (code, error) = (exitCode(report.failures), report.failures.first?.message)
            let ended = await recording.end(record, report, exitCode: code, error: error)
            await recording.conclude(ended, report)
            if let notice = await session.backUp() { emit(.notice(notice)) }
            // It may have been interrupted while it told of itself.
            let last = exitCode(report.failures)
            if last != code { _ = await recording.end(record, report, exitCode: last, error: error) }
            return report
        } catch {
            guard let record else { throw error }
            var report = RunReport()
            if !(error is CancellationError) { report.recordEnd(Failure.of(error), known: await recording.outages()) }
            let ended = await recording.end(
                record, report, exitCode: exitCode(report.failures),
                error: report.failures.first?.message)
            await recording.conclude(ended, report)
            throw error
        }
    }

    /// Executes the request in an opened library. Failures are in the report, not thrown.
    package func execute(_ whole: RunRequest, in session: LibrarySession) async throws -> RunReport {
        let begin = whole.begunAt ?? .now
        var report = RunReport()
        for notice in session.notices { emit(.notice(notice)) }
        let (request, left) = try await whole.leavingOtherLibraries(configuration, store: session.store)
        for failure in left { report.fail(failure, emit: emit) }
        guard control.inbox.hold() else {
            throw Failure(
                .defect, disposition: .stop, what: "the run cannot begin", why: "its control is of a run before it")
        }
        control.take(whole.ids)
        // Whether something ended the run that would have ended any.
        var isCut = false
        // A repair does nothing else.
        let feed =
            request.repairs == nil
            ? RequestFeed(configuration: configuration, store: session.store, control: control, emit: emit) : nil
        try await withHTTPTransport(options: configuration.transportOptions, logger: logger) { transport in
            let outages = Dictionary(try await session.store.outages().map { ($0.subject, $0) }) { first, _ in first }
            let refresh = CatalogRefresh(
                configuration: configuration, namings: try Namings(of: configuration), request: request,
                library: configuration.library, store: session.store,
                stores: true, transport: transport, outages: outages, control: control, emit: emit)
            var exports = RunExport(configuration: configuration, session: session, logger: logger, emit: emit)
            var planned: Set<BookIdentity> = []
            var failedBefore: Set<EpisodeIdentity> = []
            var asked: Set<EpisodeIdentity> = []
            // Named as failures name them.
            var toReplace: [EpisodeIdentity: Message] = [:]
            // By the plan that was counted, those apart that were not asked for.
            var skipped: [EpisodeIdentity: SyncAction.Skip] = [:]
            let order: RunOrder = request.bringsNewsFirst ? .newsFirst : .asAsked
            // Where only some are begun, which of them come first is decided when all are known.
            let isLimited = request.limits.episodes != nil || request.limits.bytes != nil
            var collected: [TransferRequest] = []
            let lookup = ChapterLookup(
                configuration: configuration, store: session.store, transport: transport, logger: logger)
            let reader = media.map {
                MediaReader(
                    $0, library: session.folder.path, store: session.store, trustsCatalog: true,
                    catalogChapters: lookup.chapters,
                    onChange: { [emit] in emit(.reading(files: $0)) })
            }
            // Beside the downloads, and no longer: nobody waits for the library because of durations.
            reader?.add(try await session.store.unreadFiles())
            let reading = reader.map { reader in Task { await reader.run() } }
            defer { reading?.cancel() }
            let engine = DownloadEngine(
                transport: transport, journal: session.store, library: session.folder.path,
                partialFolder: session.folder.partialFolder, settings: configuration.engineSettings(request.limits),
                logger: logger,
                look: { try await feed?.look() },
                makeRoom: { [trash = session.trash, emit] in await Self.makeRoom($0, in: trash, emit) },
                keepReplaced: { [operations = session.operations, startedAt] episode, path in
                    try operations.keep(episode, at: path, batch: startedAt)
                },
                requireHeld: { [lock = session.lock] in try lock.requireHeld() },
                objection: { [check = media.map(AudioCheck.init)] path, episode in
                    await check?.objection(to: path, declared: episode.duration)
                },
                emit: { [emit] event in
                    if case .finished(let receipt) = event { reader?.add([receipt.file]) }
                    emit(event)
                })
            try await feed?.look()
            let inbox = control.inbox
            async let fetched = fetch(with: engine)
            try await refresh.execute(within: request.limits.seconds.map(CatalogRefresh.patience(inRunOf:))) {
                assembled, hasJoined in
                // Where the disk is gone nothing is there, and all would count as deleted.
                try await engine.requireLibrary()
                let isNew = planned.insert(assembled.plan.book.identity).inserted
                if isNew {
                    exports.add(assembled.plan.book)
                    report.record(assembled.plan)
                    for action in assembled.plan.actions {
                        guard case .skip(let skip) = action.countedKind, skip != .filtered else { continue }
                        skipped[action.episode.identity] = skip
                    }
                }
                var assembled = assembled
                assembled.leaveAdoptions(ofTransfers: asked)
                var wanted = try await applyPlan(
                    assembled, isFirst: isNew, renumbers: request.renumbers, in: session, &report)
                let withdrawn = withdraw(&wanted)
                if isNew { report.recordCancelled(withdrawn) }
                guard !wanted.isEmpty else { return }
                // A plan that wants what was stopped (by force, or because it was only cancelled) starts it again.
                let stopped = wanted.filter { $0.record?.state == .paused || $0.record?.state == .cancelled }
                try await session.store.resume(stopped.map(\.episode.identity))
                failedBefore.formUnion(wanted.lazy.filter { $0.earlierFailures > 0 }.map(\.episode.identity))
                wanted = (hasJoined ? .atOnce : order).ranked(wanted)
                if isLimited { collected += wanted } else { inbox.add(wanted) }
                for request in wanted where request.replacing != nil {
                    toReplace[request.episode.identity] = request.episode.named(in: request.title)
                }
                let new = wanted.filter { asked.insert($0.episode.identity).inserted }
                // The plan that counts did not have them.
                if !isNew { for request in new { report.uncount(skipped[request.episode.identity]) } }
                guard hasJoined else { return }
                guard !new.isEmpty else {
                    let moved = wanted.count { $0.record?.state == .waiting }
                    if moved > 0 { emit(.notice("\(Message(moved, "episode")) moved to the front")) }
                    return
                }
                let episodes = Message(new.count, "episode")
                emit(.notice("\(episodes) of \(assembled.plan.book.title) requested separately: next to be fetched"))
            } onFinished: { outcome in
                report.record(outcome, known: outages, emit: emit)
                if let stop = outcome.stop?.failure {
                    isCut = isCut || stop.kind == .libraryUnwritable || stop.reason == .takenOver
                }
                inbox.add(collected)
                collected = []
            }
            var transfers = await fetched
            isCut = isCut || transfers.stop != nil
            reading?.cancel()
            if let notice = await reading?.value { emit(.notice(notice)) }
            emit(.reading(files: 0))
            report.summary.left += inbox.close().count
            if transfers.stop?.isLackOfRoom == true {
                let space = try await session.folder.space()
                let missing = space.missing(for: transfers.bytesLeft, leaving: configuration.downloads.minFreeSpace)
                // Where there is room by this count, something else is used up (a quota, inodes): the failure says enough.
                if let missing {
                    emit(
                        .notice(
                            "\(describeBytes(transfers.bytesLeft)) more are to come and \(describeBytes(space.free)) are "
                                + "free: make room for \(describeBytes(missing)) and run again"))
                }
            }
            var removed: Set<EpisodeIdentity> = []
            for episode in transfers.stopped.keys {
                let shelved = try await session.store.episode(episode)
                if shelved?.removedAt != nil {
                    removed.insert(episode)
                } else if shelved?.transfer?.state == .waiting {
                    // Resumed when nothing could join the run any more.
                    transfers.stopped[episode] = nil
                    transfers.left += 1
                }
            }
            report.record(transfers, failedBefore: failedBefore, removed: removed, known: outages, emit: emit)
            let replaced = transfers.receipts.filter { $0.outcome == .replaced }.map(\.file.episode)
            if !replaced.isEmpty, configuration.keptInTrash > 0 { emit(.notice(Self.replacedNotice(replaced.count))) }
            for (book, episodes) in Dictionary(grouping: replaced, by: \.book) where !request.force {
                let often = try await session.store.oftenReplaced(in: book)
                for episode in episodes where often.contains(episode.key) {
                    if let name = toReplace[episode] { emit(.alert(Self.keptNotice(name, of: book))) }
                }
            }
            // Into a library that is gone nothing can be exported; one failure says enough.
            guard transfers.stop?.kind != .libraryUnwritable, transfers.stop?.reason != .takenOver else { return }
            try await exports.execute(over: transport) { report.fail($0, emit: emit) }
            await embedTags(in: planned, in: session)
            await join(planned, in: session)
        }
        for notice in await session.collectTrash() { emit(.notice(notice)) }
        let notice = await session.trash.deleteExpired(after: configuration.keptInTrash)
        if let notice { emit(.notice(notice)) }
        if !isCut, !Task.isCancelled { await end(feed, request.limits, &report) }
        // Who interrupted the run knows that it left something.
        if !Task.isCancelled { report.recordLeft() }
        report.summary.seconds = (ContinuousClock.now - begin) / .seconds(1)
        return report
    }

    /// Forgets what users asked for and the run has done. What an interruption, a full disk or a limit kept it from doing is
    /// done by the next one.
    private func end(_ feed: RequestFeed?, _ limits: RunLimits, _ report: inout RunReport) async {
        guard let feed else { return }
        do {
            let unread = control.close()
            let waiting = limits.allowAll ? [] : try await feed.store.unfinishedTransfers()
            let books = waiting.filter { $0.transfer?.state == .waiting }.map(\.episode.identity.book)
            try await feed.end(leaving: unread, Set(books + report.booksLeft))
        } catch {
            report.fail(FailureReport(failure: .of(error)), emit: emit)
        }
    }

    private static func replacedNotice(_ count: Int) -> Message {
        count == 1
            ? "1 replaced file moved to the trash: booksync undo restores it"
            : "\(count) replaced files moved to the trash: booksync undo restores them"
    }

    /// What is told once of a file that is kept from now on, because it was replaced again and again.
    private static func keptNotice(_ name: Message, of book: BookIdentity) -> Message {
        "\(name): replaced \(CatalogChangeRule.maxReplacements) times within 30 days, because the catalog listed another "
            + "version each time; from now on the file is kept: booksync fetch \(book) --force replaces it, "
            + "on-catalog-change: keep keeps all files of the book"
    }

    /// What was removed is the first to go when the disk is full.
    /// - Returns: whether the disk has so many bytes more.
    private static func makeRoom(
        _ bytes: Int64, in trash: Trash, _ emit: @Sendable (SyncEvent) -> Void
    ) async -> Bool {
        do {
            let deleted = try await trash.makeRoom(bytes)
            guard !deleted.isEmpty else { return false }
            let freed = describeBytes(deleted.saturatedSum(of: \.file.size))
            emit(.notice("the disk is full: \(Message(deleted.count, "file")) deleted from the trash (\(freed))"))
            return true
        } catch {
            emit(.notice("nothing was deleted from the trash to make room: \(Failure.of(error))"))
            return false
        }
    }

    /// Has the engine fetch what comes; when it has done that, nothing can join the run any more.
    private func fetch(with engine: DownloadEngine) async -> EngineReport {
        let report = await engine.run(control.inbox)
        control.end(isBroken: report.stop != nil)
        return report
    }

    /// Takes out what was cancelled while the catalogs were asked.
    /// - Returns: how many there were.
    private func withdraw(_ requests: inout [TransferRequest]) -> Int {
        let asked = requests.count
        requests.removeAll { request in
            let isWithdrawn = control.isWithdrawn(request.episode)
            if isWithdrawn { emit(.cancelled(request.episode.identity, name: request.episode.name)) }
            return isWithdrawn
        }
        return asked - requests.count
    }

    /// Does what a plan wants of the library and the store, in the plan's turn.
    /// - Parameters:
    ///   - isFirst: whether its book had no plan in this run before.
    ///   - renumbers: whether the run gave episodes other numbers.
    /// - Returns: what is left to be fetched.
    private func applyPlan(
        _ assembled: AssembledPlan, isFirst: Bool, renumbers: Bool, in session: LibrarySession,
        _ report: inout RunReport
    ) async throws -> [TransferRequest] {
        emit(.planned(assembled.plan))
        report.record(
            [assembled.unmet, assembled.removed, assembled.starved, isFirst ? assembled.incomplete : nil],
            of: assembled.plan.book.identity, emit: emit)
        report.recordGaps(in: assembled.plan, counts: isFirst, emit: emit)
        if let notice = assembled.plan.changeNotice { emit(.notice(notice)) }
        let notices = [assembled.burialNotice, assembled.expiryNotice, assembled.plan.beyondNotice]
        for notice in notices.compactMap(\.self) { emit(.notice(notice)) }
        try await session.store.updateFiles(assembled.moved)
        // The tombstone first: a file that is gone and not remembered as removed would be fetched again.
        try await session.store.remove(assembled.tombstoned, at: Date(), by: .missingFile)
        // Their files are moved with those that the user removed, at the run's end, and come back by one undo.
        report.summary.expired += try await session.store.remove(assembled.expired, at: startedAt, by: .keepRule)
        for episode in assembled.vanished { try await session.store.forgetFile(of: episode) }
        try await session.store.forgetRemovals(of: assembled.restored)
        let adoptions = AdoptionExecution(library: session.folder.path, store: session.store, emit: emit)
        let recognised = try await adoptions.execute(assembled.adoptions)
        report.summary.adopted += recognised.adopted
        for failure in recognised.failures { report.fail(failure, emit: emit) }
        if let notice = assembled.plan.renameNotice { emit(.notice(notice)) }
        // Undo takes back the last renames: if these are other ones, the numbers stay.
        if !renumbers, assembled.plan.actions.contains(where: { $0.kind == .rename }) {
            try await session.store.setNumbers(of: [assembled.plan.book.identity], .forget)
        }
        let renames = assembled.plan.actions.filter { $0.kind == .rename }.map { ($0.episode.identity, $0.path) }
        let outcome = try await session.operations.perform(.rename, renames, batch: startedAt)
        report.summary.renamed += outcome.done.count
        for rename in outcome.done { emit(.renamed(rename.episode, from: rename.file.path, to: rename.to)) }
        for (rename, failure) in outcome.failures { report.fail(rename.report(failure), emit: emit) }
        // What still has its old name is not replaced under the new one.
        let unmoved = Set(outcome.failures.map(\.operation.episode))
        let wanted = assembled.requests.filter { !unmoved.contains($0.episode.identity) }
        // What moves and is replaced is counted when it is replaced.
        let replaced = Set(wanted.map(\.episode.identity))
        let (moved, followed) = assembled.plan.moves
        report.summary.renamed -= moved.intersection(replaced).count
        report.summary.adopted += followed.subtracting(replaced).count
        return wanted
    }

    /// Makes the plans of the request and changes nothing.
    ///
    /// - Parameters:
    ///   - library: absolute path; need not exist.
    ///   - offline: plan from the stored catalog instead of asking for it.
    ///   - onPlan: gets the plans in the order of the request; offline each as soon as it is made, so that a shelf of any
    ///     size can be planned.
    package func plan(
        _ request: RunRequest, library: String, offline: Bool, onPlan: (SyncPlan) async throws -> Void
    ) async throws -> RunReport {
        guard let store = try await LibraryFolder.readableStore(in: library, refusingLost: false) else {
            return try await plan(request, library: library, offline: offline, store: nil, onPlan: onPlan)
        }
        return try await store.closing {
            try await plan(request, library: library, offline: offline, store: store, onPlan: onPlan)
        }
    }

    private func plan(
        _ whole: RunRequest, library: String, offline: Bool, store: CatalogStore?,
        onPlan: (SyncPlan) async throws -> Void
    ) async throws -> RunReport {
        var report = RunReport()
        let (request, left) = try await whole.leavingOtherLibraries(configuration, store: store)
        for failure in left { report.fail(failure, emit: emit) }
        func tell(_ assembled: AssembledPlan) async throws {
            let trashed = try await TrashedEpisodes(of: assembled, in: request.repairs == nil ? store : nil)
            let plan = trashed.restored(in: assembled.plan)
            report.record(plan)
            report.record([assembled.unmet], of: plan.book.identity, emit: emit)
            if let notice = trashed.notice { emit(.notice(notice)) }
            try await onPlan(plan)
        }
        if offline {
            var items: [RunRequest.Item] = []
            for item in request.items {
                if try await store?.book(item.book) != nil {
                    items.append(item)
                } else {
                    report.fail(FailureReport(book: item.book, failure: .notOnTheShelf(item.book)), emit: emit)
                }
            }
            try await offlinePlans(items, of: request, library: library, store: store, onPlan: tell)
            return report
        }
        try await withHTTPTransport(options: configuration.transportOptions, logger: logger) { transport in
            let known = try await store?.outages() ?? []
            let outages = Dictionary(known.map { ($0.subject, $0) }) { first, _ in first }
            let refresh = CatalogRefresh(
                configuration: configuration, namings: try Namings(of: configuration), request: request,
                library: library, store: store, stores: false,
                transport: transport, outages: outages, emit: emit)
            try await refresh.execute(within: nil) { assembled, _ in
                try await tell(assembled)
            } onFinished: {
                report.record($0, known: outages, emit: emit)
            }
        }
        return report
    }

    /// Plans several books at once, as long as none of them takes a path that a later one might want.
    private func offlinePlans(
        _ items: [RunRequest.Item], of request: RunRequest, library: String, store: CatalogStore?,
        onPlan: (AssembledPlan) async throws -> Void
    ) async throws {
        let assembly = PlanAssembly(
            library: library, namings: try Namings(of: configuration), request: request,
            onMissingFile: configuration.downloads.onMissingFile, store: store)
        @Sendable func plan(_ item: RunRequest.Item, claimed: Set<String>) async throws -> AssembledPlan {
            guard let book = try await store?.book(item.book) else { throw Failure.notOnTheShelf(item.book) }
            var assembly = assembly
            assembly.onCatalogChange = configuration.catalogChangeRule(of: item.book)
            if let cached = try await assembly.cachedPlan(of: book, item: item, claimed: claimed) {
                return cached
            }
            let stored = try await store?.episodes(of: item.book) ?? []
            return try await assembly.plan(
                book, episodes: stored, item: item, claimed: claimed, isComplete: book.isComplete)
        }
        try await withThrowingTaskGroup(of: (index: Int, plan: AssembledPlan).self) { group in
            var claimed: Set<String> = []
            var ahead: [Int: AssembledPlan] = [:]
            var begun = 0
            func planAhead() {
                guard begun < items.count, claimed.isEmpty else { return }
                let (index, item) = (begun, items[begun])
                group.addTask { (index, try await plan(item, claimed: [])) }
                begun += 1
            }
            for _ in 0...ProcessInfo.processInfo.activeProcessorCount { planAhead() }
            for (index, item) in items.enumerated() {
                while ahead[index] == nil, let made = try await group.next() { ahead[made.index] = made.plan }
                var assembled = ahead.removeValue(forKey: index)
                // What was planned ahead knows nothing of what earlier books take.
                if !claimed.isEmpty { assembled = try await plan(item, claimed: claimed) }
                guard let assembled else { continue }
                claimed.formUnion(assembled.claims)
                planAhead()
                try await onPlan(assembled)
            }
        }
    }
}

extension AssembledPlan {
    /// What goes to the trash because it is not kept; nil when nothing does.
    fileprivate var expiryNotice: Message? {
        guard !expired.isEmpty else { return nil }
        return
            "\(Message(expired.count, "episode")) of \(plan.book.title) expired and will be moved to the trash; booksync undo "
            + "brings back what the run removed"
    }

    /// What counts as removed from now on because its file is gone; nil when nothing does.
    fileprivate var burialNotice: Message? {
        guard !tombstoned.isEmpty else { return nil }
        let those: Message = tombstoned.count == 1 ? "1 episode was" : "\(tombstoned.count) episodes were"
        return "\(plan.book.identity): \(those) deleted from disk and will not be fetched again "
            + "(downloads.on-missing-file: tombstone); fetch --force does"
    }
}

extension SyncPlan {
    /// The files that stay beyond the book's rule; nil when none does.
    fileprivate var beyondNotice: Message? {
        guard !beyondRule.isEmpty else { return nil }
        let named = beyondRule.prefix(5).joined(separator: ", ")
        let more: Message = beyondRule.count > 5 ? " and \(beyondRule.count - 5) more" : ""
        return "\(book.identity): beyond its keep rule these episodes stay: \(named)\(more)"
    }

    /// What is told before more than one file is renamed: an edited `naming`, or a corrected title, renames a whole book.
    fileprivate var renameNotice: Message? {
        let renames = actions.filter { $0.kind == .rename }
        guard renames.count > 1, let first = renames.first, let from = first.fromPath else { return nil }
        return "\(renames.count) files of \(book.title) are named anew, as the naming and the catalog now want it "
            + "(\(from) becomes \(first.path)); booksync undo takes that back"
    }

    /// The episodes whose files are renamed, and those whose records follow their files to where the user moved them.
    fileprivate var moves: (renames: Set<EpisodeIdentity>, follows: Set<EpisodeIdentity>) {
        func episodes(_ isMeant: (SyncAction) -> Bool) -> Set<EpisodeIdentity> {
            Set(actions.lazy.filter(isMeant).map(\.episode.identity))
        }
        return (episodes { $0.kind == .rename }, episodes { $0.kind == .adopt && $0.fromPath != nil })
    }

    /// Names the files that were changed since they were fetched, and stay as they are; nil when there are none.
    fileprivate var changeNotice: Message? {
        let changed = actions.filter { $0.kind == .skip(.changed) }
        guard let first = changed.first else { return nil }
        let more: Message = changed.count == 1 ? "" : " (and \(changed.count - 1) more, which booksync plan lists)"
        return "\(book.identity): episode \(first.episode.section)\(more): \(first.reason)"
    }
}
