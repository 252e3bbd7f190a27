import GRDB

extension StoreSchema {
    /// What booksync wrote beside the audio, so that it never overwrites what the listener made or changed.
    static func createExports(_ database: Database) throws {
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
}
