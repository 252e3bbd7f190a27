import BookModel
import Foundation
import GRDB

extension CatalogStore {
    /// What is remembered of the book's last plan; nil where that plan had anything to do, or the store changed since.
    package func cachedPlan(of book: BookIdentity) async throws -> CachedPlan? {
        let sql = """
            SELECT s.plan FROM cached_plan s JOIN book b ON b.id = s.book_id WHERE b.source = ? AND b.key = ?
            """
        return try await first("what was to be done about \(book) cannot be looked up", sql, [book.source, book.id]) {
            try $0.nextJSON()
        } ?? nil
    }

    /// Begins to watch for whatever changes the book's plan. To be called before the plan's input is read;
    /// ``saveCachedPlan(_:of:)`` then remembers nothing that changed since.
    package func watchPlan(of book: BookIdentity) async throws {
        let what: Message = "the plan of \(book) cannot be watched"
        let watched = """
            SELECT EXISTS (
                SELECT 1 FROM cached_plan s JOIN book b ON b.id = s.book_id WHERE b.source = ? AND b.key = ?)
            """
        guard try await value(what, watched, [book.source, book.id]) != true else { return }
        let sql = """
            INSERT INTO cached_plan (book_id)
            SELECT b.id FROM book b WHERE b.source = ? AND b.key = ? AND NOT EXISTS (
                SELECT 1 FROM episode e JOIN transfer t ON t.episode_id = e.id WHERE e.book_id = b.id)
            ON CONFLICT DO NOTHING
            """
        try await run(what, .relaxed, sql, [book.source, book.id])
    }

    /// Remembers that there is nothing to do, unless something changed since the book's plan is watched.
    package func saveCachedPlan(_ plan: CachedPlan, of book: BookIdentity) async throws {
        try await run(
            "the plan of \(book) cannot be remembered", .relaxed,
            "UPDATE cached_plan SET plan = ? WHERE book_id = (SELECT id FROM book WHERE source = ? AND key = ?)",
            [jsonText(plan), book.source, book.id])
    }
}
