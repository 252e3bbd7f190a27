import BookModel
import Foundation
import GRDB

/// What a listing of a collection found.
package struct CollectionChanges: Sendable, Hashable {
    /// Books that it had, whether the filter lets them through or not.
    package var listed = 0
    /// Of those that are wanted: all, those that no listing had before, and those that it no longer had.
    package var wanted = 0
    package var new = 0
    package var gone = 0
    /// The titles of some that it no longer had.
    package var goneTitles: [String] = []
}

/// A book of a collection, with where it stands in the list.
package struct CollectionBook: Sendable, Hashable {
    package let number: Int64
    package let book: BookIdentity
}

/// A book of a list: a part of a series, a book of an author.
package struct ListedBook: Sendable, Hashable {
    package let book: BookIdentity
    package let title: String
    /// The list that is followed.
    package let list: BookIdentity
}

extension CatalogStore {
    /// Begins to list a collection, or goes on with a listing that was cut off.
    /// - Parameters:
    ///   - filter: what its books are chosen by, in words; a listing that was begun with another one begins anew.
    ///   - naming: the template by which its books' files are named; nil for that of their source, or of all.
    /// - Returns: the cursor of the page that comes next; nil for the first one.
    package func beginListing(of collection: BookIdentity, filter: String, naming: String?) async throws -> String? {
        try await write("the listing of \(collection) cannot be recorded", .relaxed) { database in
            try database.run(
                """
                INSERT INTO collection (source, key, filter, naming) VALUES (?1, ?2, ?3, ?4)
                ON CONFLICT DO UPDATE SET filter = ?3, naming = ?4, cursor = CASE WHEN filter = ?3 THEN cursor END
                """, [collection.source, collection.id, filter, naming])
            let cursor: String? = try database.value(
                "SELECT cursor FROM collection WHERE source = ? AND key = ?", [collection.source, collection.id])
            if cursor == nil { try database.restartListing(of: collection) }
            return cursor
        }
    }

    /// Begins a listing anew that is under way.
    package func restartListing(of collection: BookIdentity) async throws {
        try await write("the listing of \(collection) cannot be recorded", .relaxed) {
            try $0.restartListing(of: collection)
        }
    }

    /// Records a page of a listing.
    /// - Parameters:
    ///   - wanted: of each entry, whether the filter lets it through.
    ///   - next: the cursor of the page behind it.
    /// - Returns: how many of them the listing did not have before.
    package func record(
        _ entries: [CatalogEntry], wanted: [Bool], next: String?, of collection: BookIdentity
    ) async throws -> Int {
        try await write("the listing of \(collection) cannot be recorded", .relaxed) { database in
            guard let (id, listing) = try database.listing(of: collection) else { return 0 }
            let sql = """
                INSERT INTO collection_book
                    (collection_id, source, key, title, wanted, facts, first_listing, listing)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7)
                ON CONFLICT (source, key, collection_id) DO UPDATE SET
                    title = ?4, wanted = ?5, facts = ?6, listing = ?7, gone = 0
                    WHERE listing <> ?7
                """
            var count = 0
            for (entry, isWanted) in zip(entries, wanted) {
                let book = entry.identity
                try database.run(sql, [id, book.source, book.id, entry.title, isWanted, entry.facts, listing])
                count += database.changesCount
            }
            try database.run("UPDATE collection SET cursor = ? WHERE id = ?", [next, id])
            return count
        }
    }

    /// Ends a listing that read the last page.
    /// - Parameters:
    ///   - limit: how many books are wanted at most; nil for all that the filter lets through.
    ///   - declared: how many books the catalog says there are. Where the listing had another number, no book is taken for gone: it
    ///     may be on a page that was not read.
    package func endListing(
        of collection: BookIdentity, limit: Int?, declared: Int?
    ) async throws -> CollectionChanges {
        try await write("the listing of \(collection) cannot be recorded", .relaxed) { database in
            guard let (id, listing) = try database.listing(of: collection) else { return CollectionChanges() }
            let wanted = """
                FROM (SELECT * FROM collection_book WHERE collection_id = ?1 AND wanted ORDER BY id LIMIT ?3)
                WHERE listing
                """
            let arguments: StatementArguments = [id, listing, limit ?? -1]
            let counts = """
                SELECT (SELECT COUNT(*) FROM collection_book WHERE collection_id = ?1 AND listing = ?2),
                    COUNT(*), COALESCE(SUM(first_listing = ?2), 0) \(wanted) = ?2
                """
            var changes =
                try database.first(counts, arguments) { columns in
                    CollectionChanges(listed: try columns.next(), wanted: try columns.next(), new: try columns.next())
                } ?? CollectionChanges()
            guard changes.listed > 0, changes.listed == declared ?? changes.listed else { return changes }
            let gone = "SELECT title \(wanted) < ?2 AND gone = 0 ORDER BY id"
            let titles: [String] = try database.rows(gone, arguments) { try $0.next() }
            (changes.gone, changes.goneTitles) = (titles.count, Array(titles.prefix(3)))
            try database.run(
                "UPDATE collection_book SET gone = 1 WHERE collection_id = ? AND listing < ? AND gone = 0",
                [id, listing])
            return changes
        }
    }

    /// Books of a collection that were never fetched whole, or of which the list says something else since then, in its order.
    /// - Parameters:
    ///   - number: that of the last one before; 0 for the first ones.
    ///   - limit: how many books of the collection are wanted at most; nil for all.
    package func booksToFetch(
        of collection: BookIdentity, after number: Int64, limit: Int?, count: Int
    ) async throws -> [CollectionBook] {
        let sql = """
            SELECT id, source, key FROM (
                SELECT b.* FROM collection_book b JOIN collection c ON c.id = b.collection_id
                WHERE c.source = ? AND c.key = ? AND b.wanted ORDER BY b.id LIMIT ?)
            WHERE gone = 0 AND (fetched_facts IS NOT facts OR facts = '') AND id > ? ORDER BY id LIMIT ?
            """
        return try await rows(
            "the books of \(collection) cannot be read", sql,
            [collection.source, collection.id, limit ?? -1, number, count]
        ) { columns in
            CollectionBook(number: try columns.next(), book: try BookIdentity(&columns))
        }
    }

    /// Notes of those books that are whole on disk that they are, as the list describes them now.
    package func noteFetched(_ books: [BookIdentity]) async throws {
        try await write("the books of a collection cannot be noted", .relaxed) { database in
            let sql = """
                UPDATE collection_book SET fetched_facts = facts
                WHERE source = ?1 AND key = ?2 AND EXISTS (
                    SELECT 1 FROM book b WHERE b.source = ?1 AND b.key = ?2 AND b.complete AND NOT EXISTS (
                        SELECT 1 FROM episode e LEFT JOIN local_file f ON f.episode_id = e.id
                        WHERE e.book_id = b.id AND e.gone = 0 AND e.removed_at IS NULL AND f.path IS NULL))
                """
            for book in books { try database.run(sql, [book.source, book.id]) }
        }
    }

    /// Those of some books that a list has got since it is followed, and of which nothing was fetched before a time.
    package func newlyListedBooks(among books: [BookIdentity], since time: Date) async throws -> [ListedBook] {
        try await read("the books of the collections cannot be read") { database in
            let sql = """
                SELECT b.title, c.source, c.key FROM book b
                JOIN collection_book l ON l.source = b.source AND l.key = b.key
                JOIN collection c ON c.id = l.collection_id
                WHERE b.source = ?1 AND b.key = ?2 AND l.first_listing > 1 AND NOT EXISTS (
                    SELECT 1 FROM episode e JOIN local_file f ON f.episode_id = e.id
                    WHERE e.book_id = b.id AND f.fetched_at < ?3) ORDER BY c.id
                """
            return try books.compactMap { book in
                try database.first(sql, [book.source, book.id, stored(time)]) { columns in
                    ListedBook(book: book, title: try columns.next(), list: try BookIdentity(&columns))
                }
            }
        }
    }

    /// Books that are not on the shelf, of authors whose lists are followed; those that were listed last come first.
    package func unshelvedBooks(count: Int) async throws -> [ListedBook] {
        let sql = """
            SELECT l.source, l.key, l.title, c.source, c.key FROM collection c
            CROSS JOIN collection_book l ON l.collection_id = c.id
            WHERE c.key LIKE 'author:%' AND l.gone = 0
                AND NOT EXISTS (SELECT 1 FROM book b WHERE b.source = l.source AND b.key = l.key)
            ORDER BY l.first_listing DESC, l.id DESC LIMIT ?
            """
        return try await rows("the books of the collections cannot be read", sql, [count]) { columns in
            ListedBook(
                book: try BookIdentity(&columns), title: try columns.next(), list: try BookIdentity(&columns))
        }
    }

    /// Forgets what was listed of all collections but these; books and files stay.
    package func forgetCollections(except collections: [BookIdentity]) async throws {
        let what: Message = "the collections cannot be read"
        let known = try await read(what) { database in
            try database.rows("SELECT source, key FROM collection", [], BookIdentity.init)
        }
        let former = Set(known).subtracting(collections)
        guard !former.isEmpty else { return }
        try await write(what, .relaxed) { database in
            for collection in former {
                try database.run(
                    "DELETE FROM collection WHERE source = ? AND key = ?", [collection.source, collection.id])
            }
        }
    }
}

extension Database {
    fileprivate func restartListing(of collection: BookIdentity) throws {
        try run(
            "UPDATE collection SET listing = listing + 1, cursor = NULL WHERE source = ? AND key = ?",
            [collection.source, collection.id])
    }

    fileprivate func listing(of collection: BookIdentity) throws -> (id: Int64, listing: Int)? {
        let sql = "SELECT id, listing FROM collection WHERE source = ? AND key = ?"
        return try first(sql, [collection.source, collection.id]) { (try $0.next(), try $0.next()) }
    }
}

extension CatalogEntry {
    /// What changes when the book does; empty where the list says nothing of the kind.
    fileprivate var facts: String {
        let facts = [episodes.map(String.init), seconds.map(String.init(describing:)), size.map(String.init)]
        return facts.allSatisfy { $0 == nil } ? "" : facts.map { $0 ?? "" }.joined(separator: "/")
    }
}
