import CZlib

/// The bytes as a gzip member, in zlib's format, or as bare deflate.
package func deflated(_ bytes: [UInt8], _ format: DeflateFormat = .gzip) -> [UInt8] {
    var stream = z_stream()
    let size = CInt(MemoryLayout<z_stream>.size)
    guard deflateInit2_(&stream, 6, Z_DEFLATED, format.rawValue, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size) == Z_OK
    else { return [] }
    defer { deflateEnd(&stream) }
    var input = bytes
    var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(bytes.count))) + 64)
    let room = output.count
    input.withUnsafeMutableBufferPointer { source in
        output.withUnsafeMutableBufferPointer { sink in
            stream.next_in = source.baseAddress
            stream.avail_in = UInt32(source.count)
            stream.next_out = sink.baseAddress
            stream.avail_out = UInt32(sink.count)
            _ = deflate(&stream, Z_FINISH)
        }
    }
    return Array(output.prefix(room - Int(stream.avail_out)))
}

/// As zlib's window bits.
package enum DeflateFormat: CInt, Sendable, CaseIterable {
    case gzip = 31
    case zlib = 15
    case bare = -15
}
