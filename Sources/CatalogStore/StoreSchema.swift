import BookModel
import GRDB

/// The schema, as the list of migrations that lead to it. A migration that was shipped is never edited; a test compares
/// each with a golden file.
///
/// The schema carries the invariants, so that a defect above it is refused instead of stored. What a catalog claims
/// (sizes, numbers) is not held to anything: a catalog may claim what it likes.
///
/// Times are milliseconds since 1970, except a file's modification time, which is nanoseconds as the system gives it.
enum StoreSchema {
    static let migrator: DatabaseMigrator = {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1", migrate: migrateToVersion1)
        migrator.registerMigration("v2", migrate: migrateToVersion2)
        migrator.registerMigration("v3", migrate: migrateToVersion3)
        migrator.registerMigration("v4", migrate: migrateToVersion4)
        migrator.registerMigration("v5", migrate: migrateToVersion5)
        migrator.registerMigration("v6", migrate: migrateToVersion6)
        migrator.registerMigration("v7", migrate: migrateToVersion7)
        migrator.registerMigration("v8", migrate: migrateToVersion8)
        migrator.registerMigration("v9", migrate: migrateToVersion9)
        migrator.registerMigration("v10", migrate: migrateToVersion10)
        migrator.registerMigration("v11", migrate: migrateToVersion11)
        migrator.registerMigration("v12", migrate: migrateToVersion12)
        migrator.registerMigration("v13", migrate: migrateToVersion13)
        return migrator
    }()

    static func newer(path: String) -> Failure {
        Failure(
            .configuration, disposition: .stop, what: "the store cannot be opened",
            why: "\(path) was made by a newer booksync, whose schema this one does not know",
            remedy: "update booksync, or use another library")
    }

    static func older(path: String) -> Failure {
        Failure(
            .configuration, disposition: .stop, what: "the store cannot be opened for reading",
            why: "\(path) was made by an older booksync, or is just being made",
            remedy: "let a command that writes, such as fetch or mirror, bring it up to date", reason: .storeAge)
    }
}
