import BookModel
import CatalogFetcher
import CatalogStore
import DownloadEngine
import Foundation
import Settings
import Transport

/// Asks the catalogs of a request and plans its books.
///
/// Catalogs of several servers are asked at the same time, those of one server a few at a time; the plans are handed on
/// in the order of the request, each as if those before it had been carried out: which book gets a path that two of
/// them want does not depend on which catalog answers first. What is ready too early waits, and is bounded.
struct CatalogRefresh: Sendable {
    let configuration: Configuration
    let request: RunRequest
    let library: String
    let store: CatalogStore?
    /// Whether the catalogs' answers are taken over into the store.
    let stores: Bool
    let transport: HTTPTransport
    /// What failed in the last run, by its subject.
    let outages: [String: Outage]
    /// Tells when to wait for no more catalogs.
    var sign = PreemptionFlag()
    let emit: @Sendable (SyncEvent) -> Void

    /// What came of it beside the plans.
    struct Outcome {
        var troubles = CatalogFailures()
        /// What ends the run.
        var stop: FailureReport?
        /// Books that were listed anew, and those of which the catalog said that nothing changed.
        var listed: [BookIdentity] = []
        var unchanged: [BookIdentity] = []
        /// Books that were not waited for, because the time was up or something else was to be done.
        var left: [BookIdentity] = []
    }

    /// Catalogs that are asked at once in all.
    private static let jobs = 16
    /// Episodes of books that are ready before their turn, beyond which none but the next book is asked for.
    private static let maxLead = 5_000

    /// Seconds that catalogs are waited for in a run of so many: half of them, so that a server that does not answer leaves
    /// some for the others' episodes; at least ten, else a short run would never get to know what it leaves.
    static func patience(inRunOf seconds: Double) -> Double { max(seconds / 2, 10) }

    private enum Answer: Sendable {
        case prepared(Int, Result<PreparedBook, any Error>)
        case timeIsUp
        /// Something else is to be done.
        case makesWay
    }

    /// - Parameters:
    ///   - seconds: after which no catalog is waited for any more; nil for none. Books whose catalogs have answered by then
    ///     get their turn all the same.
    ///   - onPlan: what it throws ends the round and is thrown on.
    func execute(within seconds: Double?, onPlan: (AssembledPlan) async throws -> Void) async throws -> Outcome {
        let items = request.items
        // One for all books: what it finds out of the library counts for the round as it begins.
        let assembly = PlanAssembly(
            library: library, naming: configuration.naming, request: request,
            onMissingFile: configuration.downloads.onMissingFile, store: store)
        let servers = items.map { configuration.catalogServer(of: $0.book) }
        let paces = Dictionary(servers.map { ($0, HostThrottle()) }) { first, _ in first }
        var schedule = CatalogSchedule(
            zip(items, servers).map { .init(server: $1, source: $0.book.source) }, jobs: Self.jobs,
            jobsPerServer: configuration.downloads.jobsPerHost, doubted: Set(outages.keys))
        var outcome = Outcome()
        var ahead: [Int: PreparedBook] = [:]
        var failed: Set<Int> = []
        var taken = TakenPaths()
        var turn = 0
        var asked: Set<Int> = []
        var isTimeUp = false
        var makesWay = false
        try await withThrowingTaskGroup(of: Answer.self) { group in
            if let seconds { group.addTask { await Self.alarm(after: seconds) } }
            group.addTask {
                await sign.waitUntilRaised()
                return .makesWay
            }
            while turn < items.count, !Task.isCancelled, outcome.stop == nil {
                let lead = ahead.values.reduce(0) { $0 + $1.weight }
                while !isTimeUp, !makesWay,
                    let index = schedule.startNext(turn: turn, mayRunAhead: lead < Self.maxLead)
                {
                    asked.insert(index)
                    let (item, pace) = (items[index], paces[servers[index]])
                    group.addTask { .prepared(index, await prepared(item, pace: pace, assembly)) }
                }
                if failed.remove(turn) != nil {
                    turn += 1
                } else if let prepared = ahead.removeValue(forKey: turn) {
                    turn += 1
                    guard let assembled = await plan(prepared, at: turn - 1, behind: taken, assembly, &outcome) else {
                        continue
                    }
                    outcome.record(prepared)
                    taken.add(assembled)
                    for notice in notices(of: prepared, plan: assembled.plan) { emit(.notice(notice)) }
                    try await onPlan(assembled)
                } else if makesWay {
                    outcome.left.append(items[turn].book)
                    turn += 1
                } else if isTimeUp {
                    // A server that has answered anybody is not down, and only has more to do than there is time for.
                    if asked.contains(turn), !outcome.troubles.answered.contains(servers[turn]) {
                        outcome.troubles.record(
                            .timeIsUp(for: items[turn].book), of: items[turn].book, at: servers[turn], index: turn)
                    } else {
                        outcome.left.append(items[turn].book)
                    }
                    turn += 1
                } else if let answer = try await group.next() {
                    switch answer {
                    case .timeIsUp:
                        isTimeUp = true
                    case .makesWay:
                        makesWay = true
                    case .prepared(let index, .success(let prepared)):
                        outcome.troubles.recordListing(of: prepared.item.book, at: servers[index])
                        _ = schedule.end(index, .listed)
                        ahead[index] = prepared
                    case .prepared(_, .failure(is CancellationError)):
                        turn = items.count
                    case .prepared(let index, .failure(let error)):
                        let failure = Failure.of(error)
                        if failure.endsRun {
                            outcome.stop = FailureReport(book: items[index].book, failure: failure)
                            break
                        }
                        outcome.troubles.record(failure, of: items[index].book, at: servers[index], index: index)
                        failed.insert(index)
                        for other in schedule.end(index, failure.catalogOutcome) {
                            outcome.troubles.record(
                                failure, of: items[other].book, at: servers[other], index: other, wasAsked: false)
                            failed.insert(other)
                        }
                    }
                } else {
                    turn = items.count
                }
            }
            group.cancelAll()
        }
        if !outcome.left.isEmpty {
            let books = outcome.left.count == 1 ? "1 book is" : "\(outcome.left.count) books are"
            emit(.notice(makesWay ? "\(books) looked at later" : "the time is up: \(books) not looked at"))
        }
        return outcome
    }

    private static func alarm(after seconds: Double) async -> Answer {
        do { try await Task.sleep(for: .seconds(seconds)) } catch {
            // Cancelled with the round, which reads no more answers.
        }
        return .timeIsUp
    }

    private func prepared(
        _ item: RunRequest.Item, pace: HostThrottle?, _ assembly: PlanAssembly
    ) async -> Result<PreparedBook, any Error> {
        emit(.waiting(.book(item.book), Wait(name: item.title ?? item.book.id, reason: "asking the catalog")))
        defer { emit(.waiting(.book(item.book), nil)) }
        do {
            let source = try configuration.catalogSource(for: item.book, transport: transport, pace: pace)
            let refreshed = try await source.refresh(
                item.book, title: item.title, known: try await store?.book(item.book), store: store, stores: stores,
                asksAnew: request.force, tellsOfDropped: configuration.onCatalogRemoval == .report)
            // At once, and not in the book's turn, which may not come: from now on the store knows that it is gone.
            if let dropped = refreshed.droppedNotice { emit(.notice("\(item.book): \(dropped)")) }
            if !request.force { try await refuseRenamedSource(of: refreshed.book) }
            var prepared = PreparedBook(item: item, refreshed: refreshed, source: source)
            prepared.plan = try await plan(prepared, claimed: [], assembly)
            return .success(prepared)
        } catch {
            return .failure(error)
        }
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
            why: "\(known) has its id and its title and is on disk, and no source is called '\(known.source)' any more",
            remedy: "call the source '\(known.source)' again, or fetch the book beside the other one with --force")
    }

    /// The plan that was made ahead, where what the books before it take and move is nowhere near; else another one.
    private func plan(
        _ prepared: PreparedBook, at index: Int, behind taken: TakenPaths, _ assembly: PlanAssembly,
        _ outcome: inout Outcome
    ) async -> AssembledPlan? {
        if let plan = prepared.plan, !taken.conflicts(with: plan) { return plan }
        do {
            return try await plan(prepared, claimed: taken.claimed, assembly)
        } catch {
            let (book, failure) = (prepared.item.book, Failure.of(error))
            if failure.endsRun {
                outcome.stop = FailureReport(book: book, failure: failure)
            } else {
                outcome.troubles.record(failure, of: book, at: configuration.catalogServer(of: book), index: index)
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
                of: prepared.refreshed.book, filter: prepared.item.filter, claimed: claimed)
        {
            return cached
        }
        if stores, let store { assembly.cachesPlans = await isKept { try await store.watchPlan(of: book) } }
        let stored = try await store?.episodes(of: book) ?? []
        var assembled = try await assembly.plan(
            prepared.refreshed.book, episodes: prepared.refreshed.shelved(with: stored), item: prepared.item,
            claimed: claimed)
        assembled.use(access)
        assembled.renewAddresses(through: AddressRenewal(book: book, source: prepared.source))
        if let store, let cached = assembled.cached {
            _ = await isKept { try await store.saveCachedPlan(cached, of: book) }
        }
        return assembled
    }

    /// Whether something could be remembered. What is not, as on a full disk, is planned anew the next time, which is no
    /// failure of the run.
    private func isKept(_ remember: () async throws -> Void) async -> Bool {
        do {
            try await remember()
            return true
        } catch {
            return false
        }
    }

    private func notices(of prepared: PreparedBook, plan: SyncPlan) -> [String] {
        let book = prepared.item.book
        var notices = prepared.refreshed.proof.warnings.map { "\(book): \($0)" }
        // Of episodes that are named one by one the run's failure tells.
        if !prepared.item.filter.isEmpty, !prepared.item.triesAtOnce, plan.unlisted.keep == 0,
            plan.actions.allSatisfy({ $0.kind == .skip(.filtered) })
        {
            notices.append("\(book): no episode matches")
        }
        return notices
    }
}

/// A book whose catalog was read, and the plan for it as far as that can be made before its turn.
private struct PreparedBook: Sendable {
    var item: RunRequest.Item
    var refreshed: RefreshedBook
    var source: any CatalogSource
    var plan: AssembledPlan?

    /// Episodes that are held in memory for it.
    var weight: Int { (refreshed.episodes?.count ?? 0) + (plan?.plan.actions.count ?? 0) }
}

extension CatalogRefresh.Outcome {
    fileprivate mutating func record(_ prepared: PreparedBook) {
        if prepared.refreshed.episodes == nil {
            unchanged.append(prepared.item.book)
        } else {
            listed.append(prepared.item.book)
        }
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
