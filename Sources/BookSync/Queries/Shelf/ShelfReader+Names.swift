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
        return try await store.book(slug: "\(source)/\(id)").flatMap { user.maySee($0) ? $0 : nil }
    }
}

extension EpisodeRecord {
    /// The file that others are given; nil where there is none, or the user removed the episode.
    package var givenFile: LocalFile? { removedAt == nil ? file : nil }
}
