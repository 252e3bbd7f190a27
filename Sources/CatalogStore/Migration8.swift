import GRDB

extension StoreSchema {
    /// Who listens, each with their own positions, bookmarks and speeds; and which books a run was about.
    static func migrateToVersion8(_ database: Database) throws {
        try database.execute(
            sql: """
                -- User 0 has no name and no password: whoever comes with the shelf's own password, or needs none.
                CREATE TABLE user (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    name TEXT UNIQUE CHECK ((name IS NULL) = (id = 0) AND name <> ''),
                    -- Salted and stretched, as in $scrypt$ln=15,r=8,p=1$SALT$HASH.
                    password_hash TEXT CHECK ((password_hash IS NULL) = (id = 0) AND password_hash <> ''),
                    -- Whether there is nothing on the shelf for them but what user_book names.
                    limited INTEGER NOT NULL DEFAULT 0 CHECK (limited IN (0, 1))
                ) STRICT;
                INSERT INTO user (id) VALUES (0);

                CREATE TABLE user_book (
                    user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
                    source TEXT NOT NULL,
                    key TEXT NOT NULL,
                    PRIMARY KEY (user_id, source, key)
                ) STRICT, WITHOUT ROWID;

                ALTER TABLE listening_position RENAME TO old_position;
                DROP INDEX listening_position_by_age;
                CREATE TABLE listening_position (
                    user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
                    episode_id INTEGER NOT NULL REFERENCES episode (id) ON DELETE CASCADE,
                    -- From the beginning, and of the whole as the player found it.
                    seconds REAL NOT NULL CHECK (seconds >= 0 AND seconds <= 1e9),
                    duration REAL CHECK (duration > 0 AND duration <= 1e9),
                    finished INTEGER NOT NULL CHECK (finished IN (0, 1)),
                    updated_at INTEGER NOT NULL,
                    -- What it was listened to with, as its user knows it.
                    device TEXT CHECK (device <> ''),
                    PRIMARY KEY (user_id, episode_id)
                ) STRICT, WITHOUT ROWID;
                INSERT INTO listening_position
                    SELECT 0, episode_id, seconds, duration, finished, updated_at, NULL FROM old_position;
                DROP TABLE old_position;
                CREATE INDEX listening_position_by_age ON listening_position (user_id, updated_at);
                CREATE INDEX listening_position_by_episode ON listening_position (episode_id);

                CREATE TABLE bookmark (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
                    episode_id INTEGER NOT NULL REFERENCES episode (id) ON DELETE CASCADE,
                    seconds REAL NOT NULL CHECK (seconds >= 0 AND seconds <= 1e9),
                    note TEXT NOT NULL,
                    created_at INTEGER NOT NULL
                ) STRICT;
                CREATE INDEX bookmark_by_episode ON bookmark (episode_id, user_id);
                CREATE INDEX bookmark_by_user ON bookmark (user_id);

                -- How a user listens to a book: at a speed of its own; not offered to go on with, as long as nothing
                -- of it was listened to since.
                CREATE TABLE book_listening (
                    user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
                    book_id INTEGER NOT NULL REFERENCES book (id) ON DELETE CASCADE,
                    speed REAL CHECK (speed >= 0.25 AND speed <= 4),
                    dismissed_at INTEGER,
                    PRIMARY KEY (user_id, book_id)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX book_listening_by_book ON book_listening (book_id);

                -- Some of the books of a run; how many there were stands in its row.
                CREATE TABLE run_book (
                    run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
                    position INTEGER NOT NULL,
                    source TEXT NOT NULL,
                    key TEXT NOT NULL,
                    PRIMARY KEY (run_id, position)
                ) STRICT, WITHOUT ROWID;
                """)
    }
}
