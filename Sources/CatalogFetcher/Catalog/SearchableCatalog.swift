import BookModel
import Foundation

/// What is looked for in catalogs.
package struct CatalogQuery: Sendable, Hashable {
    /// In titles, authors and narrators; empty for anything.
    package var text: String
    package var author: String?
    /// BCP 47, without a region: `zh`.
    package var language: String?
    /// Of one catalog at most.
    package var limit: Int

    package init(text: String = "", author: String? = nil, language: String? = nil, limit: Int = 20) {
        (self.text, self.author, self.language, self.limit) = (text, author, language, limit)
    }
}

extension CatalogQuery {
    /// Whether a book is not one of another language or author, for catalogs that do not look at these.
    func admits(_ entry: CatalogEntry) -> Bool {
        if let language, entry.isIn(language: language) == false { return false }
        guard let author, let own = entry.author else { return true }
        return own.localizedCaseInsensitiveContains(author)
    }
}

extension CatalogEntry {
    /// What a catalog says of a book; without a title it is its id.
    init(_ identity: BookIdentity, _ description: BookDescription) {
        self.init(identity: identity, title: description.title ?? identity.id)
        (author, narrator) = (description.author, description.narrator)
        (language, summary) = (description.language, description.summary)
    }
}

/// A catalog that can be asked which books it has.
package protocol SearchableCatalog: Sendable {
    /// Whether it returns all that it has, whatever is looked for. The others do their own matching.
    var isListing: Bool { get }

    /// - Returns: the catalog's best first, ``CatalogQuery/limit`` at most.
    /// - Throws: as ``CatalogSource/list(_:onPage:)`` does.
    func search(_ query: CatalogQuery) async throws -> [CatalogEntry]
}

extension SearchableCatalog {
    package var isListing: Bool { false }
}

/// A part of a list of books.
package struct CollectionPage: Sendable, Hashable {
    package var entries: [CatalogEntry]
    /// How many books the catalog declares for the whole list.
    package var declared: Int?
    /// Where the next page begins; nil behind the last one.
    package var next: String?

    package init(entries: [CatalogEntry], declared: Int? = nil, next: String? = nil) {
        (self.entries, self.declared, self.next) = (entries, declared, next)
    }
}

/// A list of books: all of an author, a collection of the Internet Archive, an OPDS feed.
///
/// Not guaranteed: that pages hold different books, nor that they end. Whoever reads them stops at a page without a new one.
package protocol BookCollection: Sendable {
    /// - Parameter cursor: ``CollectionPage/next`` of the page before; nil for the first one.
    /// - Throws: as ``CatalogSource/list(_:onPage:)`` does; with the reason `expiredCursor` where the list has to be read from
    ///   its beginning.
    func page(at cursor: String?) async throws -> CollectionPage
}
