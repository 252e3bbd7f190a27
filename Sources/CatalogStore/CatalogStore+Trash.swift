import BookModel
import Foundation
import GRDB

// A removed episode's file goes to the trash in three steps: its record is copied, the file is moved, and the record
// that it had is dropped. Whoever is killed in between finds by the copy what is left to do.

extension CatalogStore {
    private static let columns = """
        path, size, sha256, mtime, inode, etag, last_modified, validator_age, catalog_size, catalog_modified_at,
        fetched_at, verification, is_named_by_user, fetched_from, original_size, original_sha256, stream_sha256
        """

    /// Records that episodes were removed: on disk when the call returns. Those that were removed before stay so since then,
    /// and by what they were.
    /// - Returns: how many were not removed before.
    @discardableResult
    package func remove(
        _ episodes: [EpisodeIdentity], at now: Date, by cause: RemovalCause = .user
    ) async throws -> Int {
        try await setRemovals("the removal of \(naming(episodes)) cannot be recorded", episodes) { database, id in
            try database.run(
                "UPDATE episode SET removed_at = ?, removed_by = ? WHERE id = ? AND removed_at IS NULL",
                [stored(now), cause == .user ? nil : cause.rawValue, id])
        }
    }

    /// Forgets that episodes were removed.
    /// - Returns: how many were removed.
    @discardableResult
    package func forgetRemovals(of episodes: [EpisodeIdentity]) async throws -> Int {
        try await setRemovals("the removal of \(naming(episodes)) cannot be forgotten", episodes) { database, id in
            try database.run(
                "UPDATE episode SET removed_at = NULL, removed_by = NULL WHERE id = ? AND removed_at IS NOT NULL", [id])
        }
    }

    /// Forgets all that one command removed.
    package func forgetRemovals(at time: Date) async throws {
        try await write("the removal cannot be forgotten", .durable) { database in
            try database.run(
                "UPDATE episode SET removed_at = NULL, removed_by = NULL WHERE removed_at = ?", [stored(time)])
        }
    }

    private func setRemovals(
        _ what: Message, _ episodes: [EpisodeIdentity], _ set: @escaping @Sendable (Database, Int64) throws -> Void
    ) async throws -> Int {
        guard !episodes.isEmpty else { return 0 }
        return try await write(what, .durable) { database in
            var count = 0
            for episode in episodes {
                try set(database, try database.requiredID(of: episode))
                count += database.changesCount
            }
            return count
        }
    }

    /// The files of removed episodes, which are to be moved to the trash now: on disk when the call returns. Those whose
    /// renaming was cut off come later, when it is settled.
    package func intendTrashing() async throws -> [TrashedFile] {
        let what: Message = "the removed files cannot be recorded"
        let pending = """
            SELECT e.id FROM episode e JOIN local_file f ON f.episode_id = e.id
            WHERE e.removed_at IS NOT NULL AND f.pending_path IS NULL
                AND NOT EXISTS (SELECT 1 FROM trashed_file t WHERE t.episode_id = e.id AND t.moved_at IS NULL)
            """
        if try await read(what, { try Int64.fetchOne($0, sql: pending) }) != nil {
            try await write(what, .durable) { database in
                try database.execute(
                    sql: """
                        INSERT INTO trashed_file (episode_id, removed_at, \(Self.columns))
                        SELECT episode_id, (SELECT removed_at FROM episode WHERE id = episode_id), \(Self.columns)
                        FROM local_file WHERE episode_id IN (\(pending))
                        """)
            }
        }
        return try await trashedFiles(moved: false)
    }

    /// Records that the file of an episode is about to be replaced, and is in the trash from then on: on disk when the call
    /// returns. On the thread that calls, which it blocks: none of the cooperative pool.
    /// - Throws: ``Failure`` when the episode has another file.
    package func commit(replacedFileOf episode: EpisodeIdentity, at path: String, _ now: Date) throws {
        let what: Message = "\(path), which is to be replaced, cannot be kept"
        func insert(_ database: Database) throws {
            let sql = """
                INSERT INTO trashed_file (episode_id, removed_at, moved_at, \(Self.columns))
                SELECT episode_id, ?, ?, \(Self.columns) FROM local_file WHERE episode_id = ? AND path = ?
                """
            try database.cachedStatement(sql: sql).execute(
                arguments: [stored(now), stored(now), try database.requiredID(of: episode), path])
            guard database.changesCount > 0 else {
                throw Failure(
                    .temporary, what: what, why: "it is not the file that is recorded of \(episode)",
                    remedy: "move it away and run again; nothing is fetched twice")
            }
        }
        try writeBlocking(what, deciding: { _ in .durable }, insert)
    }

    /// Records that a file which is to be moved to the trash has another path by now, which the user gave it: on disk
    /// when the call returns.
    package func follow(_ trashed: TrashedFile, to path: String) async throws {
        try await write("where \(trashed.file.path) is now cannot be recorded", .durable) { database in
            try database.run(
                """
                UPDATE local_file SET path = ?, is_named_by_user = 1 WHERE path = ?
                    AND episode_id = (SELECT episode_id FROM trashed_file WHERE id = ?)
                """, [path, trashed.file.path, trashed.number])
            try database.run(
                "UPDATE trashed_file SET path = ?, is_named_by_user = 1 WHERE id = ?", [path, trashed.number])
        }
    }

    /// Records that files are in the trash; the episodes have none any more.
    package func completeTrashing(_ files: [TrashedFile], at now: Date) async throws {
        try await endTrashing(files) { database, id in
            try database.run("UPDATE trashed_file SET moved_at = ? WHERE id = ?", [stored(now), id])
        }
    }

    /// Forgets files that were to be moved to the trash and are not there, or are no longer the episodes'.
    package func forgetTrashing(_ files: [TrashedFile]) async throws {
        try await endTrashing(files) { database, id in
            try database.run("DELETE FROM trashed_file WHERE id = ?", [id])
        }
    }

    private func endTrashing(
        _ files: [TrashedFile], _ end: @escaping @Sendable (Database, Int64) throws -> Void
    ) async throws {
        guard !files.isEmpty else { return }
        try await write("the removed files cannot be recorded", .durable) { database in
            for trashed in files {
                // Not the record of what was fetched anew meanwhile.
                try database.run(
                    """
                    DELETE FROM local_file WHERE (episode_id, path, fetched_at) = (
                        SELECT t.episode_id, t.path, t.fetched_at FROM trashed_file t WHERE t.id = ?)
                    """, [trashed.number])
                try end(database, trashed.number)
            }
        }
    }

    /// What is in the trash, what was removed last first; within that by book and section.
    /// - Parameter book: nil for all.
    package func trashedFiles(of book: BookIdentity? = nil) async throws -> [TrashedFile] {
        try await trashedFiles(moved: true, of: book)
    }

    private func trashedFiles(moved: Bool, of book: BookIdentity? = nil) async throws -> [TrashedFile] {
        try await read("the trash cannot be read") { database in
            let sql = """
                SELECT f.id, e.section, e.name, COALESCE(b.title, ''), f.removed_at, f.moved_at,
                    e.removed_at IS NOT NULL, \(EpisodeIdentity.columns), \(LocalFile.columns)
                FROM trashed_file f JOIN episode e ON e.id = f.episode_id JOIN book b ON b.id = e.book_id
                WHERE f.moved_at IS \(moved ? "NOT NULL" : "NULL") \(book == nil ? "" : "AND b.source = ? AND b.key = ?")
                ORDER BY f.removed_at DESC, b.source, b.key, e.section, e.position, f.id
                """
            let rows = try Row.fetchCursor(
                database.cachedStatement(sql: sql), arguments: book.map { [$0.source, $0.id] } ?? [])
            return try rows.decode { columns in
                let (number, section): (Int64, Int) = (try columns.next(), try columns.next())
                let (name, title): (String, String) = (try columns.next(), try columns.next())
                let removedAt = try columns.nextTime() ?? .distantPast
                let (movedAt, isRemoved): (Date?, Bool) = (try columns.nextTime(), try columns.next())
                let episode = try EpisodeIdentity(&columns)
                return TrashedFile(
                    number: number, section: section, name: name, title: title,
                    file: try LocalFile(&columns, of: episode), removedAt: removedAt, movedAt: movedAt,
                    isRemoved: isRemoved)
            }
        }
    }

    /// Records that a file is back in its place and its episode no longer removed: on disk when the call returns.
    /// - Throws: ``Failure`` when another file has its path by now.
    package func restore(_ trashed: TrashedFile) async throws {
        let episode = trashed.file.episode
        try await write("the file of \(episode) cannot be recorded", .durable) { database in
            let id = try database.requiredID(of: episode)
            try database.upsert(trashed.file, of: id)
            try database.run("UPDATE episode SET removed_at = NULL, removed_by = NULL WHERE id = ?", [id])
            // What was broken off when it was removed.
            try database.run("DELETE FROM transfer WHERE episode_id = ? AND state = 'cancelled'", [id])
            try database.run("DELETE FROM trashed_file WHERE id = ?", [trashed.number])
        }
    }

    /// Forgets files that are no longer in the trash, or never came there and are the episodes' still.
    package func forgetTrashed(_ files: [TrashedFile]) async throws {
        guard !files.isEmpty else { return }
        try await write("the trash cannot be emptied", .durable) { database in
            for trashed in files {
                try database.run("DELETE FROM trashed_file WHERE id = ?", [trashed.number])
            }
        }
    }
}
