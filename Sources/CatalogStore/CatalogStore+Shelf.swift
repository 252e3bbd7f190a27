import BookModel
import Foundation
import GRDB

extension CatalogStore {
    /// What the store knows of a book; nil when it was never listed. A book without title is called by its id.
    package func book(_ identity: BookIdentity) async throws -> Book? {
        let sql = "SELECT \(Book.columns) FROM book b WHERE b.source = ? AND b.key = ?"
        return try await first("\(identity) cannot be looked up", sql, [identity.source, identity.id], Book.init)
    }

    /// The book that served addresses call so; nil also for one that they call by the catalog's own names.
    package func book(slug: String) async throws -> BookIdentity? {
        try await first(
            "\(slug) cannot be looked up", "SELECT source, key FROM book WHERE slug = ?", [slug], BookIdentity.init)
    }

    /// Books with the counts of their episodes and files.
    /// - Parameter wanted: nil for all, ordered by identity; else the order is the one given, and books that the store
    ///   does not know are left out.
    package func books(_ wanted: [BookIdentity]? = nil) async throws -> [BookSummary] {
        try await read("the shelf cannot be read") { database in
            if let wanted {
                return try wanted.compactMap { identity in
                    try database.id(of: identity).flatMap { try database.shelvedBooks(where: "b.id = ?", [$0]).first }
                }
            }
            return try database.shelvedBooks()
        }
    }

    /// The books of which something is missing on disk, ordered by identity.
    package func booksWithMissingEpisodes() async throws -> [BookSummary] {
        try await read("the shelf cannot be read") { database in
            try database.shelvedBooks(where: "c.missing > 0 OR c.book_id IS NULL").filter { $0.missing > 0 }
        }
    }

    /// The first books, ordered by identity; or those whose catalogs changed last.
    package func books(first count: Int, isNewestFirst: Bool = false) async throws -> [BookSummary] {
        try await read("the shelf cannot be read") { database in
            let sql = "SELECT id FROM book ORDER BY \(isNewestFirst ? "updated_at DESC," : "") source, key LIMIT ?"
            let ids: [Int64] = try database.rows(sql, [count]) { try $0.next() }
            return try ids.flatMap { try database.shelvedBooks(where: "b.id = ?", [$0]) }
        }
    }

    /// How many books there are, and how many of their episodes, of how many bytes, are on disk.
    package func shelfSum() async throws -> ShelfSum {
        try await read("the shelf cannot be read") { try $0.shelfSum() }
    }

    /// The books that an author, called exactly so, wrote.
    package func books(by author: String) async throws -> [BookIdentity] {
        try await rows(
            "the shelf cannot be read", "SELECT source, key FROM book WHERE author = ?", [author], BookIdentity.init)
    }

    /// The books of which an episode is in this state, ordered by identity.
    /// - Parameter isRunUnderWay: else what a killed run left as under way only waits.
    package func books(withEpisodesIn state: EpisodeState, isRunUnderWay: Bool) async throws -> [BookSummary] {
        try await read("the shelf cannot be read") { database in
            let sql = """
                SELECT DISTINCT e.book_id FROM \(EpisodeRecord.tables)
                WHERE ? = \(EpisodeRecord.stateColumn(isRunUnderWay: isRunUnderWay))
                """
            let ids: [Int64] = try database.rows(sql, [state.rawValue]) { try $0.next() }
            return try ids.flatMap { try database.shelvedBooks(where: "b.id = ?", [$0]) }
                .sorted { $0.book.identity < $1.book.identity }
        }
    }

    /// All the store knows of a book's episodes, gone and removed ones included, by section and then in the order of the
    /// listing; without ``Episode/element``. Empty when the book is unknown.
    package func episodes(of book: BookIdentity) async throws -> [EpisodeRecord] {
        try await episodes(of: book, EpisodeSelection(), isRunUnderWay: false, from: 0, count: nil)
    }

    /// Whether any book is known, listed or subscribed to.
    package func holdsBooks() async throws -> Bool {
        try await value(
            "the store's books cannot be counted",
            "SELECT EXISTS (SELECT 1 FROM book) OR EXISTS (SELECT 1 FROM subscription)") ?? false
    }

    /// Those of some books that are known, listed or subscribed to.
    package func known(among books: [BookIdentity]) async throws -> [BookIdentity] {
        try await read("the store's books cannot be looked up") { database in
            let sql = """
                SELECT EXISTS (SELECT 1 FROM book WHERE source = ?1 AND key = ?2)
                    OR EXISTS (SELECT 1 FROM subscription WHERE source = ?1 AND key = ?2)
                """
            return try books.filter { try database.value(sql, [$0.source, $0.id]) ?? false }
        }
    }

    /// Books of other sources that have the book's id, its title, and files, while it has none itself.
    package func namesakesWithFiles(of book: Book) async throws -> [BookIdentity] {
        let hasFiles = """
            EXISTS (SELECT 1 FROM local_file f JOIN episode e ON e.id = f.episode_id WHERE e.book_id = b.id)
            """
        // Source by source: an index leads to a book by its source and its id, none by its id alone.
        let sql = """
            WITH RECURSIVE known(source) AS (
                SELECT min(source) FROM book
                UNION ALL
                SELECT (SELECT min(source) FROM book WHERE source > known.source) FROM known WHERE source IS NOT NULL
            )
            SELECT b.source FROM known JOIN book b ON b.source = known.source
            WHERE b.key = ?1 AND b.source <> ?2 AND b.title = ?3 AND \(hasFiles)
            AND NOT EXISTS (SELECT 1 FROM book b WHERE b.key = ?1 AND b.source = ?2 AND \(hasFiles))
            ORDER BY b.source
            """
        let identity = book.identity
        return try await rows("\(identity) cannot be looked up", sql, [identity.id, identity.source, book.title]) {
            columns in
            BookIdentity(source: try columns.next(), id: identity.id)
        }
    }

    /// The episode that the user calls by its section, ``Episode/element`` included. Of several with this number the
    /// first one that the catalog still lists.
    package func episode(section: Int, of book: BookIdentity) async throws -> EpisodeRecord? {
        try await read("\(BookReference.example(section, of: book)) cannot be looked up") { database in
            try database.episodeRecord(
                of: book, where: "e.section = ? ORDER BY e.gone, e.position LIMIT 1", [section])
        }
    }

    /// The episode of a book that served addresses call so, ``Episode/element`` included.
    /// - Parameter name: the catalog's key, or the ``Slug`` of it.
    package func episode(named name: String, of book: BookIdentity) async throws -> EpisodeRecord? {
        if let own = try await episode(EpisodeIdentity(book: book, key: name)) { return own }
        guard name.hasPrefix("~") else { return nil }
        return try await read("\(name) cannot be looked up") { database in
            try database.episodeRecord(of: book, where: "e.slug = ?", [name])
        }
    }

    /// One episode, ``Episode/element`` included.
    package func episode(_ identity: EpisodeIdentity) async throws -> EpisodeRecord? {
        try await read("\(identity) cannot be looked up") { database in
            try database.episodeRecord(of: identity.book, where: "e.key = ?", [identity.key])
        }
    }
}

extension Database {
    func id(of episode: EpisodeIdentity) throws -> Int64? {
        let sql = """
            SELECT e.id FROM episode e JOIN book b ON b.id = e.book_id
            WHERE b.source = ? AND b.key = ? AND e.key = ?
            """
        return try value(sql, [episode.book.source, episode.book.id, episode.key])
    }

    /// - Throws: ``Failure`` of kind `defect` when the episode was never merged.
    func requiredID(of episode: EpisodeIdentity) throws -> Int64 {
        if let id = try id(of: episode) { return id }
        throw Failure(.defect, what: "\(episode) cannot be recorded", why: "the store does not know the episode")
    }

    /// - Throws: ``Failure`` of kind `defect` when the book was never merged.
    func requiredID(of book: BookIdentity) throws -> Int64 {
        if let id = try id(of: book) { return id }
        throw Failure(.defect, what: "\(book) cannot be recorded", why: "the store does not know the book")
    }

    fileprivate func episodeRecord(
        of book: BookIdentity, where condition: String, _ arguments: StatementArguments
    ) throws -> EpisodeRecord? {
        guard let id = try id(of: book) else { return nil }
        let sql = """
            SELECT \(EpisodeRecord.columns), e.chapters, e.chapters_address FROM \(EpisodeRecord.tables)
            WHERE e.book_id = ? AND \(condition)
            """
        return try first(sql, [id] + arguments) { columns in
            var shelved = try EpisodeRecord(&columns, of: book)
            shelved.episode.chapters = try columns.next()
            shelved.episode.chaptersAddress = try columns.next(String?.self).map { ResourceAddress($0) }
            return shelved
        }
    }
}
