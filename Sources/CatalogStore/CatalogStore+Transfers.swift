import BookModel
import Foundation
import GRDB

// The transfer journal. It is kept so that after a power cut it never promises more than the partial files hold.

extension CatalogStore {
    /// As ``commit(_:)``, for a caller that must not block.
    package func save(_ records: [TransferRecord]) async throws {
        try await runBlocking { try self.commit(records) }
    }

    /// Writes the journal of transfers that are not finished, in one transaction, on the thread that calls, which it blocks: none
    /// of the cooperative pool.
    ///
    /// When a record promises less than the stored one (another validator, fewer bytes), it has reached the disk when the call
    /// returns: an older record that came back after a power cut would vouch for bytes of another version. A record of no bytes
    /// vouches for nothing, so beginning a transfer costs no sync.
    /// Mere progress may be lost to a power cut, which costs some bytes to fetch again.
    /// - Throws: ``Failure`` of kind `defect` for a record in state `finished` (``finish(_:)`` is for those), or one with more bytes
    ///   than its total.
    package func commit(_ records: [TransferRecord]) throws {
        guard !records.isEmpty else { return }
        try writeBlocking(
            "the state of \(naming(records.map(\.episode))) cannot be recorded",
            deciding: { try $0.durability(of: records) }, { try records.forEach($0.upsert) })
    }

    /// Has the episodes wait for being fetched, on the thread that calls. Paused and cancelled ones stay so, and what the journal
    /// records of bytes stays as it is. Episodes that were never merged are left out.
    package func commit(waiting episodes: [EpisodeIdentity]) throws {
        try commit(
            """
            INSERT INTO transfer (episode_id, state, committed_length, attempts)
            SELECT e.id, 'waiting', 0, 0 FROM json_each(?2) j CROSS JOIN episode e ON e.book_id = ?1 AND e.key = j.value
            WHERE TRUE
            ON CONFLICT (episode_id) DO UPDATE SET
                planned = TRUE, state = CASE WHEN state IN ('paused', 'cancelled') THEN state ELSE 'waiting' END
            WHERE state <> 'waiting'
            """, of: episodes)
    }

    /// Marks transfers that wait as being fetched, on the thread that calls. Others stay as they are.
    package func commit(begun episodes: [EpisodeIdentity]) throws {
        try commit(
            """
            UPDATE transfer SET state = 'downloading' WHERE state = 'waiting' AND episode_id IN (
                SELECT e.id FROM json_each(?2) j CROSS JOIN episode e ON e.book_id = ?1 AND e.key = j.value)
            """, of: episodes)
    }

    /// Runs a statement once for each book: with its row, and the keys of its episodes as a JSON array.
    private func commit(_ sql: String, of episodes: [EpisodeIdentity]) throws {
        try writeBlocking(
            "the state of \(naming(episodes)) cannot be recorded", deciding: { _ in .relaxed },
            { database in
                for (book, episodes) in Dictionary(grouping: episodes, by: \.book) {
                    try database.run(sql, [database.id(of: book), jsonText(episodes.map(\.key))])
                }
            })
    }

    /// Has transfers wait that a run left as being fetched when it was killed. For the one run that has the lock, before it begins
    /// any: what is being fetched from then on is its own.
    package func resetInterruptedTransfers() async throws {
        try await run(
            "the interrupted transfers cannot be reset", .relaxed,
            "UPDATE transfer SET state = 'waiting' WHERE state <> 'waiting' AND state = 'downloading'")
    }

    /// As ``commit(finished:failed:)``, for a caller that must not block.
    package func finish(_ files: [LocalFile]) async throws {
        try await runBlocking { try self.commit(finished: files) }
    }

    /// Records published files, and with that their transfers as finished: all or none, and on disk when the call
    /// returns. A file that the episode had before is replaced. Blocks the thread that calls: none of the cooperative pool.
    /// - Parameter failed: episodes whose files were announced and did not come to their places.
    /// - Throws: ``Failure`` when a path already belongs to another episode.
    package func commit(finished files: [LocalFile], failed: [EpisodeIdentity] = []) throws {
        let episodes = files.map(\.episode) + failed
        guard !episodes.isEmpty else { return }
        try writeBlocking(
            "\(naming(episodes)) cannot be recorded as finished", deciding: { _ in .durable },
            { database in
                let ids = try episodes.map(database.requiredID)
                for (file, id) in zip(files, ids) { try database.upsert(file, of: id) }
                try database.endPublishing(ids)
                let finished = Array(ids.prefix(files.count))
                try database.endReplacing(finished, at: files.map(\.fetchedAt).max() ?? .now)
                try database.run(
                    "DELETE FROM transfer WHERE episode_id IN (SELECT value FROM json_each(?))", ["\(finished)"])
            })
    }
}

/// The first of some episodes by name, and how many there are besides.
func naming(_ episodes: [EpisodeIdentity]) -> Message {
    guard let first = episodes.first else { return "nothing" }
    return episodes.count == 1 ? "\(first)" : "\(first) and \(episodes.count - 1) more"
}

extension Database {
    func durability(of records: [TransferRecord]) throws -> CatalogStore.Durability {
        // In one transaction: each statement by itself would lock the database.
        var durability = CatalogStore.Durability.relaxed
        try inTransaction(.deferred) {
            if try records.contains(where: mustReachDisk) { durability = .durable }
            return .commit
        }
        return durability
    }

    private func mustReachDisk(_ record: TransferRecord) throws -> Bool {
        let sql = """
            SELECT etag IS NOT ? OR last_modified IS NOT ? OR validator_age IS NOT ? OR committed_length > ?
            FROM transfer WHERE episode_id = ? AND committed_length > 0
            """
        let arguments: StatementArguments = [record.committedLength, try id(of: record.episode)]
        return try value(sql, StatementArguments(record.validator) + arguments) ?? false
    }

    fileprivate func upsert(_ record: TransferRecord) throws {
        let sql = """
            INSERT INTO transfer (
                episode_id, etag, last_modified, validator_age, state, total, committed_length, boot_id,
                attempts, next_try_at, missing_since, missing_until, error
            ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (episode_id) DO UPDATE SET
                etag = excluded.etag, last_modified = excluded.last_modified, validator_age = excluded.validator_age,
                -- A transfer that was paused or cancelled meanwhile stays so; only resuming it changes that.
                state = CASE WHEN transfer.state IN ('paused', 'cancelled') THEN transfer.state ELSE excluded.state END,
                total = excluded.total, committed_length = excluded.committed_length,
                boot_id = excluded.boot_id, attempts = excluded.attempts, error = excluded.error, next_try_at = excluded.next_try_at, missing_since = excluded.missing_since,
                missing_until = excluded.missing_until
            """
        let id: StatementArguments = [try requiredID(of: record.episode)]
        let rest: StatementArguments = [
            record.state.rawValue, record.total, record.committedLength, record.bootID,
            record.attempts, stored(record.nextTryAt), stored(record.missingSince), stored(record.missingUntil),
            try jsonText(record.error),
        ]
        try run(sql, id + StatementArguments(record.validator) + rest)
    }
}
