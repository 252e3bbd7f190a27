import BookModel
import CatalogFetcher
import LibraryFiles

/// The books on a shelf that are named by their addresses, to be found by any spelling of these.
package struct AddressedBooks {
    /// By ``FeedSettings/commonForm(ofID:)`` of what they are found by: their ids, and the addresses that are recorded of them.
    private var books: [String: [(id: String, book: BookIdentity)]] = [:]

    package init(_ shelf: [BookIdentity], of configuration: Configuration) {
        for book in shelf where book.id.contains("://") {
            guard let kind = configuration.source(named: book.source)?.kind, Self.kinds.contains(kind) else { continue }
            add(book, called: book.id)
        }
        for (book, address) in AddressFile.all(in: configuration.library)
        where configuration.source(named: book.source) != nil {
            add(book, called: FeedSettings.bookID(of: address))
        }
    }

    /// The kinds of source that do so.
    private static let kinds: Set<SourceKind> = [.feed, .directory, .opds]

    private mutating func add(_ book: BookIdentity, called id: String) {
        books[FeedSettings.commonForm(ofID: id), default: []].append((id, book))
    }

    /// - Returns: of several, the one that is spelled like the address.
    package func book(at address: ResourceAddress) -> BookIdentity? { book(called: FeedSettings.ids(of: address)) }

    private func book(called ids: [String]) -> BookIdentity? {
        let alike = Set(ids.map(FeedSettings.commonForm)).flatMap { books[$0] ?? [] }
        let found =
            alike.first { ids.contains($0.id) }
            ?? alike.first { known in ids.contains { FeedSettings.areSame(known.id, $0) } }
        return found?.book
    }

    /// The book as it is known already: a redirect may have led to another spelling of its address.
    /// - Parameter twin: the book of the library that has the same episodes, at another address.
    package mutating func known(_ book: BookIdentity, or twin: BookIdentity? = nil) -> BookIdentity {
        guard book.id.contains("://") else { return book }
        if let known = self.book(called: [book.id]) ?? twin { return known }
        add(book, called: book.id)
        return book
    }
}
