import BookModel
import Foundation
import GRDB

// What is inside the audio files, by the digest of the file that was read: what is recorded of a file that was replaced
// meanwhile counts no more.

extension CatalogStore {
    /// The books with files that were fetched since then and have no embedded tags.
    package func booksWithoutTags(fetchedSince time: Date) async throws -> Set<BookIdentity> {
        let sql = """
            SELECT DISTINCT b.source, b.key FROM local_file f JOIN episode e ON e.id = f.episode_id
            JOIN book b ON b.id = e.book_id WHERE f.fetched_at >= ? AND f.original_size IS NULL
            """
        return Set(try await rows("which files have tags cannot be read", sql, [stored(time)], BookIdentity.init))
    }

    /// What the episode's file says of itself.
    /// - Returns: nil where it was not read, or cannot be read as audio.
    package func media(of episode: EpisodeIdentity) async throws -> MediaInfo? {
        try await read("what is known of the audio of \(episode) cannot be read") { database in
            let sql = """
                SELECT m.info FROM media m JOIN local_file f ON f.episode_id = m.episode_id AND f.sha256 = m.sha256
                WHERE m.episode_id = ?
                """
            return try database.first(sql, [database.id(of: episode)]) { try $0.nextJSON() } ?? nil
        }
    }

    /// Records what a file says of itself, or why it cannot be read as audio; nil where what the catalog says of it is enough.
    package func record(_ media: Result<MediaInfo, Failure>?, of file: LocalFile) async throws {
        try await write("the audio of \(file.episode) cannot be recorded", .relaxed) { database in
            // Why it failed goes into a column of its own.
            let info = try? media?.get()
            var error: String?
            if case .failure(let failure) = media { error = failure.why.description }
            let duration = info.flatMap { $0.isDurationEstimated ? nil : $0.duration }
            let id = try database.requiredID(of: file.episode)
            try database.insert(
                into: "media",
                [
                    ("episode_id", id), ("sha256", file.sha256), ("duration", duration),
                    ("chapters", info?.chapters.count ?? 0), ("info", jsonText(info)), ("error", error),
                ], key: ["episode_id"])
        }
    }

    /// Files of the last thirty days that were not read yet, so many at most: those that were fetched last come first. Older ones
    /// are left to who verifies the library.
    package func unreadFiles(limit: Int = 2000) async throws -> [LocalFile] {
        let sql = """
            SELECT \(EpisodeIdentity.columns), \(LocalFile.columns)
            FROM local_file f JOIN episode e ON e.id = f.episode_id JOIN book b ON b.id = e.book_id
            WHERE f.fetched_at > ? AND NOT EXISTS (
                SELECT 1 FROM media m WHERE m.episode_id = f.episode_id AND m.sha256 = f.sha256)
            ORDER BY f.fetched_at DESC LIMIT ?
            """
        let since = stored(Date(timeIntervalSinceNow: -30 * 86400))
        return try await rows("what is known of the audio files cannot be read", sql, [since, limit]) { columns in
            let episode = try EpisodeIdentity(&columns)
            return try LocalFile(&columns, of: episode)
        }
    }

    /// Those of the files of which nothing is known that they say of themselves.
    package func filesWithoutMedia(_ files: [LocalFile]) async throws -> [LocalFile] {
        try await read("what is known of the audio files cannot be read") { database in
            let sql = "SELECT 1 FROM media WHERE episode_id = ? AND sha256 = ? AND info IS NOT NULL"
            return try files.filter { try database.value(sql, [database.id(of: $0.episode), $0.sha256]) != 1 }
        }
    }
}
