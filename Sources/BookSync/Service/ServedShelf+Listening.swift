import BookModel
import CatalogStore
import Foundation
import LibraryFiles
import Settings

// What the shelf's user listens to: positions, marks, bookmarks, speeds.

extension ServedShelf {
    /// Where the user stopped in an episode.
    /// - Returns: nil when nothing on the shelf has this name.
    package func position(in name: EpisodeName) async throws -> ListeningPosition? {
        do {
            guard let episode = try await episodes(named: [name]).first?.episode.identity else { return nil }
            return try await read { try await $0.store.position(in: episode, of: $0.user.id) }
                ?? ListeningPosition(episode: episode, seconds: 0, updatedAt: Date(timeIntervalSince1970: 0))
        } catch let failure as Failure where failure.kind == .unknownBook {
            return nil
        }
    }

    /// - Returns: the bookmark's number.
    /// - Throws: ``Failure`` of kind `usage` where the user has too many in the book.
    package func add(_ bookmark: Bookmark) async throws -> Int64 {
        guard let number = try await write({ try await $0.add(bookmark, for: $1) }) else {
            throw Failure(
                .usage, what: "the bookmark is not kept",
                why: "there are \(Bookmark.maxCount) in \(bookmark.episode.book) already", remedy: "remove some")
        }
        return number
    }

    /// Records something of what the user listens to.
    /// - Parameter body: gets the store, and the user's number in it.
    package func write<Result: Sendable>(
        _ body: (CatalogStore, User.ID) async throws -> Result
    ) async throws -> Result {
        try await LibraryFolder.existing(at: library.place.path).writingStore(copies: copies) { store in
            let local = try await localUser(in: store)
            guard local.id == Self.unknown, let name = user.name else { return try await body(store, local.id) }
            return try await body(store, try await store.addUser(named: name))
        }
    }

    /// No user has this number.
    private static let unknown: User.ID = -1

    /// The user with the number that the library's store has for their name.
    func localUser(in store: CatalogStore) async throws -> User {
        guard let name = user.name else { return user }
        var local = user
        local.id = try await store.userID(named: name) ?? Self.unknown
        return local
    }
}
