import GRDB

extension StoreSchema {
    /// The folders that a subscription is filed under.
    static func createTags(_ database: Database) throws {
        try database.execute(
            sql: """
                -- The names of folders within each other, the outermost first, one a line.
                CREATE TABLE subscription_tag (
                    source TEXT NOT NULL,
                    key TEXT NOT NULL,
                    path TEXT NOT NULL CHECK (path <> ''),
                    UNIQUE (source, key, path),
                    FOREIGN KEY (source, key) REFERENCES subscription (source, key) ON DELETE CASCADE
                ) STRICT;
                """)
    }
}
