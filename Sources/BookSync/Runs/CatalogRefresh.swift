import BookModel
import CatalogFetcher
import CatalogStore
import DownloadEngine
import Foundation
import Settings
import Transport

/// Asks the catalogs of requests and plans their books.
///
/// Catalogs of several servers are asked at the same time, those of one server a few at a time. A book is planned when
/// its own catalog has been read, as if those that were planned before it had been carried out. Of books that are known
/// to have one title, which may want the same paths, the first that was asked for comes first: who gets a path does not
/// depend on which catalog answers first.
struct CatalogRefresh: Sendable {
    let configuration: Configuration
    let namings: Namings
    let request: RunRequest
    let store: CatalogStore?
    /// Whether the catalogs' answers are taken over into the store.
    let stores: Bool
    let transport: HTTPTransport
    /// What failed in the last run, by its subject.
    let outages: [String: Outage]
    /// Whence more requests come; nil where none do.
    var feed: RequestFeed?
    /// Gets whether a failure ended the engine, when it has ended: until then the books' episodes are fetched. nil where nothing
    /// is.
    var engineEnd: AsyncStream<Bool>?
    let emit: @Sendable (SyncEvent) -> Void

    /// What came of it beside the plans.
    struct Outcome {
        var troubles = CatalogFailures()
        /// What ends the run.
        var stop: FailureReport?
        /// Books that were listed anew, and those of which the catalog said that nothing changed.
        var listed: [BookIdentity] = []
        var unchanged: [BookIdentity] = []
        /// Books that were not waited for, because the time was up.
        var left: [BookIdentity] = []
        /// Listings that lack episodes.
        var incomplete: [Outage] = []
    }

    /// Catalogs that are asked at once in all.
    private static let jobs = 16

    /// Seconds that catalogs are waited for in a run of so many: half of them, so that a server that does not answer leaves
    /// some for the others' episodes; at least ten, else a short run would never get to know what it leaves.
    static func patience(inRunOf seconds: Double) -> Double { max(seconds / 2, 10) }

    private enum Answer: Sendable {
        case prepared(Int, Result<PreparedBook, any Error>)
        case timeIsUp
        case looked([RunRequest])
        case engineEnded(isBroken: Bool)
    }

    /// - Parameters:
    ///   - seconds: after which no catalog is waited for any more; nil for none. Books whose catalogs have answered by then
    ///     are planned all the same.
    ///   - onPlan: gets each plan, and whether its request joined the run later. What it throws ends the run.
    ///   - onFinished: called whenever all that was asked for so far is planned or has failed, with what came of it since the
    ///     last time, and how many requests that were. Returns when no more requests can come.
    func execute(
        within seconds: Double?, onPlan: (AssembledPlan, _ hasJoined: Bool) async throws -> Void,
        onFinished: (Outcome, _ requests: Int) async throws -> Void
    ) async throws {
        var schedule = CatalogSchedule(
            jobs: Self.jobs, jobsPerServer: configuration.downloads.jobsPerHost, runsInVain: outages.mapValues(\.runs))
        var paces: [String: HostThrottle] = [:]
        var work = Work()
        var isTimeUp = false
        func ask(for entries: [Entry]) {
            guard !entries.isEmpty else { return }
            emit(.asking(catalogs: entries.count))
            schedule.add(
                entries.map { .init(server: $0.server, source: $0.item.book.source) },
                doubts: entries.map { outages[CatalogFailures.subject(of: $0.item.book)]?.runs ?? 0 })
        }
        func add(_ request: RunRequest, hasJoined: Bool) {
            work.requests += 1
            record(request.lists, &work)
            ask(for: work.add(entries(of: request, hasJoined: hasJoined)))
        }
        add(request, hasJoined: false)
        for request in try await feed?.look() ?? [] { add(request, hasJoined: true) }
        var isOpen = engineEnd != nil
        try await withThrowingTaskGroup(of: Answer.self) { group in
            if let seconds { group.addTask { await Self.alarm(after: seconds) } }
            if let feed { group.addTask { .looked(await feed.next()) } }
            if let engineEnd {
                group.addTask { .engineEnded(isBroken: await engineEnd.first { _ in true } ?? false) }
            }
            while !Task.isCancelled, work.outcome.stop == nil {
                ask(for: work.addParked())
                if isTimeUp { giveUp(&work, &schedule) }
                while let index = schedule.startNext() {
                    let entry = work.entries[index]
                    let pace = paces[entry.server] ?? HostThrottle()
                    paces[entry.server] = pace
                    let known = work.recent(entry.item.book)
                    group.addTask { .prepared(index, await prepared(entry, pace: pace, known: known)) }
                }
                if let (index, book) = work.takeReady() {
                    await plan(book, at: index, &work, onPlan)
                    continue
                }
                if work.isFinished {
                    try await finish(&work, onFinished)
                    guard isOpen else { break }
                }
                switch try await group.next() {
                case .timeIsUp?: isTimeUp = true
                case .looked(let requests)?:
                    guard isOpen, !isTimeUp, let feed else {
                        feed?.giveBack(requests)
                        continue
                    }
                    for request in requests { add(request, hasJoined: true) }
                    group.addTask { .looked(await feed.next()) }
                case .engineEnded(let isBroken)?:
                    isOpen = false
                    // Nobody would fetch what is planned now, and the library may be gone.
                    let left = isBroken && !work.isFinished ? work.leaveAll() : 0
                    if left > 0 { emit(.notice("the run ended before \(Message(left, "book")) came to be looked at")) }
                case .prepared(let index, let result)?:
                    if work.open.contains(index) { record(result, at: index, &work, &schedule) }
                case nil: isOpen = false
                }
            }
            group.cancelAll()
            for try await case .looked(let requests) in group { feed?.giveBack(requests) }
        }
        try await finish(&work, onFinished)
    }

    private func entries(of request: RunRequest, hasJoined: Bool) -> [Entry] {
        let assembly = PlanAssembly(configuration, namings: namings, request: request, store: store)
        return request.items.map { item in
            Entry(
                item: item, server: configuration.catalogServer(of: item.book), assembly: assembly, hasJoined: hasJoined
            )
        }
    }

    /// Tells what came of everything so far.
    private func finish(_ work: inout Work, _ onFinished: (Outcome, _ requests: Int) async throws -> Void) async throws
    {
        guard work.requests > 0 else { return }
        await nameBooks(of: &work)
        try await onFinished(work.outcome, work.requests)
        work.outcome = Outcome(troubles: CatalogFailures(answered: work.outcome.troubles.answered))
        work.requests = 0
    }

    /// Notes the titles of books that failed.
    private func nameBooks(of work: inout Work) async {
        for book in work.outcome.troubles.books {
            let given = work.entries.first { $0.item.book == book }?.item.title
            // A store that cannot be read is told elsewhere; then the failure names the address alone.
            work.outcome.troubles.titles[book] = if let given { given } else { try? await store?.book(book)?.title }
        }
    }

    /// Waits for no catalog any more.
    private func giveUp(_ work: inout Work, _ schedule: inout CatalogSchedule) {
        let unasked = Set(schedule.giveUp())
        for index in work.open.sorted() where work.ready[index] == nil {
            let (book, server) = (work.entries[index].item.book, work.entries[index].server)
            // A server that has answered anybody is not down, and only has more to do than there is time for.
            if unasked.contains(index) || work.outcome.troubles.answered.contains(server) {
                work.outcome.left.append(book)
            } else {
                work.outcome.troubles.record(.timeIsUp(for: book), of: book, at: server, index: index)
            }
            work.close(index)
        }
    }

    /// Records what came of asking for lists of books, before any book was asked for.
    private func record(_ lists: [RunRequest.ListAnswer], _ work: inout Work) {
        for (number, answer) in lists.enumerated() {
            let server = configuration.catalogServer(of: answer.list)
            if let failure = answer.failure {
                work.outcome.troubles.record(failure, of: answer.list, at: server, index: number - lists.count)
            } else {
                work.outcome.troubles.recordListing(of: answer.list, at: server)
            }
        }
    }

    /// Records what came of asking for a book's catalog.
    private func record(
        _ result: Result<PreparedBook, any Error>, at index: Int, _ work: inout Work, _ schedule: inout CatalogSchedule
    ) {
        let entry = work.entries[index]
        switch result {
        case .success(let prepared):
            work.outcome.troubles.recordListing(
                of: entry.item.book, at: entry.server, isComplete: prepared.refreshed.proof.isComplete)
            _ = schedule.end(index, .listed)
            work.ready[index] = prepared
            if feed != nil { work.remember(prepared) }
        case .failure(is CancellationError): work.close(index)
        case .failure(let error):
            let failure = Failure.of(error)
            work.close(index)
            if failure.endsRun {
                work.outcome.stop = FailureReport(book: entry.item.book, failure: failure)
                return
            }
            work.outcome.troubles.record(failure, of: entry.item.book, at: entry.server, index: index)
            for other in schedule.end(index, failure.catalogOutcome) {
                work.outcome.troubles.record(
                    failure, of: work.entries[other].item.book, at: work.entries[other].server, index: other,
                    with: entry.item.book)
                work.close(other)
            }
        }
    }

    private func plan(
        _ prepared: PreparedBook, at index: Int, _ work: inout Work,
        _ onPlan: (AssembledPlan, _ hasJoined: Bool) async throws -> Void
    ) async {
        let entry = work.entries[index]
        guard var assembled = await plan(prepared, at: index, &work) else { return }
        if prepared.refreshed.episodes == nil {
            work.outcome.unchanged.append(entry.item.book)
        } else {
            work.outcome.listed.append(entry.item.book)
        }
        work.taken.add(assembled)
        // A repair asks for nothing but the files that are bad.
        if stores, entry.assembly.request.repairs == nil, let failure = prepared.refreshed.incompleteness {
            let listed = Message(prepared.refreshed.proof.collected, "episode")
            let subject = CatalogFailures.subject(ofListing: entry.item.book)
            let outage = Outage.met(subject, error: "\(failure.why), \(listed) listed", known: outages)
            work.outcome.incomplete.append(outage)
            // A listing that is cut is told each time; a count that is always wrong, the first time.
            let isAsBefore = outages[subject]?.error.description == outage.error.description
            if !isAsBefore || !prepared.refreshed.proof.miscounts { assembled.incomplete = failure }
        }
        for notice in notices(of: prepared, assembled) { emit(.notice(notice)) }
        do {
            try await onPlan(assembled, entry.hasJoined)
        } catch is CancellationError {
            // The loop sees that the run is cancelled, and what it came to is told all the same.
        } catch {
            work.outcome.stop = FailureReport(book: entry.item.book, failure: .of(error))
        }
    }

    private static func alarm(after seconds: Double) async -> Answer {
        do { try await Task.sleep(for: .seconds(seconds)) } catch {
            // Cancelled with the round, which reads no more answers.
        }
        return .timeIsUp
    }

    /// - Parameter known: what was just read of the book; nil asks its catalog.
    private func prepared(
        _ entry: Entry, pace: HostThrottle, known: RefreshedBook?
    ) async -> Result<PreparedBook, any Error> {
        await Result.of {
            let item = entry.item
            let source = try configuration.catalogSource(for: item.book, transport: transport, pace: pace)
            var asksAnew = entry.assembly.request.asksAnew || !stores
            let ahead = asksAnew ? nil : try await planFromMaskedAddresses(entry)
            // What is to be fetched is had at its whole address, and that by a listing alone.
            if let ahead { asksAnew = ahead.requests.contains { $0.episode.address?.isMasked == true } }
            let refreshed =
                if let known, !asksAnew { known } else {
                    try await refreshed(entry, pace: pace, asksAnew: asksAnew)
                }
            if !entry.assembly.request.force { try await refuseRenamedSource(of: refreshed.book) }
            var prepared = PreparedBook(item: item, refreshed: refreshed, source: source)
            // What nothing changed in is not held against the disk twice.
            let isSettled = ahead?.cached != nil && refreshed.episodes == nil
            prepared.plan = isSettled ? ahead : try await plan(prepared, claimed: [], entry.assembly)
            return prepared
        }
    }

    /// The plan of a book as the store knows it, where addresses of it were stored without their secrets; else nil.
    private func planFromMaskedAddresses(_ entry: Entry) async throws -> AssembledPlan? {
        let (item, assembly) = (entry.item, entry.assembly)
        guard let store, try await store.hasMaskedAddresses(of: item.book), var book = try await store.book(item.book)
        else { return nil }
        if let title = item.title { book.title = title }
        return try await assembly.storedPlan(of: book, item: item, claimed: [])
    }

    private func refreshed(_ entry: Entry, pace: HostThrottle, asksAnew: Bool) async throws -> RefreshedBook {
        let (item, request) = (entry.item, entry.assembly.request)
        let name = item.title ?? item.book.id
        func source(at address: ResourceAddress? = nil) throws -> any CatalogSource {
            try configuration.catalogSource(for: item.book, at: address, transport: transport, pace: pace) {
                emit(.waiting(.book(item.book), Wait(asking: name, pause: $0, server: entry.server)))
            }
        }
        emit(.waiting(.book(item.book), Wait(asking: name)))
        defer { emit(.waiting(.book(item.book), nil)) }
        let refreshed = try await source().refresh(
            item.book, title: item.title, known: try await store?.book(item.book), store: store, stores: stores,
            renumbers: request.renumbers,
            asksAnew: asksAnew || configuration.moved[item.book] != nil,
            tellsOfDropped: configuration.onCatalogRemoval == .report,
            successor: { try configuration.mayFollow($0, of: item.book) ? source(at: $0) : nil })
        if stores, let address = refreshed.movedTo ?? configuration.moved[item.book] {
            let notice = try configuration.record(address, of: item.book, redirects: refreshed.movedTo != nil)
            if let notice { emit(.notice(notice)) }
        }
        // At once, and not when it is planned, which may not come: from now on the store knows that it is gone.
        if let dropped = refreshed.droppedNotice { emit(.notice("\(item.book): \(dropped)")) }
        if let renamed = refreshed.renamedNotice { emit(.alert(renamed)) }
        if !stores, !request.renumbers, refreshed.misnumbered > 0 {
            emit(
                .notice(
                    "\(item.book): \(Message(refreshed.misnumbered, "episode")) would have another number in the catalog's order: "
                        + "booksync fetch \(item.book) --renumber renames the files, and plan --renumber shows how"))
        }
        return refreshed
    }

    /// Under another name of its source a book is another book: all its files would be fetched again, beside those that
    /// are there. What was tried with the demo catalog keeps nobody from fetching the real book.
    private func refuseRenamedSource(of book: Book) async throws {
        let namesakes = try await store?.namesakesWithFiles(of: book) ?? []
        let known = namesakes.first { known in
            known.source != Configuration.demoSource && configuration.source(named: known.source) == nil
        }
        guard let known else { return }
        throw Failure(
            .configuration, what: "\(book.identity) is not fetched",
            why:
                "\(known) has the same id and title and is downloaded, and there is no source '\(known.source)' any more",
            remedy: "call the source '\(known.source)' again, or fetch the book beside the other one with --force")
    }

    /// The plan that was made ahead, where what the books before it take and move is nowhere near; else another one. What it
    /// would fetch and lies in the trash is brought back first.
    private func plan(_ prepared: PreparedBook, at index: Int, _ work: inout Work) async -> AssembledPlan? {
        let entry = work.entries[index]
        do {
            let claimed = work.taken.claimed(without: entry.item.book)
            let ahead = prepared.plan.flatMap { work.taken.conflicts(with: $0) ? nil : $0 }
            let made = if let ahead { ahead } else { try await plan(prepared, claimed: claimed, entry.assembly) }
            guard stores, let store, entry.assembly.request.repairs == nil else { return made }
            let trashed = try await TrashedEpisodes(
                of: made, in: store, library: configuration.library, claimed: claimed)
            guard let notice = try await trashed.restore(in: configuration.library, store) else { return made }
            emit(.notice(notice))
            return try await plan(prepared, claimed: claimed, entry.assembly)
        } catch {
            // The loop sees that the run is cancelled.
            guard !(error is CancellationError) else { return nil }
            let failure = Failure.of(error)
            if failure.endsRun {
                work.outcome.stop = FailureReport(book: entry.item.book, failure: failure)
            } else {
                work.outcome.troubles.record(failure, of: entry.item.book, at: entry.server, index: index)
            }
            return nil
        }
    }

    private func plan(
        _ prepared: PreparedBook, claimed: Set<String>, _ assembly: PlanAssembly
    ) async throws -> AssembledPlan {
        let book = prepared.item.book
        var assembly = assembly
        let access = configuration.access(of: book)
        let transport = transport.using(access)
        assembly.declaredLength = { try await transport.declaredLength(of: $0) }
        // Without being stored, another listing would leave no trace in what is remembered.
        if stores || prepared.refreshed.episodes == nil,
            let cached = try await assembly.cachedPlan(
                of: prepared.refreshed.book, item: prepared.item, claimed: claimed)
        {
            return cached
        }
        // What cannot be remembered, as on a full disk, is planned again the next time, which is no failure of the run.
        if stores, let store { assembly.cachesPlans = (try? await store.watchPlan(of: book)) != nil }
        let begin = ContinuousClock.now
        let stored = try await store?.episodes(of: book) ?? []
        var assembled = try await assembly.plan(
            prepared.refreshed.book, episodes: prepared.refreshed.shelved(with: stored), item: prepared.item,
            claimed: claimed, isComplete: prepared.refreshed.proof.isComplete)
        assembled.use(access, asOf: begin, renewing: AddressRenewal(book: book, source: prepared.source))
        if let store, let cached = assembled.cached {
            try? await store.saveCachedPlan(cached, of: book)
        }
        return assembled
    }

    private func notices(of prepared: PreparedBook, _ assembled: AssembledPlan) -> [Message] {
        let (book, plan) = (prepared.item.book, assembled.plan)
        // What makes a listing incomplete is told as a failure.
        let warnings = assembled.incomplete == nil ? prepared.refreshed.proof.warnings : []
        var notices: [Message] = warnings.map { "\(book): \($0)" }
        // Of episodes that must be there the run's failure tells.
        if !prepared.item.filter.isEmpty, assembled.unmet == nil, plan.unlisted.keep == 0,
            plan.actions.allSatisfy({ $0.countedKind == .skip(.filtered) })
        {
            notices.append("\(book): no episode matches")
        }
        return notices
    }
}

extension Failure {
    fileprivate static func timeIsUp(for book: BookIdentity) -> Failure {
        Failure(
            .catalogUnavailable, disposition: .retry, what: "the catalog of \(book) cannot be fetched",
            why: "it did not answer before the time was up", remedy: "try again later, or with a longer --time-limit")
    }

    /// Whether the other books would meet it as well. What is wrong with one source's configuration is not theirs.
    fileprivate var endsRun: Bool { disposition == .stop && kind != .configuration }

    /// What the failure says of the catalog that was asked.
    var catalogOutcome: CatalogSchedule.Outcome {
        switch kind {
        case .catalogUnavailable: disposition == .retry ? .unreachable : .refused
        case .credentialsRejected: .rejected
        case .unknownBook, .unreadableCatalog: .refused
        default: .elsewhere
        }
    }
}
