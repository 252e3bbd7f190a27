/// Passes UTF-8 on in pieces; what is none becomes U+FFFD, one for each maximal subpart (Unicode 15 §3.9, table 3-8).
struct UTF8Repair {
    /// The beginning of a character whose end has not come yet; at most three bytes.
    private var buffered: [UInt8] = []

    mutating func consume(_ bytes: UnsafeBufferPointer<UInt8>, _ pass: (UnsafeBufferPointer<UInt8>) -> Void) {
        var start = 0
        if !buffered.isEmpty {
            // A few bytes more settle what was held.
            var joined = buffered
            let borrowed = min(4, bytes.count)
            joined += bytes[..<borrowed]
            let before = buffered.count
            buffered.removeAll(keepingCapacity: true)
            let (used, isCut) = joined.withUnsafeBufferPointer { Self.scanOne($0, pass) }
            if isCut, joined.count < 4 {
                buffered = joined
                return
            }
            start = max(used - before, 0)
        }
        scan(bytes, from: start, pass)
    }

    mutating func finish(_ pass: (UnsafeBufferPointer<UInt8>) -> Void) {
        if !buffered.isEmpty { Self.replacement.withUnsafeBufferPointer(pass) }
        buffered.removeAll()
    }

    static let replacement: [UInt8] = [0xEF, 0xBF, 0xBD]

    private mutating func scan(
        _ bytes: UnsafeBufferPointer<UInt8>, from first: Int, _ pass: (UnsafeBufferPointer<UInt8>) -> Void
    ) {
        var start = first
        var position = first
        while position < bytes.count {
            position = UTF8Sequence.endOfASCII(bytes, from: position)
            guard position < bytes.count else { break }
            switch UTF8Sequence.read(bytes, at: position) {
            case .valid(let length): position += length
            case .invalid(let length):
                if position > start { pass(UnsafeBufferPointer(rebasing: bytes[start..<position])) }
                Self.replacement.withUnsafeBufferPointer(pass)
                position += length
                start = position
            case .cut:
                if position > start { pass(UnsafeBufferPointer(rebasing: bytes[start..<position])) }
                buffered = Array(bytes[position...])
                return
            }
        }
        if position > start { pass(UnsafeBufferPointer(rebasing: bytes[start..<position])) }
    }

    /// - Returns: how many bytes the first character takes, and whether its end is missing.
    private static func scanOne(
        _ bytes: UnsafeBufferPointer<UInt8>, _ pass: (UnsafeBufferPointer<UInt8>) -> Void
    ) -> (used: Int, isCut: Bool) {
        switch UTF8Sequence.read(bytes, at: 0) {
        case .valid(let length):
            pass(UnsafeBufferPointer(rebasing: bytes[..<length]))
            return (length, false)
        case .invalid(let length):
            replacement.withUnsafeBufferPointer(pass)
            return (length, false)
        case .cut: return (0, true)
        }
    }
}

/// One character of UTF-8.
enum UTF8Sequence: Equatable {
    case valid(length: Int)
    /// Bytes that are none, to be replaced by one U+FFFD.
    case invalid(length: Int)
    /// Good so far, and then the bytes end.
    case cut

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

    static func read(_ bytes: UnsafeBufferPointer<UInt8>, at start: Int) -> Self {
        let first = bytes[start]
        let length: Int
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch first {
        case 0..<0x80: return .valid(length: 1)
        case 0xC2...0xDF: length = 2
        case 0xE0:
            length = 3
            second = 0xA0...0xBF
        case 0xED:
            length = 3
            second = 0x80...0x9F
        case 0xE1...0xEF: length = 3
        case 0xF0:
            length = 4
            second = 0x90...0xBF
        case 0xF1...0xF3: length = 4
        case 0xF4:
            length = 4
            second = 0x80...0x8F
        default: return .invalid(length: 1)
        }
        for offset in 1..<length {
            guard start + offset < bytes.count else { return .cut }
            let byte = bytes[start + offset]
            guard offset == 1 ? second.contains(byte) : byte & 0xC0 == 0x80 else { return .invalid(length: offset) }
        }
        // U+FFFE and U+FFFF are no characters, and XML parsers end at them.
        if first == 0xEF, bytes[start + 1] == 0xBF, bytes[start + 2] >= 0xBE { return .invalid(length: 3) }
        return .valid(length: length)
    }
}
