import BookModel
import CatalogStore
import Settings
import Synchronization

/// Has what users ask for join the run under way, whoever asked, when, and in whatever process.
///
/// A request stays in the store until the run that took it has ended by itself: one that is killed or interrupted leaves it to
/// the next.
struct RequestFeed: Sendable {
    let configuration: Configuration
    let store: CatalogStore
    let control: RunControl

    /// Takes what is new.
    func look() async throws {
        let taken = control.takenRequests
        let asked = try await store.requests().filter { !taken.contains($0.id) }
        for request in try await configuration.runRequests(of: asked, in: store) { _ = control.join(request) }
    }

    /// Forgets what the run has done.
    /// - Parameter left: what joined the run, and it did not come to see.
    func end(leaving left: [RunRequest]) async throws {
        try await store.end(control.takenRequests.subtracting(left.flatMap(\.ids)))
    }
}

extension Configuration {
    /// What does these of them that are about audio or catalogs of sources that there are, in as few requests as possible.
    package func runRequests(of stored: [StoredRequest], in store: CatalogStore) async throws -> [RunRequest] {
        let wanted = stored.filter { request in
            guard request.kind == .fetch || request.kind == .list, let book = request.book else { return false }
            return source(named: book.source) != nil
        }
        guard !wanted.isEmpty else { return [] }
        let subscriptions = try allSubscriptions(with: try await store.subscriptions())
        var requests: [RunRequest] = []
        for request in wanted {
            let items = [RunRequest.Item(request)].compactMap(\.self).titled(by: subscriptions)
            let (ids, former) = (Set([request.id]), requests.last)
            // A book that is asked for twice is planned twice: what differs in more than its episodes is not one plan.
            if let former, former.force == request.force, former.items.allSatisfy({ $0.book != request.book }) {
                requests[requests.count - 1].items += items
                requests[requests.count - 1].ids.formUnion(ids)
            } else {
                var next = try RunRequest(
                    items: items, order: downloads.order, force: request.force, detail: .changes)
                next.ids = ids
                requests.append(next)
            }
        }
        return requests
    }
}

extension RunRequest.Item {
    /// nil where it is about no book.
    fileprivate init?(_ request: StoredRequest) {
        guard let book = request.book else { return nil }
        // Whoever names episodes wants them now, and is told where there is none.
        let namesEpisodes = request.filter.only != nil
        self.init(book: book, filter: request.filter, triesAtOnce: namesEpisodes, mustExist: namesEpisodes)
        if request.kind == .list { limits.episodes = 0 }
    }
}

extension StoredRequest {
    /// What is asked for of these episodes, and of those that share a number with one of them.
    package static func toFetch(_ episodes: [EpisodeRecord]) -> [StoredRequest] {
        RunRequest.Item.items(of: episodes).map { StoredRequest(.fetch, $0.book, filter: $0.filter) }
    }
}
