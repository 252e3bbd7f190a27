import BookModel

/// What stands between the quotes of a JSON string.
package enum JSONString {
    /// - Parameter source: well-formed, without the quotes.
    package static func content(_ source: UnsafeBufferPointer<UInt8>) -> String {
        guard source.contains(UInt8(ascii: "\\")) else { return String(decoding: source, as: UTF8.self) }
        // No escape is shorter than what it stands for.
        return String(unsafeUninitializedCapacity: source.count) { content in
            var position = 0
            var length = 0
            func append(_ byte: UInt8) {
                content[length] = byte
                length += 1
            }
            while position < source.count {
                let byte = source[position]
                position += 1
                guard byte == UInt8(ascii: "\\"), position < source.count else {
                    append(byte)
                    continue
                }
                let escaped = source[position]
                position += 1
                switch escaped {
                case UInt8(ascii: "b"): append(0x08)
                case UInt8(ascii: "f"): append(0x0C)
                case UInt8(ascii: "n"): append(0x0A)
                case UInt8(ascii: "r"): append(0x0D)
                case UInt8(ascii: "t"): append(0x09)
                case UInt8(ascii: "u"): UTF8.encode(scalar(source, at: &position))?.forEach(append)
                default: append(escaped)
                }
            }
            return length
        }
    }

    /// The scalar of the escape whose `\u` was just read, taking in the second half of a surrogate pair.
    private static func scalar(_ source: UnsafeBufferPointer<UInt8>, at position: inout Int) -> Unicode.Scalar {
        let unit = codeUnit(source, at: position)
        position += 4
        guard (0xD800..<0xDC00).contains(unit) else { return Unicode.Scalar(unit) ?? "\u{FFFD}" }
        guard position + 6 <= source.count, source[position] == UInt8(ascii: "\\"),
            source[position + 1] == UInt8(ascii: "u")
        else { return "\u{FFFD}" }
        let second = codeUnit(source, at: position + 2)
        guard (0xDC00..<0xE000).contains(second) else { return "\u{FFFD}" }
        position += 6
        return Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (second - 0xDC00)) ?? "\u{FFFD}"
    }

    private static func codeUnit(_ source: UnsafeBufferPointer<UInt8>, at position: Int) -> UInt32 {
        source[position..<(position + 4)].reduce(0) { $0 << 4 | UInt32($1.hexadecimalValue ?? 0) }
    }
}
