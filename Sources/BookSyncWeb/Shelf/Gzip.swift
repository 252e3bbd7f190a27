import BookModel
import BookSync
import CZlib
import LibraryFiles

/// Answers in the gzip coding (RFC 9110 §8.4.1.3).
enum Gzip {
    /// Bytes from which it is worth it, and from which it takes so long that others should not wait for it.
    static let minSize = 1024
    private static let longSize = 256 << 10

    /// Whether a client takes it (RFC 9110 §12.5.3).
    /// - Parameter fields: the values of Accept-Encoding.
    static func isAccepted(_ fields: [String]) -> Bool {
        let items = WeightedItem.items(in: fields.joined(separator: ",")).map { ($0.name.lowercased(), $0.quality) }
        let weights = Dictionary(items, uniquingKeysWith: { _, last in last })
        return (weights["gzip"] ?? weights["x-gzip"] ?? weights["*"] ?? 0) > 0
    }

    /// - Returns: nil where it does not become smaller, or there is no memory for it.
    static func compressed(_ bytes: [UInt8]) async -> [UInt8]? {
        guard bytes.count >= longSize else { return deflated(bytes) }
        return try? await runBlocking { deflated(bytes) }
    }

    private static func deflated(_ bytes: [UInt8]) -> [UInt8]? {
        var stream = z_stream()
        // 16 more than the size of the window asks for gzip and not for zlib.
        let begun = deflateInit2_(
            &stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            CInt(MemoryLayout<z_stream>.size))
        guard begun == Z_OK, bytes.count <= Int(UInt32.max) else { return nil }
        defer { deflateEnd(&stream) }
        var input = bytes
        let output = [UInt8](unsafeUninitializedCapacity: bytes.count) { room, count in
            input.withUnsafeMutableBufferPointer { source in
                stream.next_in = source.baseAddress
                stream.avail_in = UInt32(source.count)
                stream.next_out = room.baseAddress
                stream.avail_out = UInt32(room.count)
                // All at once: what does not fit is not worth it.
                count = deflate(&stream, Z_FINISH) == Z_STREAM_END ? Int(stream.total_out) : 0
            }
        }
        return output.isEmpty ? nil : output
    }
}
