import GRDB

extension StoreSchema {
    static func migrateToVersion4(_ database: Database) throws {
        try createCachedPlans(database)
        try addRuns(to: database)
        try createTags(database)
        try addWishes(to: database)
    }

    /// What is remembered of books in which there was nothing to do.
    ///
    /// A row is there only while the store says of its book what it said when the row came: whatever a plan depends on
    /// takes it away as it changes, whoever changes it. It comes before the plan is made, without a fingerprint, so that
    /// what changes meanwhile takes it away as well. A book with transfers has none: what they wait for depends on the
    /// time.
    private static func createCachedPlans(_ database: Database) throws {
        let forget = "DELETE FROM settled_plan WHERE book_id ="
        func episode(_ id: String) -> String { "\(forget) (SELECT book_id FROM episode WHERE id = \(id))" }
        try database.execute(
            sql: """
                CREATE TABLE settled_plan (
                    book_id INTEGER PRIMARY KEY REFERENCES book (id) ON DELETE CASCADE,
                    fingerprint TEXT CHECK (fingerprint <> ''),
                    folders TEXT NOT NULL DEFAULT '[]' CHECK (json_type(folders) = 'array'),
                    kept INTEGER NOT NULL DEFAULT 0 CHECK (kept >= 0),
                    skipped INTEGER NOT NULL DEFAULT 0 CHECK (skipped >= locked),
                    locked INTEGER NOT NULL DEFAULT 0 CHECK (locked >= 0)
                ) STRICT;
                -- With each page that brings or changes episodes its book is touched.
                CREATE TRIGGER book_unsettles AFTER UPDATE OF updated_at, title, author, declared ON book BEGIN
                    \(forget) new.id;
                END;
                CREATE TRIGGER episode_unsettles AFTER UPDATE OF book_id, gone, locked, removed_at ON episode BEGIN
                    \(forget) new.book_id;
                    \(forget) old.book_id;
                END;
                CREATE TRIGGER episode_unsettles_by_going AFTER DELETE ON episode BEGIN
                    \(forget) old.book_id;
                END;
                CREATE TRIGGER file_unsettles_by_coming AFTER INSERT ON local_file BEGIN
                    \(episode("new.episode_id"));
                END;
                CREATE TRIGGER file_unsettles AFTER UPDATE ON local_file BEGIN
                    \(episode("new.episode_id"));
                END;
                CREATE TRIGGER file_unsettles_by_going AFTER DELETE ON local_file BEGIN
                    \(episode("old.episode_id"));
                END;
                CREATE TRIGGER transfer_unsettles AFTER INSERT ON transfer BEGIN
                    \(episode("new.episode_id"));
                END;
                """)
    }

    /// What runs were and came to; what fails run after run; which books are overdue.
    private static func addRuns(to database: Database) throws {
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

    /// The folders that a subscription is filed under.
    private static func createTags(_ database: Database) throws {
        try database.execute(
            sql: """
                -- The names of folders within each other, the outermost first, one a line.
                CREATE TABLE subscription_tag (
                    source TEXT NOT NULL,
                    key TEXT NOT NULL,
                    path TEXT NOT NULL CHECK (path <> ''),
                    UNIQUE (source, key, path),
                    FOREIGN KEY (source, key) REFERENCES subscription (source, key) ON DELETE CASCADE
                ) STRICT;
                """)
    }

    /// What a subscription wants beside its episodes: since when, in which order, and how much of it at a time.
    private static func addWishes(to database: Database) throws {
        try database.execute(
            sql: """
                ALTER TABLE subscription ADD COLUMN since TEXT CHECK (since <> '');
                ALTER TABLE subscription ADD COLUMN transfer_order TEXT
                    CHECK (transfer_order IN ('first', 'last', 'listed'));
                ALTER TABLE subscription ADD COLUMN max_episodes INTEGER CHECK (max_episodes > 0);
                ALTER TABLE subscription ADD COLUMN max_bytes INTEGER CHECK (max_bytes > 0);
                """)
    }
}
