import BookModel
import Foundation
import Support
import Testing

@testable import LibraryFiles

/// What cannot be looked at is not taken for something that is not there.
@Suite(.limitedConcurrency) struct UnreadablePlaceTests {
    @Test func `a file that cannot be looked at is not overwritten`() async throws {
        try await withTemporaryPath { library in
            try write("", to: library + "/.booksync/lock")
            let before = FileAttributes(size: 1, modificationTime: 0, inode: 1, kind: .file)
            let directory = try LibraryDirectory("", in: library)
            // The system refuses to look at a name that is too long.
            #expect(throws: Failure.self) {
                try directory.requireUnchanged(String(repeating: "x", count: 300), since: before)
            }
            try directory.requireUnchanged("gone", since: before)
        }
    }

    @Test func `a shard's record that cannot be read is not taken for none`() async throws {
        try await withTemporaryPath { library in
            try FileManager.default.createDirectory(
                atPath: library + "/.booksync/shard", withIntermediateDirectories: true)
            let shard = try #require(Shard(index: 0, count: 1))
            for failure in [
                #expect(throws: Failure.self) { try ShardRecord.require(shard, of: [library]) },
                #expect(throws: Failure.self) { try ShardRecord.write(shard, in: library) },
            ] {
                #expect(failure?.kind == .inputOutput && failure?.what.description.hasSuffix("cannot be read") == true)
            }
        }
    }
}
