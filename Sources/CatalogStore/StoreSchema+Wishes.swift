import GRDB

extension StoreSchema {
    /// What a subscription wants beside its episodes: since when, in which order, and how much of it at a time.
    static func addWishes(to database: Database) throws {
        try database.execute(
            sql: """
                ALTER TABLE subscription ADD COLUMN since TEXT CHECK (since <> '');
                ALTER TABLE subscription ADD COLUMN transfer_order TEXT
                    CHECK (transfer_order IN ('first', 'last', 'listed'));
                ALTER TABLE subscription ADD COLUMN max_episodes INTEGER CHECK (max_episodes > 0);
                ALTER TABLE subscription ADD COLUMN max_bytes INTEGER CHECK (max_bytes > 0);
                """)
    }
}
