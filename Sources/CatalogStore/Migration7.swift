import GRDB

extension StoreSchema {
    static func migrateToVersion7(_ database: Database) throws {
        try addCountsOfMissing(to: database)
        try createTrash(database)
    }

    /// How many episodes a run did not fetch, by why it did not.
    private static func addCountsOfMissing(to database: Database) throws {
        for count in ["held_back", "paused", "removed", "gone", "filtered"] {
            try database.execute(sql: "ALTER TABLE run ADD COLUMN \(count) INTEGER NOT NULL DEFAULT 0")
        }
        // What is remembered of plans does not say it yet: it is told by its fingerprint, and made once more.
        for count in ["removed", "gone", "filtered"] {
            try database.execute(
                sql: "ALTER TABLE settled_plan ADD COLUMN \(count) INTEGER NOT NULL DEFAULT 0 CHECK (\(count) >= 0)")
        }
    }

    /// Files that were removed, with all that was recorded of them.
    private static func createTrash(_ database: Database) throws {
        try database.execute(
            sql: """
                -- Without a time the file is on its way to the trash, and still recorded as the episode's.
                CREATE TABLE trashed_file (
                    id INTEGER PRIMARY KEY,
                    episode_id INTEGER NOT NULL REFERENCES episode (id) ON DELETE RESTRICT,
                    removed_at INTEGER NOT NULL,
                    moved_at INTEGER,
                    path TEXT NOT NULL CHECK (path <> '' AND path NOT GLOB '/*'),
                    size INTEGER NOT NULL CHECK (size >= 0),
                    sha256 TEXT NOT NULL,
                    mtime INTEGER NOT NULL,
                    inode INTEGER NOT NULL,
                    etag TEXT,
                    last_modified TEXT,
                    validator_age INTEGER,
                    catalog_size INTEGER,
                    catalog_modified_at INTEGER,
                    fetched_at INTEGER NOT NULL,
                    verification TEXT NOT NULL,
                    named_by_listener INTEGER NOT NULL CHECK (named_by_listener IN (0, 1)),
                    fetched_from TEXT
                ) STRICT;
                CREATE UNIQUE INDEX trashed_file_on_its_way ON trashed_file (episode_id) WHERE moved_at IS NULL;
                CREATE INDEX removed_episode ON episode (id) WHERE removed_at IS NOT NULL;
                """)
    }
}
