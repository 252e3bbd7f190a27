import GRDB

extension StoreSchema {
    /// How many episodes a run did not fetch, by why it did not.
    static func addCountsOfMissing(to database: Database) throws {
        for count in ["held_back", "paused", "removed", "gone", "filtered"] {
            try database.execute(sql: "ALTER TABLE run ADD COLUMN \(count) INTEGER NOT NULL DEFAULT 0")
        }
        // What is remembered of plans does not say it yet: it is told by its fingerprint, and made once more.
        for count in ["removed", "gone", "filtered"] {
            try database.execute(
                sql: "ALTER TABLE settled_plan ADD COLUMN \(count) INTEGER NOT NULL DEFAULT 0 CHECK (\(count) >= 0)")
        }
    }
}
