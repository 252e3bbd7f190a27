import Foundation

/// A book as a catalog's search, or its list of books, tells of it. What the catalog does not tell there is nil.
package struct CatalogEntry: Sendable, Hashable {
    /// The source is the configured source's name, or its kind where none is configured.
    package var identity: BookIdentity
    package var title: String
    package var author: String?
    package var narrator: String?
    /// BCP 47.
    package var language: String?
    package var summary: String?
    package var episodes: Int?
    /// How long it plays.
    package var seconds: Double?
    /// Bytes.
    package var size: Int64?
    /// When the catalog got it.
    package var publishedAt: Date?
    /// The address that names the book, for feeds; nil where its identity does.
    package var address: ResourceAddress?

    package init(identity: BookIdentity, title: String) {
        self.identity = identity
        self.title = title
    }

    /// Whether the book is in a language, given without a region; nil where the catalog does not tell.
    package func isIn(language: String) -> Bool? {
        self.language.map { $0.prefix { $0 != "-" } == language }
    }

    /// What the user writes to name the book: of a feed its address.
    package var reference: String { address == nil ? identity.description : identity.id }
}
