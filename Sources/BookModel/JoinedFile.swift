/// A file that booksync made of the episodes of a book.
package struct JoinedFile: Sendable, Hashable {
    /// Relative to the library where it is in there, else absolute.
    package var path: String
    package var book: BookIdentity
    /// Bytes.
    package var size: Int64
    /// Nanoseconds since 1970.
    package var modificationTime: Int64
    /// Digests of all that it was made of: with how, and without.
    package var madeOf: String

    package init(path: String, book: BookIdentity, size: Int64, modificationTime: Int64, madeOf: String) {
        (self.path, self.book, self.size) = (path, book, size)
        (self.modificationTime, self.madeOf) = (modificationTime, madeOf)
    }
}
