import BookModel
import Foundation
import GRDB

/// An SQLite database of another program, which is read and never written to.
package struct ForeignDatabase: Sendable {
    private let path: String
    private let queue: DatabaseQueue

    /// - Throws: ``Failure`` of kind `usage` when it is no database.
    package init(path: String) throws {
        self.path = path
        var configuration = GRDB.Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(10)
        do {
            queue = try DatabaseQueue(path: path, configuration: configuration)
            _ = try queue.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM sqlite_master") }
        } catch let error as DatabaseError {
            throw Self.unreadable(path, error)
        }
    }

    /// Column → value of each row, what is null left out.
    /// - Throws: ``Failure`` of kind `usage` when the database has not what is asked for.
    package func rows(_ sql: String) throws -> [[String: String]] {
        do {
            return try queue.read { database in
                try Row.fetchAll(database, sql: sql).map { row in
                    Dictionary(row.compactMap { name, value in String.fromDatabaseValue(value).map { (name, $0) } }) {
                        first, _ in first
                    }
                }
            }
        } catch let error as DatabaseError {
            throw Self.unreadable(path, error)
        }
    }

    private static func unreadable(_ path: String, _ error: DatabaseError) -> Failure {
        Failure(
            .usage, what: "\(path) cannot be read as the other program's database",
            why: sentence(of: error),
            remedy: "name the database itself, or a copy of it")
    }
}
