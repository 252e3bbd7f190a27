import BookModel
import Foundation
import GRDB

/// What the episodes and files of one book add up to.
private struct ShelfCounts {
    var episodes = 0
    var missing = 0
    var locked = 0
    var present = 0
    var bytes: Int64 = 0
    /// The first and the last of its folders in the order of their names: mostly they are one.
    var firstFolder: String?
    var lastFolder: String?

    // Reads the index alone where it can, one book after the other, and sorts nothing.
    static func query(_ condition: String) -> String {
        """
        SELECT e.book_id,
            SUM(e.gone = 0 OR f.size IS NOT NULL),
            SUM(e.gone = 0 AND e.removed_at IS NULL AND f.size IS NULL AND e.locked = 0),
            SUM(e.gone = 0 AND e.removed_at IS NULL AND f.size IS NULL AND e.locked = 1),
            COUNT(f.size), COALESCE(SUM(f.size), 0), MIN(f.folder), MAX(f.folder)
        FROM episode e INDEXED BY episode_in_order LEFT JOIN local_file f ON f.episode_id = e.id
        \(condition) GROUP BY e.book_id
        """
    }

    init() {}

    init(_ columns: inout ColumnReader) throws {
        episodes = try columns.next()
        missing = try columns.next()
        locked = try columns.next()
        present = try columns.next()
        bytes = try columns.next()
        firstFolder = try columns.next()
        lastFolder = try columns.next()
    }
}

extension Database {
    /// - Parameter only: the row of the one book meant; nil for all, ordered by identity.
    func shelvedBooks(only id: Int64?) throws -> [ShelvedBook] {
        let counts = try shelfCounts(only: id)
        let condition = id == nil ? "" : "WHERE b.id = ?"
        let statement = try cachedStatement(
            sql: "SELECT b.id, b.updated_at, \(Book.columns) FROM book b \(condition) ORDER BY b.source, b.key")
        let rows = try Row.fetchCursor(statement, arguments: id.map { [$0] } ?? [])
        var shelf: [ShelvedBook] = []
        while let row = try rows.next() {
            var columns = ColumnReader(row)
            let id: Int64 = try columns.next()
            let updatedAt = Date(timeIntervalSince1970: Double(try columns.next(Int64.self)) / 1000)
            let book = try Book(&columns)
            let counts = counts[id] ?? ShelfCounts()
            shelf.append(
                ShelvedBook(
                    book: book, episodes: counts.episodes, missing: counts.missing, locked: counts.locked,
                    present: counts.present, bytes: counts.bytes, path: try folder(of: id, counts),
                    updatedAt: updatedAt))
        }
        return shelf
    }

    private func shelfCounts(only id: Int64?) throws -> [Int64: ShelfCounts] {
        let statement = try cachedStatement(sql: ShelfCounts.query(id == nil ? "" : "WHERE e.book_id = ?"))
        let rows = try Row.fetchCursor(statement, arguments: id.map { [$0] } ?? [])
        var counts: [Int64: ShelfCounts] = [:]
        while let row = try rows.next() {
            var columns = ColumnReader(row)
            counts[try columns.next()] = try ShelfCounts(&columns)
        }
        return counts
    }

    /// The folder that most of a book's files are in; `.` for the library itself.
    private func folder(of book: Int64, _ counts: ShelfCounts) throws -> String? {
        var folder = counts.firstFolder
        if counts.firstFolder != counts.lastFolder {
            let sql = """
                SELECT f.folder FROM episode e JOIN local_file f ON f.episode_id = e.id
                WHERE e.book_id = ? GROUP BY f.folder ORDER BY COUNT(*) DESC, f.folder LIMIT 1
                """
            folder = try String.fetchOne(cachedStatement(sql: sql), arguments: [book])
        }
        return folder == "" ? "." : folder
    }
}
