import BookModel
import Dispatch
import GRDB

/// What a look at the database finds, whatever became of it. Nothing is brought up to date, put aside or mended.
package struct StoreExamination: Sendable, Hashable {
    /// How the database's schema stands to the one that this booksync writes.
    package enum Age: Sendable {
        case current
        /// The next run that writes brings it up to date.
        case older
        /// Made by a later booksync.
        case newer
    }

    package var age: Age
    /// Where its pages and indexes contradict each other, in SQLite's words; only the first few.
    package var faults: [String]
    /// Rows that speak of others that are not there.
    package var strayRows: Int

    /// Reads the whole database, at some 100 MB a second.
    ///
    /// - Throws: ``Failure``: with ``Failure/isStoreDamage`` when the file is no database, `inputOutput` or
    ///   `libraryUnwritable` when it cannot be read, `configuration` when somebody gave it triggers or views.
    package init(path: String) async throws {
        self = try await withCheckedThrowingContinuation { continuation in
            // Opening and reading block on the disk: not on a thread of the cooperative pool.
            DispatchQueue.global().async {
                continuation.resume(with: Result { try StoreExamination(reading: path) })
            }
        }
    }

    private static let maxCount = 5

    private init(reading path: String) throws {
        self = try failing("the store cannot be read", at: path) {
            let reader = try OpenedDatabase.unchecked(path: path)
            let outcome = Result { try reader.read { try StoreExamination($0, path: path) } }
            try reader.close()
            return try outcome.get()
        }
    }

    private init(_ database: Database, path: String) throws {
        let migrator = StoreSchema.migrator
        age =
            try migrator.hasBeenSuperseded(database)
            ? .newer : migrator.hasCompletedMigrations(database) ? .current : .older
        if age != .newer { try StoreSchema.requireOwnActors(in: database, path: path) }
        faults = try String.fetchAll(database, sql: "PRAGMA integrity_check(\(Self.maxCount))")
            .filter { $0 != "ok" }
        strayRows = try Row.fetchAll(database, sql: "PRAGMA foreign_key_check").count
    }
}
