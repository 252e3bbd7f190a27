import BookModel
import CatalogStore
import Foundation
import Support
import Testing

@testable import BookSync
@testable import LibraryFiles

/// A store that is kept open, while others replace it.
@Suite(.limitedConcurrency) struct KeptStoreTests {
    private func subscribe(in library: String, to id: String) async throws {
        let folder = try await LibraryFolder.open(at: library)
        let store = try await CatalogStore(path: folder.storePath, access: .readWrite)
        try await store.closing {
            _ = try await store.subscribe(
                Subscription(book: BookIdentity(source: "s", id: id), subscribedAt: .now))
        }
    }

    private func subscribed(_ kept: KeptStore) async throws -> [String]? {
        try await kept.read { store, _ in try await store.subscriptions().map(\.book.id) }
    }

    private func store(of kept: KeptStore) async throws -> CatalogStore? {
        try await kept.read { store, _ in store }
    }

    @Test func `it is opened once, and shows what others write`() async throws {
        try await withTemporaryPath { (library: String) in
            let kept = KeptStore(library: library)
            #expect(try await subscribed(kept) == nil)
            try await subscribe(in: library, to: "1")
            #expect(try await subscribed(kept) == ["1"])
            let first = try await store(of: kept)
            #expect(try await subscribed(kept) == ["1"])
            #expect(try await store(of: kept) === first)
            try await subscribe(in: library, to: "2")
            #expect(try await subscribed(kept) == ["1", "2"])
            let counts = try await withThrowingTaskGroup(of: Int?.self) { group in
                for _ in 0..<50 { group.addTask { try await subscribed(kept)?.count } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(counts == Array(repeating: 2, count: 50))
        }
    }

    @Test func `another one in its place is read next, and a reading under way comes to its end`() async throws {
        try await withTemporaryPath { (library: String) in
            let kept = KeptStore(library: library)
            try await subscribe(in: library, to: "1")
            let path = LibraryFolder.existing(at: library).storePath
            let seen = try await kept.read { store, _ -> [[String]?] in
                for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: path + suffix) {
                    try FileManager.default.moveItem(atPath: path + suffix, toPath: path + ".old" + suffix)
                }
                try await subscribe(in: library, to: "2")
                let next = try await subscribed(kept)
                return [next, try await store.subscriptions().map(\.book.id), try await subscribed(kept)]
            }
            #expect(seen == [["2"], ["1"], ["2"]])
        }
    }

    @Test(
        .needs("sqlite3")
    )
    func `one that another version of booksync changes is opened again`() async throws {
        try await withTemporaryPath { (library: String) in
            let kept = KeptStore(library: library)
            try await subscribe(in: library, to: "1")
            let first = try await store(of: kept)
            let path = LibraryFolder.existing(at: library).storePath
            let shell = try await onThread {
                let shell = try Process.run(
                    URL(filePath: "/usr/bin/sqlite3"),
                    arguments: [path, "CREATE INDEX another ON subscription (title)"])
                shell.waitUntilExit()
                return shell.terminationStatus
            }
            #expect(shell == 0)
            #expect(try await store(of: kept) !== first)
            #expect(try await subscribed(kept) == ["1"])
        }
    }

    @Test func `one that is lost is missed`() async throws {
        try await withTemporaryPath { (library: String) in
            let kept = KeptStore(library: library)
            try await subscribe(in: library, to: "1")
            #expect(try await subscribed(kept) == ["1"])
            try Data("audio".utf8).write(to: URL(filePath: library + "/book.mp3"))
            let path = LibraryFolder.existing(at: library).storePath
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
            let failure = await #expect(throws: Failure.self) { try await subscribed(kept) }
            #expect(failure?.description.contains("is lost") == true)
        }
    }
}
