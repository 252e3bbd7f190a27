import GRDB

extension StoreSchema {
    /// What is remembered of books in which there was nothing to do.
    ///
    /// A row is there only while the store says of its book what it said when the row came: whatever a plan depends on
    /// takes it away as it changes, whoever changes it. It comes before the plan is made, without a fingerprint, so that
    /// what changes meanwhile takes it away as well. A book with transfers has none: what they wait for depends on the
    /// time.
    static func createSettledPlans(_ database: Database) throws {
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
}
