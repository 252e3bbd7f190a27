import BookModel
import BookSync
import CatalogFetcher
import CatalogSearch
import Logging
import Settings
import Transport

/// Searches catalogs for those who look for books, one search at a time for each user: a new one ends the one before.
///
/// A search is kept for some minutes. Whoever asks the same again meanwhile, with a key that is held down or on the way back
/// from a preview, is given what was found, and no catalog is asked again.
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
        /// Until when it is kept; nil while it is under way.
        var keptUntil: ContinuousClock.Instant?
        var watchers: [Updates.Continuation] = []
    }

    /// For how long what was found is kept, and the same where a catalog did not answer.
    private static let (lifetime, lifetimeOfPart): (Duration, Duration) = (.seconds(300), .seconds(10))

    private let configuration: Configuration
    private let logger: Logger
    private let withCatalogs: RunQueue.Runner.CatalogAccess
    private var latest: [User.ID: Search] = [:]
    private var searchCount = 0
    private var names: [String]?

    init(_ configuration: Configuration, logger: Logger, withCatalogs: @escaping RunQueue.Runner.CatalogAccess) {
        self.configuration = configuration
        self.logger = logger
        self.withCatalogs = withCatalogs
    }

    /// Those that can be searched, in the order in which they are asked.
    package func sources() async throws -> [String] {
        if let names { return names }
        try await withSearch(nil) { await self.know($0.sources) }
        return names ?? []
    }

    private func know(_ names: [String]) { self.names = names }

    /// Searches, or goes on with the search that asks the same.
    /// - Parameter source: the only one to ask; nil for all.
    /// - Returns: what was found whenever that is more, and at last what all found: only the newest is kept for who is slow.
    ///   It throws ``Failure`` of kind `usage` where there is nothing to look for, or no such source.
    package func updates(of query: CatalogQuery, in source: String?, for user: User.ID) -> Updates {
        let (updates, watcher) = Updates.makeStream(bufferingPolicy: .bufferingNewest(1))
        if let search = latest[user], search.query == query, search.source == source,
            search.keptUntil.map({ $0 > .now }) ?? true
        {
            if let progress = search.progress { watcher.yield(progress) }
            if search.keptUntil == nil { latest[user]?.watchers.append(watcher) } else { watcher.finish() }
            return updates
        }
        if let search = latest[user] {
            search.task?.cancel()
            for watcher in search.watchers { watcher.finish() }
        }
        searchCount += 1
        var search = Search(number: searchCount, query: query, source: source)
        search.watchers = [watcher]
        search.task = Task { [number = searchCount] in
            do {
                try await withSearch(source) { try await self.run($0, query, number, user) }
                finish(number, of: user)
            } catch {
                finish(number, of: user, throwing: error)
            }
        }
        latest[user] = search
        return updates
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
        guard let search = latest[user], search.number == number else { return }
        latest[user]?.progress = progress
        for watcher in search.watchers { watcher.yield(progress) }
    }

    private func finish(_ number: Int, of user: User.ID, throwing error: (any Error)? = nil) {
        guard var search = latest[user], search.number == number else { return }
        for watcher in search.watchers { watcher.finish(throwing: error) }
        let isWhole = search.progress?.unanswered.isEmpty == true
        (search.keptUntil, search.watchers) = (.now + (isWhole ? Self.lifetime : Self.lifetimeOfPart), [])
        latest[user] = error == nil ? search : nil
    }

    private func withSearch(
        _ source: String?, _ body: @escaping @Sendable (CatalogSearch) async throws -> Void
    ) async throws {
        let logger = logger
        let demo = BookIdentity(source: Configuration.demoSource, id: "")
        _ = try await withCatalogs(configuration, [demo]) { configuration in
            try await withHTTPTransport(options: configuration.transportOptions, logger: logger) { transport in
                try await body(configuration.catalogSearch(in: source.map { [$0] } ?? [], over: transport))
            }
            return RunReport()
        }
    }
}
