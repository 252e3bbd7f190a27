import Foundation
import Support
import Testing

@testable import BookSyncCLI

@Suite struct StandardStreamsTests {
    @Test func `all of a text reaches a pipe that another process made non-blocking`() async throws {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        let (reader, writer) = (ends[0], ends[1])
        _ = fcntl(writer, F_SETFL, fcntl(writer, F_GETFL) | O_NONBLOCK)
        // More than a pipe holds.
        let bytes = [UInt8](repeating: 7, count: 1 << 20)
        let writing = Task(executorPreference: OwnThread()) {
            defer { close(writer) }
            return bytes.withUnsafeBytes { StandardStreams.write($0, to: writer) }
        }
        let reading = Task(executorPreference: OwnThread()) {
            // Nothing is read before the pipe is full.
            var full = pollfd(fd: writer, events: Int16(POLLOUT), revents: 0)
            while poll(&full, 1, 0) == 1, full.revents & Int16(POLLOUT) != 0 { sched_yield() }
            var part = [UInt8](repeating: 0, count: 1 << 16)
            var count = 0
            while case let length = read(reader, &part, part.count), length > 0 { count += length }
            close(reader)
            return count
        }
        #expect(await writing.value == nil)
        #expect(await reading.value == bytes.count)
    }
}
