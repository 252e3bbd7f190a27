import BookModel
import Foundation
import Support
import Testing

@testable import LibraryFiles

@Suite(.limitedConcurrency) struct BackupsTests {
    private let files = FileManager.default

    private func withFile(
        _ path: String, _ body: (LocalFile, Backups, String) async throws -> Void
    ) async throws {
        try await withTemporaryPath { (library: String) in
            try write("first", to: library + "/" + path)
            try write("", to: library + "/.booksync/lock")
            let file = LocalFile(
                episode: EpisodeIdentity(book: BookIdentity(source: "s", id: "1"), key: "k"), path: path, size: 5,
                sha256: "", modificationTime: 0, inode: 0, fetchedAt: .now, verification: .length)
            try await body(file, Backups(library: library), library)
        }
    }

    @Test func `a file is kept once, and each version of it under a name of its own`() async throws {
        try await withFile("A/B/7.mp3") { file, kept, library in
            let name = try await kept.keep(file)
            #expect(name.hasPrefix(".booksync/kept/A/B/7.mp3.kept-"))
            #expect(try await kept.keep(file) == name)
            // Its place is taken over as the engine does it.
            try Data("other".utf8).write(to: URL(filePath: library + "/A/B/new"))
            try files.setAttributes(
                [
                    .modificationDate: try #require(
                        files.attributesOfItem(atPath: library + "/" + name)[.modificationDate])
                ],
                ofItemAtPath: library + "/A/B/new")
            #expect(rename(library + "/A/B/new", library + "/A/B/7.mp3") == 0)
            let other = try await kept.keep(file)
            #expect(other == name + "-2")
            #expect(try String(contentsOfFile: library + "/" + name, encoding: .utf8) == "first")
            #expect(try String(contentsOfFile: library + "/" + other, encoding: .utf8) == "other")
        }
    }

    @Test func `what is released leaves nothing behind but the file itself`() async throws {
        try await withFile("A/7.mp3") { file, kept, library in
            try await kept.release(try await kept.keep(file))
            #expect(files.fileExists(atPath: library + "/A/7.mp3"))
            #expect(!files.fileExists(atPath: library + "/" + Backups.folder))
            #expect(try files.contentsOfDirectory(atPath: library + "/.booksync") == ["lock"])
        }
    }

    @Test func `a name that is as long as names can be is cut between characters`() async throws {
        let long = String(repeating: "回", count: 83) + ".mp3"
        try await withFile(long) { file, kept, library in
            let name = try await kept.keep(file)
            #expect(name.utf8.count <= Backups.folder.utf8.count + 1 + 255)
            #expect(files.fileExists(atPath: library + "/" + name))
        }
    }
}
