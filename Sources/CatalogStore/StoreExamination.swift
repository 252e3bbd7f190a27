import BookModel
import GRDB

/// The faults of a database of this schema. Nothing is put aside or mended.
package struct StoreExamination: Sendable, Hashable {
    /// Where its pages and indexes contradict each other, in SQLite's words; only the first few.
    package var faults: [String]
    /// Rows that speak of others that are not there.
    package var strayRows: Int

    /// Reads the whole database, at some 100 MB a second.
    ///
    /// - Throws: ``Failure``: with ``Failure/isStoreDamage`` when the file is no database, `inputOutput` or
    ///   `libraryUnwritable` when it cannot be read, `configuration` when it has another schema, or foreign triggers or views.
    package init(path: String) async throws {
        self = try await runBlocking {
            try failing("the store cannot be read", at: path) {
                let reader = try OpenedDatabase.readOnly(path: path, patience: LockPatience())
                let outcome = Result { try reader.read(StoreExamination.init) }
                try reader.close()
                return try outcome.get()
            }
        }
    }

    private static let maxCount = 5

    private init(_ database: Database) throws {
        faults = try String.fetchAll(database, sql: "PRAGMA integrity_check(\(Self.maxCount))")
            .filter { $0 != "ok" }
        strayRows = try Row.fetchAll(database, sql: "PRAGMA foreign_key_check").count
    }
}
