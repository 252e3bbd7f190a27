import GRDB

extension StoreSchema {
    /// How the files of a subscribed book are named, where it has a naming of its own.
    static func migrateToVersion9(_ database: Database) throws {
        try database.execute(sql: "ALTER TABLE subscription ADD COLUMN naming TEXT CHECK (naming <> '')")
    }
}
