import GRDB

extension StoreSchema {
    /// By what the catalog itself identifies an episode; NULL where the key is just that, or no listing said so
    /// yet. In which language a book is (BCP 47).
    static func migrateToVersion6(_ database: Database) throws {
        try database.execute(
            sql: """
                ALTER TABLE episode ADD COLUMN raw_key TEXT;
                ALTER TABLE book ADD COLUMN language TEXT;
                """)
    }
}
