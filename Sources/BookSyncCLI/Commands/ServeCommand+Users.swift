import ArgumentParser
import BookModel
import BookSync
import BookSyncWeb
import LibraryFiles
import Settings

/// Who logs in to the shelf with a name of their own.
struct UserOptions: ParsableArguments {
    @Option(
        help: .words(
            "Add a user with positions, bookmarks and a password of their own (asked for, or one line of standard input), "
                + "and end.", valueName: "name"))
    var addUser: String?

    @Flag(help: .words("Print the users and what each may see, and end."))
    var listUsers = false

    @Option(
        help: .words(
            "Remove a user with all their positions and bookmarks, and end.", valueName: "name"))
    var removeUser: String?

    @Option(help: .words("Ask for a new password of a user, and end.", valueName: "name"))
    var passwd: String?

    @Option(
        help: .words(
            "Change what a user may see to --books, or to all without it, and end. Add --no-read-only to let them change the "
                + "library, too.",
            valueName: "name"))
    var booksOf: String?

    @Option(
        parsing: .upToNextOption,
        help: .words(
            "What the user may see; such a user listens, and changes nothing else. Default: all.", valueName: "ref"),
        completion: .books)
    var books: [String] = []

    @Flag(name: [.short, .long], help: .words("Remove a user without asking."))
    var yes = false

    /// How many things are asked for.
    var count: Int { [addUser, removeUser, passwd, booksOf].count { $0 != nil } + (listUsers ? 1 : 0) }

    /// True if a user's rights are set.
    var takesRights: Bool { addUser != nil || booksOf != nil }

    func validate() throws {
        if count > 1 { throw ValidationError(.words("Use one option about users at a time.")) }
        if !books.isEmpty, !takesRights {
            throw ValidationError(.words("--books is what --add-user or --books-of may see."))
        }
        if yes, removeUser == nil { throw ValidationError(.words("--yes answers --remove-user.")) }
    }
}

extension ServeCommand {
    /// Does what is asked for about users; a server that runs notices within a second.
    func changeUsers(in program: Program) async throws -> ExitStatus {
        let configuration = try await program.libraryConfiguration(naming: users.books)
        let book = UserBook(of: configuration.library, knownLibraries: program.knownLibraries)
        if users.listUsers { return try await listUsers(of: book, program) }
        if let name = users.removeUser { return try await removeUser(name, of: book, program) }
        if let name = users.passwd {
            try await book.require(name)
            try await book.setPassword(newHash(program), of: name)
            await program.print(
                ["event": "user_password_set", "user": .string(name)],
                or: ["\(name) has a new password: they have to log in again, and their podcast apps to subscribe again"]
            )
            return .done
        }
        let books = try await seenBooks(configuration)
        if let name = users.booksOf {
            try await book.setBooks(books, isReadOnly: readOnly, of: name)
            let changed = try await book.users().filter { $0.name == name }
            await program.print(
                ["event": "user_changed", "user": .string(name)],
                or: changed.map { "\(name) sees \(Self.sight(of: $0))" })
            return .done
        }
        let user = User(id: 0, name: users.addUser, books: books, isReadOnly: readOnly ?? false)
        try await add(user, to: book, isGuarded: configuration.serve.asksWhoComes, program)
        return .done
    }

    private func add(_ user: User, to book: UserBook, isGuarded: Bool, _ program: Program) async throws {
        var user = user
        let others = try await book.users()
        let name = user.name ?? ""
        try UserBook.requireNew(name, among: others)
        user.passwordHash = try await newHash(program).secretText
        // Without a password for the shelf itself nobody could come to what was listened to without a name any more.
        let inherits = others.isEmpty && !user.isLimited && !isGuarded
        try await book.add(user, inherits: inherits)
        await program.print(
            ["event": "user_added", "user": .string(name), "inherits": .bool(inherits)],
            or: ["\(name) may log in, and sees \(Self.sight(of: user))"])
        await program.note(
            inherits ? "what was listened to until now is \(name)'s; from now on everybody has to log in" : nil)
    }

    private func listUsers(of book: UserBook, _ program: Program) async throws -> ExitStatus {
        let users = try await book.users()
        await program.print(
            .array(
                users.map { user in
                    [
                        "name": .init(user.name),
                        "books": user.books.map { .array($0.sorted().map { .string("\($0)") }) } ?? .null,
                        "read_only": .bool(user.isLimited),
                    ]
                }), or: users.map { "\($0.name ?? ""): \(Self.sight(of: $0))" })
        await program.note(users.isEmpty ? "there are no users; booksync serve --add-user NAME adds one" : nil)
        return .done
    }

    private func removeUser(_ name: String, of book: UserBook, _ program: Program) async throws -> ExitStatus {
        try await book.require(name)
        guard
            users.yes
                ? true
                : try await StandardInput.confirms(
                    "Remove \(name), with all their positions and bookmarks?", what: "\(name) is not removed",
                    remedy: "say --yes to remove them", in: program.words)
        else {
            await program.streams.writeError("nobody was removed")
            return .done
        }
        try await book.remove(name)
        await program.print(["event": "user_removed", "user": .string(name)], or: ["\(name) is removed"])
        return .done
    }

    private func newHash(_ program: Program) async throws -> PasswordHash {
        let password = try await program.streams.newPassword()
        return try await runBlocking { try PasswordHash.make(of: password) }
    }

    /// - Returns: nil for all.
    /// - Throws: ``Failure``, of kind `unknownBook` for what is not on the shelf.
    private func seenBooks(_ configuration: Configuration) async throws -> Set<BookIdentity>? {
        guard !users.books.isEmpty else { return nil }
        let wanted = try users.books.map { try configuration.book(BookReference(parsing: $0)) }
        let found = try await ShelfReader.read(configuration.library) { try await $0.books(wanted) }
        guard found != nil else { throw Failure.notOnTheShelf(wanted[0]) }
        return Set(wanted)
    }

    private static func sight(of user: User) -> Message {
        guard let books = user.books else { return user.isReadOnly ? "all books, and changes nothing" : "all books" }
        return books.isEmpty ? "no books" : Message(verbatim: books.sorted().map(\.description).joined(separator: ", "))
    }
}
