import BookModel
import Foundation
import Support
import Testing

@testable import BookSyncWeb

/// Where a server may listen that is to have a Unix socket.
@Suite(.limitedConcurrency) struct SocketPathTests {
    #if canImport(Glibc)
        private static let streamKind = CInt(SOCK_STREAM.rawValue)
    #else
        private static let streamKind = SOCK_STREAM
    #endif

    /// - Parameter call: `bind` or `connect`.
    private func at(
        _ path: String, _ descriptor: CInt, _ call: (CInt, UnsafePointer<sockaddr>, socklen_t) -> CInt
    ) -> CInt {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                call(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    @Test func `where somebody listens is not free, though they take nobody just now`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appending(path: "s").path
            try #require(path.utf8.count < 100)
            try await SocketPath.requireFree(path)
            let listener = socket(AF_UNIX, Self.streamKind, 0)
            try #require(at(path, listener, bind) == 0 && listen(listener, 0) == 0)
            await #expect(throws: Failure.self) { try await SocketPath.requireFree(path) }
            var clients: [CInt] = []
            repeat {
                clients.append(socket(AF_UNIX, Self.streamKind, 0))
                _ = fcntl(clients.last ?? -1, F_SETFL, O_NONBLOCK)
            } while at(path, clients.last ?? -1, connect) == 0
            await #expect(throws: Failure.self) { try await SocketPath.requireFree(path) }
            for descriptor in clients + [listener] { close(descriptor) }
        }
    }
}
