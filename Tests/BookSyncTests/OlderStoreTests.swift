import BookModel
import Foundation
import Support
import Testing

@testable import BookSync

/// What becomes of a library whose store an earlier booksync made, before any run.
@Suite(.limitedConcurrency) struct OlderStoreTests {
    private static let sqlite = "/usr/bin/sqlite3"

    @Test(
        .enabled(if: FileManager.default.isExecutableFile(atPath: sqlite), "the shell of SQLite is not installed"),
        arguments: [1, 2])
    func `a store of an earlier booksync is listed and searched at once`(version: Int) async throws {
        try await withTemporaryFolder { (folder: String) in
            try FileManager.default.createDirectory(
                atPath: folder + "/.booksync", withIntermediateDirectories: false)
            let script = ".read '\(Corpus.fixture("store/v\(version).sql").path)'"
            let made = try await withProduct(
                [LibraryFolder.existing(at: folder).storePath, script], in: URL(filePath: folder),
                executable: URL(filePath: Self.sqlite)
            ) { try await $0.result() }
            #expect(made.exitCode == 0, "\(made.errors)")
            let books = try await ShelfReader.read(folder) { try await $0.books() }
            #expect(books?.map(\.episodes) == [4])
            let found = try await ShelfReader.search(folder, for: "兽医", limit: nil)
            #expect(found?.items.count == 4)
        }
    }
}
