import BookModel
import Foundation
import GRDB

extension CatalogStore {
    /// The bookmarks of a user in a book, in the order of the book.
    package func bookmarks(of book: BookIdentity, for user: User.ID) async throws -> [Bookmark] {
        let sql = """
            SELECT m.id, \(EpisodeIdentity.columns), m.seconds, m.note, m.created_at
            FROM bookmark m JOIN episode e ON e.id = m.episode_id JOIN book b ON b.id = e.book_id
            WHERE b.source = ? AND b.key = ? AND m.user_id = ?
            ORDER BY e.section, e.position, m.seconds, m.id
            """
        return try await rows("the bookmarks in \(book) cannot be read", sql, [book.source, book.id, user]) { columns in
            try Bookmark(
                id: columns.next(), episode: EpisodeIdentity(&columns), seconds: columns.nextSeconds(),
                note: columns.next(), createdAt: columns.nextTime() ?? .distantPast)
        }
    }

    /// Adds a bookmark.
    /// - Parameter bookmark: its ``Bookmark/id`` does not count.
    /// - Returns: its number; nil where the user has ``Bookmark/maxCount`` in the book.
    /// - Throws: ``Failure`` of kind `defect` when the store does not know the episode.
    package func add(_ bookmark: Bookmark, for user: User.ID) async throws -> Int64? {
        try await write("the bookmark cannot be kept", .durable) { database in
            let id = try database.requiredID(of: bookmark.episode)
            let count = """
                SELECT COUNT(*) FROM bookmark m JOIN episode e ON e.id = m.episode_id
                WHERE m.user_id = ? AND e.book_id = (SELECT book_id FROM episode WHERE id = ?)
                """
            guard try database.value(count, [user, id]) ?? 0 < Bookmark.maxCount else { return nil }
            try database.run(
                "INSERT INTO bookmark (user_id, episode_id, seconds, note, created_at) VALUES (?, ?, ?, ?, ?)",
                [user, id, bookmark.seconds, bookmark.note, stored(bookmark.createdAt)])
            return database.lastInsertedRowID
        }
    }

    /// Takes a bookmark of a user away.
    /// - Returns: whether there was one of that number.
    package func removeBookmark(_ id: Int64, of user: User.ID) async throws -> Bool {
        try await write("the bookmark cannot be removed", .durable) { database in
            try database.run("DELETE FROM bookmark WHERE id = ? AND user_id = ?", [id, user])
            return database.changesCount > 0
        }
    }
}
