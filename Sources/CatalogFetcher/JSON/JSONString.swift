/// What stands between the quotes of a JSON string, and back.
enum JSONString {
    /// - Parameter source: well-formed, without the quotes.
    static func content(_ source: Slice<UnsafeBufferPointer<UInt8>>) -> String {
        guard source.contains(UInt8(ascii: "\\")) else { return String(decoding: source, as: UTF8.self) }
        var content: [UInt8] = []
        content.reserveCapacity(source.count)
        var rest = source
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() else {
                content.append(byte)
                continue
            }
            switch escaped {
            case UInt8(ascii: "b"): content.append(0x08)
            case UInt8(ascii: "f"): content.append(0x0C)
            case UInt8(ascii: "n"): content.append(0x0A)
            case UInt8(ascii: "r"): content.append(0x0D)
            case UInt8(ascii: "t"): content.append(0x09)
            case UInt8(ascii: "u"): content.append(contentsOf: Array(String(Character(scalar(&rest))).utf8))
            default: content.append(escaped)
            }
        }
        return String(decoding: content, as: UTF8.self)
    }

    /// The scalar of the escape whose `\u` was just read, taking in the second half of a surrogate pair.
    private static func scalar(_ rest: inout Slice<UnsafeBufferPointer<UInt8>>) -> Unicode.Scalar {
        let unit = codeUnit(&rest)
        guard (0xD800..<0xDC00).contains(unit) else { return Unicode.Scalar(unit) ?? "\u{FFFD}" }
        var ahead = rest
        guard ahead.popFirst() == UInt8(ascii: "\\"), ahead.popFirst() == UInt8(ascii: "u") else { return "\u{FFFD}" }
        let second = codeUnit(&ahead)
        guard (0xDC00..<0xE000).contains(second) else { return "\u{FFFD}" }
        rest = ahead
        return Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (second - 0xDC00)) ?? "\u{FFFD}"
    }

    private static func codeUnit(_ rest: inout Slice<UnsafeBufferPointer<UInt8>>) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = rest.popFirst().flatMap(JSONBytes.hexadecimalValue) else { break }
            unit = unit << 4 | digit
        }
        return unit
    }

    /// The text as a JSON string, quotes included.
    static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case ..<" ":
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
