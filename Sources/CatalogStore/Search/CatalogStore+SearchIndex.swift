import BookModel
import GRDB

extension CatalogStore {
    /// Names that go into the index in one transaction, for some tenths of a second in which nobody else writes.
    private static let indexedAtOnce = 20_000

    /// Takes into the index of names what it lacks. Search is right without it, and slower the more there is to do.
    ///
    /// Stops between two transactions when the task is cancelled; what is done stays done.
    package func updateSearchIndex() async throws {
        let what: Message = "the index of names cannot be brought up to date"
        while try await read(what, { try $0.lacksIndexedNames() }), !Task.isCancelled {
            try await write(what, .relaxed) { try $0.indexNames(atMost: Self.indexedAtOnce) }
        }
    }

    /// How many names search has to read because the index lacks them.
    package func unindexedNames() async throws -> Int {
        let sql = """
            SELECT (SELECT COUNT(*) FROM unindexed_name)
                + (SELECT COUNT(*) FROM episode WHERE id > (SELECT indexed_to FROM name_index_state))
            """
        return try await value("the index of names cannot be looked at", sql) ?? 0
    }
}

extension Database {
    func lacksIndexedNames() throws -> Bool {
        let sql = """
            SELECT EXISTS (SELECT 1 FROM unindexed_name)
                OR EXISTS (SELECT 1 FROM episode WHERE id > (SELECT indexed_to FROM name_index_state))
            """
        return try value(sql) ?? false
    }

    /// In rising order of the rows, which is how FTS5 takes them best. A row that was there before gets what it is
    /// called now beside what it was called.
    fileprivate func indexNames(atMost limit: Int) throws {
        let ofBooks = "INSERT INTO title_index (rowid, tokens) VALUES (?, ?)"
        let ofEpisodes = "INSERT INTO name_index (rowid, tokens) VALUES (?, ?)"
        var count = 0
        func index(_ id: Int64, _ texts: [SearchText], _ insertion: String) throws -> Int64 {
            let tokens = texts.map(\.indexed).joined()
            if !tokens.isEmpty { try run(insertion, [id, tokens]) }
            count += 1
            return id
        }

        let books = """
            SELECT b.id, \(SearchedBook.columns) FROM unindexed_name u JOIN book b ON b.id = -u.id
            WHERE u.id < 0 ORDER BY u.id DESC
            """
        _ = try rows(books) { try index(try $0.next(), try SearchedBook(&$0).texts, ofBooks) }
        try run("DELETE FROM unindexed_name WHERE id < 0")

        /// - Returns: the last of them.
        func indexEpisodes(_ source: String) throws -> Int64? {
            let sql = "SELECT e.id, e.name FROM \(source) ORDER BY e.id LIMIT ?"
            return try rows(sql, [max(0, limit - count)]) { columns in
                try index(try columns.next(), [SearchText(try columns.next())], ofEpisodes)
            }.last
        }

        let renamed = try indexEpisodes("unindexed_name u CROSS JOIN episode e ON e.id = u.id")
        // Rows that went meanwhile have no name any more.
        try run("DELETE FROM unindexed_name WHERE id <= ?", [count < limit ? Int64.max : renamed ?? 0])
        let added = try indexEpisodes("episode e WHERE e.id > (SELECT indexed_to FROM name_index_state)")
        if let added { try run("UPDATE name_index_state SET indexed_to = ?", [added]) }
    }
}

/// What of a book is searched.
struct SearchedBook {
    static let columns = "COALESCE(b.title, 'Book ' || b.key), b.author, b.narrator"

    let title: SearchText
    /// Author and narrator.
    let people: [SearchText]

    init(_ columns: inout ColumnReader) throws {
        title = SearchText(try columns.next())
        people = [try columns.next(String?.self), try columns.next(String?.self)].compactMap { $0.map(SearchText.init) }
    }

    var texts: [SearchText] { [title] + people }
}
