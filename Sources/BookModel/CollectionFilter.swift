/// Which books of a list a subscription to it follows, beside what their titles and dates say. Everything that is set must hold.
package struct CollectionFilter: Sendable, Hashable {
    /// BCP 47, without a region: `zh`. A book whose catalog does not tell its language is left out.
    package var language: String?
    /// A book whose catalog does not tell how long it plays passes.
    package var minHours: Double?
    /// The first ones of the list.
    package var maxBooks: Int?
    /// Which of them this worker follows; nil for all. No subscription says it.
    package var shard: Shard?

    package init(language: String? = nil, minHours: Double? = nil, maxBooks: Int? = nil) {
        (self.language, self.minHours, self.maxBooks) = (language, minHours, maxBooks)
    }

    package var isEmpty: Bool { self == CollectionFilter() }
}

extension BookIdentity {
    private static let kindsOfCollection = ["collection", "search", "author", "language", "library", "feed", "opml"]

    /// Which list of books it names: `internet-archive:collection:librivoxaudio` is the `collection` of that name; nil for a book.
    package var collection: (kind: String, name: String)? {
        guard let colon = id.firstIndex(of: ":"), Self.kindsOfCollection.contains(String(id[..<colon])) else {
            return nil
        }
        return (String(id[..<colon]), String(id[id.index(after: colon)...]))
    }

    /// Whether it names a list of books, and no book.
    package var isCollection: Bool { collection != nil }
}
