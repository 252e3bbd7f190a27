import BookModel
import Foundation
import Support
import Testing

@testable import BookSync
@testable import ShelfQueries

/// What becomes of a library whose store an earlier booksync made, before any run.
@Suite(.limitedConcurrency) struct OlderStoreTests {
    @Test(arguments: RecordedLibrary.all)
    func `a store of an earlier booksync is listed and searched at once`(library: RecordedLibrary) async throws {
        try await withTemporaryFolder { (folder: URL) in
            _ = try await library.unpack(into: folder)
            let path = folder.appending(path: "L").path
            let books = try await ShelfReader.read(path) { try await $0.books() }
            #expect(books?.map(\.episodes).sorted() == [60, 300, 500, 1200])
            let found = try await ShelfReader.search(path, for: "夜航", limit: nil)
            // The book, and each of its episodes.
            #expect(found?.items.count == 1 + 300)
        }
    }
}
