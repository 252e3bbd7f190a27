import BookModel

/// An answer of a catalog that was saved to a file.
package struct SavedAnswer: Sendable {
    package var bytes: [UInt8]
    /// The answer's `Content-Type`, where that was kept; its charset counts.
    package var contentType: String?
    /// Where the answer came from; nil when that is not known, and then relative addresses lead nowhere.
    package var address: ResourceAddress?

    package init(_ bytes: [UInt8], contentType: String? = nil, address: ResourceAddress? = nil) {
        self.bytes = bytes
        self.contentType = contentType
        self.address = address
    }
}

/// What a saved answer lists.
package struct SavedListing: Sendable {
    /// In the order of the catalog.
    package var episodes: [Episode]
    package var listing: CatalogListing

    package init(episodes: [Episode], listing: CatalogListing) {
        self.episodes = episodes
        self.listing = listing
    }
}

/// A kind of source whose answers can be read without asking for them.
package protocol SavedAnswerReader {
    /// Whether an answer looks like one of this kind. Cheap; looks at the first bytes only.
    static func recognises(_ answer: SavedAnswer) -> Bool

    /// Reads an answer as a listing of that book. No request is sent; what the answer leaves to others (further pages) is
    /// missing, and makes the listing incomplete.
    ///
    /// - Throws: ``Failure`` of kind `unreadableCatalog`.
    static func read(_ answer: SavedAnswer, as book: BookIdentity) throws -> SavedListing
}
