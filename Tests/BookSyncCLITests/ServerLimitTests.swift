import BookSync
import Foundation
import Settings
import Support
import Testing

@testable import BookSyncWeb

extension ProductTests {
    /// What the server lets its clients cost, with limits that tests can wait for.
    @Suite struct ServerLimits {
        /// Bytes of a file that no socket buffers whole.
        private static let large = 64 << 20
        private static let path = "/media/demo/40111/5000000001.mp3"

        /// Serves the short book with a large first file, in this process.
        private func withServer(
            _ limits: ShelfServer.Limits, _ body: (Int, Task<Void, any Error>) async throws -> Void
        ) async throws {
            try await withWorkbench { bench in
                let fetched = try await bench.run("fetch", "40111", "-q")
                try #require(fetched.exitCode == 0, "\(fetched.errors)")
                let first = try #require(try bench.files().min { $0.key < $1.key })
                #expect(truncate(first.value.path, off_t(Self.large)) == 0)
                var configuration = Configuration.builtIn
                configuration.library = bench.library.path
                let server = ShelfServer(
                    configuration, at: try ListenTarget(parsing: "127.0.0.1:0"), limits: limits)
                let (addresses, running) = AsyncStream.makeStream(of: String.self)
                let serving = Task { try await server.run { running.yield($0) } }
                let address = await addresses.first { _ in true }
                let port = try #require(address?.split(separator: ":").last.flatMap { Int($0) })
                try await body(port, serving)
                serving.cancel()
                try await serving.value
            }
        }

        /// Asks for the large file and takes its first bytes.
        private func begun(_ port: Int) async throws -> (Socket, bytes: Int) {
            let request = "GET \(Self.path) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
            return try await onThread {
                let socket = try Socket.connected(port: port)
                _ = socket.send(Array(request.utf8)[...])
                return (socket, socket.receive().count)
            }
        }

        /// Takes everything that still comes.
        private func rest(of socket: Socket) async throws -> Int {
            try await onThread {
                var count = 0
                while case let part = socket.receive(), !part.isEmpty { count += part.count }
                socket.close()
                return count
            }
        }

        @Test func `an answer under way comes to its end when the server stops, and nobody new is let in`()
            async throws
        {
            var limits = ShelfServer.Limits()
            limits.grace = .seconds(60)
            try await withServer(limits) { port, serving in
                let (socket, first) = try await begun(port)
                serving.cancel()
                let count = try await first + rest(of: socket)
                #expect(count > Self.large && count < Self.large + 4096)
                try await serving.value
                await #expect(throws: (any Error).self) { try await rawExchange(port: port, sending: "") }
            }
        }

        @Test func `an answer that takes longer than the server waits is cut, not ended`() async throws {
            var limits = ShelfServer.Limits()
            limits.grace = .milliseconds(50)
            try await withServer(limits) { port, serving in
                let (socket, first) = try await begun(port)
                serving.cancel()
                try await serving.value
                #expect(try await first + rest(of: socket) < Self.large)
            }
        }

        @Test func `a request that never comes to its end is not waited for`() async throws {
            var limits = ShelfServer.Limits()
            limits.request = .seconds(2)
            try await withServer(limits) { port, _ in
                for beginning in ["", "GET / HTTP/1.1\r\nHost: 127", "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: "] {
                    let answer = try await rawExchange(port: port, sending: beginning)
                    #expect(answer.head.isEmpty, "\(beginning)")
                }
                // The next request on a connection is waited for no longer.
                let one = try await rawExchange(
                    port: port, sending: "GET /feeds/all.opml HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                #expect(one.head.hasPrefix("HTTP/1.1 200"))
            }
        }

        @Test func `whoever takes all the room makes room for others, and not for more of its own`() async throws {
            var limits = ShelfServer.Limits()
            limits.connections = 3
            try await withServer(limits) { port, _ in
                var crowd: [Socket] = []
                for _ in 0..<3 { crowd.append(try await begun(port).0) }
                let request = "GET /feeds/all.opml HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
                #expect(try await rawExchange(port: port, sending: request).head.isEmpty)
                let other = try await rawExchange(port: port, sending: request, from: 2)
                #expect(other.head.hasPrefix("HTTP/1.1 200"))
                for socket in crowd { socket.close() }
            }
        }

        @Test func `there is room for so many clients, and one that takes nothing keeps its place only for a while`()
            async throws
        {
            var limits = ShelfServer.Limits()
            limits.connections = 1
            limits.stall = .seconds(3)
            try await withServer(limits) { port, _ in
                let (socket, first) = try await begun(port)
                let request = "GET /feeds/all.opml HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
                let refused = try await rawExchange(port: port, sending: request)
                #expect(refused.head.isEmpty)
                try await waitUntil("there is room again") {
                    try await rawExchange(port: port, sending: request).head.hasPrefix("HTTP/1.1 200")
                }
                #expect(try await first + rest(of: socket) < Self.large)
            }
        }
    }
}
