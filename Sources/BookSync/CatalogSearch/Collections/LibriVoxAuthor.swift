import BookModel
import CatalogFetcher
import CatalogStore

/// All of LibriVox's books by an author. The API knows family names alone, so the others of that name are left out here.
struct LibriVoxAuthor: BookCollection {
    let name: BookIdentity
    let author: String
    let librivox: LibriVoxSearch

    private static let pageLength = 100

    /// A page that is shorter than asked for need not be the last one: that is the empty one.
    func page(at cursor: String?) async throws -> CollectionPage {
        let offset = cursor.flatMap { Int($0) } ?? 0
        let wanted = try SearchQuery(author)
        let (books, listed) = try await librivox.books(
            [("author", LibriVoxSearch.familyName(author))], limit: Self.pageLength, offset: offset,
            for: ErrorContext(book: name, part: "the list"))
        return CollectionPage(
            entries: books.map(\.entry).filter { wanted.matches(SearchText($0.author ?? "")) },
            next: listed == 0 ? nil : String(offset.addingSaturated(listed)))
    }
}
