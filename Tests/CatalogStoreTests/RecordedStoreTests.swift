import BookModel
import CatalogStore
import Foundation
import Support
import Testing

/// Stores that old versions of the program made, killed while their -wal file held much that the database did not.
@Suite(.limitedConcurrency) struct RecordedStoreTests {
    /// Rows that SQLite counts without the -wal file, and with it.
    private static let counts: [String: (database: Int, all: Int)] = [
        "book": (3, 4), "episode": (1760, 2060), "episode_element": (1760, 2060), "local_file": (124, 148),
        "transfer": (2, 272),
    ]

    @Test(arguments: RecordedLibrary.all)
    func `the archive is the one that was recorded, and its -wal file is live`(library: RecordedLibrary) async throws {
        #expect(try sha256(ofFileAt: library.archive.path) == library.digest, "a recorded store is never edited")
        try await withTemporaryFolder { folder in
            let path = try await library.unpack(into: folder)
            let copy = folder.appending(path: "without-wal").path
            try FileManager.default.copyItem(atPath: path, toPath: copy)
            let (database, all) = (try TableContents(of: copy), try TableContents(of: path))
            for (table, count) in Self.counts {
                #expect(database.count(table) == count.database, "\(table)")
                #expect(all.count(table) == count.all, "\(table)")
            }
            let applied = (1...library.schema).map { "'v\($0)'" }.sorted()
            #expect(all.tables["grdb_migrations"]?.rows == applied)
        }
    }

    @Test(arguments: RecordedLibrary.all)
    func `a store of an old version keeps every row and every column`(library: RecordedLibrary) async throws {
        try await withTemporaryFolder { folder in
            let path = try await library.unpack(into: folder)
            var before = try TableContents(of: path)
            try await CatalogStore(path: path, access: .readWrite).close()
            var after = try TableContents(of: path, columns: before.columns)
            #expect(after.tables["grdb_migrations"]?.rows == (1...13).map { "'v\($0)'" }.sorted())
            before.tables["grdb_migrations"] = nil
            after.tables["grdb_migrations"] = nil
            for (table, contents) in before.tables { #expect(after.tables[table] == contents, "\(table)") }
            #expect(try schema(of: path).last == "ok")
        }
    }

    @Test(arguments: RecordedLibrary.all)
    func `what an old version kept is read by today's store`(library: RecordedLibrary) async throws {
        try await withTemporaryFolder { folder in
            let store = try await CatalogStore(path: try await library.unpack(into: folder), access: .readWrite)
            let books = try await store.books().sorted { $0.book.identity.id < $1.book.identity.id }
            #expect(books.map(\.book.title) == ["长河", "群山", "小城", "夜航"])
            #expect(books.map(\.episodes) == [1200, 500, 60, 300])
            #expect(books.map(\.present) == [40, 29, 55, 24])
            #expect(books.map(\.locked) == [24, 10, 1, 6])
            let town = try await store.episodes(of: BookIdentity(source: "cat", id: "30"))
            #expect(town.filter { $0.removedAt != nil }.map(\.episode.section) == [3, 4])
            #expect(town.first { $0.episode.section == 21 }?.transfer?.state == .paused)
            #expect(town.first { $0.episode.section == 7 }?.transfer?.state == .failed)
            #expect(town[9].file?.path == "林周/小城/010 第0010集 小城（修订）.mp3")
            try await store.close()
        }
    }
}
