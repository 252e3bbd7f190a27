import GRDB

extension StoreSchema {
    /// Rounds of verifying, so that one that was cut off goes on where it stopped; where a file was fetched from.
    static func addVerification(to database: Database) throws {
        try database.execute(
            sql: """
                ALTER TABLE local_file ADD COLUMN fetched_from TEXT;

                -- A round of reading files against their records. A scope is what the listener asked for; '' is everything.
                CREATE TABLE verification (
                    id INTEGER PRIMARY KEY,
                    scope TEXT NOT NULL,
                    started_at INTEGER NOT NULL,
                    ended_at INTEGER
                ) STRICT;
                CREATE UNIQUE INDEX verification_under_way ON verification (scope) WHERE ended_at IS NULL;

                -- The last round in which a file was read whole and had the digest that was recorded then.
                CREATE TABLE verified_file (
                    episode_id INTEGER PRIMARY KEY REFERENCES local_file (episode_id) ON DELETE CASCADE,
                    round INTEGER NOT NULL REFERENCES verification (id),
                    verified_at INTEGER NOT NULL,
                    sha256 TEXT NOT NULL CHECK (length(sha256) = 64 AND sha256 NOT GLOB '*[^0-9a-f]*')
                ) STRICT;
                """)
    }
}
