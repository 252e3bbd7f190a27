import BookModel
import CatalogStore
import Foundation

// Where the shelf's user stopped, and what they marked.

extension ShelfReader {
    /// The last position of each book that the user listened to, the book that was listened to last first; without those that
    /// they dismissed since.
    /// - Parameter limit: so many books at most.
    package func latestPositions(limit: Int) async throws -> [ListeningPosition] {
        try await store.latestPositions(limit: limit, of: user.id).filter { user.maySee($0.episode.book) }
    }

    /// A bookmark with its episode.
    package struct BookmarkedEpisode: Sendable {
        package var bookmark: Bookmark
        package var shelved: EpisodeRecord
    }

    /// The user's bookmarks in a book, in its order.
    package func bookmarkedEpisodes(of book: BookIdentity) async throws -> [BookmarkedEpisode] {
        var marked: [BookmarkedEpisode] = []
        for bookmark in try await store.bookmarks(of: book, for: user.id) {
            guard let shelved = try await store.episode(bookmark.episode) else { continue }
            marked.append(BookmarkedEpisode(bookmark: bookmark, shelved: shelved))
        }
        return marked
    }

    /// The book of the same author that comes next by its title, of those that there is something to hear of.
    package func nextBook(after identity: BookIdentity) async throws -> Book? {
        guard let book = try await store.book(identity), let author = book.author else { return nil }
        let others = try await books(among: try await store.books(by: author)).filter { $0.present > 0 }.map(\.book)
        return others.filter { $0.identity != identity && $0.title.comesBehind(book.title) }
            .min { $1.title.comesBehind($0.title) }
    }
}

extension String {
    /// As people sort titles: numbers by their value.
    fileprivate func comesBehind(_ other: String) -> Bool { localizedStandardCompare(other) == .orderedDescending }
}
