import BookModel
import CatalogStore
import LibraryFiles
import Settings
import ShelfQueries

/// Who listens to the shelf. Works beside a run and beside a server, which notices a change within a second.
package struct UserBook: Sendable {
    private let store: CatalogStore

    /// - Parameters:
    ///   - library: created where it is missing.
    ///   - knownLibraries: what is remembered of libraries, so that one whose disk is not mounted is not begun anew.
    package static func open<Result: Sendable>(
        in library: String, knownLibraries: KnownLibraries? = nil, _ body: (UserBook) async throws -> Result
    ) async throws -> Result {
        try await CatalogStore.opened(in: library, knownLibraries: knownLibraries) {
            try await body(UserBook(store: $0))
        }
    }

    /// Those with a name, by their names; none where there is no library.
    package static func users(of library: String) async throws -> [User] {
        try await ShelfReader.read(library) { try await $0.store.users() } ?? []
    }

    /// - Parameter inherits: whether everything that was listened to without a name becomes theirs.
    /// - Throws: ``Failure`` of kind `usage` when somebody is called so, or nobody can be.
    package func add(_ user: User, inherits: Bool) async throws {
        let name = user.name ?? ""
        try Self.requireName(name)
        guard try await store.add(user, inherits: inherits) else {
            throw Failure(
                .usage, what: "the user is not added", why: "there is a user '\(name)' already",
                remedy: "booksync serve --passwd '\(name)' gives them another password")
        }
    }

    /// - Throws: ``Failure`` of kind `usage` when nobody is called so.
    package func setPassword(_ hash: PasswordHash, of name: String) async throws {
        try Self.require(await store.update(userNamed: name, passwordHash: hash.secretText), name)
    }

    /// - Parameter books: that there are for them; nil for all.
    /// - Throws: ``Failure`` of kind `usage` when nobody is called so.
    package func setBooks(_ books: Set<BookIdentity>?, of name: String) async throws {
        try Self.require(await store.update(userNamed: name, books: .some(books)), name)
    }

    /// Removes a user, with their positions, bookmarks and speeds.
    /// - Throws: ``Failure`` of kind `usage` when nobody is called so.
    package func remove(_ name: String) async throws {
        try Self.require(await store.removeUser(named: name), name)
    }

    /// - Throws: ``Failure`` of kind `usage` when nobody can be called so.
    package static func requireName(_ name: String) throws {
        guard User.canBeName(name) else {
            throw Failure(
                .usage, what: "the user is not added", why: "nobody can be called '\(name)'",
                remedy: "take a name of 1 to 40 characters, without blanks around it")
        }
    }

    /// - Throws: ``Failure`` of kind `usage` when nobody is called so.
    package static func require(_ isKnown: Bool, _ name: String) throws {
        guard isKnown else {
            throw Failure(
                .usage, what: "nothing is changed", why: "there is no user '\(name)'",
                remedy: "booksync serve --list-users tells their names")
        }
    }
}
