import GRDB

extension StoreSchema {
    /// Why an episode counts as removed; null, as of what was removed before, for the user.
    static func migrateToVersion10(_ database: Database) throws {
        try database.execute(
            sql: """
                ALTER TABLE episode ADD COLUMN removed_by TEXT CHECK (removed_by IN ('keep_rule', 'missing_file', 'imported'));
                """)
    }
}
