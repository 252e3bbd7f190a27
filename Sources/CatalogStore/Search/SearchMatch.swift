import GRDB

/// A row whose name fits, by how well.
struct SearchMatch: Comparable {
    /// The less the better.
    var distance: Int
    /// Its book, and its position there.
    var book: Int64 = 0
    var section: Int64 = 0
    /// Bytes of the name: of two titles that hold the word the shorter one is more about it.
    var length = 0
    var id: Int64

    static func < (one: SearchMatch, other: SearchMatch) -> Bool {
        (one.distance, one.length, one.book, one.section, one.id)
            < (other.distance, other.length, other.book, other.section, other.id)
    }
}

/// Looks for books. All that match are compared: books are few beside episodes.
struct BookSearch {
    private(set) var matches: [SearchMatch] = []

    init(_ query: SearchQuery, _ database: Database) throws {
        var seen: Set<Int64> = []
        try Self.look(query.expression, database) { id, book in
            guard query.matches(book.texts), seen.insert(id).inserted else { return }
            let isByTitle = query.matches(book.title)
            matches.append(
                SearchMatch(
                    distance: isByTitle ? query.distance(of: book.title) : 3,
                    length: isByTitle ? book.title.bytes.count : 0, id: id))
        }
    }

    /// The books that may match an expression, and those that the index lacks; some of them twice.
    static func look(
        _ expression: String, _ database: Database, _ body: (Int64, SearchedBook) throws -> Void
    ) throws {
        let sources: [(String, StatementArguments)] = [
            ("title_index t CROSS JOIN book b ON b.id = t.rowid WHERE t.title_index MATCH ?", [expression]),
            ("unindexed_name u CROSS JOIN book b ON b.id = -u.id WHERE u.id < 0", []),
        ]
        for (source, arguments) in sources {
            let sql = "SELECT b.id, \(SearchedBook.columns) FROM \(source)"
            _ = try database.rows(sql, arguments) { try body(try $0.next(), try SearchedBook(&$0)) }
        }
    }
}

/// Looks for episodes, until there are enough.
struct EpisodeSearch {
    private(set) var matches: [SearchMatch] = []
    private let query: SearchQuery
    private let database: Database
    private let limit: Int
    private var seen: Set<Int64> = []

    /// So many books are read episode by episode where some of the words are theirs; of more of them the index is asked.
    private static let readWhole = 40

    /// - Parameter limit: how many are enough; nil for all.
    init(_ query: SearchQuery, _ database: Database, atMost limit: Int?) throws {
        self.query = query
        self.database = database
        self.limit = limit ?? .max
        let absent = try wordsInNoName()
        if absent.isEmpty {
            try lookEverywhere(query.words) { name, _ in
                let name = SearchText(name)
                return query.matches(name) ? query.distance(of: name) : nil
            }
        }
        guard query.words.count > 1 else { return }
        for (rest, books) in try booksWithSomeWords(absent).sorted(by: { $0.key.count < $1.key.count }) {
            let fits = { (name: String) -> Int? in rest.allSatisfy(SearchText(name).holds) ? 2 : nil }
            if books.count <= Self.readWhole {
                for book in books { try look("episode e WHERE e.book_id = ?", [book]) { name, _ in fits(name) } }
            } else {
                try lookEverywhere(rest) { name, book in
                    books.contains(book) ? fits(name) : nil
                }
            }
        }
    }

    /// Those of several words that only books have: none where the index lacks names, which may have any.
    private func wordsInNoName() throws -> [SearchText] {
        guard query.words.count > 1, try !database.lacksIndexedNames() else { return [] }
        let sql = "SELECT 1 FROM name_index WHERE name_index MATCH ? LIMIT 1"
        return try query.words.filter { word in
            try SearchQuery.expressions(for: [word]).allSatisfy {
                try database.value(sql, [$0]) != 1
            }
        }
    }

    /// The books in whose title and people some of the words are, by the words that are not.
    /// - Parameter absent: words that must be among the book's.
    private func booksWithSomeWords(_ absent: [SearchText]) throws -> [[SearchText]: Set<Int64>] {
        var books: [[SearchText]: Set<Int64>] = [:]
        for words in absent.isEmpty ? query.words.map({ [$0] }) : [absent] {
            try BookSearch.look(SearchQuery.expression(for: words), database) { id, book in
                let rest = query.words.filter { word in !book.texts.contains { $0.holds(word) } }
                if !rest.isEmpty, rest.count < query.words.count, !rest.contains(where: absent.contains) {
                    books[rest, default: []].insert(id)
                }
            }
        }
        return books
    }

    private mutating func lookEverywhere(
        _ words: [SearchText], _ distance: (String, _ book: Int64) -> Int?
    ) throws {
        try look("unindexed_name u CROSS JOIN episode e ON e.id = u.id WHERE u.id > 0 ORDER BY u.id", [], distance)
        for expression in SearchQuery.expressions(for: words) {
            try look(
                """
                name_index n CROSS JOIN episode e ON e.id = n.rowid
                WHERE n.name_index MATCH ? ORDER BY n.rowid
                """, [expression], distance)
        }
        try look(
            "episode e WHERE e.id > (SELECT indexed_to FROM name_index_state) ORDER BY e.id", [], distance)
    }

    /// - Parameter distance: of a name in a book; nil where it does not fit.
    private mutating func look(
        _ source: String, _ arguments: StatementArguments, _ distance: (String, _ book: Int64) -> Int?
    ) throws {
        guard matches.count < limit else { return }
        let sql = "SELECT e.id, e.book_id, e.section, e.name FROM \(source)"
        let rows = try Row.fetchCursor(database.cachedStatement(sql: sql), arguments: arguments)
        while matches.count < limit, let row = try rows.next() {
            var columns = ColumnReader(row)
            var match = SearchMatch(distance: 0, id: try columns.next())
            match.book = try columns.next()
            match.section = try columns.next()
            guard let found = distance(try columns.next(), match.book), seen.insert(match.id).inserted
            else { continue }
            match.distance = found
            matches.append(match)
        }
    }
}
