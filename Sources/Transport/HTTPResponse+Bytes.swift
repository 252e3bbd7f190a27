import NIOCore

extension HTTPResponse {
    /// The whole body in memory, for rooms that know nothing of buffers.
    ///
    /// - Throws: ``TransportError`` of kind `oversized` when it is longer than `limit` bytes.
    package func bytes(upTo limit: Int) async throws -> [UInt8] {
        Array(try await collect(upTo: limit).readableBytesView)
    }
}
