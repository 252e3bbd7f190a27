import GRDB

extension StoreSchema {
    /// Of a file that has tags embedded: what it was when it was fetched, and the digest of its audio stream, which is the same
    /// in both. And the files that booksync joined of a book's episodes.
    static func migrateToVersion11(_ database: Database) throws {
        func original(_ table: String) -> String {
            """
            ALTER TABLE \(table) ADD COLUMN original_size INTEGER CHECK (original_size >= 0);
            ALTER TABLE \(table) ADD COLUMN original_sha256 TEXT CHECK ((original_sha256 IS NULL) = (original_size IS NULL));
            ALTER TABLE \(table) ADD COLUMN stream_sha256 TEXT CHECK ((stream_sha256 IS NULL) = (original_size IS NULL));
            """
        }
        try database.execute(
            sql: """
                \(original("local_file"))
                \(original("trashed_file"))
                -- What is about to take the place of a file, of the same audio: none of it counts until it has.
                CREATE TABLE retagging (
                    episode_id INTEGER PRIMARY KEY REFERENCES episode (id) ON DELETE CASCADE,
                    sha256 TEXT NOT NULL,
                    original_size INTEGER,
                    original_sha256 TEXT,
                    stream_sha256 TEXT
                ) STRICT;
                CREATE TABLE joined_file (
                    -- Absolute, or relative to the library.
                    path TEXT PRIMARY KEY,
                    book_id INTEGER NOT NULL REFERENCES book (id) ON DELETE CASCADE,
                    size INTEGER NOT NULL,
                    mtime INTEGER NOT NULL,
                    -- A digest of the episodes' digests, and of how they were joined.
                    made_of TEXT NOT NULL
                ) STRICT;
                """)
    }
}
