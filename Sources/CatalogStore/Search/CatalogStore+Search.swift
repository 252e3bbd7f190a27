import BookModel
import GRDB

extension CatalogStore {
    /// Finds books by title, author and announcer, and episodes by name; of several words an episode may also have some
    /// in its name, and its book the others.
    ///
    /// The best come first: books by their titles, then by their people, then episodes; of these the very name, then
    /// what begins as asked for, then the rest in the order in which it was stored. Of episodes the first
    /// ``rankedEpisodes`` that fit are compared so, or as many as are wanted: a character of every name would have a
    /// million.
    /// - Parameter limit: nil for all.
    /// - Returns: at most `limit` hits, and whether there are more.
    /// - Throws: ``Failure`` of kind `usage` when there is nothing in the text to search for.
    package func search(_ text: String, limit: Int?) async throws -> (hits: [SearchHit], hasMore: Bool) {
        let query = try SearchQuery(text)
        return try await read("the shelf cannot be searched") { database in
            let wanted = limit.map { $0.addingSaturated(1) }
            let books = try BookSearch(query, database).matches.sorted()
            let room = wanted.map { max(0, $0 - books.count) }
            let episodes =
                room == 0
                ? []
                : try EpisodeSearch(query, database, atMost: room.map { max($0, Self.rankedEpisodes) }).matches.sorted()
            let all = books.map { ($0, true) } + episodes.map { ($0, false) }
            let hits = try all.prefix(limit ?? .max).compactMap { match, isBook in
                guard isBook else { return try database.episodeHit(match.id) }
                return try database.shelvedBooks(where: "b.id = ?", [match.id]).first.map(SearchHit.book)
            }
            return (hits, limit.map { all.count > $0 } ?? false)
        }
    }

    private static let rankedEpisodes = 2000
}

extension Database {
    fileprivate func episodeHit(_ id: Int64) throws -> SearchHit? {
        let sql = """
            SELECT \(Book.columns), \(EpisodeRecord.columns)
            FROM \(EpisodeRecord.tables) JOIN book b ON b.id = e.book_id WHERE e.id = ?
            """
        return try first(sql, [id]) { columns in
            let book = try Book(&columns)
            return .episode(try EpisodeRecord(&columns, of: book.identity), of: book)
        }
    }
}
