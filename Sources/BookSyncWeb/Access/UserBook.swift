import BookModel
import BookSync
import CatalogStore
import Foundation
import LibraryFiles
import Settings

/// The users who log in to a library with a name. Works beside a run and beside a server, which notices a change within a second.
package struct UserBook: Sendable {
    private let library: String
    private let knownLibraries: KnownLibraries?
    private var file: UserFile { UserFile(library: library) }

    /// - Parameters:
    ///   - library: absolute path of its folder.
    ///   - knownLibraries: what is remembered of libraries, so that one whose disk is not mounted is not begun anew.
    package init(of library: String, knownLibraries: KnownLibraries? = nil) {
        self.library = library
        self.knownLibraries = knownLibraries
    }

    /// The users by their names; none where there is no library.
    /// - Throws: ``Failure`` where they cannot be read: nobody may be let in then.
    package func users() async throws -> [User] {
        if let users = try await runBlocking({ try file.read() }) { return users }
        try await knownLibraries?.requireMounted(library)
        // Where the file was deleted, the users are locked out. Without any, everybody would be let in as the owner.
        var stored = try await ShelfReader.read(library) { try await $0.store.storedUsers() } ?? []
        guard !stored.isEmpty else { return [] }
        for index in stored.indices { stored[index].appsKey = ServeKeys.newAppsKey() }
        return try await runBlocking { [stored] in try file.change(creatingWith: stored) }
    }

    /// Adds a user to the library, which is created where it is missing.
    /// - Parameters:
    ///   - user: its ``User/id`` does not count.
    ///   - inherits: whether everything that was listened to without a name becomes theirs.
    /// - Throws: ``Failure`` of kind `usage` if the name is taken or not valid.
    package func add(_ user: User, inherits: Bool) async throws {
        let name = user.name ?? ""
        try Self.requireNew(name, among: await users())
        try await withStore { store in
            // From here on, so that no other process takes who is being added for a user whose file was deleted.
            let lock = try await runBlocking { file.lock() }
            defer { close(lock) }
            // Before they can log in, so that what was listened to is theirs if this is interrupted. What an earlier user of
            // that name left is not.
            if !inherits { try await store.removeUser(named: name) }
            try await store.addUser(named: name, inherits: inherits)
            try await runBlocking {
                _ = try file.change(creatingWith: [], holding: lock) { users in
                    try Self.requireNew(name, among: users)
                    var user = user
                    user.appsKey = ServeKeys.newAppsKey()
                    // No number is used a second time, and JSON has 53 bits for it.
                    user.id = .random(in: 1..<1 << 53)
                    users.append(user)
                }
            }
        }
    }

    /// Sets the password, and ends the address of the user's podcast apps.
    /// - Throws: ``Failure`` of kind `usage` if there is no such user.
    package func setPassword(_ hash: PasswordHash, of name: String) async throws {
        try await change(name) { user in
            user.passwordHash = hash.secretText
            user.appsKey = ServeKeys.newAppsKey()
        }
    }

    /// - Parameters:
    ///   - books: that there are for them; nil for all.
    ///   - isReadOnly: nil if they may change what they could change before.
    /// - Throws: ``Failure`` of kind `usage` if there is no such user.
    package func setBooks(_ books: Set<BookIdentity>?, isReadOnly: Bool?, of name: String) async throws {
        try await change(name) { ($0.books, $0.isReadOnly) = (books, isReadOnly ?? $0.isLimited) }
    }

    /// Removes a user, with their positions, bookmarks and speeds.
    /// - Throws: ``Failure`` of kind `usage` if there is no such user.
    package func remove(_ name: String) async throws {
        try await require(name)
        // First of all they are locked out, also while a run holds the store.
        _ = try await runBlocking { try file.change { $0.removeAll { $0.name == name } } }
        try await withStore { try await $0.removeUser(named: name) }
    }

    private func change(_ name: String, _ body: @escaping @Sendable (inout User) -> Void) async throws {
        try await require(name)
        _ = try await runBlocking {
            try file.change { users in
                guard let index = users.firstIndex(where: { $0.name == name }) else { throw Self.unknown(name) }
                body(&users[index])
            }
        }
    }

    private func withStore<Result: Sendable>(_ body: (CatalogStore) async throws -> Result) async throws -> Result {
        try await CatalogStore.opened(in: library, knownLibraries: knownLibraries, body)
    }

    /// - Throws: ``Failure`` of kind `usage` if the name is taken or not valid.
    package static func requireNew(_ name: String, among users: [User]) throws {
        guard !users.contains(where: { $0.name == name }) else {
            throw Failure(
                .usage, what: "the user is not added", why: "there is a user '\(name)' already",
                remedy: "booksync serve --passwd '\(name)' gives them another password")
        }
        guard User.canBeName(name) else {
            throw Failure(
                .usage, what: "the user is not added", why: "'\(name)' is not a valid user name",
                remedy: "take a name of 1 to 40 characters, without blanks around it")
        }
    }

    /// - Throws: ``Failure`` of kind `usage` if there is no such user.
    package func require(_ name: String) async throws {
        guard try await users().contains(where: { $0.name == name }) else { throw Self.unknown(name) }
    }

    static func unknown(_ name: String) -> Failure {
        Failure(
            .usage, what: "nothing is changed", why: "there is no user '\(name)'",
            remedy: "booksync serve --list-users lists them")
    }
}
