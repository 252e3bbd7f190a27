import GRDB

extension StoreSchema {
    /// Where the user stopped in each episode; and by which what moves is found without a look at all that waits.
    ///
    /// A position has no trigger: nothing that a plan or a count depends on changes with it.
    static func migrateToVersion5(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE listening_position (
                    episode_id INTEGER PRIMARY KEY REFERENCES episode (id) ON DELETE CASCADE,
                    -- From the beginning, and of the whole as the player found it.
                    seconds REAL NOT NULL CHECK (seconds >= 0 AND seconds <= 1e9),
                    duration REAL CHECK (duration > 0 AND duration <= 1e9),
                    finished INTEGER NOT NULL CHECK (finished IN (0, 1)),
                    updated_at INTEGER NOT NULL
                ) STRICT;
                CREATE INDEX listening_position_by_age ON listening_position (updated_at);
                CREATE INDEX local_file_by_age ON local_file (fetched_at);
                CREATE INDEX transfer_begun ON transfer (state) WHERE state <> 'waiting';
                """)
    }
}
