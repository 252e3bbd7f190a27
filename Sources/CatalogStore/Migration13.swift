import BookModel
import GRDB

extension StoreSchema {
    /// What served addresses call books and episodes, and indexes for what a run or a page asks.
    static func migrateToVersion13(_ database: Database) throws {
        let slug = DatabaseFunction("slug", argumentCount: 1, pure: true) { values in
            String.fromDatabaseValue(values[0]).map(Slug.init(of:)).flatMap { $0.isDigest ? $0.description : nil }
        }
        database.add(function: slug)
        defer { database.remove(function: slug) }
        try database.execute(
            sql: """
                -- The names of source and book in served addresses; null where both are the catalog's own.
                ALTER TABLE book ADD COLUMN slug TEXT CHECK (slug LIKE '%~%');
                -- The same of an episode.
                ALTER TABLE episode ADD COLUMN slug TEXT CHECK (slug LIKE '~%');
                UPDATE book SET slug = COALESCE(slug(source), source) || '/' || COALESCE(slug(key), key)
                    WHERE COALESCE(slug(source), slug(key)) IS NOT NULL;
                UPDATE episode SET slug = slug(key) WHERE slug(key) IS NOT NULL;
                CREATE INDEX book_by_slug ON book (slug) WHERE slug IS NOT NULL;
                CREATE INDEX episode_by_slug ON episode (book_id, slug) WHERE slug IS NOT NULL;
                CREATE INDEX book_by_author ON book (author);
                CREATE INDEX book_by_age ON book (updated_at DESC, source, key);
                -- Addresses that are stored without their secrets.
                CREATE INDEX episode_with_secret ON episode (book_id) WHERE instr(address, '***');
                DROP INDEX removed_episode;
                CREATE INDEX removed_episode ON episode (removed_at) WHERE removed_at IS NOT NULL;
                CREATE INDEX trashed_file_of_episode ON trashed_file (episode_id);
                CREATE INDEX verified_file_by_round ON verified_file (round);
                CREATE INDEX joined_file_of_book ON joined_file (book_id);
                """)
    }
}
