import GRDB

extension StoreSchema {
    /// Lists of books that are followed, as the last listing had them.
    static func migrateToVersion12(_ database: Database) throws {
        try database.execute(
            sql: """
                ALTER TABLE subscription ADD COLUMN language TEXT CHECK (language <> '');
                ALTER TABLE subscription ADD COLUMN min_hours REAL CHECK (min_hours > 0);
                ALTER TABLE subscription ADD COLUMN max_books INTEGER CHECK (max_books > 0);
                CREATE TABLE collection (
                    id INTEGER PRIMARY KEY,
                    source TEXT NOT NULL,
                    key TEXT NOT NULL,
                    -- What the books were chosen by, and the template by which their files are named.
                    filter TEXT NOT NULL,
                    naming TEXT CHECK (naming <> ''),
                    -- Listings are numbered; this is the last one that began.
                    listing INTEGER NOT NULL DEFAULT 0,
                    -- Where it goes on; NULL where it has ended, or read no page.
                    cursor TEXT,
                    UNIQUE (source, key)
                ) STRICT;
                CREATE TABLE collection_book (
                    id INTEGER PRIMARY KEY,
                    collection_id INTEGER NOT NULL REFERENCES collection (id) ON DELETE CASCADE,
                    source TEXT NOT NULL,
                    key TEXT NOT NULL,
                    title TEXT NOT NULL,
                    -- Whether the filter lets it through.
                    wanted INTEGER NOT NULL CHECK (wanted IN (0, 1)),
                    -- What the list says of it that changes when the book does, empty where it says nothing; and what it said when the
                    -- book was fetched whole.
                    facts TEXT NOT NULL,
                    fetched_facts TEXT,
                    -- The first and the last listing that had it.
                    first_listing INTEGER NOT NULL,
                    listing INTEGER NOT NULL,
                    gone INTEGER NOT NULL DEFAULT 0 CHECK (gone IN (0, 1)),
                    UNIQUE (source, key, collection_id)
                ) STRICT;
                CREATE INDEX collection_book_in_order ON collection_book (collection_id);
                """)
    }
}
