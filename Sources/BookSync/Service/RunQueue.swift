import BookModel
import CatalogStore
import Foundation
import LibraryFiles
import Logging
import Settings
import Synchronization

/// Does the runs of a ``RunQueue``, and is told of them.
package protocol RunHost: Sendable {
    /// Executes a request as the command's run, and tells its events and its summary.
    func execute(
        _ request: RunRequest, as command: String, _ configuration: Configuration, in session: LibrarySession
    ) async throws -> RunReport
    /// Has the catalogs of some books answer for as long as `body` takes.
    func withCatalogs<Answer: Sendable>(
        _ configuration: Configuration, for books: [BookIdentity],
        _ body: @Sendable (Configuration) async throws -> Answer
    ) async throws -> Answer
    /// Hears that a run could not be done.
    func report(_ failure: Failure) async
    /// What a run comes to that fails so.
    func exitCode(of failure: Failure) -> Int
    /// Hears, in a sentence, why a run does not begin.
    func reportWaiting(_ why: Message) async
}

/// Does the runs that are asked for within one process, one after the other, each in the way of the command line: with
/// the library's lock, for which it waits while a run of another process has it, and recorded.
///
/// What is asked for while a run is under way joins it, and comes before what it still has to fetch: nobody waits for ten
/// thousand episodes. What cannot join is collected and becomes the next run.
package actor RunQueue {
    package nonisolated let configuration: Configuration
    package nonisolated let knownLibraries: KnownLibraries?
    package nonisolated let logger: Logger
    package nonisolated let previews: CatalogPreviews
    package nonisolated let searches: CatalogSearches
    /// Makes one file of a book; nil where ffmpeg is not installed.
    package nonisolated let joins: BookJoins?
    /// Reads durations while nothing else is to be done; nil where nothing does.
    private let catchUp: @Sendable () async -> Void
    private let host: any RunHost
    private let turns: Slots
    /// What is done at the moment; of a run that fetches what was asked for it has the kind alone.
    private var current: StoredRequest?
    /// Requests that were tried once since this process began: what a run left of them is done by the next one, whatever that is
    /// begun for.
    private var tried: Set<Int64> = []
    /// Whether it is time to mirror. Nobody asked for it: after a restart the last run says when it is.
    private var isMirrorDue = false
    /// Runs that failed before the library could record them, the newest last.
    package private(set) var unrecorded: [RunRecord] = []
    /// Why books are not joined, since somebody asked for it last.
    private var joinFailures: [BookIdentity: Failure] = [:]
    /// Whether the run under way got so far that it is recorded.
    private var isRecorded = false
    /// The join whose episodes are being encoded, beside other jobs.
    private var preparation: (request: StoredRequest, task: Task<Void, Never>)?
    private var prepared: Set<Int64> = []
    /// True once ``work()`` ends.
    private var isOver = false
    /// Tells ``work()`` that there may be something to do.
    private let wakeUps = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    /// What is done of the errand under way.
    private var work: Task<Void, any Error>?
    /// When all that is subscribed to is fetched next, where that is scheduled.
    package private(set) var nextMirror: Date?

    /// - Parameters:
    ///   - knownLibraries: what is remembered of libraries, so that one whose disk is not mounted is not begun anew.
    ///   - turns: one slot, shared with the queues of other libraries: their runs take turns, so that no host is asked by two at once.
    package init(
        _ configuration: Configuration, knownLibraries: KnownLibraries?, logger: Logger, joins: BookJoins? = nil,
        catchUp: @escaping @Sendable () async -> Void = {}, turns: Slots = Slots(count: 1), host: any RunHost
    ) {
        self.catchUp = catchUp
        self.turns = turns
        self.joins = joins
        self.configuration = configuration
        self.knownLibraries = knownLibraries
        self.logger = logger
        self.host = host
        previews = CatalogPreviews(configuration, logger: logger, host: host)
        searches = CatalogSearches(configuration, logger: logger)
    }

    // MARK: Asking

    /// Has items be fetched: at once, or after the run of another process. Paused episodes among those that are named one by
    /// one are resumed.
    /// - Parameter force: also what was removed, is paused, or failed too often.
    /// - Throws: ``Failure`` when the store cannot be read or written.
    package func fetch(_ items: [RunRequest.Item], force: Bool) async throws {
        try await ask(items.map { StoredRequest(.fetch, $0.book, filter: $0.filter, force: force) }) { store in
            for item in items where !item.filter.isEmpty {
                guard try await store.book(item.book) != nil else { continue }
                let named = try await store.episodes(of: item.book).selected(by: item.filter)
                try await store.resume(named.filter { $0.transfer?.state == .paused }.map(\.episode.identity))
            }
        }
    }

    /// Has the catalogs of books be read, so that the shelf shows what a mirror run will bring; nothing is fetched.
    package func list(_ items: [RunRequest.Item]) async throws {
        try await ask(items.map { StoredRequest(.list, $0.book, filter: $0.filter) })
    }

    /// Has all that is subscribed to be fetched.
    package func mirror() async throws { try await ask([StoredRequest(.mirror)]) }

    /// Has one file be made of a book, after what is asked for already.
    package func join(_ book: BookIdentity) async throws {
        joinFailures[book] = nil
        try await ask([StoredRequest(.join, book)])
        // While a job runs, no other is chosen.
        if let stored = try? await requests() { prepareNext(of: stored) }
    }

    private func ask(
        _ requests: [StoredRequest], preparing prepare: @Sendable (CatalogStore) async throws -> Void = { _ in }
    ) async throws {
        guard !requests.isEmpty else { return }
        try await CatalogStore.opened(in: configuration.library, knownLibraries: knownLibraries) { store in
            try await prepare(store)
            try await store.ask(requests)
        }
        wakeUps.continuation.yield()
    }

    /// Has all that is subscribed to be fetched, because it is time.
    package func mirrorNow() {
        isMirrorDue = true
        wakeUps.continuation.yield()
    }

    /// Has paused, failed and cancelled episodes be fetched, and those that a run left which was cut off.
    /// - Returns: how many there are.
    package func resume(_ scope: TransferControl.Scope) async throws -> Int {
        let isRunUnderWay = try await LibraryLock.isHeld(in: configuration.library)
        let count = try await TransferControl.open(in: configuration.library) { control in
            let unfinished = try await control.meant(scope).filter {
                $0.isFetchable && [.waiting, .downloading].contains($0.transfer?.state)
            }
            // Where no run is under way, one that was cut off left them.
            let left = isRunUnderWay ? [] : unfinished
            try await control.ask(StoredRequest.toFetch(left))
            return try await control.resume(scope) + left.count
        }
        wakeUps.continuation.yield()
        return count
    }

    /// Breaks transfers off, those that were only asked for as well.
    /// - Returns: how many were broken off, and how many books that were still to be looked at.
    package func cancel(_ scope: TransferControl.Scope) async throws -> Int {
        breakOffJoin(scope)
        if scope.wholeBooks == nil {
            // A scheduled mirror that has not begun yet has no row in the store that could be deleted.
            isMirrorDue = false
            if current?.kind == .mirror, current?.id == 0, !isRecorded { work?.cancel() }
        }
        defer { breakOffJoin(scope) }
        return try await TransferControl.cancel(scope, in: configuration.library)
    }

    /// Moves files to the trash; what of it was only asked for is not fetched.
    package func remove(_ scope: TransferControl.Scope) async throws -> TransferControl.Removal {
        breakOffJoin(scope)
        // What was begun before the request was deleted.
        defer { breakOffJoin(scope) }
        return try await TransferControl.open(in: configuration.library) { try await $0.remove(scope) }
    }

    /// Cancels the join of a book. Encoded episodes stay for the next join of it.
    private func breakOffJoin(_ scope: TransferControl.Scope) {
        let whole = scope.wholeBooks
        if let (request, task) = preparation, let book = request.book, whole?.contains(book) ?? true {
            tried.insert(request.id)
            task.cancel()
        }
        if current?.kind == .join, let book = current?.book, whole?.contains(book) ?? true { work?.cancel() }
    }

    /// Why a book was not joined; nil where it was, or nobody asked for it since this process began.
    package func joinFailure(of book: BookIdentity) -> Failure? { joinFailures[book] }

    /// Whether one file is being made of a book, or will be.
    package func isJoining(_ book: BookIdentity) async throws -> Bool {
        try await requests().contains {
            $0.kind == .join && $0.book == book && (current == $0 || !tried.contains($0.id))
        }
    }

    /// Records when ``mirrorNow()`` will be called next.
    package func announceMirror(at date: Date) {
        nextMirror = date
    }

    // MARK: Working

    /// Does what is asked for until the task is cancelled; then the run under way stops at once and keeps everything. No
    /// failure of a run ends it.
    package func work() async {
        while !Task.isCancelled {
            guard let errand = await nextErrand() else {
                let reading = Task { [catchUp] in await catchUp() }
                for await _ in wakeUps.stream { break }
                reading.cancel()
                await reading.value
                continue
            }
            let begunAt = Date.now
            current = errand
            isRecorded = false
            let work = Task { try await run(errand) }
            self.work = work
            do {
                try await withTaskCancellationHandler {
                    try await work.value
                } onCancel: {
                    work.cancel()
                }
            } catch is CancellationError {
                // It is the end of this task, or nobody wants the book's file any more.
            } catch {
                let failure = Failure.of(error)
                if errand.kind == .join, let book = errand.book { joinFailures[book] = failure }
                if !isRecorded { record(failure, of: errand, begunAt: begunAt) }
                await host.report(failure)
            }
            (self.work, current) = (nil, nil)
        }
        isOver = true
        preparation?.task.cancel()
        await preparation?.task.value
    }

    /// Encodes the episodes of the next join, one join at a time; the job itself runs afterwards.
    private func prepareNext(of stored: [StoredRequest]) {
        guard preparation == nil, !isOver else { return }
        // A book is encoded once its episodes are downloaded.
        let isFetching = current?.kind == .fetch
        let toFetch = Set(
            stored.filter { $0.kind == .fetch && (isFetching || !tried.contains($0.id)) }.compactMap(\.book))
        let next = stored.first { request in
            request.kind == .join && !prepared.contains(request.id) && !tried.contains(request.id)
                && request.book.map { !toFetch.contains($0) } ?? false
        }
        guard let next, let book = next.book else { return }
        let task = Task {
            do {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { [joins] in try await joins?.prepare(book) }
                    group.addTask { try await self.waitUntilCancelled(next) }
                    try await group.next()
                    group.cancelAll()
                }
            } catch {
                // The job reports why the book cannot be joined.
            }
            prepared.insert(next.id)
            preparation = nil
            wakeUps.continuation.yield()
            // A store that cannot be read is reported where jobs are chosen.
            if let stored = try? await requests() { prepareNext(of: stored) }
        }
        preparation = (next, task)
    }

    /// Returns when another process has deleted the request.
    private func waitUntilCancelled(_ request: StoredRequest) async throws {
        repeat { try await Task.sleep(for: .seconds(5)) } while (try? await requests().contains(request)) ?? true
    }

    /// What a user asks for comes before what comes by itself.
    private func nextErrand() async -> StoredRequest? {
        var asked: [StoredRequest] = []
        do {
            let stored = try await requests()
            // Of a store that is begun anew ids may be given again.
            tried.formIntersection(stored.map(\.id))
            prepared.formIntersection(stored.map(\.id))
            prepareNext(of: stored)
            asked = stored.filter { !tried.contains($0.id) }
        } catch {
            if !Task.isCancelled { await host.report(.of(error)) }
        }
        let toFetch = asked.filter { $0.kind == .fetch || $0.kind == .list }
        let join = asked.first { $0.kind == .join && prepared.contains($0.id) }
        // A mirror that is due is done even where another process does, or cancels, one that was asked for.
        let mirror = isMirrorDue ? StoredRequest(.mirror) : asked.first { $0.kind == .mirror }
        if !toFetch.isEmpty {
            tried.formUnion(toFetch.map(\.id))
            return StoredRequest(.fetch)
        }
        guard let next = join ?? mirror else { return nil }
        // One mirror does what was asked for as well.
        tried.formUnion(next.kind == .mirror ? asked.filter { $0.kind == .mirror }.map(\.id) : [next.id])
        if next.kind == .mirror { isMirrorDue = false }
        return next
    }

    /// What was asked for and is not done.
    private func requests() async throws -> [StoredRequest] {
        try await ShelfReader.read(configuration.library) { try await $0.requests() } ?? []
    }

    /// Of ``unrecorded`` ones.
    private static let maxUnrecorded = 20

    /// Whoever asked was told that it would be done.
    private func record(_ failure: Failure, of errand: StoredRequest, begunAt begin: Date) {
        unrecorded.append(
            RunRecord(
                number: 0, command: errand.kind.rawValue, startedAt: begin, endedAt: .now,
                exitCode: host.exitCode(of: failure), books: errand.book == nil ? 0 : 1, error: failure.message))
        if unrecorded.count > Self.maxUnrecorded { unrecorded.removeFirst() }
    }

    private func execute(
        _ request: RunRequest, _ command: String, _ configuration: Configuration, _ session: LibrarySession
    ) async throws -> RunReport {
        isRecorded = true
        return try await host.execute(request, as: command, configuration, in: session)
    }

    private func run(_ errand: StoredRequest) async throws {
        if try await LibraryLock.isHeld(in: configuration.library) {
            await host.reportWaiting("another run holds the library: \(errand.kind.rawValue) waits for its end")
        }
        let host = host
        switch errand.kind {
        // Cancellations are for the run under way, never jobs.
        case .fetch, .list, .cancel:
            let books = try await requests().compactMap(\.book)
            try await host.withCatalogs(configuration, for: books) { configuration in
                try await self.withLibrary(for: "fetch") { session in
                    // What was called off while this waited is not there any more, and what was done by the run before.
                    let asked = try await session.store.requests()
                    let request = try await configuration.runRequests(of: asked, in: session.store).first
                    if let request { _ = try await self.execute(request, "fetch", configuration, session) }
                }
            }
        case .join:
            try await withLibrary(for: "join") { [joins] session in
                // It was called off meanwhile, or another process made it.
                guard let book = errand.book, try await session.store.requests().contains(errand) else { return }
                let outcome = await Result.of { try await joins?.execute(book, store: session.store) }
                // Where this process ends, the next one makes it.
                let ended = await Result.of { if !Task.isCancelled { try await session.store.end([errand.id]) } }
                try outcome.get()
                try ended.get()
            }
        case .mirror:
            let recognised = try await configuration.recognising([], andSubscriptions: true, logger: logger)
                .withOwnSubscriptions()
            try await withLibrary(for: "mirror") { [logger] session in
                if errand.id != 0, try await !session.store.requests().contains(errand) { return }
                let mirror = CollectionMirror(recognised, in: session, logger: logger) {
                    logger.info("listed", metadata: ["collection": "\($0)"])
                }
                _ = try await mirror.execute(
                    try recognised.allSubscriptions(with: try await session.subscriptions())
                ) { items, lists, _ in
                    let request = try RunRequest(
                        items: items, lists: lists, order: recognised.downloads.order, detail: .changes,
                        bringsNewsFirst: true)
                    return try await host.withCatalogs(recognised, for: items.map(\.book)) { configuration in
                        try await self.execute(request, "mirror", configuration, session)
                    }
                }
            }
        }
    }

    /// Seconds for which another run is waited for: without end.
    private static let patience: Double = 1e9

    private nonisolated func withLibrary(
        for command: String, _ body: @escaping @Sendable (LibrarySession) async throws -> Void
    ) async throws {
        try await LibrarySession.withLibrary(
            at: configuration.library, command: command, waitingFor: Self.patience, knownLibraries: knownLibraries
        ) { session in
            // Not before: while another process has this library, others need not wait.
            try await turns.withSlot { try await body(session) }
        }
    }
}
