import BookModel
import GRDB

/// All that a store knows of one book, as rows that another store of the same schema takes over: episodes, files, transfers,
/// what was removed, where users are in it, and whether it is subscribed to. Left behind is what can be worked out again
/// (counts, plans, verifications) and what took place in the old library alone (runs, renames).
package struct BookRows: Sendable {
    fileprivate struct Table: Sendable {
        var columns: [String]
        var rows: [[DatabaseValue]]
    }

    /// Rows that hang on an episode, and those that hang on the book.
    fileprivate static let ofEpisode = [
        "local_file", "transfer", "operation", "replacement", "media", "listening_position", "bookmark",
    ]
    fileprivate static let ofBook = [
        "exported_file", "joined_file", "publication_watch", "book_listening",
    ]
    fileprivate static let byName = ["subscription", "subscription_tag"]

    fileprivate var tables: [String: Table] = [:]
}

extension CatalogStore {
    /// - Returns: nil when the book is neither listed nor subscribed to.
    package func rows(of book: BookIdentity) async throws -> BookRows? {
        try await read("\(book) cannot be read") { database in
            let id = try database.id(of: book)
            let episodes = "episode_id IN (SELECT id FROM episode WHERE book_id = ?)"
            var found = BookRows()
            func take(_ tables: [String], _ condition: String, _ arguments: StatementArguments) throws {
                for table in tables {
                    found.tables[table] = try BookRows.Table(database, table, "WHERE \(condition)", arguments)
                }
            }
            try take(["book"], "id = ?", [id])
            try take(["episode"], "book_id = ? ORDER BY id", [id])
            try take(BookRows.ofEpisode, episodes, [id])
            try take(["operation"], "\(episodes) AND state = 'done' AND kind <> 'rename'", [id])
            try take(BookRows.ofBook, "book_id = ?", [id])
            try take(BookRows.byName, "source = ? AND key = ?", [book.source, book.id])
            try take(["user"], "id <> 0", [])
            let isKnown = id != nil || found.tables["subscription"]?.rows.isEmpty == false
            return isKnown ? found : nil
        }
    }

    /// Takes a book over from another store: on disk when the call returns.
    /// - Parameter files: by their paths, what the files look like here that are not the same ones as there.
    /// - Throws: ``Failure`` where the book is here already, or a path is another's.
    package func adopt(_ rows: BookRows, of book: BookIdentity, files: [String: FileAttributes])
        async throws
    {
        try await write("\(book) cannot be taken over", .durable) { database in
            guard try database.id(of: book) == nil else {
                throw Failure(
                    .usage, disposition: .skip, what: "\(book) cannot be taken over",
                    why: "the library has it already")
            }
            var new = BookRows.NewIDs()
            new.users = try database.users(rows.tables["user"])
            for row in rows.tables["book"]?.dictionaries() ?? [] {
                new.book = try database.insert(new.translated(row), into: "book")
            }
            for row in rows.tables["episode"]?.dictionaries() ?? [] {
                guard let old = row["id"] else { continue }
                new.episodes[old] = try database.insert(new.translated(row), into: "episode")
            }
            for table in BookRows.ofEpisode + BookRows.ofBook + BookRows.byName {
                for row in rows.tables[table]?.dictionaries() ?? [] {
                    var row = new.translated(row)
                    if table == "local_file", let path = String.fromDatabaseValue(row["path"] ?? .null),
                        let facts = files[path]
                    {
                        row["mtime"] = facts.modificationTime.databaseValue
                        row["inode"] = Int64(bitPattern: facts.inode).databaseValue
                    }
                    try database.insert(row, into: table, ignoring: BookRows.byName.contains(table))
                }
            }
        }
    }

    /// Forgets a book that another store has taken over, and the subscription to it: on disk when the call returns. Its runs
    /// stay on record.
    package func release(_ book: BookIdentity) async throws {
        try await write("\(book) cannot be forgotten", .durable) { database in
            try database.run("DELETE FROM subscription WHERE source = ? AND key = ?", [book.source, book.id])
            guard let id = try database.id(of: book) else { return }
            for table in ["operation", "transfer", "local_file"] {
                try database.run(
                    "DELETE FROM \(table) WHERE episode_id IN (SELECT id FROM episode WHERE book_id = ?)", [id])
            }
            try database.run("DELETE FROM book WHERE id = ?", [id])
        }
    }
}

extension BookRows {
    fileprivate struct NewIDs {
        var book: Int64?
        var episodes: [DatabaseValue: Int64] = [:]
        var users: [DatabaseValue: Int64] = [:]

        /// The row as it refers to the rows here, without the number that it had itself.
        func translated(_ row: [String: DatabaseValue]) -> [String: DatabaseValue] {
            var row = row
            row["id"] = nil
            if row["book_id"] != nil { row["book_id"] = book?.databaseValue }
            if let old = row["episode_id"] { row["episode_id"] = episodes[old]?.databaseValue }
            if let old = row["user_id"] { row["user_id"] = users[old]?.databaseValue ?? old }
            return row
        }
    }
}

extension BookRows.Table {
    /// Columns that are worked out from others are left out.
    fileprivate init(
        _ database: Database, _ table: String, _ condition: String, _ arguments: StatementArguments
    ) throws {
        columns = try database.rows("SELECT name FROM pragma_table_info(?)", [table]) { try $0.next() }
        let list = columns.map { "\"\($0)\"" }.joined(separator: ", ")
        rows = try Row.fetchAll(
            database, sql: "SELECT \(list) FROM \(table) \(condition)", arguments: arguments
        ).map { Array($0.databaseValues) }
    }

    fileprivate func dictionaries() -> [[String: DatabaseValue]] {
        rows.map { Dictionary(uniqueKeysWithValues: zip(columns, $0)) }
    }
}

extension Database {
    @discardableResult
    fileprivate func insert(_ row: [String: DatabaseValue], into table: String, ignoring: Bool = false) throws -> Int64
    {
        try insert(into: table, row.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }, ignoring: ignoring)
        return lastInsertedRowID
    }

    /// The users of another store, by their numbers there: those of the same name, or added as they are.
    fileprivate func users(_ table: BookRows.Table?) throws -> [DatabaseValue: Int64] {
        var users: [DatabaseValue: Int64] = [:]
        for var row in table?.dictionaries() ?? [] {
            guard let old = row.removeValue(forKey: "id"), let name = row["name"] else { continue }
            users[old] =
                try value("SELECT id FROM user WHERE name = ?", [name])
                ?? insert(row, into: "user")
        }
        return users
    }
}
