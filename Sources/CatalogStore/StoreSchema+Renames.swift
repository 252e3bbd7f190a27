import GRDB

extension StoreSchema {
    /// What runs renamed, so that it can be taken back.
    static func addRenames(to database: Database) throws {
        try database.execute(
            sql: """
                -- A batch is what one run renames. Without a time the rename is intended and not yet done.
                CREATE TABLE renaming (
                    batch INTEGER NOT NULL CHECK (batch > 0),
                    episode_id INTEGER NOT NULL REFERENCES episode (id) ON DELETE CASCADE,
                    from_path TEXT NOT NULL CHECK (from_path <> '' AND from_path NOT GLOB '/*'),
                    to_path TEXT NOT NULL CHECK (to_path <> '' AND to_path NOT GLOB '/*'),
                    renamed_at INTEGER,
                    PRIMARY KEY (batch, episode_id)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX renaming_of_episode ON renaming (episode_id);
                """)
    }
}
