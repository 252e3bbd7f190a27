import BookModel
import Foundation
import GRDB

extension CatalogStore {
    /// Takes over what a part of a listing says. Nothing is written where nothing changed.
    ///
    /// An episode whose ``Episode/element`` alone differs counts as unchanged: play counters move all the time. Of a key
    /// that a page lists twice the first one counts.
    /// - Parameters:
    ///   - position: the index of the page's first episode in the listing, from 0.
    ///   - now: what becomes the book's `updatedAt` when something changed.
    package func merge(
        _ page: [Episode], startingAt position: Int, of book: BookIdentity, at now: Date = Date()
    ) async throws -> MergeCounts {
        var keys = Set<String>(minimumCapacity: page.count)
        var rows: [EpisodeRow] = []
        rows.reserveCapacity(page.count)
        for (offset, episode) in page.enumerated() where keys.insert(episode.identity.key).inserted {
            guard episode.identity.book == book else {
                throw Failure(
                    .defect, disposition: .stop, what: "a page of \(book) cannot be stored",
                    why: "it holds an episode of \(episode.identity.book)")
            }
            rows.append(EpisodeRow(episode, position: position + offset))
        }
        return try await merge(rows, of: book, at: now)
    }

    private func merge(_ rows: [EpisodeRow], of book: BookIdentity, at now: Date) async throws -> MergeCounts {
        let what: Message = "the catalog of \(book) cannot be stored"
        // Looked at by a reader first: an unchanged page need not wait for its turn to write.
        let differs = try await read(what) { database in
            guard let id = try database.id(of: book) else { return !rows.isEmpty }
            for row in rows {
                guard case .same = try row.compared(in: id, database) else { return true }
            }
            return false
        }
        guard differs else { return MergeCounts(unchanged: rows.count) }
        return try await write(what, .relaxed) { database in
            let id = try database.id(of: book) ?? database.insert(book, at: now)
            var counts = MergeCounts()
            // Behind an episode that is new comes another: nothing is looked up that need not be.
            var isNew = false
            for row in rows {
                if isNew { isNew = try row.insertIfUnknown(into: id, database) }
                if isNew {
                    counts.added += 1
                    continue
                }
                switch try row.compared(in: id, database) {
                case .unknown:
                    isNew = try row.insertIfUnknown(into: id, database)
                    counts.added += 1
                case .different(let episode):
                    try row.update(episode, database)
                    counts.changed += 1
                case .moved(let episode):
                    try row.move(episode, database)
                    counts.unchanged += 1
                case .same:
                    counts.unchanged += 1
                }
            }
            if counts.added + counts.changed > 0 { try database.touch(id, at: now) }
            return counts
        }
    }

    /// Ends a listing: takes over what it says of the book, and marks the episodes gone that a complete listing no
    /// longer has. Nothing is written where nothing changed.
    /// - Parameters:
    ///   - seen: the keys of all the episodes of the listing. Without ``ListingProof/isComplete`` none is marked gone.
    ///   - now: what becomes the book's `updatedAt` when something changed.
    /// - Returns: whether the book's own description changed, and how many episodes went.
    package func finishListing(
        of book: Book, proof: ListingProof, seen: Set<String>, at now: Date = Date()
    ) async throws -> (changed: Bool, gone: Int) {
        let what: Message = "the listing of \(book.identity) cannot be stored"
        let row = BookRow(book, proof: proof)
        let identity = book.identity
        let differs = try await read(what) { database in
            guard let id = try database.id(of: identity) else { return true }
            guard case .same = try row.compared(with: id, database) else { return true }
            return try proof.isComplete && !database.unseenEpisodes(of: id, seen: seen).isEmpty
        }
        guard differs else { return (false, 0) }
        return try await write(what, .relaxed) { database in
            let id = try database.id(of: identity) ?? database.insert(identity, at: now)
            let comparison = try row.compared(with: id, database)
            if comparison != .same { try row.update(id, database) }
            let unseen = try proof.isComplete ? database.unseenEpisodes(of: id, seen: seen) : []
            for episode in unseen { try database.run("UPDATE episode SET gone = 1 WHERE id = ?", [episode]) }
            let changed = comparison == .different
            if changed || !unseen.isEmpty { try database.touch(id, at: now) }
            return (changed, unseen.count)
        }
    }

    /// The episodes that the catalog listed and a complete listing no longer has, by section; before ``finishListing`` notes
    /// that they are gone.
    /// - Parameter seen: the keys of all the episodes of that listing.
    package func dropped(from book: BookIdentity, seen: Set<String>) async throws -> [(section: Int, name: String)] {
        let sql = """
            SELECT e.key, e.section, e.name FROM episode e JOIN book b ON b.id = e.book_id
            WHERE b.source = ? AND b.key = ? AND NOT e.gone ORDER BY e.section, e.position
            """
        let dropped: [(section: Int, name: String)?] = try await rows(
            "what the catalog dropped of \(book) cannot be looked up", sql, [book.source, book.id]
        ) { columns in
            seen.contains(try columns.next()) ? nil : (try columns.next(), try columns.next())
        }
        return dropped.compactMap(\.self)
    }

    /// What the last complete listing of a book came with, by which its catalog can be asked whether anything changed. Nil
    /// when there is none, and when nothing came with it.
    package func listingValidator(of book: BookIdentity) async throws -> ListingValidator? {
        let sql = "SELECT listing_validator FROM book WHERE source = ? AND key = ? AND complete"
        let stored: String? = try await value(
            "the last listing of \(book) cannot be looked up", sql, [book.source, book.id])
        return stored.flatMap { try? JSONDecoder().decode(ListingValidator.self, from: Data($0.utf8)) }
    }

    /// True if the address of an episode of the book was stored without its secrets, so that nothing can be fetched from it.
    package func hasMaskedAddresses(of book: BookIdentity) async throws -> Bool {
        let sql = """
            SELECT EXISTS (
                SELECT 1 FROM episode e JOIN book b ON b.id = e.book_id
                WHERE b.source = ? AND b.key = ? AND NOT e.gone AND instr(e.address, '***'))
            """
        return try await value("the addresses of \(book) cannot be looked up", sql, [book.source, book.id]) ?? false
    }
}

extension Database {
    func id(of book: BookIdentity) throws -> Int64? {
        try value("SELECT id FROM book WHERE source = ? AND key = ?", [book.source, book.id])
    }

    fileprivate func insert(_ book: BookIdentity, at now: Date) throws -> Int64 {
        let (source, id) = (Slug(of: book.source), Slug(of: book.id))
        let slug = source.isDigest || id.isDigest ? "\(source)/\(id)" : nil
        try run(
            "INSERT INTO book (source, key, slug, updated_at) VALUES (?, ?, ?, ?)",
            [book.source, book.id, slug, stored(now)])
        return lastInsertedRowID
    }

    func touch(_ book: Int64, at now: Date) throws {
        try run("UPDATE book SET updated_at = ? WHERE id = ?", [stored(now), book])
    }

    fileprivate func unseenEpisodes(of book: Int64, seen: Set<String>) throws -> [Int64] {
        let sql = "SELECT id, key FROM episode WHERE book_id = ? AND gone = 0"
        let unseen: [Int64?] = try rows(sql, [book]) { columns in
            let id: Int64 = try columns.next()
            return seen.contains(try columns.next()) ? nil : id
        }
        return unseen.compactMap(\.self)
    }
}
