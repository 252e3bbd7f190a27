/// Somebody who listens, with positions, bookmarks and speeds of their own. Encoded only into the file of the users.
package struct User: Sendable, Hashable, Identifiable, Codable {
    package typealias ID = Int64

    package var id: ID
    /// What they log in as; nil for ``owner``.
    package var name: String?
    /// Salted and stretched, in the PHC string format; nil for ``owner``, whose password the configuration has.
    package var passwordHash: String?
    /// The books that there are for them; nil for all.
    package var books: Set<BookIdentity>?
    /// True if they may change nothing in the library.
    package var isReadOnly: Bool
    /// The key by which their podcast apps come without a password; nil for ``owner``, whose key is among those of the server.
    package var appsKey: String?

    package init(
        id: ID, name: String?, passwordHash: String? = nil, books: Set<BookIdentity>? = nil, isReadOnly: Bool = false
    ) {
        self.id = id
        self.name = name
        self.passwordHash = passwordHash
        self.books = books
        self.isReadOnly = isReadOnly
    }

    /// Whoever comes with the shelf's own password, or needs none.
    package static let owner = User(id: 0, name: nil)

    /// True if they listen, and change nothing else: those who see some books only, and those who are read-only.
    package var isLimited: Bool { books != nil || isReadOnly }

    package func maySee(_ book: BookIdentity) -> Bool { books?.contains(book) ?? true }

    /// Whether somebody can be called so: 1 to 40 characters, no blanks at the ends, nothing that does not print.
    package static func canBeName(_ text: String) -> Bool {
        (1...40).contains(text.count) && text.first?.isWhitespace == false && text.last?.isWhitespace == false
            && text.unicodeScalars.allSatisfy { scalar in
                switch scalar.properties.generalCategory {
                case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
                default: true
                }
            }
    }
}

extension User: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { name ?? "the owner" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
