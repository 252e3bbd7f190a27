import GRDB

extension StoreSchema {
    /// What runs were and came to; what fails run after run; which books are overdue.
    static func addRuns(to database: Database) throws {
        try database.execute(
            sql: """
                -- Without an end a run is under way, or was cut off.
                CREATE TABLE run (
                    id INTEGER PRIMARY KEY,
                    command TEXT NOT NULL CHECK (command <> ''),
                    started_at INTEGER NOT NULL,
                    ended_at INTEGER,
                    exit_code INTEGER CHECK ((exit_code IS NULL) = (ended_at IS NULL)),
                    books INTEGER NOT NULL DEFAULT 0,
                    fetched INTEGER NOT NULL DEFAULT 0,
                    resumed INTEGER NOT NULL DEFAULT 0,
                    replaced INTEGER NOT NULL DEFAULT 0,
                    renamed INTEGER NOT NULL DEFAULT 0,
                    adopted INTEGER NOT NULL DEFAULT 0,
                    kept INTEGER NOT NULL DEFAULT 0,
                    locked INTEGER NOT NULL DEFAULT 0,
                    failed INTEGER NOT NULL DEFAULT 0,
                    left_over INTEGER NOT NULL DEFAULT 0,
                    bytes_received INTEGER NOT NULL DEFAULT 0,
                    bytes_reused INTEGER NOT NULL DEFAULT 0,
                    seconds REAL NOT NULL DEFAULT 0,
                    error TEXT
                ) STRICT;

                -- Told: the listener was alerted to it.
                CREATE TABLE outage (
                    subject TEXT PRIMARY KEY CHECK (subject <> ''),
                    since INTEGER NOT NULL,
                    runs INTEGER NOT NULL CHECK (runs > 0),
                    error TEXT NOT NULL,
                    told INTEGER NOT NULL CHECK (told IN (0, 1))
                ) STRICT;

                -- The newest episode of a book that appears bit by bit, and the milliseconds usually between two of them.
                CREATE TABLE publication_watch (
                    book_id INTEGER PRIMARY KEY REFERENCES book (id) ON DELETE CASCADE,
                    latest INTEGER NOT NULL,
                    usual_gap INTEGER NOT NULL CHECK (usual_gap > 0),
                    told INTEGER NOT NULL CHECK (told IN (0, 1))
                ) STRICT;
                """)
    }
}
