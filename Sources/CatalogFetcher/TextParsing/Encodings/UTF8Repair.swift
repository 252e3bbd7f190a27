/// Passes UTF-8 on in pieces; what is none becomes U+FFFD, one for each maximal subpart (Unicode 15 §3.9, table 3-8).
struct UTF8Repair {
    /// The beginning of a character whose end has not come yet; at most three bytes.
    private var buffered: [UInt8] = []

    mutating func consume(_ bytes: UnsafeBufferPointer<UInt8>, _ pass: (UnsafeBufferPointer<UInt8>) -> Void) {
        let joined = buffered + bytes
        buffered = joined.withUnsafeBufferPointer { joined in
            let end = Self.endOfCompleteCharacters(joined)
            Self.pass(repaired: joined[..<end], pass)
            return Array(joined[end...])
        }
    }

    mutating func finish(_ pass: (UnsafeBufferPointer<UInt8>) -> Void) {
        buffered.withUnsafeBufferPointer { Self.pass(repaired: $0[...], pass) }
        buffered.removeAll()
    }

    static let replacement: [UInt8] = [0xEF, 0xBF, 0xBD]

    private static func pass(
        repaired bytes: Slice<UnsafeBufferPointer<UInt8>>, _ pass: (UnsafeBufferPointer<UInt8>) -> Void
    ) {
        guard !bytes.isEmpty else { return }
        var text = String(decoding: bytes, as: UTF8.self)
        // U+FFFE and U+FFFF are no characters, and XML parsers end at them.
        if text.unicodeScalars.contains(where: { $0.value & ~1 == 0xFFFE }) {
            let scalars = text.unicodeScalars.map { $0.value & ~1 == 0xFFFE ? "\u{FFFD}" : $0 }
            text = String(String.UnicodeScalarView(scalars))
        }
        text.withUTF8(pass)
    }

    /// - Returns: the position of the last character where its end is missing, else the end of the bytes.
    static func endOfCompleteCharacters(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        guard let last = bytes.suffix(3).lastIndex(where: { $0 & 0xC0 != 0x80 }) else { return bytes.count }
        // The first byte of a character begins with as many ones as the character has bytes.
        let length = (~bytes[last]).leadingZeroBitCount
        return last + length > bytes.count ? last : bytes.count
    }

    static func endOfASCII(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        var position = start
        let raw = UnsafeRawBufferPointer(bytes)
        while position + 8 <= bytes.count,
            raw.loadUnaligned(fromByteOffset: position, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
        {
            position += 8
        }
        while position < bytes.count, bytes[position] < 0x80 { position += 1 }
        return position
    }
}
