import BookModel
import Foundation
import NIOCore
import Support
import Testing

@testable import DownloadEngine

@Suite(.limitedConcurrency) struct PartialFileTests {
    @Test func `a partial file is written by one at a time`() throws {
        try withTemporaryFolder { folder in
            let path = folder.appending(path: "a.part").path
            let first = try PartialFile(path, promised: nil)
            try first.append(ByteBuffer(string: "abc"))
            #expect(throws: Failure.self) { try PartialFile(path, promised: nil) }
            first.close()
            let second = try PartialFile(path, promised: nil)
            #expect(second.length == 3)
            second.close()
        }
    }

    #if os(Linux)
        @Test func `a descriptor that a starting child shares does not keep a closed partial file locked`() throws {
            try withTemporaryFolder { folder in
                let path = folder.appending(path: "a.part").path
                let first = try PartialFile(path, promised: nil)
                try first.append(ByteBuffer(string: "abc"))
                // What `fork` does to the descriptor, until `exec` closes the child's.
                let shared = dup(try #require(try Self.descriptor(of: path)))
                defer { close(shared) }
                first.close()
                let second = try PartialFile(path, promised: nil)
                #expect(second.length == 3)
                second.close()
            }
        }

        /// The descriptor under which this process has the file open.
        private static func descriptor(of path: String) throws -> CInt? {
            let real = URL(filePath: path).resolvingSymlinksInPath().path
            return try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { CInt($0) }
                .first { (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == real }
        }
    #endif

    @Test func `bytes that somebody else appended are noticed before the file is published`() throws {
        try withTemporaryFolder { folder in
            let path = folder.appending(path: "a.part").path
            let partial = try PartialFile(path, promised: nil)
            try partial.append(ByteBuffer(string: "abc"))
            try partial.sync()
            let handle = try FileHandle(forWritingTo: URL(filePath: path))
            try handle.seekToEnd()
            try handle.write(contentsOf: Data("x".utf8))
            try handle.close()
            #expect(throws: Failure.self) { try partial.sync() }
            partial.close()
        }
    }
}
