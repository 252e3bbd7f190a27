import BookModel
import Foundation
import NIOCore
import Support
import Testing

@testable import DownloadEngine

@Suite(.limitedConcurrency) struct PartialFileTests {
    @Test func `a partial file is written by one at a time`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appending(path: "a.part").path
            let first = try await PartialFile.open(path, promised: nil)
            try await first.append(ByteBuffer(string: "abc"))
            await #expect(throws: Failure.self) { try await PartialFile.open(path, promised: nil) }
            await first.close()
            let second = try await PartialFile.open(path, promised: nil)
            #expect(await second.length == 3)
            await second.close()
        }
    }

    #if os(Linux)
        @Test func `a descriptor that a starting child shares does not keep a closed partial file locked`() async throws
        {
            try await withTemporaryFolder { folder in
                let path = folder.appending(path: "a.part").path
                let first = try await PartialFile.open(path, promised: nil)
                try await first.append(ByteBuffer(string: "abc"))
                // What `fork` does to the descriptor, until `exec` closes the child's.
                let shared = dup(try #require(try Self.descriptor(of: path)))
                defer { close(shared) }
                await first.close()
                let second = try await PartialFile.open(path, promised: nil)
                #expect(await second.length == 3)
                await second.close()
            }
        }

        /// The descriptor under which this process has the file open.
        private static func descriptor(of path: String) throws -> CInt? {
            let real = URL(filePath: path).resolvingSymlinksInPath().path
            return try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { CInt($0) }
                .first { (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == real }
        }
    #endif

    @Test func `bytes that somebody else appended are noticed before the file is published`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appending(path: "a.part").path
            let partial = try await PartialFile.open(path, promised: nil)
            try await partial.append(ByteBuffer(string: "abc"))
            try await partial.sync()
            let handle = try FileHandle(forWritingTo: URL(filePath: path))
            try handle.seekToEnd()
            try handle.write(contentsOf: Data("x".utf8))
            try handle.close()
            await #expect(throws: Failure.self) { try await partial.sync() }
            await partial.close()
        }
    }
}
