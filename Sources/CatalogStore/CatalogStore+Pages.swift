import BookModel
import GRDB

// Parts of a book, for those who look at it page by page: a book may have a hundred thousand episodes.

extension CatalogStore {
    /// How many of a book's episodes are in each state; states without any are left out.
    /// - Parameters:
    ///   - text: what stands in the names of those that count; empty for all.
    ///   - isRunUnderWay: else what a killed run left as under way only waits.
    package func stateCounts(
        of book: BookIdentity, named text: String = "", isRunUnderWay: Bool
    ) async throws -> [EpisodeState: Int] {
        try await read("the episodes of \(book) cannot be counted") { database in
            guard let id = try database.id(of: book) else { return [:] }
            let sql = """
                SELECT \(EpisodeRecord.stateColumn(isRunUnderWay: isRunUnderWay)), COUNT(*)
                FROM \(EpisodeRecord.tables) WHERE e.book_id = ?\(text.isEmpty ? "" : " AND \(Self.named)") GROUP BY 1
                """
            return try database.stateCounts(sql, text.isEmpty ? [id] : [id, text])
        }
    }

    /// What is found in the name of an episode.
    private static let named = "instr(lower(e.name), lower(?)) > 0"

    /// Some of a book's episodes, in the order of ``episodes(of:)`` or from its end.
    /// - Parameters:
    ///   - isRunUnderWay: else what a killed run left as under way only waits.
    ///   - first: how many of them come before, 0 or more.
    ///   - count: how many at most; nil for all.
    package func episodes(
        of book: BookIdentity, _ selection: EpisodeSelection, isRunUnderWay: Bool, from first: Int, count: Int?
    ) async throws -> [EpisodeRecord] {
        try await read("the episodes of \(book) cannot be read") { database in
            guard let id = try database.id(of: book) else { return [] }
            var (condition, wanted) = ("", StatementArguments())
            if let state = selection.state {
                condition += " AND \(EpisodeRecord.stateColumn(isRunUnderWay: isRunUnderWay)) = ?"
                wanted += [state.rawValue]
            }
            if !selection.text.isEmpty {
                condition += " AND \(Self.named)"
                wanted += [selection.text]
            }
            let end = selection.isReversed ? "DESC" : "ASC"
            let sql = """
                SELECT \(EpisodeRecord.columns) FROM \(EpisodeRecord.tables)
                WHERE e.book_id = ?\(condition) ORDER BY e.section \(end), e.position \(end) LIMIT ? OFFSET ?
                """
            return try database.rows(sql, [id] + wanted + [count ?? -1, first]) { try EpisodeRecord(&$0, of: book) }
        }
    }

    /// How many of a book's episodes come before those of that number.
    /// - Parameter isReversed: whether the last one comes first.
    /// - Returns: nil when no episode has the number.
    package func index(of section: Int, in book: BookIdentity, isReversed: Bool) async throws -> Int? {
        try await read("the episodes of \(book) cannot be counted") { database in
            guard let id = try database.id(of: book) else { return nil }
            let sql = """
                SELECT (SELECT COUNT(*) FROM episode WHERE book_id = ?1 AND section \(isReversed ? ">" : "<") ?2)
                WHERE EXISTS (SELECT 1 FROM episode WHERE book_id = ?1 AND section = ?2)
                """
            return try database.value(sql, [id, section])
        }
    }

    /// What is being transferred, waits, is paused or failed: what moves comes first, each by book and section.
    /// - Parameters:
    ///   - isRunUnderWay: else what a killed run left as under way only waits.
    ///   - first: how many of them come before, 0 or more.
    ///   - count: how many at most; nil for all.
    package func queue(isRunUnderWay: Bool, from first: Int, count: Int?) async throws -> [EpisodeRecord] {
        try await read("the transfers cannot be read") { database in
            // Only the rows of the part that is wanted are read whole.
            let order = "rank, b.source, b.key, e.section, e.position"
            let sql = """
                WITH queue AS MATERIALIZED (
                    SELECT e.id, \(Self.rankInQueue(isRunUnderWay: isRunUnderWay)) AS rank
                    FROM \(EpisodeRecord.tablesByTransfer) JOIN book b ON b.id = e.book_id
                    WHERE rank IS NOT NULL ORDER BY \(order) LIMIT ? OFFSET ?
                )
                SELECT b.source, b.key, \(EpisodeRecord.columns)
                FROM queue CROSS JOIN \(EpisodeRecord.tables) JOIN book b ON b.id = e.book_id
                WHERE e.id = queue.id ORDER BY \(order)
                """
            return try database.shelvedEpisodes(sql, [count ?? -1, first])
        }
    }

    /// The books with a transfer that is under way.
    package func movingBooks() async throws -> [BookIdentity] {
        let sql = """
            SELECT DISTINCT b.source, b.key FROM transfer t JOIN episode e ON e.id = t.episode_id
            JOIN book b ON b.id = e.book_id WHERE t.state <> 'waiting' AND t.state = 'downloading'
            """
        return try await rows("the queue cannot be read", sql, [], BookIdentity.init)
    }

    /// How many of ``queue(isRunUnderWay:from:count:)`` are in each state; states without any are left out.
    package func queueCounts(isRunUnderWay: Bool) async throws -> [EpisodeState: Int] {
        try await read("the transfers cannot be counted") { database in
            let state = EpisodeRecord.stateColumn(isRunUnderWay: isRunUnderWay)
            let sql = """
                SELECT \(state), COUNT(*) FROM \(EpisodeRecord.tablesByTransfer)
                WHERE \(Self.rankInQueue(isRunUnderWay: isRunUnderWay)) IS NOT NULL GROUP BY 1
                """
            return try database.stateCounts(sql, [])
        }
    }

    /// The rank of an episode's state in the queue; NULL for those that are not in it.
    private static func rankInQueue(isRunUnderWay: Bool) -> String {
        """
        (CASE \(EpisodeRecord.stateColumn(isRunUnderWay: isRunUnderWay)) WHEN 'downloading' THEN 0
            WHEN 'waiting' THEN 1 WHEN 'paused' THEN 2 WHEN 'failed' THEN 3 END)
        """
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
                return try database.value(sql, [id]).map { EpisodeIdentity(book: episode.book, key: $0) }
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
            return try database.value(sql, [id]).map { EpisodeIdentity(book: book, key: $0) }
        }
    }
}

extension Database {
    /// - Parameter sql: selects states, each with its count.
    fileprivate func stateCounts(_ sql: String, _ arguments: StatementArguments) throws -> [EpisodeState: Int] {
        let counts = try rows(sql, arguments) { columns in
            (try word(columns.next(), as: EpisodeState.self), try columns.next(Int.self))
        }
        return Dictionary(uniqueKeysWithValues: counts)
    }
}

extension EpisodeRecord {
    /// What ``state`` says, said in SQL of ``tables``.
    /// - Parameter isRunUnderWay: else what a killed run left as under way only waits.
    static func stateColumn(isRunUnderWay: Bool) -> String {
        let (over, underWay) =
            isRunUnderWay ? ("('waiting')", "('downloading')") : ("('waiting', 'downloading')", "()")
        return """
            CASE
                WHEN e.removed_at IS NOT NULL THEN 'removed'
                WHEN f.episode_id IS NULL AND (e.gone OR e.locked) AND ifnull(t.state, '') NOT IN \(underWay)
                    THEN iif(e.gone, 'gone', 'locked')
                WHEN t.state NOT IN \(over) THEN t.state
                WHEN e.gone THEN 'gone' WHEN f.episode_id IS NOT NULL THEN 'finished' ELSE 'waiting' END
            """
    }
}
