import BookModel
import CatalogStore

extension ShelfReader {
    /// - Parameters:
    ///   - id: the catalog's own, or the ``Slug`` of it; as `source` is.
    /// - Returns: nil when nothing on the shelf has this name.
    package func book(_ id: String, of source: String) async throws -> BookIdentity? {
        let direct = BookIdentity(source: source, id: id)
        if user.maySee(direct), try await store.book(direct) != nil { return direct }
        guard id.hasPrefix("~") || source.hasPrefix("~") else { return nil }
        return try await books().map(\.book.identity)
            .first { Slug(of: $0.source) == source && Slug(of: $0.id) == id }
    }

    /// - Parameter name: the catalog's key, or the ``Slug`` of it.
    /// - Returns: nil when no episode of the book is called so.
    package func episode(_ name: String, of book: BookIdentity) async throws -> EpisodeRecord? {
        if let shelved = try await store.episode(EpisodeIdentity(book: book, key: name)) { return shelved }
        guard name.hasPrefix("~") else { return nil }
        return try await store.episodes(of: book).first { Slug(of: $0.episode.identity.key) == name }
    }
}

extension EpisodeRecord {
    /// The file that others are given; nil where there is none, or the user removed the episode.
    package var givenFile: LocalFile? { removedAt == nil ? file : nil }
}
