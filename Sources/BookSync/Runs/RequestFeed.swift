import BookModel
import CatalogStore
import DownloadEngine
import Logging
import Settings
import Synchronization

/// Has what users ask for join the run under way, whoever asked, when, and in whatever process.
///
/// A request stays in the store until the run that took it has ended by itself: one that is killed or interrupted leaves it to
/// the next.
final class RequestFeed: Sendable {
    private let run: SyncRun
    let store: CatalogStore
    private let inbox: TransferInbox
    /// Requests of the store that the run does, with their books.
    private let taken: Mutex<[Int64: BookIdentity]>
    /// Whether a look failed, which is logged once.
    private let hasFailed = Atomic(false)

    /// - Parameter taken: requests that the run does anyway.
    init(of run: SyncRun, _ store: CatalogStore, _ inbox: TransferInbox, taken: [Int64: BookIdentity] = [:]) {
        (self.run, self.store, self.inbox) = (run, store, inbox)
        self.taken = Mutex(taken)
    }

    /// Takes what is new, and leaves what is asked for no longer.
    /// - Returns: requests each of which holds the inbox open; none where it is closed: then they are left to the next run.
    func look() async throws -> [RunRequest] {
        let stored = try await store.requests()
        let ids = Set(stored.map(\.id))
        let known = taken.withLock { taken in
            taken = taken.filter { ids.contains($0.key) }
            return taken
        }
        var asked: [(request: RunRequest, left: [FailureReport])] = []
        for request in try await run.configuration.runRequests(of: stored.filter { known[$0.id] == nil }, in: store) {
            asked.append(try await request.leavingOtherLibraries(run.configuration, store: store))
        }
        // From here on nothing fails: each that is taken is returned.
        var joined: [RunRequest] = []
        for (request, left) in asked {
            guard inbox.hold() else { break }
            taken.withLock { $0.merge(request.ids) { $1 } }
            for failure in left { run.emit(.failed(failure)) }
            joined.append(request)
        }
        return joined
    }

    /// Looks again after a while.
    func next() async -> [RunRequest] {
        do {
            try await Task.sleep(for: .seconds(0.25))
            return try await look()
        } catch {
            // The next look may tell. Of a store that nobody can read the engine hears as well, and ends the run.
            if !hasFailed.exchange(true, ordering: .relaxed), !Task.isCancelled {
                run.logger.error("the requests cannot be read", metadata: ["error": "\(error)"])
            }
            return []
        }
    }

    /// Leaves requests that were taken to the next run.
    func giveBack(_ requests: [RunRequest]) {
        taken.withLock { taken in
            for id in requests.flatMap(\.ids.keys) { taken[id] = nil }
        }
        inbox.release(requests.count)
    }

    /// Removes the transfers that were cancelled since they were requested.
    /// - Returns: the removed ones.
    func removeCancelled(from requests: inout [TransferRequest]) async throws -> [TransferRequest] {
        // Where nothing is left to be fetched the disk may be gone, and the engine has said so.
        let asked = requests.isEmpty ? [] : try await store.requests(withCancellations: true)
        guard asked.contains(where: { $0.kind == .cancel }) else { return [] }
        let episodes = asked.cancelled(among: requests.lazy.map(\.episode))
        let cancelled = requests.filter { episodes.contains($0.episode.identity) }
        requests.removeAll { episodes.contains($0.episode.identity) }
        for request in cancelled { run.emit(.cancelled(request.episode.identity, name: request.episode.name)) }
        return cancelled
    }

    /// Forgets what the run has done.
    /// - Parameter books: of which something is left for another run.
    func end(leaving books: Set<BookIdentity>) async throws {
        try await store.end(taken.withLock { $0.filter { !books.contains($0.value) } }.keys)
    }
}

extension LibrarySession {
    /// Has a run do what is on record meanwhile: where its process is killed, or told to end, the next run does it.
    /// - Parameters:
    ///   - handedOver: ids of what was asked of another run, and is done by this one now.
    ///   - isCalledOff: whether a run that was cancelled was the user's to end.
    ///   - run: gets them as they are stored, those that were asked for before as well.
    package func asking<Answer>(
        for requests: [StoredRequest], insteadOf handedOver: [Int64] = [], _ isCalledOff: () -> Bool,
        _ run: ([StoredRequest]) async throws -> Answer
    ) async throws -> Answer {
        // What keeps the store from being read or written ends the run soon enough, if it is one.
        _ = try? await store.end(handedOver)
        let known = Dictionary(grouping: (try? await store.requests(withCancellations: true)) ?? [], by: \.asAsked)
        // What somebody cancelled while the library was opened is not asked for after that.
        var new = requests.filter { known[$0] == nil && !known.keys.contains { $0.kind == .cancel } }
        let ids = (try? await store.ask(new, .relaxed)) ?? []
        for (index, id) in ids.enumerated() { new[index].id = id }
        let outcome = await Result.of { [new] in try await run(requests.flatMap { known[$0] ?? [] } + new) }
        // What is left by a run that ends by itself the user hears of.
        if !Task.isCancelled || isCalledOff() { _ = try? await store.end(ids) }
        return try outcome.get()
    }
}

extension Configuration {
    /// What does these of them that are about audio or catalogs of sources that there are, in as few requests as possible.
    package func runRequests(of stored: [StoredRequest], in store: CatalogStore) async throws -> [RunRequest] {
        var requests: [RunRequest] = []
        for request in stored where request.kind == .fetch || request.kind == .list {
            guard let book = request.book, source(named: book.source) != nil else { continue }
            let (item, former) = (RunRequest.Item(request, of: book), requests.last)
            // A book that is asked for twice is planned twice: what differs in more than its episodes is not one plan.
            if let former, former.force == request.force, former.items.allSatisfy({ $0.book != book }) {
                requests[requests.count - 1].items.append(item)
                requests[requests.count - 1].ids[request.id] = book
            } else {
                var next = try RunRequest(
                    items: [item], order: downloads.order, force: request.force, detail: .changes)
                next.ids = [request.id: book]
                requests.append(next)
            }
        }
        guard !requests.isEmpty else { return [] }
        let subscriptions = try allSubscriptions(with: try await store.subscriptions())
        return requests.map { $0.only($0.items.titled(by: subscriptions)) }
    }
}

extension RunRequest.Item {
    fileprivate init(_ request: StoredRequest, of book: BookIdentity) {
        // Whoever names episodes to be fetched wants them now, and is told where there is none.
        let isWanted = request.kind == .fetch && request.filter.only != nil
        self.init(
            book: book, filter: request.filter, triesAtOnce: isWanted && request.filter.namesEpisodes,
            mustExist: isWanted)
        if request.kind == .list { limits.episodes = 0 }
    }
}

extension StoredRequest {
    /// What is asked for of these episodes, and of those that share a number with one of them.
    package static func toFetch(_ episodes: [EpisodeRecord]) -> [StoredRequest] {
        RunRequest.Item.items(of: episodes).map { StoredRequest(.fetch, $0.book, filter: $0.filter) }
    }
}
