import GRDB

extension StoreSchema {
    /// The index of the names that `search` looks in, and what of it has yet to be made.
    ///
    /// The index holds tokens without the names (see `SearchText`), and is brought up to date at the end of a run, not
    /// with each page of a listing: that would cost a listing half as much again. What it lacks is known at any time
    /// (episodes beyond `indexed_to`, and the rows of `unindexed_name`, kept by triggers whoever writes), and is searched
    /// without it. Tokens of names that changed or went stay behind in it: a name that is found is always held against
    /// what was asked for, so they cost a look and are never shown.
    static func createSearch(_ database: Database) throws {
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
}
