/// Names one book: the configured source that lists it, and the id that the source knows it by.
///
/// Written `source:id`; the id is the catalog's own and may be any text, so only the first colon separates.
package struct BookIdentity: Hashable, Sendable, Codable, Comparable, CustomStringConvertible {
    package let source: String
    package let id: String

    package init(source: String, id: String) {
        self.source = source
        self.id = id
    }

    package var description: String { "\(source):\(id)" }

    package static func < (one: Self, other: Self) -> Bool {
        (one.source, one.id) < (other.source, other.id)
    }
}

/// Names one episode for ever: its book and the key under which the catalog keeps it.
///
/// The key is the catalog's identity of the episode, never its address: addresses rotate, titles get corrected, and
/// neither may fetch a file twice.
package struct EpisodeIdentity: Hashable, Sendable, CustomStringConvertible {
    package let book: BookIdentity
    package let key: String

    package init(book: BookIdentity, key: String) {
        self.book = book
        self.key = key
    }

    package var description: String { "\(book)#\(key)" }
}
