import NIOCore

extension HTTPResponse {
    /// The whole body in memory, for modules that do not use NIO buffers.
    ///
    /// - Throws: ``TransportError`` of kind `oversized` when it is longer than `limit` bytes.
    package func bytes(upTo limit: Int) async throws -> [UInt8] {
        Array(try await collect(upTo: limit).readableBytesView)
    }

    /// The first bytes of the body, at most `count` of them; the others are not waited for.
    package func beginning(_ count: Int) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for try await part in body {
            bytes += part.readableBytesView.prefix(count - bytes.count)
            if bytes.count >= count { break }
        }
        return bytes
    }
}
