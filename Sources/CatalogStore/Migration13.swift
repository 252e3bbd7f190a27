import BookModel
import GRDB

extension StoreSchema {
    /// What served addresses call a book (`SOURCE/BOOK`) and an episode, null where that is the catalog's own name; and indexes for what
    /// a run or a page asks, the one of episodes for addresses that are stored without their secrets.
    static func migrateToVersion13(_ database: Database) throws {
        let slug = DatabaseFunction("slug", argumentCount: 1, pure: true) { values in
            String.fromDatabaseValue(values[0]).map(Slug.init(of:)).flatMap { $0.isDigest ? $0.description : nil }
        }
        database.add(function: slug)
        defer { database.remove(function: slug) }
        try database.execute(
            sql: """
                ALTER TABLE book ADD COLUMN slug TEXT CHECK (slug LIKE '%~%');
                ALTER TABLE episode ADD COLUMN slug TEXT CHECK (slug LIKE '~%');
                UPDATE book SET slug = COALESCE(slug(source), source) || '/' || COALESCE(slug(key), key)
                    WHERE COALESCE(slug(source), slug(key)) IS NOT NULL;
                UPDATE episode SET slug = slug(key) WHERE slug(key) IS NOT NULL;
                CREATE INDEX book_by_slug ON book (slug) WHERE slug IS NOT NULL;
                CREATE INDEX episode_by_slug ON episode (book_id, slug) WHERE slug IS NOT NULL;
                CREATE INDEX book_by_author ON book (author);
                CREATE INDEX book_by_age ON book (updated_at DESC, source, key);
                CREATE INDEX episode_with_secret ON episode (book_id) WHERE instr(address, '***');
                DROP INDEX removed_episode;
                CREATE INDEX removed_episode ON episode (removed_at) WHERE removed_at IS NOT NULL;
                CREATE INDEX trashed_file_of_episode ON trashed_file (episode_id);
                CREATE INDEX verified_file_by_round ON verified_file (round);
                CREATE INDEX joined_file_of_book ON joined_file (book_id);
                """)
    }
}
