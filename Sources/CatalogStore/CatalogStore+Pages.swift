import BookModel
import GRDB

// Parts of a book, for those who look at it page by page: a book may have a hundred thousand episodes.

extension CatalogStore {
    /// How many of a book's episodes are in each state; states without any are left out.
    /// - Parameter isRunUnderWay: else what a killed run left as under way only waits.
    package func stateCounts(of book: BookIdentity, isRunUnderWay: Bool) async throws -> [EpisodeState: Int] {
        try await read("the episodes of \(book) cannot be counted") { database in
            guard let id = try database.id(of: book) else { return [:] }
            let sql = """
                SELECT \(ShelvedEpisode.stateColumn(isRunUnderWay: isRunUnderWay)), COUNT(*)
                FROM \(ShelvedEpisode.tables) WHERE e.book_id = ? GROUP BY 1
                """
            let rows = try Row.fetchCursor(database.cachedStatement(sql: sql), arguments: [id])
            var counts: [EpisodeState: Int] = [:]
            while let row = try rows.next() {
                var columns = ColumnReader(row)
                let state: EpisodeState = try word(columns.next())
                counts[state] = try columns.next()
            }
            return counts
        }
    }

    /// Some of a book's episodes, in the order of ``episodes(of:)``.
    /// - Parameters:
    ///   - state: the one they are in; nil for all.
    ///   - isRunUnderWay: else what a killed run left as under way only waits.
    ///   - first: how many of them come before, 0 or more.
    ///   - count: how many at most; nil for all.
    package func episodes(
        of book: BookIdentity, in state: EpisodeState?, isRunUnderWay: Bool, from first: Int, count: Int?
    ) async throws -> [ShelvedEpisode] {
        try await read("the episodes of \(book) cannot be read") { database in
            guard let id = try database.id(of: book) else { return [] }
            let condition =
                state.map { _ in "AND \(ShelvedEpisode.stateColumn(isRunUnderWay: isRunUnderWay)) = ?" } ?? ""
            let sql = """
                SELECT \(ShelvedEpisode.columns) FROM \(ShelvedEpisode.tables)
                WHERE e.book_id = ? \(condition) ORDER BY e.section, e.position LIMIT ? OFFSET ?
                """
            let wanted: StatementArguments = state.map { [$0.rawValue] } ?? []
            let rows = try Row.fetchCursor(
                database.cachedStatement(sql: sql), arguments: [id] + wanted + [count ?? -1, first])
            var episodes: [ShelvedEpisode] = []
            while let row = try rows.next() {
                var columns = ColumnReader(row)
                episodes.append(try ShelvedEpisode(&columns, of: book))
            }
            return episodes
        }
    }

    /// The episodes on disk that come right before and right after one in the order of its book.
    package func neighbours(
        of episode: EpisodeIdentity
    ) async throws -> (before: EpisodeIdentity?, after: EpisodeIdentity?) {
        try await read("the neighbours of \(episode) cannot be looked up") { database in
            guard let id = try database.id(of: episode) else { return (nil, nil) }
            func key(_ comparison: String, _ order: String) throws -> EpisodeIdentity? {
                let sql = """
                    SELECT e.key FROM episode o
                    JOIN episode e ON e.book_id = o.book_id
                        AND (e.section, e.position, e.id) \(comparison) (o.section, o.position, o.id)
                    JOIN local_file f ON f.episode_id = e.id
                    WHERE o.id = ? AND e.removed_at IS NULL
                    ORDER BY e.section \(order), e.position \(order), e.id \(order) LIMIT 1
                    """
                return try String.fetchOne(database.cachedStatement(sql: sql), arguments: [id])
                    .map { EpisodeIdentity(book: episode.book, key: $0) }
            }
            return (try key("<", "DESC"), try key(">", "ASC"))
        }
    }

    /// The first episode of a book that is on disk.
    package func firstOnDisk(of book: BookIdentity) async throws -> EpisodeIdentity? {
        try await read("the episodes of \(book) cannot be read") { database in
            guard let id = try database.id(of: book) else { return nil }
            let sql = """
                SELECT e.key FROM episode e JOIN local_file f ON f.episode_id = e.id
                WHERE e.book_id = ? AND e.removed_at IS NULL ORDER BY e.section, e.position LIMIT 1
                """
            return try String.fetchOne(database.cachedStatement(sql: sql), arguments: [id])
                .map { EpisodeIdentity(book: book, key: $0) }
        }
    }
}

extension ShelvedEpisode {
    /// What ``state`` says, said in SQL of ``tables``.
    /// - Parameter isRunUnderWay: else what a killed run left as under way only waits.
    static func stateColumn(isRunUnderWay: Bool) -> String {
        let over = isRunUnderWay ? "('waiting')" : "('waiting', 'downloading', 'verifying')"
        return """
            CASE
                WHEN e.removed_at IS NOT NULL THEN 'removed' WHEN t.state NOT IN \(over) THEN t.state
                WHEN f.episode_id IS NOT NULL THEN iif(e.gone, 'gone', 'finished')
                WHEN e.gone THEN 'gone' WHEN e.locked THEN 'locked' ELSE 'waiting' END
            """
    }
}
