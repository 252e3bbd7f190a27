import BookModel
import CatalogFetcher
import Logging
import Settings
import Transport

/// Searches catalogs for those who look for books.
///
/// Some searches of each user are kept for some minutes, so that several tabs have their own. Whoever asks the same again
/// meanwhile, with a key that is held down or on the way back from a preview, is given what was found, and no catalog is asked
/// again.
package actor CatalogSearches {
    /// How far a search is.
    package struct Progress: Sendable {
        /// The best first.
        package var books: [FoundBook] = []
        package var unanswered: [Failure] = []
        /// The sources that have not answered yet.
        package var awaited: [String]
    }

    package typealias Updates = AsyncThrowingStream<Progress, any Error>

    private struct Search {
        let number: Int
        let query: CatalogQuery
        let source: String?
        var task: Task<Void, Never>?
        var progress: Progress?
        var failure: (any Error)?
        /// nil while it is under way.
        var endedAt: ContinuousClock.Instant?
        var watchers: [Updates.Continuation] = []

        var isWhole: Bool { failure == nil && progress?.unanswered.isEmpty == true }
    }

    /// For how long what was found is shown, and for how long a catalog that did not answer is not asked the same again.
    private static let (lifetime, pause): (Duration, Duration) = (.seconds(300), .seconds(10))
    /// Searches of one user that are kept: one more ends the oldest.
    private static let maxSearches = 4

    private let configuration: Configuration
    private let logger: Logger
    /// The newest last.
    private var searches: [User.ID: [Search]] = [:]
    private var searchCount = 0
    private var names: [String]?

    init(_ configuration: Configuration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
    }

    /// Those that can be searched, in the order in which they are asked.
    package func sources() async throws -> [String] {
        if let names { return names }
        let found = try await withSearch(nil) { $0.sources }
        names = found
        return found
    }

    /// Begins a search, unless the same is under way, or what it found is kept.
    /// - Parameter source: the only one to ask; nil for all.
    package func begin(_ query: CatalogQuery, in source: String?, for user: User.ID) {
        if let same = kept(query, source, user) {
            guard let end = same.endedAt, end + (same.isWhole ? Self.lifetime : Self.pause) < .now else { return }
            searches[user]?.removeAll { $0.number == same.number }
        }
        searchCount += 1
        var search = Search(number: searchCount, query: query, source: source)
        search.task = Task { [number = searchCount] in
            do {
                try await withSearch(source) { try await self.run($0, query, number, user) }
                finish(number, of: user)
            } catch {
                finish(number, of: user, failure: error)
            }
        }
        searches[user, default: []].append(search)
        while let oldest = searches[user]?.first, searches[user, default: []].count > Self.maxSearches {
            oldest.task?.cancel()
            for watcher in oldest.watchers { watcher.finish() }
            searches[user]?.removeFirst()
        }
    }

    /// What a search that was begun finds, or has found.
    /// - Returns: what was found whenever that is more, and at last what all found: only the newest is kept for who is slow.
    ///   It throws ``Failure`` of kind `usage` where there is nothing to look for, or no such source. nil where no such search
    ///   is kept.
    package func updates(of query: CatalogQuery, in source: String?, for user: User.ID) -> Updates? {
        guard let search = kept(query, source, user) else { return nil }
        let (updates, watcher) = Updates.makeStream(bufferingPolicy: .bufferingNewest(1))
        if let progress = search.progress { watcher.yield(progress) }
        guard search.endedAt == nil else {
            watcher.finish(throwing: search.failure)
            return updates
        }
        change(search.number, of: user) { $0.watchers.append(watcher) }
        return updates
    }

    private func kept(_ query: CatalogQuery, _ source: String?, _ user: User.ID) -> Search? {
        searches[user]?.removeAll { search in search.endedAt.map { $0 + Self.lifetime < .now } ?? false }
        return searches[user]?.last { $0.query == query && $0.source == source }
    }

    private func change(_ number: Int, of user: User.ID, _ change: (inout Search) -> Void) {
        guard let index = searches[user]?.firstIndex(where: { $0.number == number }) else { return }
        change(&searches[user, default: []][index])
    }

    private nonisolated func run(
        _ search: CatalogSearch, _ query: CatalogQuery, _ number: Int, _ user: User.ID
    ) async throws {
        var awaited = search.sources
        await tell(Progress(awaited: awaited), of: number, user)
        _ = try await search.search(query) { answer, found in
            awaited.removeAll { $0 == answer.source }
            let failures = found.unanswered.map(\.failure)
            await tell(Progress(books: found.books, unanswered: failures, awaited: awaited), of: number, user)
        }
    }

    private func tell(_ progress: Progress, of number: Int, _ user: User.ID) {
        change(number, of: user) { search in
            search.progress = progress
            for watcher in search.watchers { watcher.yield(progress) }
        }
    }

    private func finish(_ number: Int, of user: User.ID, failure: (any Error)? = nil) {
        change(number, of: user) { search in
            for watcher in search.watchers { watcher.finish(throwing: failure) }
            (search.endedAt, search.failure, search.watchers, search.task) = (.now, failure, [], nil)
        }
    }

    private nonisolated func withSearch<Answer: Sendable>(
        _ source: String?, _ body: @escaping @Sendable (CatalogSearch) async throws -> Answer
    ) async throws -> Answer {
        try await withHTTPTransport(options: configuration.transportOptions, logger: logger) { transport in
            try await body(configuration.catalogSearch(in: source.map { [$0] } ?? [], over: transport))
        }
    }
}
