import CZlib
import NIOCore

/// Decodes a stream of gzip (RFC 1952), zlib (RFC 1950) or bare deflate (RFC 1951) bytes, bit by bit, and knows from the
/// stream itself when it is whole: zlib compares its checksums and lengths.
package final class Inflater {
    /// The bytes are not of the coding, or their checksum does not fit.
    struct Damage: Error {}

    /// Stays at one address, to which zlib's own state refers back.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private let coding: ContentCoding
    private let ignoresWhatFollows: Bool
    private var isPrepared = false
    /// Whether the checksum of what was decoded so far has come, and fitted.
    package private(set) var isAtEnd = false
    /// Whether there may be more to come of the input that was used up already.
    package private(set) var hasMore = false
    private var status: CInt = Z_OK

    /// - Parameter ignoresWhatFollows: whether bytes behind the end that are no further member are left out.
    package init(_ coding: ContentCoding, ignoresWhatFollows: Bool = false) {
        self.coding = coding
        self.ignoresWhatFollows = ignoresWhatFollows
        stream.initialize(to: z_stream())
    }

    deinit {
        if isPrepared { inflateEnd(stream) }
        stream.deinitialize(count: 1)
        stream.deallocate()
    }

    /// Decodes from the front of `input` until there are `limit` bytes or nothing is left of it.
    ///
    /// - Returns: the bytes decoded; empty only when `input` is used up and ``hasMore`` is false.
    /// - Throws: ``Damage``.
    package func decode(_ input: inout ByteBuffer, upTo limit: Int) throws -> ByteBuffer {
        var output = ByteBuffer()
        while input.readableBytes > 0 || hasMore, output.readableBytes == 0 {
            if isAtEnd, try !beginsAnother(&input) { break }
            if !isPrepared { try prepare(for: input) }
            output.writeWithUnsafeMutableBytes(minimumWritableBytes: limit) { room in
                input.readWithUnsafeMutableReadableBytes { bytes in
                    step(from: bytes, to: UnsafeMutableRawBufferPointer(rebasing: room.prefix(limit)))
                }
            }
            hasMore = output.readableBytes == limit && status != Z_STREAM_END
            switch status {
            case Z_STREAM_END: isAtEnd = true
            // No progress is possible without more input, or more room, which the next call gives.
            case Z_OK, Z_BUF_ERROR: break
            default: throw Damage()
            }
        }
        return output
    }

    private func step(
        from bytes: UnsafeMutableRawBufferPointer, to room: UnsafeMutableRawBufferPointer
    ) -> (Int, Int) {
        stream.pointee.next_in = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_in = UInt32(clamping: bytes.count)
        stream.pointee.next_out = room.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_out = UInt32(clamping: room.count)
        let offered = Int(stream.pointee.avail_in)
        status = inflate(stream, Z_NO_FLUSH)
        let used = offered - Int(stream.pointee.avail_in)
        let made = room.count - Int(stream.pointee.avail_out)
        stream.pointee.next_in = nil
        stream.pointee.next_out = nil
        return (used, made)
    }

    /// What `deflate` means has been read in two ways ever since: zlib's format, as the standard says, and bare deflate.
    private func prepare(for input: ByteBuffer) throws {
        let first = input.readableBytesView.first ?? 0
        let windowBits: CInt =
            switch coding {
            case .deflate: first & 0x0F == 8 && first >> 4 <= 7 ? 15 : -15
            default: 15 + 16
            }
        let size = CInt(MemoryLayout<z_stream>.size)
        guard inflateInit2_(stream, windowBits, ZLIB_VERSION, size) == Z_OK else { throw Damage() }
        isPrepared = true
    }

    /// A gzip stream may have several members, and padding behind the last one (RFC 1952 §2.2).
    private func beginsAnother(_ input: inout ByteBuffer) throws -> Bool {
        while let byte = input.readableBytesView.first, byte == 0 { input.moveReaderIndex(forwardBy: 1) }
        if ignoresWhatFollows, input.readableBytesView.first != 0x1F { input.clear() }
        if input.readableBytes == 0 { return false }
        guard coding == .gzip, inflateReset(stream) == Z_OK else { throw Damage() }
        isAtEnd = false
        return true
    }
}
