import BookModel
import CatalogStore
import DownloadEngine
import Settings

/// Has what users ask for join the run under way, whoever asked, when, and in whatever process.
///
/// A request stays in the store until the run that took it has ended by itself: one that is killed or interrupted leaves it to
/// the next.
struct RequestFeed: Sendable {
    let configuration: Configuration
    let store: CatalogStore
    let control: RunControl
    let emit: @Sendable (SyncEvent) -> Void

    /// Takes what is new, and leaves what is asked for no longer.
    func look() async throws {
        let stored = try await store.requests()
        control.keepTaken(only: Set(stored.map(\.id)))
        let taken = control.takenRequests
        let asked = stored.filter { taken[$0.id] == nil }
        for request in try await configuration.runRequests(of: asked, in: store) {
            let (own, others) = try await request.leavingOtherLibraries(configuration, store: store)
            guard control.join(own) else { return }
            for failure in others { emit(.failed(failure)) }
        }
    }

    /// Removes the transfers that were cancelled since they were requested.
    /// - Returns: the removed ones.
    func removeCancelled(from requests: inout [TransferRequest]) async throws -> [TransferRequest] {
        let asked = try await store.requests(withCancellations: true)
        guard asked.contains(where: { $0.kind == .cancel }) else { return [] }
        let episodes = asked.cancelled(among: requests.lazy.map(\.episode))
        let cancelled = requests.filter { episodes.contains($0.episode.identity) }
        requests.removeAll { episodes.contains($0.episode.identity) }
        for request in cancelled { emit(.cancelled(request.episode.identity, name: request.episode.name)) }
        return cancelled
    }

    /// Forgets what the run has done.
    /// - Parameters:
    ///   - unread: what joined the run, and it did not come to see.
    ///   - books: of which something is left for another run.
    func end(leaving unread: [RunRequest], _ books: Set<BookIdentity>) async throws {
        let unread = Set(unread.flatMap(\.ids.keys))
        let done = control.takenRequests.filter { !unread.contains($0.key) && !books.contains($0.value) }
        try await store.end(done.keys)
    }
}

extension LibrarySession {
    /// Records that requests were done, or that another one does them.
    package func end(_ requests: [Int64]) async throws { try await store.end(requests) }
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
