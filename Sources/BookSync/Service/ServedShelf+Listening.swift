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
            let found = try await read { try await $0.store.position(in: episode, of: $0.user.id) }
            return (found ?? nil)
                ?? ListeningPosition(
                    episode: episode, seconds: 0, updatedAt: Date(timeIntervalSince1970: 0))
        } catch let failure as Failure where failure.kind == .unknownBook {
            return nil
        }
    }

    /// Records where the user stopped in an episode of the shelf, unless another device did since the player looked.
    /// - Parameter known: as of ``CatalogStore/setPosition(_:of:after:)``.
    package func setPosition(
        _ position: ListeningPosition, after known: Int64?
    ) async throws -> (isRecorded: Bool, position: ListeningPosition) {
        try await write { try await $0.setPosition(position, of: $1, after: known) }
    }

    /// Marks an episode, all up to it, or a whole book as played, or as never listened to.
    /// - Returns: how many episodes are marked otherwise than before.
    package func mark(
        _ part: MarkedPart, of book: BookIdentity, asPlayed isPlayed: Bool
    ) async throws -> Int {
        try await write { try await $0.mark(part, of: book, asPlayed: isPlayed, for: $1, at: Date()) }
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

    /// - Returns: whether the user had a bookmark of that number.
    package func removeBookmark(_ number: Int64) async throws -> Bool {
        try await write { try await $0.removeBookmark(number, of: $1) }
    }

    /// - Parameter speed: 0.25 to 4.
    package func setSpeed(_ speed: Double, of book: BookIdentity) async throws {
        try await write { try await $0.setSpeed(speed, of: book, for: $1) }
    }

    /// Offers a book no more to be gone on with, until something of it is listened to again.
    package func dismiss(_ book: BookIdentity) async throws {
        try await write { try await $0.dismiss(book, for: $1, at: Date()) }
    }

    /// - Parameter body: gets the store, and the user's number in it.
    private func write<Result: Sendable>(
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
