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
            try database.execute(
                sql: """
                    INSERT INTO collection (source, key, filter, naming) VALUES (?1, ?2, ?3, ?4)
                    ON CONFLICT DO UPDATE SET filter = ?3, naming = ?4, cursor = CASE WHEN filter = ?3 THEN cursor END
                    """, arguments: [collection.source, collection.id, filter, naming])
            let row = try Row.fetchOne(
                database, sql: "SELECT cursor FROM collection WHERE source = ? AND key = ?",
                arguments: [collection.source, collection.id])
            let cursor: String? = row?["cursor"]
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
            let statement = try database.cachedStatement(
                sql: """
                    INSERT INTO collection_book
                        (collection_id, source, key, title, wanted, facts, first_listing, listing)
                    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7)
                    ON CONFLICT (source, key, collection_id) DO UPDATE SET
                        title = ?4, wanted = ?5, facts = ?6, listing = ?7, gone = 0
                        WHERE listing <> ?7
                    """)
            var count = 0
            for (entry, isWanted) in zip(entries, wanted) {
                try statement.execute(
                    arguments: [
                        id, entry.identity.source, entry.identity.id, entry.title, isWanted, entry.facts, listing,
                    ])
                count += database.changesCount
            }
            try database.execute(sql: "UPDATE collection SET cursor = ? WHERE id = ?", arguments: [next, id])
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
            let row = try Row.fetchOne(
                database,
                sql: """
                    SELECT (SELECT COUNT(*) FROM collection_book WHERE collection_id = ?1 AND listing = ?2),
                        COUNT(*), COALESCE(SUM(first_listing = ?2), 0) \(wanted) = ?2
                    """, arguments: arguments)
            var changes = CollectionChanges(listed: row?[0] ?? 0, wanted: row?[1] ?? 0, new: row?[2] ?? 0)
            guard changes.listed > 0, changes.listed == declared ?? changes.listed else { return changes }
            let titles = try String.fetchCursor(
                database, sql: "SELECT title \(wanted) < ?2 AND gone = 0 ORDER BY id", arguments: arguments)
            while let title = try titles.next() {
                if changes.gone < 3 { changes.goneTitles.append(title) }
                changes.gone += 1
            }
            try database.execute(
                sql: "UPDATE collection_book SET gone = 1 WHERE collection_id = ? AND listing < ? AND gone = 0",
                arguments: [id, listing])
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
        try await read("the books of \(collection) cannot be read") { database in
            let rows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT id, source, key FROM (
                        SELECT b.* FROM collection_book b JOIN collection c ON c.id = b.collection_id
                        WHERE c.source = ? AND c.key = ? AND b.wanted ORDER BY b.id LIMIT ?)
                    WHERE gone = 0 AND (fetched_facts IS NOT facts OR facts = '') AND id > ? ORDER BY id LIMIT ?
                    """, arguments: [collection.source, collection.id, limit ?? -1, number, count])
            var books: [CollectionBook] = []
            while let row = try rows.next() {
                books.append(CollectionBook(number: row[0], book: BookIdentity(source: row[1], id: row[2])))
            }
            return books
        }
    }

    /// Notes of those books that are whole on disk that they are, as the list describes them now.
    package func noteFetched(_ books: [BookIdentity]) async throws {
        try await write("the books of a collection cannot be noted", .relaxed) { database in
            let statement = try database.cachedStatement(
                sql: """
                    UPDATE collection_book SET fetched_facts = facts
                    WHERE source = ?1 AND key = ?2 AND EXISTS (
                        SELECT 1 FROM book b WHERE b.source = ?1 AND b.key = ?2 AND b.complete AND NOT EXISTS (
                            SELECT 1 FROM episode e LEFT JOIN local_file f ON f.episode_id = e.id
                            WHERE e.book_id = b.id AND e.gone = 0 AND e.removed_at IS NULL AND f.path IS NULL))
                    """)
            for book in books { try statement.execute(arguments: [book.source, book.id]) }
        }
    }

    /// Those of some books that a list has got since it is followed, and of which nothing was fetched before a time.
    package func newlyListedBooks(among books: [BookIdentity], since time: Date) async throws -> [ListedBook] {
        try await read("the books of the collections cannot be read") { database in
            let statement = try database.cachedStatement(
                sql: """
                    SELECT b.title, c.source, c.key FROM book b
                    JOIN collection_book l ON l.source = b.source AND l.key = b.key
                    JOIN collection c ON c.id = l.collection_id
                    WHERE b.source = ?1 AND b.key = ?2 AND l.first_listing > 1 AND NOT EXISTS (
                        SELECT 1 FROM episode e JOIN local_file f ON f.episode_id = e.id
                        WHERE e.book_id = b.id AND f.fetched_at < ?3) ORDER BY c.id
                    """)
            return try books.compactMap { book in
                let row = try Row.fetchOne(statement, arguments: [book.source, book.id, stored(time)])
                return row.map {
                    ListedBook(book: book, title: $0[0], list: BookIdentity(source: $0[1], id: $0[2]))
                }
            }
        }
    }

    /// Books that are not on the shelf, of authors whose lists are followed; those that were listed last come first.
    package func unshelvedBooks(count: Int) async throws -> [ListedBook] {
        try await read("the books of the collections cannot be read") { database in
            let sql = """
                SELECT l.source, l.key, l.title, c.source, c.key FROM collection c
                CROSS JOIN collection_book l ON l.collection_id = c.id
                WHERE c.key LIKE 'author:%' AND l.gone = 0
                    AND NOT EXISTS (SELECT 1 FROM book b WHERE b.source = l.source AND b.key = l.key)
                ORDER BY l.first_listing DESC, l.id DESC LIMIT ?
                """
            return try Row.fetchAll(database, sql: sql, arguments: [count]).map { row in
                ListedBook(
                    book: BookIdentity(source: row[0], id: row[1]), title: row[2],
                    list: BookIdentity(source: row[3], id: row[4]))
            }
        }
    }

    /// Forgets what was listed of all collections but these; books and files stay.
    package func forgetCollections(except collections: [BookIdentity]) async throws {
        let what: Message = "the collections cannot be read"
        let known = try await read(what) { database in
            try Row.fetchAll(database, sql: "SELECT source, key FROM collection").map {
                BookIdentity(source: $0[0], id: $0[1])
            }
        }
        let former = Set(known).subtracting(collections)
        guard !former.isEmpty else { return }
        try await write(what, .relaxed) { database in
            for collection in former {
                try database.execute(
                    sql: "DELETE FROM collection WHERE source = ? AND key = ?",
                    arguments: [collection.source, collection.id])
            }
        }
    }
}

extension Database {
    fileprivate func restartListing(of collection: BookIdentity) throws {
        try execute(
            sql: "UPDATE collection SET listing = listing + 1, cursor = NULL WHERE source = ? AND key = ?",
            arguments: [collection.source, collection.id])
    }

    fileprivate func listing(of collection: BookIdentity) throws -> (id: Int64, listing: Int)? {
        try Row.fetchOne(
            self, sql: "SELECT id, listing FROM collection WHERE source = ? AND key = ?",
            arguments: [collection.source, collection.id]
        ).map { ($0[0], $0[1]) }
    }
}

extension CatalogEntry {
    /// What changes when the book does; empty where the list says nothing of the kind.
    fileprivate var facts: String {
        let facts = [episodes.map(String.init), seconds.map(String.init(describing:)), size.map(String.init)]
        return facts.allSatisfy { $0 == nil } ? "" : facts.map { $0 ?? "" }.joined(separator: "/")
    }
}
