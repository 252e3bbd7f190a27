import BookCollections
import BookModel
import BookSync
import CatalogSearch
import CatalogStore
import Foundation
import LibraryFiles
import Logging
import Settings
import ShelfQueries
import Synchronization

/// Does the runs that are asked for within one process, one after the other, each in the way of the command line: with
/// the library's lock, for which it waits while a run of another process has it, and recorded.
///
/// What is asked for while a run is under way joins it, and comes before what it still has to fetch: nobody waits for ten
/// thousand episodes. What cannot join is collected and becomes the next run.
package actor RunQueue {
    /// How runs are done, and what is told of them.
    package struct Runner: Sendable {
        package typealias Execution = @Sendable (Configuration) async throws -> RunReport
        /// Has the catalogs of some books answer for as long as the execution takes.
        package typealias CatalogAccess =
            @Sendable (Configuration, [BookIdentity], @escaping Execution) async throws -> RunReport

        /// Executes a request as the command's run, and tells its events and its summary.
        let execute:
            @Sendable (RunRequest, _ command: String, Configuration, LibrarySession, RunControl) async throws ->
                RunReport
        let withCatalogs: CatalogAccess
        /// Hears that a run could not be done.
        let onFailure: @Sendable (Failure) async -> Void
        /// What a run comes to that fails so.
        let exitCode: @Sendable (Failure) -> Int
        /// Hears, in a sentence, why a run does not begin.
        let onWaiting: @Sendable (Message) async -> Void

        package init(
            execute:
                @escaping @Sendable (
                    RunRequest, _ command: String, Configuration, LibrarySession, RunControl
                ) async throws -> RunReport,
            withCatalogs: @escaping CatalogAccess,
            onFailure: @escaping @Sendable (Failure) async -> Void,
            exitCode: @escaping @Sendable (Failure) -> Int,
            onWaiting: @escaping @Sendable (Message) async -> Void
        ) {
            self.execute = execute
            self.withCatalogs = withCatalogs
            self.onFailure = onFailure
            self.exitCode = exitCode
            self.onWaiting = onWaiting
        }
    }

    package nonisolated let configuration: Configuration
    package nonisolated let knownLibraries: KnownLibraries?
    package nonisolated let logger: Logger
    package nonisolated let previews: CatalogPreviews
    package nonisolated let searches: CatalogSearches
    /// Makes one file of a book; nil where ffmpeg is not installed.
    package nonisolated let joins: BookJoins?
    /// Reads durations while nothing else is to be done; nil where nothing does.
    private let catchUp: MediaCatchUp?
    private let runner: Runner
    private let turns: RunTurns
    private var errands = PendingRuns()
    /// What the run under way is to do, and the books that joined it.
    private var current: PendingRuns.Errand?
    private var joined: Set<BookIdentity> = []
    /// Those of the items waiting that the run under way has among its own.
    private var expected: Set<RunRequest.Item> = []
    /// Runs that failed before the library could record them, the newest last.
    package private(set) var unrecorded: [RunRecord] = []
    /// Why books are not joined, since somebody asked for it last.
    private var joinFailures: [BookIdentity: Failure] = [:]
    /// Whether the run under way got so far that it is recorded.
    private var isRecorded = false
    private var wakeUp: CheckedContinuation<Void, Never>?
    private var control: RunControl?
    /// What is done of the errand under way.
    private var work: Task<RunReport, any Error>?
    /// When all that is subscribed to is fetched next, where that is scheduled.
    package private(set) var nextMirror: Date?

    /// - Parameters:
    ///   - knownLibraries: what is remembered of libraries, so that one whose disk is not mounted is not begun anew.
    ///   - turns: shared with the queues of other libraries: their runs take turns, so that no host is asked by two at once.
    package init(
        _ configuration: Configuration, knownLibraries: KnownLibraries?, logger: Logger, joins: BookJoins? = nil,
        catchUp: MediaCatchUp? = nil, turns: RunTurns = RunTurns(), runner: Runner
    ) {
        self.catchUp = catchUp
        self.turns = turns
        self.joins = joins
        self.configuration = configuration
        self.knownLibraries = knownLibraries
        self.logger = logger
        self.runner = runner
        previews = CatalogPreviews(configuration, logger: logger, withCatalogs: runner.withCatalogs)
        searches = CatalogSearches(configuration, logger: logger)
    }

    // MARK: Asking

    /// Has items be fetched: at once, or after the run of another process. Paused episodes among those that are named one by
    /// one are resumed.
    /// - Parameter force: also what was removed, is paused, or failed too often.
    /// - Throws: ``Failure`` when the store cannot be read or written.
    package func fetch(_ items: [RunRequest.Item], force: Bool) async throws {
        guard !items.isEmpty else { return }
        try await requireLibrary()
        for item in items where !item.filter.isEmpty {
            let stopped = try await missing(of: item).filter { $0.transfer?.state == .paused }
            guard !stopped.isEmpty else { continue }
            let episodes = stopped.map(\.episode.identity)
            _ = try await TransferControl.open(in: configuration.library) { try await $0.resume(.episodes(episodes)) }
        }
        guard try await LibraryLock.isHeld(in: configuration.library), !force else {
            return try await begin(items, force: force)
        }
        var others: [RunRequest.Item] = []
        for item in items {
            if try await isToCome(item) { expected.insert(item) } else { others.append(item) }
        }
        // When the run under way is over, what it was to bring is looked after.
        begin(.fetch(items.filter { !others.contains($0) }, force: false))
        try await begin(others, force: false)
    }

    /// Has items join the run under way, or become one of their own.
    private func begin(_ items: [RunRequest.Item], force: Bool) async throws {
        guard !items.isEmpty else { return }
        if try await !joinRun(items, force: force) { begin(.fetch(items, force: force)) }
    }

    private func joinRun(_ items: [RunRequest.Item], force: Bool) async throws -> Bool {
        // The demo catalog may not be there for a run that was not asked for its books.
        let isOfDemo = configuration.hasDemoCatalog && PendingRuns.Errand.fetch(items, force: force).isOfDemo
        guard let control, let current, !isOfDemo || current.isOfDemo else { return false }
        let stored = try await ShelfReader.read(configuration.library) { try await $0.subscriptions() } ?? []
        let request = try RunRequest(
            items: items.titled(by: try configuration.allSubscriptions(with: stored)),
            order: configuration.downloads.order, force: force, detail: .changes)
        guard control.join(request) else { return false }
        joined.formUnion(items.map(\.book))
        return true
    }

    /// What would keep a run from writing is better told to those who ask for one.
    /// - Throws: ``Failure`` when the library's disk is not mounted, or cannot be written.
    package func requireLibrary() async throws {
        try await knownLibraries?.requireMounted(configuration.library)
        _ = try await LibraryFolder.open(at: configuration.library)
    }

    private func begin(_ errand: PendingRuns.Errand) {
        guard errand.isSomething else { return }
        errands.add(errand)
        awake()
    }

    /// Has paused, failed and cancelled episodes be fetched, and those that a run left which was cut off.
    /// - Returns: how many there are.
    package func resume(_ scope: TransferControl.Scope) async throws -> Int {
        let isRunUnderWay = try await LibraryLock.isHeld(in: configuration.library)
        let (stopped, left, count) = try await TransferControl.open(in: configuration.library) { control in
            let left = isRunUnderWay ? [] : try await control.meant(scope).filter(\.isLeftUnfinished)
            return (try await control.stopped(scope), left, try await control.resume(scope))
        }
        guard count + left.count > 0 else { return 0 }
        try await begin(RunRequest.Item.items(of: stopped + left), force: false)
        return count + left.count
    }

    /// Breaks transfers off, those that were only asked for as well.
    /// - Returns: how many were broken off, and how many books that were still to be looked at.
    package func cancel(_ scope: TransferControl.Scope) async throws -> Int {
        let dropped = forgetBooks(of: scope)
        do {
            try await forget(scope)
            let count = try await TransferControl.cancel(scope, in: configuration.library) + dropped.asked
            // Between the reading of a catalog and the begin of its transfers there is nothing of them in the store.
            return count > 0 ? count : dropped.underWay
        } catch let failure as Failure where failure.kind == .unknownBook {
            // Their catalogs were never read.
            let unread = max(dropped.asked, dropped.underWay)
            guard unread > 0 else { throw failure }
            return unread
        }
    }

    /// Moves files to the trash; what of it was only asked for is not fetched.
    package func remove(_ scope: TransferControl.Scope) async throws -> TransferControl.Removal {
        _ = forgetBooks(of: scope)
        try await forget(scope)
        return try await TransferControl.open(in: configuration.library) { try await $0.remove(scope) }
    }

    /// What was asked for of whole books, of which the store may know nothing yet.
    /// - Returns: of how many books a run was asked for, and how many the run under way was to fetch.
    private func forgetBooks(of scope: TransferControl.Scope) -> (asked: Int, underWay: Int) {
        let underWay = joined.union(current?.books ?? [])
        switch scope {
        case .everything, .queue(of: nil):
            control?.withdraw(allOf: nil)
            cancelJoin { _ in true }
            current = nil
            joined = []
            return (errands.drop(allOf: nil), underWay.count)
        case .queue(let books?): return forgetBooks(of: .books(books.map { ($0, EpisodeFilter()) }))
        case .books(let books):
            let whole = Set(books.filter(\.filter.isEmpty).map(\.book))
            // Its catalog is being asked perhaps, and nothing of it in the store yet.
            control?.withdraw(allOf: whole)
            cancelJoin(where: whole.contains)
            current = current?.without(allOf: whole)
            joined.subtract(whole)
            return (errands.drop(allOf: whole), underWay.intersection(whole).count)
        case .episodes: return (0, 0)
        }
    }

    /// What was encoded stays, for whoever asks for it again.
    private func cancelJoin(where isMeant: (BookIdentity) -> Bool) {
        guard case .join(let book) = current, isMeant(book) else { return }
        work?.cancel()
        current = nil
    }

    private func forget(_ scope: TransferControl.Scope) async throws {
        let meant = try await TransferControl.meant(scope, in: configuration.library)
        var sections: [BookIdentity: Set<Int>] = [:]
        for shelved in meant { sections[shelved.episode.identity.book, default: []].insert(shelved.episode.section) }
        errands.drop(sections)
        control?.withdraw(meant.map(\.episode.identity), sections)
        current = current?.without(sections)
    }

    /// Has the catalogs of books be read, so that the shelf shows what a mirror run will bring; nothing is fetched.
    package func list(_ items: [RunRequest.Item]) async throws {
        let unfetched = items.map { item in
            var item = item
            item.limits.episodes = 0
            return item
        }
        try await begin(unfetched, force: false)
    }

    /// Has all that is subscribed to be fetched.
    package func mirror() {
        begin(.mirror)
    }

    /// Has one file be made of a book, after what is asked for already.
    package func join(_ book: BookIdentity) {
        joinFailures[book] = nil
        begin(.join(book))
    }

    /// Why a book was not joined; nil where it was, or nobody asked for it since this process began.
    package func joinFailure(of book: BookIdentity) -> Failure? { joinFailures[book] }

    /// Whether one file is being made of a book, or will be.
    package func isJoining(_ book: BookIdentity) -> Bool {
        current == .join(book) || errands.waiting.contains(.join(book))
    }

    /// Records when ``mirror()`` will be called next.
    package func announceMirror(at date: Date) {
        nextMirror = date
    }

    /// So many episodes are moved to the front at once.
    private static let maxPreference = 500

    /// Has a run under way fetch what is named next.
    /// - Returns: whether it is to bring all of it.
    private func isToCome(_ item: RunRequest.Item) async throws -> Bool {
        let missing = try await missing(of: item)
        guard !missing.isEmpty else { return false }
        guard !item.filter.isEmpty, missing.count <= Self.maxPreference else {
            return missing.allSatisfy { $0.transfer?.state == .waiting || $0.transfer?.state == .downloading }
        }
        let episodes = missing.map(\.episode.identity)
        let count = try await TransferControl.open(in: configuration.library) {
            try await $0.prefer(.episodes(episodes))
        }
        return count >= episodes.count
    }

    /// What the store knows of the item's episodes that are wanted and not on disk.
    private func missing(of item: RunRequest.Item) async throws -> [EpisodeRecord] {
        let found = try await ShelfReader.read(configuration.library) { shelf -> [EpisodeRecord] in
            guard try await shelf.store.book(item.book) != nil else { return [] }
            return try await shelf.episodes(of: item.book, filter: item.filter).filter(\.isMissing).map(\.shelved)
        }
        return found ?? []
    }

    // MARK: Working

    /// Does what is asked for until the task is cancelled; then the run under way stops at once and keeps everything. No
    /// failure of a run ends it.
    package func work() async {
        while !Task.isCancelled {
            guard let errand = errands.next() else {
                expected = []
                let reading = Task { [catchUp] in await catchUp?.execute() }
                await sleep()
                reading.cancel()
                await reading.value
                continue
            }
            let begunAt = Date.now
            // What is asked for while a book is joined has no run to join.
            if case .join = errand { control = nil } else { control = RunControl() }
            current = errand
            joined = []
            isRecorded = false
            let work = Task { try await run(errand) }
            self.work = work
            do {
                _ = try await withTaskCancellationHandler {
                    try await work.value
                } onCancel: {
                    work.cancel()
                }
            } catch is CancellationError {
                // It is the end of this task, or nobody wants the book's file any more.
            } catch {
                let failure = Failure.of(error)
                if case .join(let book) = errand { joinFailures[book] = failure }
                if !isRecorded { record(failure, of: errand, begunAt: begunAt) }
                await runner.onFailure(failure)
            }
            let left = control?.close() ?? []
            (control, self.work) = (nil, nil)
            current = nil
            for request in left { begin(.fetch(request.items, force: request.force)) }
        }
    }

    /// Of ``unrecorded`` ones.
    private static let maxUnrecorded = 20

    /// Whoever asked was told that it would be done.
    private func record(_ failure: Failure, of errand: PendingRuns.Errand, begunAt begin: Date) {
        unrecorded.append(
            RunRecord(
                number: 0, command: errand.command, startedAt: begin, endedAt: .now,
                exitCode: runner.exitCode(failure), books: errand.books.count, error: failure.message))
        if unrecorded.count > Self.maxUnrecorded { unrecorded.removeFirst() }
    }

    private func execute(
        _ request: RunRequest, _ command: String, _ configuration: Configuration, _ session: LibrarySession
    ) async throws -> RunReport {
        isRecorded = true
        let control = control ?? RunControl()
        // A mirror may be several runs: what comes between two of them is for the next.
        defer { self.control = control.next() }
        return try await runner.execute(request, command, configuration, session, control)
    }

    private func sleep() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled { continuation.resume() } else { wakeUp = continuation }
            }
        } onCancel: {
            Task { await self.awake() }
        }
    }

    private func awake() {
        wakeUp?.resume()
        wakeUp = nil
    }

    private func run(_ errand: PendingRuns.Errand) async throws -> RunReport {
        if try await LibraryLock.isHeld(in: configuration.library) {
            await runner.onWaiting("another run holds the library: \(errand.command) waits for its end")
        }
        let runner = runner
        switch errand {
        case .fetch(let wanted, let force):
            let stored = try await ShelfReader.read(configuration.library) { try await $0.subscriptions() } ?? []
            let subscriptions = try configuration.allSubscriptions(with: stored)
            return try await runner.withCatalogs(configuration, wanted.map(\.book)) { configuration in
                try await self.withLibrary(for: "fetch") { session in
                    let items = try await self.stillMissing(wanted)
                    guard !items.isEmpty else { return RunReport() }
                    let request = try RunRequest(
                        items: items.titled(by: subscriptions), order: configuration.downloads.order, force: force,
                        detail: .changes)
                    return try await self.execute(request, "fetch", configuration, session)
                }
            }
        case .join(let book):
            return try await withLibrary(for: "join") { [joins] session in
                try await joins?.execute(book, store: session.store)
                return RunReport()
            }
        case .mirror:
            let recognised = try await configuration.recognising([], andSubscriptions: true, logger: logger)
                .withOwnSubscriptions()
            return try await withLibrary(for: "mirror") { [logger] session in
                let mirror = CollectionMirror(recognised, in: session, logger: logger) {
                    logger.info("listed", metadata: ["collection": "\($0)"])
                }
                return try await mirror.execute(
                    try recognised.allSubscriptions(with: try await session.subscriptions())
                ) { items, lists, _ in
                    let request = try RunRequest(
                        items: items, lists: lists, order: recognised.downloads.order, detail: .changes,
                        bringsNewsFirst: true)
                    return try await runner.withCatalogs(recognised, items.map(\.book)) { configuration in
                        try await self.execute(request, "mirror", configuration, session)
                    }
                }.report
            }
        }
    }

    /// Seconds for which another run is waited for: without end.
    private static let patience: Double = 1e9

    private nonisolated func withLibrary(
        for command: String, _ body: @escaping @Sendable (LibrarySession) async throws -> RunReport
    ) async throws -> RunReport {
        try await LibrarySession.withLibrary(
            at: configuration.library, command: command, waitingFor: Self.patience, knownLibraries: knownLibraries
        ) { session in
            // Not before: while another process has this library, others need not wait.
            try await turns.taking { try await body(session) }
        }
    }

    /// Without what the run before was to bring and has brought.
    private func stillMissing(_ items: [RunRequest.Item]) async throws -> [RunRequest.Item] {
        var left: [RunRequest.Item] = []
        for item in items {
            // Items of one book have become one.
            let wasExpected = expected.contains { $0 == item || $0.book == item.book && !item.filter.isEmpty }
            guard wasExpected else {
                left.append(item)
                continue
            }
            // What was cancelled or paused meanwhile is no longer wanted.
            let missing = try await missing(of: item).filter {
                ![.paused, .cancelled].contains($0.transfer?.state)
            }
            guard !missing.isEmpty else { continue }
            var rest = item
            rest.filter = EpisodeFilter(only: SectionRanges(of: missing.map(\.episode.section)))
            left.append(rest)
        }
        expected = expected.filter { known in !items.contains { $0.book == known.book } }
        return left
    }
}

extension EpisodeRecord {
    /// Whether a run that was cut off left it, where none is under way.
    fileprivate var isLeftUnfinished: Bool {
        guard file == nil, removedAt == nil, !isGone, !episode.isLocked, let transfer else { return false }
        return [.waiting, .downloading, .verifying].contains(transfer.state)
    }
}
