/// What is recorded of a file that booksync wrote for players and servers, so that it can tell its own from those that
/// the user made or changed.
package struct ExportedFile: Sendable, Hashable {
    /// Relative to the library.
    package var path: String
    package var book: BookIdentity
    /// The word for what it is: `opf`.
    package var kind: String
    /// Of what was written last, or is about to be: lower-case hexadecimal.
    package var sha256: String
    /// Of what was there before. A run that is killed between recording and writing leaves this one.
    package var previous: String?
    /// Where its content came from, without secrets; nil for what is made of the store.
    package var origin: String?

    package init(
        path: String, book: BookIdentity, kind: String, sha256: String, previous: String? = nil, origin: String? = nil
    ) {
        self.path = path
        self.book = book
        self.kind = kind
        self.sha256 = sha256
        self.previous = previous
        self.origin = origin
    }

    /// Whether a file of this digest is one that booksync wrote here.
    package func wrote(_ digest: String) -> Bool { digest == sha256 || digest == previous }
}
