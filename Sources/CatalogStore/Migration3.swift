import GRDB

extension StoreSchema {
    static func migrateToVersion3(_ database: Database) throws {
        try createShelfCounts(database)
        try createSearch(database)
        try createExports(database)
        try addVerification(to: database)
        try addRenames(to: database)
    }

    /// What the episodes and files of each book add up to, so that a list of books need not look at every episode.
    ///
    /// A row is there only while it is true: whatever changes an episode or a file in what is counted takes the row of
    /// its book away, whoever does it. What has no row is counted anew where it is wanted, and noted at the end of a run.
    private static func createShelfCounts(_ database: Database) throws {
        let forget = "DELETE FROM shelf_count WHERE book_id ="
        func file(_ version: String) -> String {
            "\(forget) (SELECT book_id FROM episode WHERE id = \(version).episode_id)"
        }
        try database.execute(
            sql: """
                CREATE TABLE shelf_count (
                    book_id INTEGER PRIMARY KEY REFERENCES book (id) ON DELETE CASCADE,
                    episodes INTEGER NOT NULL,
                    missing INTEGER NOT NULL,
                    locked INTEGER NOT NULL,
                    present INTEGER NOT NULL,
                    bytes INTEGER NOT NULL,
                    folder TEXT
                ) STRICT;
                -- With each page that brings episodes its book is touched: a trigger for each of them would cost a
                -- listing a twentieth more.
                CREATE TRIGGER book_is_recounted AFTER UPDATE OF updated_at ON book BEGIN
                    \(forget) new.id;
                END;
                CREATE TRIGGER episode_is_recounted AFTER UPDATE OF book_id, gone, locked, removed_at ON episode
                WHEN old.gone IS NOT new.gone OR old.locked IS NOT new.locked OR old.removed_at IS NOT new.removed_at
                    OR old.book_id IS NOT new.book_id
                BEGIN
                    \(forget) new.book_id;
                    \(forget) old.book_id;
                END;
                CREATE TRIGGER episode_is_uncounted AFTER DELETE ON episode BEGIN
                    \(forget) old.book_id;
                END;
                CREATE TRIGGER file_is_counted AFTER INSERT ON local_file BEGIN
                    \(file("new"));
                END;
                CREATE TRIGGER file_is_recounted AFTER UPDATE OF size, path ON local_file
                WHEN old.size IS NOT new.size OR old.path IS NOT new.path
                BEGIN
                    \(file("new"));
                END;
                CREATE TRIGGER file_is_uncounted AFTER DELETE ON local_file BEGIN
                    \(file("old"));
                END;
                """)
    }

    /// The index of the names that `search` looks in, and what of it has yet to be made.
    ///
    /// The index holds tokens without the names (see `SearchText`), and is brought up to date at the end of a run, not
    /// with each page of a listing: that would cost a listing half as much again. What it lacks is known at any time
    /// (episodes beyond `indexed_to`, and the rows of `unindexed_name`, kept by triggers whoever writes), and is searched
    /// without it. Tokens of names that changed or went stay behind in it: a name that is found is always held against
    /// what was asked for, so they cost a look and are never shown.
    private static func createSearch(_ database: Database) throws {
        try database.execute(
            sql: """
                -- Of episodes, by their ids.
                CREATE VIRTUAL TABLE name_index USING fts5(
                    tokens, content = '', columnsize = 0, detail = none, tokenize = 'ascii'
                );
                -- Of books: title, author and announcer. Apart, so that a search of them meets no episode.
                CREATE VIRTUAL TABLE title_index USING fts5(
                    tokens, content = '', columnsize = 0, detail = none, tokenize = 'ascii'
                );

                CREATE TABLE name_index_state (indexed_to INTEGER NOT NULL) STRICT;
                INSERT INTO name_index_state VALUES (0);

                -- The id of an episode, or the negative one of a book.
                CREATE TABLE unindexed_name (id INTEGER PRIMARY KEY) STRICT;
                INSERT INTO unindexed_name SELECT -id FROM book;

                CREATE TRIGGER book_is_named AFTER INSERT ON book BEGIN
                    INSERT OR IGNORE INTO unindexed_name VALUES (-new.id);
                END;
                CREATE TRIGGER book_is_renamed AFTER UPDATE OF title, author, announcer ON book
                WHEN old.title IS NOT new.title OR old.author IS NOT new.author OR old.announcer IS NOT new.announcer
                BEGIN
                    INSERT OR IGNORE INTO unindexed_name VALUES (-new.id);
                END;
                CREATE TRIGGER episode_is_renamed AFTER UPDATE OF name ON episode WHEN old.name IS NOT new.name BEGIN
                    INSERT OR IGNORE INTO unindexed_name
                    SELECT new.id FROM name_index_state WHERE new.id <= indexed_to;
                END;
                -- The greatest id may be given again.
                CREATE TRIGGER episode_goes AFTER DELETE ON episode BEGIN
                    UPDATE name_index_state SET indexed_to = (SELECT COALESCE(MAX(id), 0) FROM episode)
                    WHERE indexed_to > (SELECT COALESCE(MAX(id), 0) FROM episode);
                END;
                """)
    }

    /// What booksync wrote beside the audio, so that it never overwrites what the user made or changed.
    private static func createExports(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE exported_file (
                    path TEXT PRIMARY KEY CHECK (path <> '' AND path NOT GLOB '/*'),
                    book_id INTEGER NOT NULL REFERENCES book (id) ON DELETE CASCADE,
                    kind TEXT NOT NULL,
                    sha256 TEXT NOT NULL CHECK (length(sha256) = 64 AND sha256 NOT GLOB '*[^0-9a-f]*'),
                    previous TEXT CHECK (length(previous) = 64 AND previous NOT GLOB '*[^0-9a-f]*'),
                    origin TEXT
                ) STRICT;
                CREATE INDEX exported_file_of_book ON exported_file (book_id);
                """)
    }

    /// Rounds of verifying, so that one that was cut off goes on where it stopped; where a file was fetched from.
    private static func addVerification(to database: Database) throws {
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

    /// What runs renamed, so that it can be taken back.
    private static func addRenames(to database: Database) throws {
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
