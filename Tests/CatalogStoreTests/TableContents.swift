import Foundation
import GRDB

/// What a database holds, read with plain SQL and nothing of the store's own.
struct TableContents: Equatable {
    /// Table → columns in their order → rows as text, sorted.
    var tables: [String: Table] = [:]

    struct Table: Equatable {
        var columns: [String]
        var rows: [String]
    }

    /// - Parameter columns: what to read, by table; nil for every column of every table.
    init(of path: String, columns: [String: [String]]? = nil) throws {
        var configuration = Configuration()
        configuration.readonly = true
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        self.tables = try queue.read { database in
            let all = try columns ?? Self.columns(database)
            return try all.reduce(into: [:]) { tables, table in
                let cells = table.value.map { "quote(\"\($0)\")" }.joined(separator: " || ',' || ")
                let rows = try String.fetchAll(database, sql: "SELECT \(cells) FROM \"\(table.key)\"")
                tables[table.key] = Table(columns: table.value, rows: rows.sorted())
            }
        }
        try queue.close()
    }

    var columns: [String: [String]] { tables.mapValues(\.columns) }

    func count(_ table: String) -> Int? { tables[table]?.rows.count }

    /// Ordinary tables; those of full-text indexes are SQLite's own.
    private static func columns(_ database: Database) throws -> [String: [String]] {
        let names = try String.fetchAll(
            database, sql: "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'")
        return try names.filter { !$0.hasPrefix("sqlite_") }.reduce(into: [:]) { columns, name in
            columns[name] = try String.fetchAll(
                database, sql: "SELECT name FROM pragma_table_info(?)", arguments: [name])
        }
    }
}

/// The definitions of all that a database consists of, and what SQLite itself finds wrong with it.
func schema(of path: String) throws -> [String] {
    let queue = try DatabaseQueue(path: path)
    let (definitions, faults) = try queue.read { database in
        (
            try String.fetchAll(database, sql: "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name"),
            try String.fetchAll(database, sql: "PRAGMA integrity_check")
                + (try Row.fetchAll(database, sql: "PRAGMA foreign_key_check").map(\.description))
        )
    }
    try queue.close()
    return definitions + faults
}
