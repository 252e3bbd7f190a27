import BookSync
import Foundation
import Support
import Testing

extension ProductTests {
    /// Files that are sent in many parts.
    @Suite struct SentFiles {
        private static let path = "/media/demo/40111/5000000001.mp3"

        /// Serves the short book with other bytes in its first file.
        private func withServer(
            _ bytes: [UInt8], _ body: (ServedShelf, URL) async throws -> Void
        ) async throws {
            try await withWorkbench { bench in
                try await bench.serveShortBook { shelf in
                    let first = try #require(try bench.files().min { $0.key < $1.key }).value
                    try Data(bytes).write(to: first)
                    try await body(shelf, first)
                }
            }
        }

        @Test func `a large file comes whole, and so does each part of it`() async throws {
            let bytes = sampleMP3(bytes: 9_000_001)
            try await withServer(bytes) { shelf, _ in
                let whole = try await shelf.send(Self.path)
                #expect(whole.status == 200 && whole.body == bytes)
                for range in [0..<32_768, 1..<32_770, 100_000..<8_000_000, 8_999_000..<9_000_001] {
                    let field = "Range: bytes=\(range.lowerBound)-\(range.upperBound - 1)"
                    let part = try await shelf.send(Self.path, [field])
                    #expect(part.status == 206 && part.body.elementsEqual(bytes[range]), "\(range)")
                }
            }
        }

        @Test func `a file that is changed while it is sent comes to no end`() async throws {
            let bytes = [UInt8](repeating: 1, count: 48 << 20)
            try await withServer(bytes) { shelf, file in
                let request = "GET \(Self.path) HTTP/1.1\r\nHost: 127.0.0.1:\(shelf.port)\r\nConnection: close\r\n\r\n"
                let count = try await onThread {
                    let socket = try Socket.connected(port: shelf.port)
                    defer { socket.close() }
                    _ = socket.send(Array(request.utf8)[...])
                    var count = 0
                    while count < 4 << 20, case let part = socket.receive(), !part.isEmpty { count += part.count }
                    let handle = try FileHandle(forWritingTo: file)
                    try handle.seekToEnd()
                    try handle.write(contentsOf: Data([2]))
                    try handle.close()
                    while case let part = socket.receive(), !part.isEmpty { count += part.count }
                    return count
                }
                #expect(count > 4 << 20 && count < bytes.count)
            }
        }
    }
}
