import BookModel
import Foundation
import GRDB

extension CatalogStore {
    /// Records that episodes were removed: on disk when the call returns. Those that were removed before stay so since then,
    /// and by what they were.
    /// - Returns: how many were not removed before.
    @discardableResult
    package func remove(
        _ episodes: [EpisodeIdentity], at now: Date, by cause: RemovalCause = .user
    ) async throws -> Int {
        try await change(
            episodes, "the removal of \(naming(episodes)) cannot be recorded",
            "UPDATE episode SET removed_at = ?, removed_by = ? WHERE id = ? AND removed_at IS NULL",
            [stored(now), cause == .user ? nil : cause.rawValue])
    }

    /// Forgets that episodes were removed.
    /// - Returns: how many were removed.
    @discardableResult
    package func forgetRemovals(of episodes: [EpisodeIdentity]) async throws -> Int {
        try await change(
            episodes, "the removal of \(naming(episodes)) cannot be forgotten",
            "UPDATE episode SET removed_at = NULL, removed_by = NULL WHERE id = ? AND removed_at IS NOT NULL")
    }

    /// Forgets all that one command removed.
    package func forgetRemovals(at time: Date) async throws {
        try await run(
            "the removal cannot be forgotten", .durable,
            "UPDATE episode SET removed_at = NULL, removed_by = NULL WHERE removed_at = ?", [stored(time)])
    }

    /// The removed episodes whose files are not in the trash yet, those that were removed first first.
    package func removedWithFiles() async throws -> [EpisodeRecord] {
        try await read("the removed files cannot be looked up") { database in
            try database.shelvedEpisodes(
                """
                SELECT b.source, b.key, \(EpisodeRecord.columns) FROM \(EpisodeRecord.tables)
                    JOIN book b ON b.id = e.book_id
                WHERE e.removed_at IS NOT NULL AND f.path IS NOT NULL ORDER BY e.removed_at, e.id
                """, [])
        }
    }
}
