import BookModel
import Foundation
import GRDB

extension CatalogStore {
    /// The episodes of a book, by which listings tell which is which; those that are gone included. An ``Episode/rawKey`` is that of
    /// the first listing that had one.
    package func knownEpisodes(of book: BookIdentity) async throws -> [Episode] {
        let sql = """
            SELECT \(Episode.columns), e.raw_key
            FROM episode e JOIN book b ON b.id = e.book_id WHERE b.source = ? AND b.key = ?
            """
        return try await rows("the episodes of \(book) cannot be looked up", sql, [book.source, book.id]) { columns in
            var episode = try Episode(&columns, of: book)
            episode.rawKey = try columns.next()
            return episode
        }
    }

    /// The book that has at least half of a feed's episodes from another address: files at the same addresses, or the same guids and
    /// sizes. A short guid such as `1` says nothing without a size, and an address nothing that is stored without a part of it.
    package func twin(of episodes: [Episode]) async throws -> BookIdentity? {
        let listed = episodes.map {
            [$0.guid, $0.address.flatMap { $0.holdsSecrets ? nil : $0.secretText }, $0.size.map(String.init)]
        }
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
