import BookModel
import GRDB

// What the user asks of transfers, also while a run of another process is under way: the words are written here,
// and the run reads them.

extension CatalogStore {
    /// Has the episodes wait until they are resumed. Those that are on disk, locked or gone are left as they are.
    /// - Returns: how many are paused now that were not before.
    package func pause(_ episodes: [EpisodeIdentity]) async throws -> Int {
        try await change(
            episodes, "the transfers cannot be paused",
            """
            INSERT INTO transfer (episode_id, state, committed_length, attempts, planned)
            SELECT e.id, 'paused', 0, 0, FALSE FROM episode e
            WHERE e.id = ? AND NOT e.locked AND NOT e.gone AND e.removed_at IS NULL AND (
                EXISTS (SELECT 1 FROM transfer t WHERE t.episode_id = e.id)
                OR NOT EXISTS (SELECT 1 FROM local_file f WHERE f.episode_id = e.id))
            ON CONFLICT (episode_id) DO UPDATE SET state = 'paused'
            WHERE state <> 'paused'
            """)
    }

    /// Has paused, failed and cancelled episodes be fetched by the next run, and paused and cancelled ones by a run that is
    /// under way. One that was broken off because its episode was removed stays so. Those that no run was to fetch are without a
    /// transfer again.
    /// - Returns: how many are stopped no longer.
    @discardableResult
    package func resume(_ episodes: [EpisodeIdentity]) async throws -> Int {
        let what: Message = "the transfers cannot be resumed"
        let ahead = "DELETE FROM transfer WHERE episode_id = ? AND state IN ('paused', 'cancelled') AND NOT planned"
        return try await change(episodes, what, ahead)
            + change(
                episodes, what,
                """
                UPDATE transfer SET state = 'waiting', attempts = 0, next_try_at = NULL
                WHERE episode_id = ? AND state IN ('paused', 'failed', 'cancelled')
                    AND NOT EXISTS (SELECT 1 FROM episode e WHERE e.id = episode_id AND e.removed_at IS NOT NULL)
                """)
    }

    /// Records that a run would have fetched these paused episodes: when they are resumed, they are to be asked for.
    package func recordPlanned(_ paused: [EpisodeIdentity]) async throws {
        let sql = "UPDATE transfer SET planned = TRUE WHERE episode_id = ? AND NOT planned"
        _ = try await change(paused, "the transfers cannot be paused", sql)
    }

    /// Breaks transfers off. What they brought is of no use any more; the files are the caller's to drop. One that is being
    /// published comes to its end all the same.
    /// - Returns: how many were broken off.
    package func cancel(_ episodes: [EpisodeIdentity]) async throws -> Int {
        try await change(
            episodes, "the transfers cannot be cancelled",
            """
            UPDATE transfer SET state = 'cancelled', committed_length = 0, total = NULL, etag = NULL,
                last_modified = NULL, validator_age = NULL
            WHERE episode_id = ? AND state <> 'cancelled'
            """)
    }

    /// Runs a statement for each episode: on disk when the call returns.
    /// - Parameter arguments: those of the statement before its last one, which is the episode's row.
    /// - Returns: how many rows changed.
    /// - Throws: ``Failure`` of kind `defect` when an episode was never merged.
    func change(
        _ episodes: [EpisodeIdentity], _ what: Message, _ sql: String, _ arguments: StatementArguments = []
    ) async throws -> Int {
        guard !episodes.isEmpty else { return 0 }
        return try await write(what, .durable) { database in
            // Without what triggers change.
            try episodes.reduce(0) { count, episode in
                try database.run(sql, arguments + [database.requiredID(of: episode)])
                return count + database.changesCount
            }
        }
    }

    /// The transfers that the user paused or cancelled.
    package func stoppedTransfers() async throws -> [EpisodeIdentity: TransferState] {
        let sql = """
            SELECT \(EpisodeIdentity.columns), t.state
            FROM transfer t JOIN episode e ON e.id = t.episode_id JOIN book b ON b.id = e.book_id
            WHERE t.state <> 'waiting' AND t.state IN ('paused', 'cancelled')
            """
        let stopped = try await rows("the paused transfers cannot be looked up", sql) { columns in
            (try EpisodeIdentity(&columns), try word(columns.next(), as: TransferState.self))
        }
        // Keys that differ in bytes alone are one here.
        return Dictionary(stopped) { $1 }
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
