import BookModel
import Foundation
import GRDB

/// What is known of an episode that may be one of a listing.
package struct KnownEpisode: Sendable, Hashable {
    package var key: String
    /// ``Episode/rawKey``, as it was first listed.
    package var rawKey: String?
    package var section: Int
    package var name: String
    package var publishedAt: Date?
    /// Without secrets.
    package var address: String?

    package init(
        key: String, rawKey: String? = nil, section: Int, name: String, publishedAt: Date? = nil,
        address: String? = nil
    ) {
        self.key = key
        self.rawKey = rawKey
        self.section = section
        self.name = name
        self.publishedAt = publishedAt
        self.address = address
    }
}

extension CatalogStore {
    /// The episodes of a book as listings need them to tell which is which, those that are gone included.
    package func knownEpisodes(of book: BookIdentity) async throws -> [KnownEpisode] {
        try await read("the episodes of \(book) cannot be looked up") { database in
            let sql = """
                SELECT e.key, e.raw_key, e.section, e.name, e.published_at, e.address
                FROM episode e JOIN book b ON b.id = e.book_id WHERE b.source = ? AND b.key = ?
                """
            let rows = try Row.fetchCursor(
                database.cachedStatement(sql: sql), arguments: [book.source, book.id])
            var known: [KnownEpisode] = []
            while let row = try rows.next() {
                var columns = ColumnReader(row)
                known.append(
                    KnownEpisode(
                        key: try columns.next(), rawKey: try columns.next(), section: try columns.next(),
                        name: try columns.next(), publishedAt: time(stored: try columns.next()),
                        address: try columns.next()))
            }
            return known
        }
    }
}
