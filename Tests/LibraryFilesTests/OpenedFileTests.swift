import BookModel
import Foundation
import Support
import Testing

@testable import LibraryFiles

@Suite(.limitedConcurrency) struct OpenedFileTests {
    private static let digest = String(repeating: "ab", count: 32)

    /// What would be recorded of a file of the folder now.
    private func record(_ path: String, in folder: URL) throws -> LocalFile {
        var status = stat()
        #expect(stat(folder.appending(path: path).path, &status) == 0)
        let facts = FileAttributes(status)
        return record(path, size: facts.size, time: facts.modificationTime)
    }

    private func record(_ path: String, size: Int64 = 1, time: Int64 = 0) -> LocalFile {
        LocalFile(
            episode: EpisodeIdentity(book: BookIdentity(source: "s", id: "1"), key: "1"), path: path, size: size,
            sha256: Self.digest, modificationTime: time, inode: 0, fetchedAt: .now, verification: .length)
    }

    private func withFile(_ body: (URL) throws -> Void) throws {
        try withTemporaryFolder { folder in
            try FileManager.default.createDirectory(
                at: folder.appending(path: "A/B"), withIntermediateDirectories: true)
            try Data("0123456789".utf8).write(to: folder.appending(path: "A/B/1.m4b"))
            try body(folder)
        }
    }

    private func bytes(_ file: OpenedFile, _ range: Range<Int>) throws -> String {
        var bytes = [UInt8](repeating: 0, count: range.count)
        try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: Int64(range.lowerBound)) }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `a file that is as recorded has the recorded digest for its tag`() throws {
        try withFile { folder in
            let file = try #require(try OpenedFile.open(record("A/B/1.m4b", in: folder), in: folder.path))
            #expect(file.size == 10 && file.mediaType == "audio/mp4")
            #expect(file.entityTag == "\"sha256-\(Self.digest)\"")
            #expect(try bytes(file, 0..<10) == "0123456789")
            #expect(try bytes(file, 3..<5) == "34")
        }
    }

    @Test func `one that was changed has another tag, and each change another`() throws {
        try withFile { folder in
            let recorded = try record("A/B/1.m4b", in: folder)
            var tags: Set<String> = []
            for (content, time) in [("0123456789", 1000.0), ("0123456789", 2000), ("01234567890", 2000)] {
                try Data(content.utf8).write(to: folder.appending(path: "A/B/1.m4b"))
                try FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSince1970: time)],
                    ofItemAtPath: folder.appending(path: "A/B/1.m4b").path)
                let file = try #require(try OpenedFile.open(recorded, in: folder.path))
                #expect(file.sha256 == nil)
                tags.insert(file.entityTag)
            }
            #expect(tags.count == 3 && !tags.contains { $0.contains(Self.digest) })
        }
    }

    @Test func `what changes while it is given away is not given to its end`() throws {
        try withFile { folder in
            let path = folder.appending(path: "A/B/1.m4b").path
            let file = try #require(try OpenedFile.open(record("A/B/1.m4b", in: folder), in: folder.path))
            #expect(truncate(path, 4) == 0)
            #expect(throws: Failure.self) { try bytes(file, 0..<10) }
            #expect(throws: Failure.self) { try bytes(file, 0..<2) }
        }
    }

    @Test(arguments: [
        "", "/etc/passwd", "../x", "A/../A/B/1.m4b", "A/./B/1.m4b", "A//B/1.m4b", "A/B", "A/B/", "A/B/2.m4b",
        "A/B/1.m4b\u{0}", ".booksync/partial/x", "linked/1.m4b", "A/B/link.m4b", "A/B/1.m4b/x", "A/B/pipe",
    ])
    func `no path leads out of the library, nor to anything but a file`(_ path: String) throws {
        try withFile { folder in
            let files = FileManager.default
            let outside = folder.appending(path: "A/B").path
            try files.createSymbolicLink(
                atPath: folder.appending(path: "linked").path, withDestinationPath: outside)
            try files.createSymbolicLink(atPath: outside + "/link.m4b", withDestinationPath: outside + "/1.m4b")
            #expect(mkfifo(outside + "/pipe", 0o600) == 0)
            try files.createDirectory(
                at: folder.appending(path: ".booksync/partial"), withIntermediateDirectories: true)
            try Data("x".utf8).write(to: folder.appending(path: ".booksync/partial/x"))
            #expect(try OpenedFile.open(record(path), in: folder.path) == nil)
        }
    }
}
