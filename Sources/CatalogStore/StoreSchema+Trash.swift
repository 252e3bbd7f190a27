import GRDB

extension StoreSchema {
    /// Files that were removed, with all that was recorded of them.
    static func createTrash(_ database: Database) throws {
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
