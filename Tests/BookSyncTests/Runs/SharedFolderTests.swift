import BookModel
import CatalogStore
import Foundation
import Support
import Testing

@testable import BookSync

/// Two books of one title share a folder, and their episodes may have the same names as well.
@Suite(.limitedConcurrency) struct SharedFolderTests {
    @Test(arguments: [true, false])
    func `books of one title each get all their files`(together: Bool) async throws {
        try await withRunBench(ScriptedCatalog.episodes(3)) { bench in
            let books = ["1", "2"].map { BookIdentity(source: "kting", id: $0) }
            if together {
                try await bench.run(books)
            } else {
                for book in books { try await bench.run([book]) }
            }
            let paths = try await bench.withStore { store in
                var paths: Set<String> = []
                for book in books {
                    for shelved in try await store.episodes(of: book) { paths.insert(try #require(shelved.file).path) }
                }
                return paths
            }
            #expect(paths.count == 6)
            #expect(bench.audioRequests.count == 6)
            let again = try await bench.run(books)
            #expect(again.summary.kept == 6 && again.summary.renamed == 0)
        }
    }

    @Test func `a file in the way is told of, and left alone`() async throws {
        try await withRunBench(ScriptedCatalog.episodes(3)) { bench in
            try await bench.run()
            let path = try #require(try await bench.recordedPath(2))
            try await bench.withStore { store in
                for section in 1...3 {
                    let episode = try #require(try await store.episode(section: section, of: RunBench.book))
                    try await store.forgetFile(of: episode.episode.identity)
                    // One byte more than the catalog says: it could be anything.
                    let path = try #require(episode.file).path
                    try Data(ScriptedCatalog.bytes(section) + [0]).write(to: URL(filePath: bench.library + "/" + path))
                }
            }
            bench.events.update { $0 = [] }
            let report = try await bench.run()
            #expect(report.summary.failed == 3)
            #expect(report.failures.count == 1)
            #expect(
                report.failures.first?.what.description
                    == "Book, episode 1 '第1集' and 2 more cannot be put in place",
                "\(report.failures)")
            #expect(try bench.read(path) == ScriptedCatalog.bytes(2) + [0])
        }
    }
}

extension RunBench {
    /// One run over several books, which this catalog lists all alike.
    @discardableResult
    fileprivate func run(_ books: [BookIdentity]) async throws -> RunReport {
        let request = try RunRequest(items: books.map { .init(book: $0, title: "Book") })
        return try await LibrarySession.withLibrary(at: library, command: "test") { session in
            try await syncRun.execute(request, in: session)
        }
    }
}
