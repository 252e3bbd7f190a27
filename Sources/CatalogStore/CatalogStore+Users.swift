import BookModel
import GRDB

// Positions, bookmarks and speeds belong to a row of the table `user`, which is found by its name. Who may log in, and what
// there is for them, is in a file beside the store. `user_book` is no longer written, and `password_hash` is `*`.

extension CatalogStore {
    /// Users as the store of a pre-release kept them, by their names. One without a password may see nothing.
    package func storedUsers() async throws -> [User] {
        try await read("the users cannot be read") { database in
            let sql = """
                SELECT u.id, u.name, u.password_hash, u.limited OR u.password_hash = '*', b.source, b.key FROM user u
                LEFT JOIN user_book b ON b.user_id = u.id WHERE u.name IS NOT NULL ORDER BY u.name, u.id
                """
            let rows = try Row.fetchCursor(database.cachedStatement(sql: sql))
            var users: [User] = []
            while let row = try rows.next() {
                var columns = ColumnReader(row)
                let id = try columns.next(Int64.self)
                let (name, hash) = (try columns.next(String.self), try columns.next(String.self))
                let isLimited = try columns.next(Bool.self)
                if users.last?.id != id {
                    users.append(User(id: id, name: name, passwordHash: hash, books: isLimited ? [] : nil))
                }
                guard !columns.isNull else { continue }
                let book = try BookIdentity(source: columns.next(), id: columns.next())
                users[users.count - 1].books?.insert(book)
            }
            return users
        }
    }

    /// Removes the passwords that a pre-release kept.
    package func removeStoredPasswords() async throws {
        try await write("the user cannot be changed", .durable) { database in
            try database.execute(sql: "UPDATE user SET password_hash = '*' WHERE id > ?", arguments: [User.owner.id])
        }
    }

    /// - Returns: nil where nothing is recorded for a user of that name.
    package func userID(named name: String) async throws -> User.ID? {
        try await read("the users cannot be read") { try $0.userID(named: name) }
    }

    /// The number by which things are recorded for a user.
    /// - Parameter inherits: whether everything that the owner listened to becomes theirs.
    @discardableResult
    package func addUser(named name: String, inherits: Bool = false) async throws -> User.ID {
        try await write("the user cannot be added", .durable) { database in
            try database.run(
                "INSERT INTO user (name, password_hash) VALUES (?, '*') ON CONFLICT (name) DO NOTHING", [name])
            let id = try database.userID(named: name) ?? database.lastInsertedRowID
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
        try await write("the user cannot be removed", .durable) { database in
            try database.run("DELETE FROM user WHERE name = ?", [name])
        }
    }
}

extension Database {
    fileprivate func userID(named name: String) throws -> User.ID? {
        try value("SELECT id FROM user WHERE name = ?", [name])
    }
}
