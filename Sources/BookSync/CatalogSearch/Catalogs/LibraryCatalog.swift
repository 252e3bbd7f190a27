import BookModel
import CatalogFetcher
import Settings

/// What is on the shelf already: there a book is found by its pinyin, too, and with a wrong letter.
struct LibraryCatalog: SearchableCatalog {
    let library: String
    var isListing: Bool { true }

    func search(_ query: CatalogQuery) async throws -> [CatalogEntry] {
        let books = try await ShelfReader.read(library) { try await $0.books() } ?? []
        return books.map { shelved in
            var entry = CatalogEntry(identity: shelved.book.identity, title: shelved.book.title)
            entry.author = shelved.book.author
            entry.narrator = shelved.book.narrator
            entry.language = shelved.book.language
            entry.summary = shelved.book.summary
            entry.episodes = shelved.episodes
            return entry
        }
    }
}
