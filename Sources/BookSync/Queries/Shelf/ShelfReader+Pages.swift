import BookModel
import CatalogStore

/// Some episodes of a book, of those that are asked for.
package struct EpisodePage: Sendable {
    package var book: BookSummary
    package var episodes: [ShelfReader.EpisodeOnDisk]
    /// How many of all its episodes are in each state.
    package var counts: [EpisodeState: Int]
    /// The same of those with such names.
    package var named: [EpisodeState: Int]
    /// Whether some process has the library to run in.
    package var isRunUnderWay: Bool
}

extension ShelfReader {
    /// A part of a book, so that one of many thousand episodes is looked at as quickly as a short one.
    /// - Parameters:
    ///   - selection: which episodes.
    ///   - first: how many of them come before, 0 or more.
    ///   - count: how many at most.
    /// - Returns: nil when the book is not on the shelf.
    package func page(
        of book: BookIdentity, _ selection: EpisodeSelection, from first: Int, count: Int
    ) async throws -> EpisodePage? {
        guard let shelved = try await books(among: [book]).first else { return nil }
        let partials = try await PartialSizes(library: library)
        let episodes = try await store.episodes(
            of: book, selection, isRunUnderWay: isRunUnderWay, from: first, count: count)
        let counts = try await store.stateCounts(of: book, isRunUnderWay: isRunUnderWay)
        let named =
            selection.text.isEmpty
            ? counts : try await store.stateCounts(of: book, named: selection.text, isRunUnderWay: isRunUnderWay)
        return EpisodePage(
            book: shelved, episodes: episodes.map { onDisk($0, partials: partials) }, counts: counts, named: named,
            isRunUnderWay: isRunUnderWay)
    }

    /// One episode with its book.
    /// - Parameter name: its ``Slug``, or the catalog's key.
    /// - Returns: nil when nothing on the shelf has this name.
    package func episode(
        _ name: String, in id: String, of source: String
    ) async throws -> (episode: EpisodeOnDisk, book: Book)? {
        let partials = try await PartialSizes(library: library)
        guard let identity = try await book(id, of: source), let book = try await store.book(identity),
            let shelved = try await store.episode(named: name, of: identity)
        else { return nil }
        return (onDisk(shelved, partials: partials), book)
    }

    /// The same, named for ever.
    /// - Returns: nil when it is not on the shelf.
    package func episode(_ identity: EpisodeIdentity) async throws -> (episode: EpisodeOnDisk, book: Book)? {
        let partials = try await PartialSizes(library: library)
        guard user.maySee(identity.book), let shelved = try await store.episode(identity),
            let book = try await store.book(identity.book)
        else {
            return nil
        }
        return (onDisk(shelved, partials: partials), book)
    }

    /// Where listening goes on behind a position: in the same episode, or with the next one on disk where it was heard to its
    /// end or is not there any more.
    package func continuation(of position: ListeningPosition) async throws -> EpisodeIdentity? {
        if !position.isFinished, try await store.episode(position.episode)?.givenFile != nil { return position.episode }
        return try await store.neighbours(of: position.episode).after
    }
}
