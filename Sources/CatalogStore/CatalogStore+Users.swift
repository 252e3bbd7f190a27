import BookModel
import GRDB

// Positions, bookmarks and speeds belong to a row of the table `user`, which is found by its name. Who may log in, and what
// there is for them, is in a file beside the store.

extension CatalogStore {
    /// The users for whom anything is recorded, by their names, as they are where that file is lost: without a password, and with
    /// no book that they may see.
    package func storedUsers() async throws -> [User] {
        try await rows("the users cannot be read", "SELECT id, name FROM user WHERE name IS NOT NULL ORDER BY name") {
            columns in
            User(id: try columns.next(), name: try columns.next(), passwordHash: "*", books: [])
        }
    }

    private static let userID = "SELECT id FROM user WHERE name = ?"

    /// - Returns: nil where nothing is recorded for a user of that name.
    package func userID(named name: String) async throws -> User.ID? {
        try await value("the users cannot be read", Self.userID, [name])
    }

    /// The number by which things are recorded for a user.
    /// - Parameter inherits: whether everything that the owner listened to becomes theirs.
    @discardableResult
    package func addUser(named name: String, inherits: Bool = false) async throws -> User.ID {
        try await write("the user cannot be added", .durable) { database in
            try database.run("INSERT INTO user (name) VALUES (?) ON CONFLICT (name) DO NOTHING", [name])
            let id = try database.value(Self.userID, [name]) ?? database.lastInsertedRowID
            guard inherits else { return id }
            for table in ["listening_position", "bookmark", "book_listening"] {
                try database.run(
                    "UPDATE OR REPLACE \(table) SET user_id = ? WHERE user_id = ?", [id, User.owner.id])
            }
            return id
        }
    }

    /// Removes all positions, bookmarks and speeds of a user.
    package func removeUser(named name: String) async throws {
        try await run("the user cannot be removed", .durable, "DELETE FROM user WHERE name = ?", [name])
    }
}
