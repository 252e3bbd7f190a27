import BookModel
import CatalogFetcher

/// The books on a shelf that are named by their addresses, to be found by any spelling of these.
package struct AddressedBooks {
    /// By ``FeedSettings/commonForm(ofID:)``.
    private var books: [String: [BookIdentity]] = [:]

    package init(_ shelf: [BookIdentity], of configuration: Configuration) {
        for book in shelf where book.id.contains("://") {
            guard let kind = configuration.source(named: book.source)?.kind, Self.kinds.contains(kind) else { continue }
            add(book)
        }
    }

    /// The kinds of source that do so.
    private static let kinds: Set<SourceKind> = [.feed, .directory, .opds]

    private mutating func add(_ book: BookIdentity) {
        books[FeedSettings.commonForm(ofID: book.id), default: []].append(book)
    }

    /// - Returns: of several, the one that is spelled like the address.
    package func book(at address: ResourceAddress) -> BookIdentity? { book(called: FeedSettings.ids(of: address)) }

    private func book(called ids: [String]) -> BookIdentity? {
        let alike = Set(ids.map(FeedSettings.commonForm)).flatMap { books[$0] ?? [] }
        return alike.first { ids.contains($0.id) }
            ?? alike.first { book in ids.contains { FeedSettings.areSame(book.id, $0) } }
    }

    /// The book as it is known already: a redirect may have led to another spelling of its address.
    package mutating func known(_ book: BookIdentity) -> BookIdentity {
        guard book.id.contains("://") else { return book }
        if let known = self.book(called: [book.id]) { return known }
        add(book)
        return book
    }
}
