import BookModel
import Foundation
import NIOCore
import Support
import Testing

@testable import DownloadEngine

@Suite struct PartialFileTests {
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
