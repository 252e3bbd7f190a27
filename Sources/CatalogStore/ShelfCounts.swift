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
    /// The folder that most of its files are in; "" for the library itself, nil where there are none.
    var folder: String?

    static let columns = "episodes, missing, locked, present, bytes, folder"

    // Reads the index alone where it can, one book after the other, and sorts nothing.
    static func query(_ condition: String) -> String {
        """
        SELECT e.book_id,
            SUM(e.gone = 0 OR f.size IS NOT NULL),
            SUM(e.gone = 0 AND e.removed_at IS NULL AND f.size IS NULL AND e.locked = 0),
            SUM(e.gone = 0 AND e.removed_at IS NULL AND f.size IS NULL AND e.locked = 1),
            COUNT(f.size), CAST(TOTAL(f.size) AS INTEGER), MIN(f.folder), MAX(f.folder)
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
        folder = try columns.next()
    }

    func summary(of book: Book, updatedAt: Date) -> BookSummary {
        BookSummary(
            book: book, episodes: episodes, missing: missing, locked: locked, present: present, bytes: bytes,
            path: folder == "" ? "." : folder, updatedAt: updatedAt)
    }
}

extension CatalogStore {
    /// Records the counts of the books of which something changed, so that the next list of books finds them. The list is
    /// right without it.
    package func updateShelfCounts() async throws {
        let what: Message = "the counts of the shelf cannot be noted"
        guard try await read(what, { try !$0.uncountedBooks().isEmpty }) else { return }
        try await write(what, .relaxed) { database in
            let sql = """
                INSERT INTO shelf_count (book_id, \(ShelfCounts.columns)) VALUES (?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT DO NOTHING
                """
            let uncounted = try database.uncountedBooks()
            let counts = try database.counted(uncounted)
            for id in uncounted {
                let count = counts[id] ?? ShelfCounts()
                try database.run(
                    sql,
                    [id, count.episodes, count.missing, count.locked, count.present, count.bytes, count.folder])
            }
        }
    }
}

extension Database {
    /// Books ordered by identity, with what is noted of them, and counted anew where nothing is.
    /// - Parameter condition: which of the books `b` are meant, by the counts `c` as well, which are null where nothing is
    ///   noted; "" for all.
    func shelvedBooks(where condition: String = "", _ arguments: StatementArguments = []) throws -> [BookSummary] {
        let statement = try cachedStatement(
            sql: """
                SELECT b.id, b.updated_at, \(Book.columns), \(ShelfCounts.columns)
                FROM book b LEFT JOIN shelf_count c ON c.book_id = b.id
                \(condition.isEmpty ? "" : "WHERE \(condition)") ORDER BY b.source, b.key
                """)
        let rows = try Row.fetchCursor(statement, arguments: arguments)
        var shelf: [BookSummary] = []
        // By their rows, where they are in the list.
        var uncounted: [Int64: Int] = [:]
        while let row = try rows.next() {
            var columns = ColumnReader(row)
            let id: Int64 = try columns.next()
            let updatedAt = try columns.nextTime() ?? .distantPast
            var book = try Book(&columns)
            // One text for all books of a source, which come one after the other.
            if let source = shelf.last?.book.identity.source, source == book.identity.source {
                book.identity = BookIdentity(source: source, id: book.identity.id)
            }
            if columns.isNull { uncounted[id] = shelf.count }
            let counts = columns.isNull ? ShelfCounts() : try ShelfCounts(&columns)
            shelf.append(counts.summary(of: book, updatedAt: updatedAt))
        }
        for (id, counts) in try counted(Array(uncounted.keys)) {
            guard let index = uncounted[id] else { continue }
            shelf[index] = counts.summary(of: shelf[index].book, updatedAt: shelf[index].updatedAt)
        }
        return shelf
    }

    func shelfSum() throws -> ShelfSum {
        let sql = """
            SELECT (SELECT COUNT(*) FROM book), COALESCE(SUM(present), 0), CAST(TOTAL(bytes) AS INTEGER) FROM shelf_count
            """
        var sum =
            try first(sql) { columns in
                ShelfSum(books: try columns.next(), episodes: try columns.next(), bytes: try columns.next())
            } ?? ShelfSum()
        let uncounted = try uncountedBooks()
        let isUncounted = Set(uncounted)
        for (book, counts) in try counted(uncounted) where isUncounted.contains(book) {
            sum.episodes.addSaturated(counts.present)
            sum.bytes.addSaturated(counts.bytes)
        }
        return sum
    }

    fileprivate func uncountedBooks() throws -> [Int64] {
        let sql = "SELECT b.id FROM book b WHERE NOT EXISTS (SELECT 1 FROM shelf_count c WHERE c.book_id = b.id)"
        return try rows(sql) { try $0.next() }
    }

    /// Beyond so many books the whole shelf is read in one go.
    private static let countedOneByOne = 100

    fileprivate func counted(_ books: [Int64]) throws -> [Int64: ShelfCounts] {
        guard books.count <= Self.countedOneByOne else { return try counted(only: nil) }
        return try books.reduce(into: [:]) { counts, id in counts.merge(try counted(only: id)) { $1 } }
    }

    private func counted(only id: Int64?) throws -> [Int64: ShelfCounts] {
        let statement = try cachedStatement(sql: ShelfCounts.query(id == nil ? "" : "WHERE e.book_id = ?"))
        let rows = try Row.fetchCursor(statement, arguments: id.map { [$0] } ?? [])
        var counts: [Int64: ShelfCounts] = [:]
        var scattered: [Int64] = []
        while let row = try rows.next() {
            var columns = ColumnReader(row)
            let book: Int64 = try columns.next()
            // The first one in the order of their names; mostly all files are in it.
            counts[book] = try ShelfCounts(&columns)
            if try columns.next(String?.self) != counts[book]?.folder { scattered.append(book) }
        }
        for book in scattered { counts[book]?.folder = try mostUsedFolder(of: book) }
        return counts
    }

    private func mostUsedFolder(of book: Int64) throws -> String? {
        let sql = """
            SELECT f.folder FROM episode e JOIN local_file f ON f.episode_id = e.id
            WHERE e.book_id = ? GROUP BY f.folder ORDER BY COUNT(*) DESC, f.folder LIMIT 1
            """
        return try value(sql, [book])
    }
}
