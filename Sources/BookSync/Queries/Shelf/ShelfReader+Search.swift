import BookModel
import CatalogStore
import LibraryFiles

/// Something that a search found, with how much of it is on disk.
package enum FoundItem: Sendable {
    case book(BookSummary)
    case episode(ShelfReader.EpisodeOnDisk, of: Book)
}

extension FoundItem {
    /// How well it fits what is searched for, by the same measures in every library: the less the better.
    fileprivate func rank(for query: SearchQuery) -> (isEpisode: Int, distance: Int, length: Int) {
        switch self {
        case .book(let shelved):
            let title = SearchText(shelved.book.title)
            return query.matches(title) ? (0, query.distance(of: title), title.bytes.count) : (0, 3, 0)
        case .episode(let episode, _):
            let name = SearchText(episode.shelved.episode.name)
            return (1, query.matches(name) ? query.distance(of: name) : 2, 0)
        }
    }
}

extension [FoundItem] {
    /// What several libraries found, the best first; of equal ones those of the first library.
    /// - Throws: ``Failure`` of kind `usage` when there is nothing in the text to search for.
    func ranked(for text: String) throws -> [FoundItem] {
        let query = try SearchQuery(text)
        let ranks = map { $0.rank(for: query) }
        return indices.sorted { ranks[$0] == ranks[$1] ? $0 < $1 : ranks[$0] < ranks[$1] }.map {
            self[$0]
        }
    }
}

extension ShelfReader {
    package typealias Found = (items: [FoundItem], hasMore: Bool)

    /// So many names are read one by one in a tenth of a second.
    private static let tolerated = 50_000
    /// Hits of which a user who sees only some books is shown what is theirs.
    private static let lookedThrough = 5000

    /// Finds books by title, author and announcer, and episodes by name, the best first.
    ///
    /// Works on a library that cannot be written, and beside a run. Where the index lacks much, it is brought up to date
    /// first if that can be done.
    /// - Parameters:
    ///   - limit: nil for all.
    ///   - reading: of the shelf, nil when there is no library at `library` yet.
    /// - Returns: nil when there is none.
    /// - Throws: ``Failure`` of kind `usage` when there is nothing in the text to search for.
    package static func search(
        _ library: String, for text: String, limit: Int?,
        reading: (_ body: (ShelfReader) async throws -> Found?) async throws -> Found??
    ) async throws -> Found? {
        let found = try await reading { shelf in
            guard try await shelf.store.unindexedNames() <= tolerated else { return nil }
            return try await shelf.found(text, limit)
        }
        guard let found else { return nil }
        if let found { return found }
        try await updateIndex(of: library)
        return try await reading { try await $0.found(text, limit) } ?? nil
    }

    /// The same, of a library that is read once.
    package static func search(_ library: String, for text: String, limit: Int?) async throws -> Found? {
        try await search(library, for: text, limit: limit) { try await read(library, $0) }
    }

    private func found(_ text: String, _ limit: Int?) async throws -> Found {
        guard user.books != nil else {
            let (hits, hasMore) = try await store.search(text, limit: limit)
            return (try await items(hits), hasMore)
        }
        // What they may not see is passed over, which is not to take much longer than what they may.
        let all = try await store.search(text, limit: Self.lookedThrough).hits.filter { user.maySee($0.book) }
        let hits = limit.map { Array(all.prefix($0)) } ?? all
        return (try await items(hits), hits.count < all.count)
    }

    private func items(_ hits: [SearchHit]) async throws -> [FoundItem] {
        let partials = try await PartialSizes(library: library)
        return hits.map { hit in
            switch hit {
            case .book(let shelved): .book(shelved)
            case .episode(let shelved, let book): .episode(onDisk(shelved, partials: partials), of: book)
            }
        }
    }

    private static func updateIndex(of library: String) async throws {
        do {
            try await LibraryFolder.existing(at: library).writingStore { try await $0.updateSearchIndex() }
        } catch is Failure {
            // Nobody may write here now. What the index lacks is read instead.
        }
    }
}
