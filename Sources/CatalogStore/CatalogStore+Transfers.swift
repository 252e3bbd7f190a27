import BookModel
import GRDB

// The transfer journal. It is kept so that after a power cut it never promises more than the partial files hold.

extension CatalogStore {
    /// Writes the journal of transfers that are not finished, in one transaction.
    ///
    /// When a record promises less than the stored one (another validator, fewer bytes), or announces a publication,
    /// it has reached the disk when the call returns: an older record that came back after a power cut would vouch for
    /// bytes of another version. A record of no bytes vouches for nothing, so beginning a transfer costs no sync.
    /// Mere progress may be lost to a power cut, which costs some bytes to fetch again.
    /// - Throws: ``Failure`` of kind `defect` for a record in state `finished` (``finish(_:)`` is for those), one that is
    ///   `verifying` without digest and path, or one with more bytes than its total.
    package func save(_ records: [TransferRecord]) async throws {
        guard !records.isEmpty else { return }
        try await write(
            unrecorded(records), deciding: { try $0.durability(of: records) },
            { database in
                for record in records { try database.upsert(record) }
            })
    }

    /// As ``save(_:)``, on the thread that calls, which it blocks: none of the cooperative pool.
    package func commit(_ records: [TransferRecord]) throws {
        guard !records.isEmpty else { return }
        try writeBlocking(
            unrecorded(records), deciding: { try $0.durability(of: records) },
            { database in
                for record in records { try database.upsert(record) }
            })
    }

    /// Marks transfers that wait as being fetched, on the thread that calls. Others stay as they are.
    package func commit(begun episodes: [EpisodeIdentity]) throws {
        try writeBlocking(
            "the state of \(naming(episodes)) cannot be recorded", deciding: { _ in .relaxed },
            { database in
                let statement = try database.cachedStatement(
                    sql: "UPDATE transfer SET state = 'downloading' WHERE episode_id = ? AND state = 'waiting'")
                for episode in episodes { try statement.execute(arguments: [try database.id(of: episode)]) }
            })
    }

    /// The transfers whose file was about to be published when a run ended: each was renamed, or still is to be.
    package func interruptedPublications() async throws -> [TransferRecord] {
        try await read("the interrupted transfers cannot be looked up") { database in
            let sql = """
                SELECT \(EpisodeIdentity.columns), \(TransferRecord.columns)
                FROM transfer t JOIN episode e ON e.id = t.episode_id JOIN book b ON b.id = e.book_id
                WHERE t.state <> 'waiting' AND t.state = 'verifying' ORDER BY t.episode_id
                """
            let rows = try Row.fetchCursor(database.cachedStatement(sql: sql))
            return try rows.decode { columns in
                let episode = try EpisodeIdentity(&columns)
                return try TransferRecord(&columns, of: episode)
            }
        }
    }

    /// Has transfers wait that a run left as being fetched when it was killed. For the one run that has the lock, before it begins
    /// any: what is being fetched from then on is its own.
    package func resetInterruptedTransfers() async throws {
        try await write("the interrupted transfers cannot be reset", .relaxed) { database in
            try database.execute(
                sql: "UPDATE transfer SET state = 'waiting' WHERE state <> 'waiting' AND state = 'downloading'")
        }
    }

    /// Records published files, and with that their transfers as finished: all or none, and on disk when the call
    /// returns. A file that the episode had before is replaced.
    /// - Throws: ``Failure`` when a path already belongs to another episode.
    package func finish(_ files: [LocalFile]) async throws {
        guard !files.isEmpty else { return }
        try await write(unfinished(files), .durable) { try $0.finish(files) }
    }

    /// As ``finish(_:)``, on the thread that calls, which it blocks: none of the cooperative pool.
    package func commit(finished files: [LocalFile]) throws {
        guard !files.isEmpty else { return }
        try writeBlocking(unfinished(files), deciding: { _ in .durable }, { try $0.finish(files) })
    }
}

private func unrecorded(_ records: [TransferRecord]) -> Message {
    "the state of \(naming(records.map(\.episode))) cannot be recorded"
}

private func unfinished(_ files: [LocalFile]) -> Message {
    "\(naming(files.map(\.episode))) cannot be recorded as finished"
}

/// The first of some episodes by name, and how many there are besides.
func naming(_ episodes: [EpisodeIdentity]) -> Message {
    guard let first = episodes.first else { return "nothing" }
    return episodes.count == 1 ? "\(first)" : "\(first) and \(episodes.count - 1) more"
}

extension Database {
    fileprivate func finish(_ files: [LocalFile]) throws {
        for file in files {
            let id = try requiredID(of: file.episode)
            try upsert(file, of: id)
            try endReplacing(id, at: file.fetchedAt)
            try run("DELETE FROM transfer WHERE episode_id = ?", [id])
        }
    }

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
        if record.state == .verifying { return true }
        let sql = """
            SELECT etag IS NOT ? OR last_modified IS NOT ? OR validator_age IS NOT ? OR committed_length > ?
            FROM transfer WHERE episode_id = ? AND committed_length > 0
            """
        let arguments: StatementArguments = [record.committedLength, try id(of: record.episode)]
        return try Bool.fetchOne(
            cachedStatement(sql: sql), arguments: StatementArguments(record.validator) + arguments) ?? false
    }

    fileprivate func upsert(_ record: TransferRecord) throws {
        let sql = """
            INSERT INTO transfer (
                episode_id, etag, last_modified, validator_age, state, total, committed_length, boot_id, sha256, path,
                attempts, next_try_at, missing_since, missing_until, error, error_message
            ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (episode_id) DO UPDATE SET
                etag = excluded.etag, last_modified = excluded.last_modified, validator_age = excluded.validator_age,
                -- A transfer that was paused or cancelled meanwhile stays so; only resuming it changes that. A file
                -- that is being published already is past being paused.
                state = CASE
                    WHEN transfer.state IN ('paused', 'cancelled')
                        AND excluded.state IN ('waiting', 'downloading', 'failed')
                    THEN transfer.state ELSE excluded.state END,
                total = excluded.total, committed_length = excluded.committed_length,
                boot_id = excluded.boot_id, sha256 = excluded.sha256, path = excluded.path,
                attempts = excluded.attempts, error = excluded.error, error_message = excluded.error_message,
                next_try_at = excluded.next_try_at, missing_since = excluded.missing_since,
                missing_until = excluded.missing_until
            """
        let id: StatementArguments = [try requiredID(of: record.episode)]
        let rest: StatementArguments = [
            record.state.rawValue, record.total, record.committedLength, record.bootID, record.sha256, record.path,
            record.attempts, stored(record.nextTryAt), stored(record.missingSince), stored(record.missingUntil),
        ]
        try cachedStatement(sql: sql).execute(
            arguments: id + StatementArguments(record.validator) + rest + stored(record.error))
    }
}
