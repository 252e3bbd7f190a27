import AudioFiles
import BookModel
import CatalogStore
import DownloadEngine
import Foundation
import LibraryFiles
import Settings
import Transport

/// A run under way: its phases, in their order, and what it has come to.
struct RunUnderWay {
    private let run: SyncRun
    private let request: RunRequest
    private let session: LibrarySession
    private let transport: HTTPTransport
    private var emit: @Sendable (SyncEvent) -> Void { run.emit }
    /// What failed in earlier runs, by its subject.
    private let outages: [String: Outage]
    /// What users ask for meanwhile; nil for a repair, which does nothing else.
    private let feed: RequestFeed?
    private let inbox = TransferInbox()
    private(set) var report = RunReport()
    /// Whether something ended the run that would have ended any.
    private var isCut = false

    /// The addresses that catalogs gave.
    private var covers: [BookIdentity: ResourceAddress] = [:]
    private var planned: Set<BookIdentity> = []
    /// Episodes that are to be fetched, the paths of their files, and those of them that earlier runs gave up.
    private var asked: Set<EpisodeIdentity> = []
    private var askedPaths: Set<String> = []
    private var failedBefore: Set<EpisodeIdentity> = []
    /// Those that replace files, named as failures name them.
    private var toReplace: [EpisodeIdentity: Message] = [:]
    /// Episodes that are left alone, by the plan that was counted; without those that were not asked for.
    private var skipped: [EpisodeIdentity: SyncAction.Skip] = [:]
    /// What is begun when all is known, because only some of it is.
    private var collected: [TransferRequest] = []

    /// - Parameter left: what is not done, because the books are in other libraries.
    init(
        _ run: SyncRun, _ request: RunRequest, _ left: [FailureReport], in session: LibrarySession,
        over transport: HTTPTransport
    ) async throws {
        (self.run, self.request, self.session, self.transport) = (run, request, session, transport)
        outages = try await session.store.knownOutages()
        // Until the catalogs of the run's own request were asked.
        _ = inbox.hold()
        feed = request.repairs == nil ? RequestFeed(of: run, session.store, inbox, taken: request.ids) : nil
        for failure in left { report.fail(failure, emit: emit) }
    }

    // MARK: - Catalogs, plans and transfers, beside each other

    /// Asks the catalogs, and does what the plans want; what is missing is fetched meanwhile.
    mutating func refreshAndFetch() async throws -> EngineReport {
        let reader = try await reader()
        let reading = reader.map { reader in Task { await reader.run() } }
        defer { reading?.cancel() }
        let engine = engine(reader)
        let (engineEnd, end) = AsyncStream<Bool>.makeStream()
        async let fetched = Self.fetch(with: engine, inbox, end)
        try await refreshCatalogs(engine, until: engineEnd)
        let transfers = await fetched
        reading?.cancel()
        if let notice = await reading?.value { emit(.notice(notice)) }
        emit(.reading(files: 0))
        return transfers
    }

    /// What reads audio files beside the downloads, and no longer: nobody waits for the library because of durations.
    private func reader() async throws -> MediaReader? {
        guard let media = run.media else { return nil }
        return try await run.configuration.mediaReader(media, session.store, over: transport, logger: run.logger) {
            [emit] in emit(.reading(files: $0))
        }
    }

    private func engine(_ reader: MediaReader?) -> DownloadEngine {
        DownloadEngine(
            transport: transport, journal: session.store, library: session.folder.path,
            partialFolder: session.folder.partialFolder, settings: run.configuration.engineSettings(request.limits),
            logger: run.logger,
            makeRoom: { [trash = session.trash, emit] in await Self.makeRoom($0, in: trash, emit) },
            keepReplaced: { [operations = session.operations, batch = run.startedAt] episode, path in
                try operations.keep(episode, at: path, batch: batch)
            },
            requireHeld: { [lock = session.lock] in try lock.requireHeld() },
            objection: { [check = run.media.map(AudioCheck.init)] path, episode in
                await check?.objection(to: path, declared: episode.duration)
            },
            emit: { [emit] event in
                if case .finished(let receipt) = event { reader?.add([receipt.file]) }
                emit(event)
            })
    }

    /// Has the engine fetch what comes; when it has done that, nothing can join the run any more.
    private static func fetch(
        with engine: DownloadEngine, _ inbox: TransferInbox, _ end: AsyncStream<Bool>.Continuation
    ) async -> EngineReport {
        let report = await engine.run(inbox)
        end.yield(report.stop != nil)
        return report
    }

    private mutating func refreshCatalogs(_ engine: DownloadEngine, until engineEnd: AsyncStream<Bool>) async throws {
        let refresh = CatalogRefresh(
            configuration: run.configuration, namings: try Namings(of: run.configuration), request: request,
            store: session.store, stores: true, transport: transport, outages: outages, feed: feed,
            engineEnd: engineEnd, emit: emit)
        let patience = request.limits.seconds.map(CatalogRefresh.patience(inRunOf:))
        try await refresh.execute(within: patience) { assembled, hasJoined in
            // Where the disk is gone nothing is there, and all would count as deleted.
            try await engine.requireLibrary()
            try await add(assembled, hasJoined: hasJoined)
        } onFinished: { outcome, requests in
            report.record(outcome, known: outages, emit: emit)
            if let stop = outcome.stop?.failure {
                isCut =
                    isCut || stop.kind == .libraryUnwritable || stop.reason == .takenOver || stop.isLackOfRoom
            }
            // The user may have cancelled some of them while the other catalogs were read.
            report.recordCancelled(try await feed?.removeCancelled(from: &collected).count ?? 0)
            inbox.add(collected)
            collected = []
            inbox.release(requests)
        }
    }

    /// Does what a plan wants, and has what it lacks be fetched.
    /// - Parameter hasJoined: whether it was asked for since the run began.
    private mutating func add(_ assembled: AssembledPlan, hasJoined: Bool) async throws {
        let isNew = planned.insert(assembled.plan.book.identity).inserted
        if isNew {
            covers[assembled.plan.book.identity] = assembled.plan.book.cover
            report.record(assembled.plan)
            for action in assembled.plan.actions {
                guard case .skip(let skip) = action.countedKind, skip != .filtered else { continue }
                skipped[action.episode.identity] = skip
            }
        }
        let paused = assembled.plan.actions.filter { $0.countedKind == .skip(.paused) }
        try await session.store.recordPlanned(paused.map(\.episode.identity))
        var assembled = assembled
        // One that the run has put in place itself, and not recorded yet, looks like what a killed run left.
        assembled.adoptions.removeAll {
            asked.contains($0.action.episode.identity) || askedPaths.contains($0.action.path)
        }
        var wanted = try await apply(assembled, isFirst: isNew)
        let cancelled = try await feed?.removeCancelled(from: &wanted).count ?? 0
        if isNew { report.recordCancelled(cancelled) }
        guard !wanted.isEmpty else { return }
        // A plan that wants what was stopped (by force, or because it was only cancelled) starts it again.
        let stopped = wanted.filter { $0.record?.state == .paused || $0.record?.state == .cancelled }
        try await session.store.resume(stopped.map(\.episode.identity))
        failedBefore.formUnion(wanted.lazy.filter { $0.earlierFailures > 0 }.map(\.episode.identity))
        let order: RunOrder = hasJoined ? .atOnce : request.bringsNewsFirst ? .newsFirst : .asAsked
        wanted = order.ranked(wanted)
        // Where only some are begun, which of them come first is decided when all are known.
        if request.limits.episodes != nil || request.limits.bytes != nil {
            collected += wanted
        } else {
            inbox.add(wanted)
        }
        for request in wanted where request.replacing != nil {
            toReplace[request.episode.identity] = request.episode.named(in: request.title)
        }
        let new = wanted.filter { asked.insert($0.episode.identity).inserted }
        askedPaths.formUnion(wanted.lazy.map(\.path))
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
    }

    /// Does what a plan wants of the library and the store, in the plan's turn.
    /// - Parameter isFirst: whether its book had no plan in this run before.
    /// - Returns: what is left to be fetched.
    private mutating func apply(_ assembled: AssembledPlan, isFirst: Bool) async throws -> [TransferRequest] {
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
        report.summary.expired += try await session.store.remove(assembled.expired, at: run.startedAt, by: .keepRule)
        for episode in assembled.vanished { try await session.store.forgetFile(of: episode) }
        try await session.store.forgetRemovals(of: assembled.restored)
        let adoptions = AdoptionExecution(library: session.folder.path, store: session.store, emit: emit)
        let recognised = try await adoptions.execute(assembled.adoptions)
        report.summary.adopted += recognised.adopted
        for failure in recognised.failures { report.fail(failure, emit: emit) }
        if let notice = assembled.plan.renameNotice { emit(.notice(notice)) }
        // Undo takes back the last renames: if these are other ones, the numbers stay.
        if !request.renumbers, assembled.plan.actions.contains(where: { $0.kind == .rename }) {
            try await session.store.setNumbers(of: [assembled.plan.book.identity], .forget)
        }
        let renames = assembled.plan.actions.filter { $0.kind == .rename }.map { ($0.episode.identity, $0.path) }
        let outcome = try await session.operations.perform(.rename, renames, batch: run.startedAt)
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

    // MARK: - Afterwards

    /// Counts what became of the transfers, and tells of it.
    mutating func record(_ transfers: EngineReport) async throws {
        var transfers = transfers
        isCut = isCut || transfers.stop != nil
        report.summary.left += inbox.close().count
        try await tellMissingRoom(for: transfers)
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
        if !replaced.isEmpty, run.configuration.keptInTrash > 0 { emit(.notice(Self.replacedNotice(replaced.count))) }
        for (book, episodes) in Dictionary(grouping: replaced, by: \.book) where !request.force {
            let often = try await session.store.oftenReplaced(in: book)
            for episode in episodes where often.contains(episode.key) {
                if let name = toReplace[episode] { emit(.alert(Self.keptNotice(name, of: book))) }
            }
        }
    }

    private func tellMissingRoom(for transfers: EngineReport) async throws {
        guard transfers.stop?.isLackOfRoom == true else { return }
        let (space, minFree) = (try await session.folder.space(), run.configuration.downloads.minFreeSpace)
        // Where there is room by this count, something else is used up (a quota, inodes): the failure says enough.
        guard let missing = space.missing(for: transfers.bytesLeft, leaving: minFree) else { return }
        emit(
            .notice(
                "\(describeBytes(transfers.bytesLeft)) more are to come and \(describeBytes(space.free)) are "
                    + "free: make room for \(describeBytes(missing)) and run again"))
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

    /// Writes what stands beside and in the audio files of the planned books.
    mutating func finishBooks(after transfers: EngineReport) async throws {
        // Into a library that is gone nothing can be exported; one failure says enough.
        guard transfers.stop?.kind != .libraryUnwritable, transfers.stop?.reason != .takenOver else { return }
        let emit = emit
        var report = report
        defer { self.report = report }
        try await run.export(planned, covers: covers, in: session, over: transport) { report.fail($0, emit: emit) }
        await run.embedTags(in: planned, in: session)
        await run.join(planned, in: session)
    }

    /// Moves to the trash what was removed, deletes what was long enough there, and ends the requests.
    mutating func finishLibrary() async {
        for notice in await session.collectTrash() { emit(.notice(notice)) }
        let notice = await session.trash.deleteExpired(after: run.configuration.keptInTrash)
        if let notice { emit(.notice(notice)) }
        if !isCut, !Task.isCancelled { await endRequests() }
    }

    /// Forgets what users asked for and the run has done. What an interruption, a full disk or a limit kept it from doing is
    /// done by the next one.
    private mutating func endRequests() async {
        guard let feed else { return }
        do {
            let waiting = request.limits.allowAll ? [] : try await feed.store.unfinishedTransfers()
            let books = waiting.filter { $0.transfer?.state == .waiting }.map(\.episode.identity.book)
            try await feed.end(leaving: Set(books + report.booksLeft))
        } catch {
            report.fail(FailureReport(failure: .of(error)), emit: emit)
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
