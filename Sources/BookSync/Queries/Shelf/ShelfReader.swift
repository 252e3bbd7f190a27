import BookModel
import CatalogStore
import DownloadEngine
import Foundation
import LibraryFiles

/// Answers questions about the shelf from the store and the disk alone: no request is ever sent.
package struct ShelfReader: Sendable {
    /// An episode with how much of it is on disk.
    package struct EpisodeOnDisk: Sendable {
        package var shelved: EpisodeRecord
        /// Bytes, of the file or of the unfinished transfer.
        package var bytesDone: Int64
        /// What its file says of itself; nil where that is not asked for or not known.
        package var media: MediaInfo?
        /// The name of its library; nil where only one is looked at.
        package var library: String?

        /// Wanted, to be had, and not on disk.
        package var isMissing: Bool {
            switch shelved.state {
            case .finished, .locked, .removed, .gone: false
            case .waiting, .downloading, .paused, .failed, .cancelled: shelved.file == nil
            }
        }
    }

    let library: String
    package let store: CatalogStore
    /// Whose shelf it is: what they may not see is not on it.
    package let user: User
    package let isRunUnderWay: Bool

    /// - Returns: what `body` makes of the shelf; nil when there is no library at `library` yet.
    package static func read<Result: Sendable>(
        _ library: String, _ body: (ShelfReader) async throws -> Result
    ) async throws -> Result? {
        guard let store = try await LibraryFolder.readableStore(in: library) else { return nil }
        let reader = ShelfReader(
            library: library, store: store, user: .owner, isRunUnderWay: try await LibraryLock.isHeld(in: library))
        return try await store.closing { try await body(reader) }
    }

    /// - Parameter wanted: nil for all.
    /// - Throws: ``Failure`` of kind `unknownBook` when one of the wanted is not on the shelf.
    package func books(_ wanted: [BookIdentity]? = nil) async throws -> [BookSummary] {
        let books = try await store.books((wanted ?? user.books.map { Array($0) })?.filter(user.maySee))
        if let missing = wanted?.first(where: { identity in !books.contains { $0.book.identity == identity } }) {
            throw Failure.notOnTheShelf(missing)
        }
        return books
    }

    /// The first books by identity; nil for all.
    package func books(first count: Int?) async throws -> [BookSummary] {
        guard let count, user.books == nil else { return try await books() }
        return try await store.books(first: count)
    }

    /// The books of which something is missing on disk.
    package func booksWithMissingEpisodes() async throws -> [BookSummary] {
        try await store.booksWithMissingEpisodes().filter { user.maySee($0.book.identity) }
    }

    /// Those of some books that are on the shelf.
    package func books(among some: [BookIdentity]) async throws -> [BookSummary] {
        try await store.books(some.filter(user.maySee))
    }

    /// The books of which an episode is in this state.
    package func books(withEpisodesIn state: EpisodeState) async throws -> [BookSummary] {
        try await store.books(withEpisodesIn: state, isRunUnderWay: isRunUnderWay)
            .filter { user.maySee($0.book.identity) }
    }

    /// The episodes of a book by section number.
    package func episodes(of book: BookIdentity, filter: EpisodeFilter) async throws -> [EpisodeOnDisk] {
        guard try await store.book(book) != nil else { throw Failure.notOnTheShelf(book) }
        let partials = try await PartialSizes(library: library)
        return try await store.episodes(of: book).selected(by: filter).map { onDisk($0, partials: partials) }
    }

    /// The same, with all that their files say of themselves.
    package func episodesInFull(of book: BookIdentity, filter: EpisodeFilter) async throws -> [EpisodeOnDisk] {
        var episodes = try await episodes(of: book, filter: filter)
        for index in episodes.indices where episodes[index].shelved.media != nil {
            episodes[index].media = try await store.media(of: episodes[index].shelved.episode.identity)
        }
        return episodes
    }

    /// The chapters of the episode's file; none where it has none, or was not read.
    package func chapters(of shelved: EpisodeRecord) async throws -> [MediaInfo.Chapter] {
        guard shelved.media?.chapters ?? 0 > 0 else { return [] }
        return try await store.media(of: shelved.episode.identity)?.chapters ?? []
    }

    /// Everything that is being transferred, waits, is paused or failed; what moves comes first.
    /// - Parameters:
    ///   - first: how many of them come before, 0 or more.
    ///   - count: how many at most; nil for all.
    package func queue(from first: Int = 0, count: Int? = nil) async throws -> [EpisodeOnDisk] {
        let partials = try await PartialSizes(library: library)
        return try await store.queue(isRunUnderWay: isRunUnderWay, from: first, count: count)
            .map { onDisk($0, partials: partials) }
    }

    /// How many of ``queue(from:count:)`` are in each state.
    package func queueCounts() async throws -> [EpisodeState: Int] {
        try await store.queueCounts(isRunUnderWay: isRunUnderWay)
    }

    /// What was asked for and no run has done.
    package func requests() async throws -> [StoredRequest] {
        try await store.requests().filter { $0.book.map(user.maySee) ?? true }
    }

    /// The books of which something is being downloaded.
    package func movingBooks() async throws -> Set<BookIdentity> {
        Set(try await store.movingBooks().filter(user.maySee))
    }

    /// What the books are called; those that are not on the shelf are left out.
    package func titles(of books: Set<BookIdentity>) async throws -> [BookIdentity: String] {
        var titles: [BookIdentity: String] = [:]
        for book in books { titles[book] = try await store.book(book)?.title }
        return titles
    }

    /// What is in the trash, what was removed last first.
    package func trashedFiles() async throws -> [FileOperation] {
        try await store.trashedFiles()
    }

    package func subscriptions() async throws -> [Subscription] {
        try await store.subscriptions()
    }

    func onDisk(_ shelved: EpisodeRecord, partials: PartialSizes) -> EpisodeOnDisk {
        let shelved = shelved.effective(isRunUnderWay: isRunUnderWay)
        return EpisodeOnDisk(shelved: shelved, bytesDone: shelved.file?.size ?? partials.bytesDone(of: shelved))
    }
}

extension [EpisodeRecord] {
    /// The episodes that a REF names; those that only the names' filters of a run concern are not looked at.
    package func selected(by filter: EpisodeFilter) -> [EpisodeRecord] {
        var selected = self
        if let only = filter.only { selected = selected.filter { only.contains($0.episode.section) } }
        if let latest = filter.latest {
            let listed = selected.filter { !$0.isGone }.sorted { $0.episode.section < $1.episode.section }
            let keys = Set(listed.suffix(latest).map(\.episode.identity))
            selected = selected.filter { keys.contains($0.episode.identity) }
        }
        return selected
    }
}
