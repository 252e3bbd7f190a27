import BookModel
import GRDB

// What the user asks of transfers, also while a run of another process is under way: the words are written here,
// and the run reads them.

extension CatalogStore {
    /// Has the episodes wait until they are resumed. Those that are on disk, locked or gone are left as they are, and so
    /// are those that are being published: the announcement is what a cut-off publication is found by.
    /// - Returns: how many are paused now that were not before.
    package func pause(_ episodes: [EpisodeIdentity]) async throws -> Int {
        try await control("the transfers cannot be paused", episodes) { database, id in
            let sql = """
                INSERT INTO transfer (episode_id, state, committed_length, attempts)
                SELECT e.id, 'paused', 0, 0 FROM episode e
                WHERE e.id = ? AND NOT e.locked AND NOT e.gone AND e.removed_at IS NULL AND (
                    EXISTS (SELECT 1 FROM transfer t WHERE t.episode_id = e.id)
                    OR NOT EXISTS (SELECT 1 FROM local_file f WHERE f.episode_id = e.id))
                ON CONFLICT (episode_id) DO UPDATE SET state = 'paused'
                WHERE state NOT IN ('paused', 'verifying')
                """
            try database.run(sql, [id])
        }
    }

    /// Has paused, failed and cancelled episodes be fetched by the next run, and paused and cancelled ones by a run that is
    /// under way. One that was broken off because its episode was removed stays so.
    /// - Returns: how many wait now that did not before.
    @discardableResult
    package func resume(_ episodes: [EpisodeIdentity]) async throws -> Int {
        try await control("the transfers cannot be resumed", episodes) { database, id in
            let sql = """
                UPDATE transfer SET state = 'waiting', attempts = 0, next_try_at = NULL
                WHERE episode_id = ? AND state IN ('paused', 'failed', 'cancelled')
                    AND NOT EXISTS (SELECT 1 FROM episode e WHERE e.id = episode_id AND e.removed_at IS NOT NULL)
                """
            try database.run(sql, [id])
        }
    }

    /// Breaks transfers off, save for those that are being published. What they brought is of no use any more; the files
    /// are the caller's to drop.
    /// - Returns: how many were broken off.
    package func cancel(_ episodes: [EpisodeIdentity]) async throws -> Int {
        try await control("the transfers cannot be cancelled", episodes) { database, id in
            let sql = """
                UPDATE transfer SET state = 'cancelled', committed_length = 0, total = NULL, etag = NULL,
                    last_modified = NULL, validator_age = NULL, sha256 = NULL, path = NULL, priority = 0
                WHERE episode_id = ? AND state NOT IN ('cancelled', 'verifying')
                """
            try database.run(sql, [id])
        }
    }

    /// Has episodes begin before all others, in this order: those of a run that is under way, and others that could be
    /// fetched. What is on disk, removed or paused is left as it is.
    /// - Returns: how many of them there are.
    package func prefer(_ episodes: [EpisodeIdentity]) async throws -> Int {
        guard !episodes.isEmpty else { return 0 }
        return try await write("the transfers cannot be moved to the front", .durable) { database in
            let sql = """
                INSERT INTO transfer (episode_id, state, committed_length, attempts, priority)
                SELECT e.id, 'waiting', 0, 0, ? FROM episode e
                WHERE e.id = ? AND NOT e.locked AND NOT e.gone AND e.removed_at IS NULL
                    AND NOT EXISTS (SELECT 1 FROM local_file f WHERE f.episode_id = e.id)
                ON CONFLICT (episode_id) DO UPDATE SET priority = excluded.priority, next_try_at = NULL,
                    state = CASE state WHEN 'downloading' THEN state ELSE 'waiting' END
                WHERE state NOT IN ('paused', 'verifying')
                """
            // Once, and not for each episode: a hundred thousand may wait.
            var priority = try Int.fetchOne(database, sql: "SELECT MAX(priority) FROM transfer WHERE priority > 0") ?? 0
            return try episodes.reversed().reduce(0) { count, episode in
                priority.addSaturated(1)
                let id = try database.requiredID(of: episode)
                try database.run(sql, [priority, id])
                return count + database.changesCount
            }
        }
    }

    /// The transfers that are to begin before all others and may begin, the first of them first; what was preferred last has
    /// the greatest priority.
    package func preferredTransfers() async throws -> [(episode: EpisodeIdentity, priority: Int)] {
        try await read("the preferred transfers cannot be looked up") { database in
            let sql = """
                SELECT \(EpisodeIdentity.columns), t.priority
                FROM transfer t JOIN episode e ON e.id = t.episode_id JOIN book b ON b.id = e.book_id
                WHERE t.priority > 0 AND t.state NOT IN ('paused', 'failed', 'cancelled') ORDER BY t.priority DESC
                """
            let rows = try Row.fetchCursor(database.cachedStatement(sql: sql))
            return try rows.decode { (episode: try EpisodeIdentity(&$0), priority: try $0.next()) }
        }
    }

    private func control(
        _ what: Message, _ episodes: [EpisodeIdentity], _ change: @escaping @Sendable (Database, Int64) throws -> Void
    ) async throws -> Int {
        guard !episodes.isEmpty else { return 0 }
        return try await write(what, .durable) { database in
            // Without what triggers change.
            try episodes.reduce(0) { count, episode in
                try change(database, try database.requiredID(of: episode))
                return count + database.changesCount
            }
        }
    }

    /// The transfers that the user paused or cancelled.
    package func stoppedTransfers() async throws -> [EpisodeIdentity: TransferState] {
        try await read("the paused transfers cannot be looked up") { database in
            let sql = """
                SELECT \(EpisodeIdentity.columns), t.state
                FROM transfer t JOIN episode e ON e.id = t.episode_id JOIN book b ON b.id = e.book_id
                WHERE t.state <> 'waiting' AND t.state IN ('paused', 'cancelled')
                """
            let rows = try Row.fetchCursor(database.cachedStatement(sql: sql))
            var stopped: [EpisodeIdentity: TransferState] = [:]
            while let row = try rows.next() {
                var columns = ColumnReader(row)
                stopped[try EpisodeIdentity(&columns)] = try word(columns.next())
            }
            return stopped
        }
    }

    /// All episodes with a transfer that is not finished, by book and section.
    package func unfinishedTransfers() async throws -> [EpisodeRecord] {
        try await read("the transfers cannot be read") { database in
            let sql = """
                SELECT b.source, b.key, \(EpisodeRecord.columns)
                FROM \(EpisodeRecord.tablesByTransfer) JOIN book b ON b.id = e.book_id
                ORDER BY b.source, b.key, e.section, e.position
                """
            return try database.shelvedEpisodes(sql, [])
        }
    }
}
