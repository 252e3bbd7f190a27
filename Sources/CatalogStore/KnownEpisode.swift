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
    package var guid: String?
    package var number: Int?
    package var size: Int64?
    package var modifiedAt: Date?
}

extension KnownEpisode {
    /// A listed episode, as it will be known.
    package init(_ episode: Episode) {
        self.init(
            key: episode.identity.key, rawKey: episode.rawKey, section: episode.section, name: episode.name,
            publishedAt: episode.publishedAt, address: episode.address?.withoutSecrets, guid: episode.guid,
            number: episode.number, size: episode.size, modifiedAt: episode.modifiedAt)
    }
}

extension CatalogStore {
    /// The episodes of a book as listings need them to tell which is which, those that are gone included.
    package func knownEpisodes(of book: BookIdentity) async throws -> [KnownEpisode] {
        let sql = """
            SELECT e.key, e.raw_key, e.section, e.name, e.published_at, e.address, e.guid, e.number,
                e.size, e.modified_at
            FROM episode e JOIN book b ON b.id = e.book_id WHERE b.source = ? AND b.key = ?
            """
        return try await rows("the episodes of \(book) cannot be looked up", sql, [book.source, book.id]) { columns in
            KnownEpisode(
                key: try columns.next(), rawKey: try columns.next(), section: try columns.next(),
                name: try columns.next(), publishedAt: time(stored: try columns.next()),
                address: try columns.next(), guid: try columns.next(), number: try columns.next(),
                size: try columns.next(), modifiedAt: time(stored: try columns.next()))
        }
    }

    /// The book that has at least half of a feed's episodes from another address: files at the same addresses, or the same guids and
    /// sizes. A short guid such as `1` says nothing without a size.
    package func twin(of episodes: [Episode]) async throws -> BookIdentity? {
        let listed = episodes.map { [$0.guid, $0.address?.withoutSecrets, $0.size.map(String.init)] }
        let places = try jsonText(listed)
        let sql = """
            WITH listed AS (
                SELECT key AS place, CAST(value ->> 0 AS TEXT) AS guid, CAST(value ->> 1 AS TEXT) AS address,
                    CAST(value ->> 2 AS INTEGER) AS size
                FROM json_each(?)),
            same AS (
                SELECT e.book_id, l.place FROM episode e CROSS JOIN listed l ON l.address = e.address
                UNION SELECT e.book_id, l.place FROM episode e CROSS JOIN listed l ON l.guid = e.guid
                WHERE e.size IS l.size AND (l.size > 0 OR length(l.guid) >= 8))
            SELECT b.source, b.key FROM same JOIN book b ON b.id = same.book_id WHERE instr(b.key, '://')
            GROUP BY b.id HAVING COUNT(*) * 2 >= ? ORDER BY COUNT(*) DESC
            """
        return try await first(
            "the episodes of a feed cannot be looked up", sql, [places, episodes.count], BookIdentity.init)
    }

    /// Has the next listing of a book be read whole: what its old address gave says nothing of a new one.
    package func forgetListingValidator(of book: BookIdentity) async throws {
        try await run(
            "the last listing of \(book) cannot be forgotten", .relaxed,
            "UPDATE book SET listing_validator = NULL WHERE source = ? AND key = ?", [book.source, book.id])
    }
}
