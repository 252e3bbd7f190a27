import BookModel
import CatalogStore

// Where the listener stopped.

extension ShelfReader {
    /// Where the listener stopped in the episodes of a book; those never listened to are left out.
    package func positions(of book: BookIdentity) async throws -> [EpisodeIdentity: ListeningPosition] {
        try await store.positions(of: book)
    }

    /// The last position of each book that was listened to, the book that was listened to last first.
    /// - Parameter limit: so many books at most.
    package func latestPositions(limit: Int) async throws -> [ListeningPosition] {
        try await store.latestPositions(limit: limit)
    }
}
