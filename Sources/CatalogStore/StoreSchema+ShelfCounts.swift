import GRDB

extension StoreSchema {
    /// What the episodes and files of each book add up to, so that a list of books need not look at every episode.
    ///
    /// A row is there only while it is true: whatever changes an episode or a file in what is counted takes the row of
    /// its book away, whoever does it. What has no row is counted anew where it is wanted, and noted at the end of a run.
    static func createShelfCounts(_ database: Database) throws {
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
}
