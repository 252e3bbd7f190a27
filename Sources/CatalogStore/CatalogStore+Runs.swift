import BookModel
import Foundation
import GRDB

// What runs leave behind for those that come after them: their records, what fails again and again, and which books are
// overdue.

extension CatalogStore {
    /// Runs that are kept; the oldest go first.
    private static let keptRuns = 1000

    /// Records that a run begins.
    /// - Parameter books: what it is about.
    /// - Returns: its number.
    package func beginRun(_ command: String, of books: [BookIdentity], at now: Date) async throws -> Int64 {
        try await write("the run cannot be recorded", .relaxed) { database in
            try database.run(
                "INSERT INTO run (command, started_at, books) VALUES (?, ?, ?)", [command, stored(now), books.count])
            let number = database.lastInsertedRowID
            try database.setBooks(books, ofRun: number)
            try database.run("DELETE FROM run WHERE id <= ?", [number.subtractingSaturated(Int64(Self.keptRuns))])
            return number
        }
    }

    /// Records how a run ended: everything in the record but its command and its start.
    package func endRun(_ record: RunRecord) async throws {
        try await write("the end of the run cannot be recorded", .relaxed) { database in
            try database.run(
                "UPDATE run SET ended_at = ?, exit_code = ?, books = ?, summary = ?, error = ? WHERE id = ?",
                [
                    stored(record.endedAt), record.exitCode, record.books, jsonText(record.summary),
                    jsonText(record.error), record.number,
                ])
            try database.setBooks(record.named.map(\.book), ofRun: record.number)
        }
    }

    /// When the last run began that began before then; nil where none did.
    package func lastRun(before time: Date) async throws -> Date? {
        let sql = "SELECT MAX(started_at) FROM run WHERE started_at < ?"
        return try await first("the runs cannot be read", sql, [stored(time)]) { try $0.nextTime() } ?? nil
    }

    /// The last runs, the newest first.
    package func runs(last count: Int) async throws -> [RunRecord] {
        try await read("the runs cannot be read") { database in
            let sql = """
                SELECT id, command, started_at, ended_at, exit_code, books, summary, error
                FROM run ORDER BY id DESC LIMIT ?
                """
            var runs = try database.rows(sql, [count]) { try RunRecord(&$0) }
            for index in runs.indices { runs[index].named = try database.books(ofRun: runs[index].number) }
            return runs
        }
    }

    // MARK: What fails run after run

    /// Everything that failed in the last run that had to do with it.
    package func outages() async throws -> [Outage] {
        let sql = "SELECT subject, since, runs, error, told FROM outage ORDER BY since, subject"
        return try await rows("the outages cannot be read", sql) { columns in
            try Outage(
                subject: columns.next(), since: columns.nextTime() ?? .distantPast, runs: columns.next(),
                error: columns.nextJSON() ?? "", isReported: columns.next())
        }
    }

    /// Records what fails, and that what these subjects name fails no longer. Nothing is written where there is nothing to
    /// note.
    package func record(_ outages: [Outage], ended subjects: [String]) async throws {
        guard !outages.isEmpty || !subjects.isEmpty else { return }
        try await write("the outages cannot be noted", .relaxed) { database in
            for subject in subjects {
                try database.run("DELETE FROM outage WHERE subject = ?", [subject])
            }
            for outage in outages {
                try database.insert(
                    into: "outage",
                    [
                        ("subject", outage.subject), ("since", stored(outage.since)), ("runs", outage.runs),
                        ("error", jsonText(outage.error)), ("told", outage.isReported),
                    ], key: ["subject"])
            }
        }
    }

    // MARK: What is overdue

    /// The times at which the newest listed episodes of a book were published, the newest first.
    package func publicationDates(of book: BookIdentity, last count: Int) async throws -> [Date] {
        let sql = """
            SELECT e.published_at FROM episode e JOIN book b ON b.id = e.book_id
            WHERE b.source = ? AND b.key = ? AND NOT e.gone AND e.published_at IS NOT NULL
            ORDER BY e.published_at DESC LIMIT ?
            """
        return try await rows("the episodes of \(book) cannot be read", sql, [book.source, book.id, count]) {
            try $0.nextTime()
        }.compactMap(\.self)
    }

    /// The books whose next episode is waited for.
    package func publicationWatches() async throws -> [PublicationWatch] {
        let sql = """
            SELECT b.source, b.key, COALESCE(b.title, ''), w.latest, w.usual_gap, w.told
            FROM publication_watch w CROSS JOIN book b ON b.id = w.book_id ORDER BY b.source, b.key
            """
        return try await rows("the books that are waited for cannot be read", sql) { columns in
            PublicationWatch(
                book: try BookIdentity(&columns), title: try columns.next(),
                latest: try columns.nextTime() ?? .distantPast,
                usualGap: Double(try columns.next(Int64.self)) / 1000, isReported: try columns.next())
        }
    }

    /// Records until when the next episodes of books are waited for. Books that the store does not know are left out.
    package func record(_ watches: [PublicationWatch]) async throws {
        guard !watches.isEmpty else { return }
        try await write("the books that are waited for cannot be noted", .relaxed) { database in
            for watch in watches {
                guard let id = try database.id(of: watch.book) else { continue }
                let gap = max(1, Int64(clamping: watch.usualGap * 1000))
                try database.insert(
                    into: "publication_watch",
                    [
                        ("book_id", id), ("latest", stored(watch.latest)), ("usual_gap", gap),
                        ("told", watch.isReported),
                    ], key: ["book_id"])
            }
        }
    }
}

extension Database {
    fileprivate func setBooks(_ books: [BookIdentity], ofRun number: Int64) throws {
        try run("DELETE FROM run_book WHERE run_id = ?", [number])
        for (position, book) in books.prefix(RunRecord.maxNamed).enumerated() {
            try run(
                "INSERT INTO run_book (run_id, position, source, key) VALUES (?, ?, ?, ?)",
                [number, position, book.source, book.id])
        }
    }

    fileprivate func books(ofRun number: Int64) throws -> [RunRecord.NamedBook] {
        let sql = """
            SELECT r.source, r.key, b.title FROM run_book r
            LEFT JOIN book b ON b.source = r.source AND b.key = r.key WHERE r.run_id = ? ORDER BY r.position
            """
        return try rows(sql, [number]) { RunRecord.NamedBook(try BookIdentity(&$0), title: try $0.next()) }
    }
}

extension RunRecord {
    fileprivate init(_ columns: inout ColumnReader) throws {
        self.init(
            number: try columns.next(), command: try columns.next(), startedAt: try columns.nextTime() ?? .distantPast,
            endedAt: try columns.nextTime(), exitCode: try columns.next(), books: try columns.next(),
            summary: try columns.nextJSON() ?? RunSummary(), error: try columns.nextJSON())
    }
}
