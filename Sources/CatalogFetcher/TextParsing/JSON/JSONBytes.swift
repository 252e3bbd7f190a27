/// The steps over raw JSON bytes that the strict pass and the views over well-formed text share.
package enum JSONBytes {
    package static func skipWhitespace(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int, within end: Int) -> Int {
        var position = start
        while position < end {
            let byte = bytes[position]
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { break }
            position += 1
        }
        return position
    }

    /// The first byte from `start` on that is not plain ASCII text of a string: a quote, a backslash, a control
    /// character or a part of a longer scalar. Eight bytes at a time.
    static func endOfPlainText(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int, within end: Int) -> Int {
        var position = start
        let raw = UnsafeRawBufferPointer(bytes)
        while position + 8 <= end {
            let word = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: position, as: UInt64.self))
            let controls = (word &- 0x2020_2020_2020_2020) & ~word
            let found = (controls | equals(word, 0x22) | equals(word, 0x5C) | word) & highBits
            if found != 0 { return position + found.trailingZeroBitCount / 8 }
            position += 8
        }
        while position < end, bytes[position] >= 0x20, bytes[position] < 0x80, bytes[position] != 0x22,
            bytes[position] != 0x5C
        {
            position += 1
        }
        return position
    }

    /// Where the string that begins with the quote at `start` ends: behind its closing quote. Well-formed text only.
    package static func endOfString(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int, within end: Int) -> Int {
        var position = start + 1
        let raw = UnsafeRawBufferPointer(bytes)
        while position < end {
            if position + 8 <= end {
                let word = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: position, as: UInt64.self))
                let found = (equals(word, 0x22) | equals(word, 0x5C)) & highBits
                guard found != 0 else {
                    position += 8
                    continue
                }
                position += found.trailingZeroBitCount / 8
            }
            switch bytes[position] {
            case UInt8(ascii: "\""): return position + 1
            case UInt8(ascii: "\\"): position += 2
            default: position += 1
            }
        }
        return end
    }

    /// Where the value that begins at `start` ends. Well-formed text only.
    static func endOfValue(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int, within end: Int) -> Int {
        var position = start
        var depth = 0
        while position < end {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position = endOfString(bytes, from: position, within: end)
                if depth == 0 { return position }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                position += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                // Of the container around a scalar.
                guard depth > 0 else { return position }
                depth -= 1
                position += 1
                if depth == 0 { return position }
            case UInt8(ascii: ","), 0x20, 0x0A, 0x0D, 0x09:
                if depth == 0 { return position }
                position += 1
            default: position += 1
            }
        }
        return end
    }

    private static let highBits: UInt64 = 0x8080_8080_8080_8080

    /// Marks with its high bit the bytes of `word` that equal `byte`; exact up to and including the lowest one.
    private static func equals(_ word: UInt64, _ byte: UInt8) -> UInt64 {
        let difference = word ^ (0x0101_0101_0101_0101 &* UInt64(byte))
        return (difference &- 0x0101_0101_0101_0101) & ~difference
    }
}
