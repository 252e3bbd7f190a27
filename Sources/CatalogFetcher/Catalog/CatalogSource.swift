import BookModel

/// Takes the pages of a listing.
package typealias PageHandler = (CatalogPage) async throws -> Void

/// Where books are listed. Each kind of source implements it; nobody else knows how a catalog is spoken to.
package protocol CatalogSource: Sendable {
    /// Asks the catalog for all episodes of a book, and for what it says of the book itself.
    ///
    /// Pages are decoded as they arrive and handed on one by one; the next one is asked for when `onPage` returns.
    /// The episodes of all pages are distinct. Whatever `onPage` throws ends the listing and is thrown on.
    ///
    /// - Throws: ``Failure`` of kind `unknownBook`, `unreadableCatalog`, `catalogUnavailable`, `credentialsRejected` or
    ///   `configuration`; `CancellationError`.
    func list(_ book: BookIdentity, onPage: PageHandler) async throws -> CatalogListing

    /// Asks the catalog as ``list(_:onPage:)`` does, but only if it changed since a complete listing of the book that
    /// came with `validator` (``ListingProof/validator``).
    ///
    /// - Returns: nil when the catalog says that nothing changed; `onPage` was not called then. Catalogs that cannot say
    ///   so are listed.
    func list(
        _ book: BookIdentity, ifChangedSince validator: ListingValidator, onPage: PageHandler
    ) async throws -> CatalogListing?
}

/// A catalog whose files are on a second server as well.
package protocol MirroredCatalog: CatalogSource {
    /// The addresses on the second server, by the keys of the episodes.
    ///
    /// - Throws: as ``list(_:onPage:)`` does.
    func mirrorAddresses(of book: BookIdentity) async throws -> [String: ResourceAddress]
}

extension CatalogSource {
    package func list(
        _ book: BookIdentity, ifChangedSince validator: ListingValidator, onPage: PageHandler
    ) async throws -> CatalogListing? {
        try await list(book, onPage: onPage)
    }
}

/// Some episodes of a book, in the order of the catalog.
package struct CatalogPage: Sendable, Hashable {
    package var episodes: [Episode]
    /// How many episodes the catalog declares for the whole book, as far as it has said so by now.
    package var declared: Int?
}

/// What remains to be told when all pages are read.
package struct CatalogListing: Sendable, Hashable {
    package var proof: ListingProof
    package var description = BookDescription()
    /// What the names of the episodes have in common. It may change as episodes appear: a title that is already known
    /// is better kept.
    package var inferredTitle: String?
    /// The catalog's new permanent address by the server's redirects; nil without one.
    package var movedTo: ResourceAddress?
    /// The new address that the catalog itself names, which may be a mistake; nil without one.
    package var successor: ResourceAddress?

    /// The book as this listing alone shows it; without any title it is `Book` and its id.
    package func book(_ identity: BookIdentity) -> Book {
        Book(
            identity: identity, title: description.title ?? inferredTitle ?? Book.untitled(identity),
            author: description.author, narrator: description.narrator, summary: description.summary,
            language: description.language, cover: description.cover, declaredEpisodes: proof.declared,
            isComplete: proof.isComplete)
    }
}

/// What the catalog says of a book. What it does not say, or could not be asked for this time, is nil.
package struct BookDescription: Sendable, Hashable {
    package var title: String?
    package var author: String?
    package var narrator: String?
    package var summary: String?
    /// BCP 47.
    package var language: String?
    package var cover: ResourceAddress?
}

extension BookDescription {
    /// Of a JSON object, in the words of the W3C's and Readium's manifests, and of Audiobookshelf.
    init(_ object: JSONValue) {
        for (key, value) in object.members {
            switch key {
            case "title", "name": title = value.names().first
            case "author", "authors", "authorName": author = value.joinedNames ?? author
            case "narrator", "readBy", "narrators", "narratorName": narrator = value.joinedNames ?? narrator
            case "language", "inLanguage": language = value.names().first.flatMap(CatalogText.language)
            case "description": summary = value.string.flatMap(HTMLText.paragraph)
            default: break
            }
        }
    }
}
