import BookModel
import Foundation
import GRDB

extension CatalogStore {
    /// Those with a name, by their names.
    package func users() async throws -> [User] {
        try await read("the users cannot be read") { database in
            let sql = """
                SELECT u.id, u.name, u.password_hash, u.limited, b.source, b.key FROM user u
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

    /// Adds a user.
    /// - Parameters:
    ///   - user: its ``User/id`` does not count.
    ///   - inherits: whether everything that the owner listened to becomes theirs.
    /// - Returns: whether nobody was called so before; else nothing is changed.
    package func add(_ user: User, inherits: Bool) async throws -> Bool {
        try await write("the user cannot be added", .durable) { database in
            let known = try Bool.fetchOne(
                database, sql: "SELECT EXISTS (SELECT 1 FROM user WHERE name = ?)", arguments: [user.name])
            guard known == false else { return false }
            try database.execute(
                sql: "INSERT INTO user (name, password_hash, limited) VALUES (?, ?, ?)",
                arguments: [user.name, user.passwordHash, user.isLimited])
            let id = database.lastInsertedRowID
            try database.setBooks(user.books ?? [], ofUser: id)
            guard inherits else { return true }
            for table in ["listening_position", "bookmark", "book_listening"] {
                try database.execute(
                    sql: "UPDATE \(table) SET user_id = ? WHERE user_id = ?", arguments: [id, User.owner.id])
            }
            return true
        }
    }

    /// Changes what lets a user in, or what there is for them.
    /// - Returns: whether there is one of that name.
    package func update(
        userNamed name: String, passwordHash: String? = nil, books: Set<BookIdentity>?? = nil
    ) async throws -> Bool {
        try await write("the user cannot be changed", .durable) { database in
            guard let id = try database.userID(named: name) else { return false }
            if let passwordHash {
                try database.execute(
                    sql: "UPDATE user SET password_hash = ? WHERE id = ?", arguments: [passwordHash, id])
            }
            if let books {
                try database.execute(
                    sql: "UPDATE user SET limited = ? WHERE id = ?", arguments: [books != nil, id])
                try database.setBooks(books ?? [], ofUser: id)
            }
            return true
        }
    }

    /// Removes a user, with all their positions, bookmarks and speeds.
    /// - Returns: whether there was one.
    package func removeUser(named name: String) async throws -> Bool {
        try await write("the user cannot be removed", .durable) { database in
            guard let id = try database.userID(named: name) else { return false }
            try database.execute(sql: "DELETE FROM user WHERE id = ?", arguments: [id])
            return true
        }
    }
}

extension Database {
    fileprivate func userID(named name: String) throws -> Int64? {
        try Int64.fetchOne(self, sql: "SELECT id FROM user WHERE name = ?", arguments: [name])
    }

    fileprivate func setBooks(_ books: Set<BookIdentity>, ofUser id: Int64) throws {
        try execute(sql: "DELETE FROM user_book WHERE user_id = ?", arguments: [id])
        for book in books {
            try execute(
                sql: "INSERT INTO user_book (user_id, source, key) VALUES (?, ?, ?)",
                arguments: [id, book.source, book.id])
        }
    }
}
