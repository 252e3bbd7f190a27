import GRDB

extension StoreSchema {
    /// Files whose names are the user's own; transfers that go before others, the greater the priority the sooner;
    /// what a complete listing came with, so that the next one may ask whether anything changed.
    static func migrateToVersion2(_ database: Database) throws {
        try database.execute(
            sql: """
                ALTER TABLE local_file ADD COLUMN named_by_listener INTEGER NOT NULL DEFAULT 0
                    CHECK (named_by_listener IN (0, 1));
                ALTER TABLE transfer ADD COLUMN priority INTEGER NOT NULL DEFAULT 0;
                ALTER TABLE book ADD COLUMN listing_etag TEXT;
                ALTER TABLE book ADD COLUMN listing_last_modified TEXT;
                """)
    }
}
