import BookModel
import Foundation
import GRDB

// A file with other tags takes the place of an episode's in three steps: it is announced, it is moved, and it is recorded.
// Whoever is killed in between leaves an announcement, and the digest of what stands there tells how far it came.

extension CatalogStore {
    /// Records what is about to take the place of the episode's file: on disk when the call returns.
    package func announceRetagging(_ file: LocalFile) async throws {
        try await write("the tags of \(file.episode) cannot be recorded", .durable) { database in
            try database.cachedStatement(
                sql: """
                    INSERT OR REPLACE INTO retagging (episode_id, sha256, original_size, original_sha256, stream_sha256)
                    VALUES (?, ?, ?, ?, ?)
                    """
            ).execute(
                arguments: [
                    try database.requiredFile(of: file.episode), file.sha256, file.original?.size,
                    file.original?.sha256,
                    file.original?.streamSHA256,
                ])
        }
    }

    /// The books with files that were fetched since then and have no embedded tags.
    package func booksWithoutTags(fetchedSince time: Date) async throws -> Set<BookIdentity> {
        try await read("which files have tags cannot be read") { database in
            let rows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT DISTINCT b.source, b.key FROM local_file f JOIN episode e ON e.id = f.episode_id
                    JOIN book b ON b.id = e.book_id WHERE f.fetched_at >= ? AND f.original_size IS NULL
                    """,
                arguments: [stored(time)])
            return Set(try rows.decode { try BookIdentity(source: $0.next(), id: $0.next()) })
        }
    }

    /// What was announced and not recorded, as it would be at the paths of the episodes' files; size, time and inode are still those
    /// of the files before.
    package func announcedRetaggings() async throws -> [LocalFile] {
        try await read("which files get tags cannot be read") { database in
            let rows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT \(EpisodeIdentity.columns), \(LocalFile.columns), r.sha256, r.original_size, r.original_sha256,
                        r.stream_sha256
                    FROM retagging r JOIN local_file f ON f.episode_id = r.episode_id
                    JOIN episode e ON e.id = r.episode_id JOIN book b ON b.id = e.book_id ORDER BY r.episode_id
                    """)
            return try rows.decode { columns in
                let episode = try EpisodeIdentity(&columns)
                var file = try LocalFile(&columns, of: episode)
                file.sha256 = try columns.next()
                file.original = try LocalFile.Original(&columns)
                return file
            }
        }
    }

    /// Records that the file is in its place: on disk when the call returns.
    /// - Parameter isDone: else nothing took the place of what was there.
    package func endRetagging(_ file: LocalFile, isDone: Bool) async throws {
        try await write("the tags of \(file.episode) cannot be recorded", .durable) { database in
            let id = try database.requiredID(of: file.episode)
            if isDone { try database.upsert(file, of: id) }
            try database.run("DELETE FROM retagging WHERE episode_id = ?", [id])
        }
    }
}
