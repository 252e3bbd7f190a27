/// What the books of a shelf add up to.
package struct ShelfSum: Sendable, Hashable {
    package var books: Int
    /// On disk, as are ``bytes``.
    package var episodes: Int
    package var bytes: Int64

    package init(books: Int = 0, episodes: Int = 0, bytes: Int64 = 0) {
        (self.books, self.episodes, self.bytes) = (books, episodes, bytes)
    }

    package init(_ books: [BookSummary]) {
        self.init(books: books.count)
        for book in books { self += ShelfSum(episodes: book.present, bytes: book.bytes) }
    }

    package static func += (sum: inout ShelfSum, other: ShelfSum) {
        sum.books.addSaturated(other.books)
        sum.episodes.addSaturated(other.episodes)
        sum.bytes.addSaturated(other.bytes)
    }
}
