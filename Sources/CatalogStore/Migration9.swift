import GRDB

extension StoreSchema {
    /// How the files of a subscribed book are named and which of them stay on disk, where it says so itself; and how many a
    /// run moved to the trash for that.
    static func migrateToVersion9(_ database: Database) throws {
        try database.execute(
            sql: """
                ALTER TABLE subscription ADD COLUMN naming TEXT CHECK (naming <> '');
                ALTER TABLE subscription ADD COLUMN keep TEXT CHECK (keep <> '');
                ALTER TABLE subscription ADD COLUMN max_size INTEGER CHECK (max_size > 0);
                ALTER TABLE run ADD COLUMN expired INTEGER NOT NULL DEFAULT 0;
                -- It is looked for four times a second while a run is under way.
                CREATE INDEX preferred_transfer ON transfer (priority) WHERE priority > 0;
                """)
    }
}
