import GRDB

extension StoreSchema {
    /// Why an episode counts as removed; null, as of what was removed before, for the user. And what went wrong as a message
    /// that can be said in any language, beside its English.
    static func migrateToVersion10(_ database: Database) throws {
        try database.execute(
            sql: """
                ALTER TABLE episode ADD COLUMN removed_by TEXT CHECK (removed_by IN ('keep_rule', 'missing_file', 'imported'));
                ALTER TABLE transfer ADD COLUMN error_message TEXT;
                ALTER TABLE run ADD COLUMN error_message TEXT;
                ALTER TABLE outage ADD COLUMN error_message TEXT;
                -- What the file with this digest says of itself.
                CREATE TABLE media (
                    episode_id INTEGER PRIMARY KEY REFERENCES episode (id) ON DELETE CASCADE,
                    sha256 TEXT NOT NULL,
                    duration REAL CHECK (duration >= 0),
                    chapters INTEGER NOT NULL CHECK (chapters >= 0),
                    -- JSON; null where it cannot be read as audio, for the reason in "error".
                    info TEXT,
                    error TEXT
                ) STRICT;
                """)
    }
}
