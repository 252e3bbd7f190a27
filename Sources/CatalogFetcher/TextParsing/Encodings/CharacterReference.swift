import BookModel
import CLibXML2

/// What a character reference stands for (`&#8211;`, `&#x2013;`, `&ndash;`).
package enum CharacterReference {
    /// - Parameter body: the bytes between `&` and `;`.
    /// - Returns: nil when it is no reference; U+FFFD for one to a character that there is not.
    static func scalar(_ body: UnsafeBufferPointer<UInt8>) -> Unicode.Scalar? {
        guard body.first == UInt8(ascii: "#") else { return named(body) }
        let isHexadecimal = body.count > 1 && body[1] | 0x20 == UInt8(ascii: "x")
        let digits = body[(isHexadecimal ? 2 : 1)...]
        guard !digits.isEmpty, digits.count <= 16 else { return nil }
        var value: UInt32 = 0
        for byte in digits {
            guard let digit = byte.hexadecimalValue, digit < (isHexadecimal ? 16 : 10) else { return nil }
            value = min(value &* (isHexadecimal ? 16 : 10) &+ UInt32(digit), 0x110000)
        }
        return scalar(value)
    }

    /// By HTML's names (HTML 4.01 §24), which feeds use without the DTD that would define them.
    private static func named(_ name: UnsafeBufferPointer<UInt8>) -> Unicode.Scalar? {
        guard !name.contains(0) else { return nil }
        let entity = htmlEntityLookup(String(decoding: name, as: UTF8.self))
        return (entity?.pointee.value).flatMap(Unicode.Scalar.init)
    }

    /// What a C1 control character stands for where Windows-1252 was taken for Latin-1; nil where that has none.
    static func windows1252(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
        guard (0x80...0x9F).contains(scalar.value) else { return nil }
        let meant = windows1252[Int(scalar.value - 0x80)]
        return meant == 0xFFFD ? nil : Unicode.Scalar(meant)
    }

    private static func scalar(_ value: UInt32) -> Unicode.Scalar {
        // Whoever writes 128 to 159 means Windows-1252 (HTML, "numeric character reference end state").
        if (0x80...0x9F).contains(value) { return Unicode.Scalar(windows1252[Int(value - 0x80)]) ?? "\u{FFFD}" }
        if value < 0x20, value != 0x09, value != 0x0A, value != 0x0D { return "\u{FFFD}" }
        if value == 0xFFFE || value == 0xFFFF { return "\u{FFFD}" }
        return Unicode.Scalar(value) ?? "\u{FFFD}"
    }

    private static let windows1252: [UInt16] = [
        0x20AC, 0xFFFD, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0xFFFD,
        0x017D, 0xFFFD, 0xFFFD, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A,
        0x0153, 0xFFFD, 0x017E, 0x0178,
    ]

    /// Puts together what comes behind an `&`.
    package struct Reader {

        package init() {
        }
        /// More than any name or number has.
        private static let maxLength = 20

        private var buffered: [UInt8] = []

        /// - Parameters:
        ///   - position: is moved to behind what belongs to the reference.
        ///   - dropsUnknown: whether references to names that HTML does not have stand for nothing, because the document
        ///     declares names of its own; else they are text.
        /// - Returns: the text that it stands for, an ampersand and what follows where it is none; nil when the bytes ended
        ///   before it did.
        package mutating func consume(
            _ input: UnsafeBufferPointer<UInt8>, _ position: inout Int, dropsUnknown: Bool
        ) -> [UInt8]? {
            while position < input.count {
                let byte = input[position]
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "#"):
                    buffered.append(byte)
                    position += 1
                    if buffered.count > Self.maxLength { return finish() }
                case UInt8(ascii: ";"):
                    let scalar = buffered.withUnsafeBufferPointer(CharacterReference.scalar)
                    guard scalar != nil || dropsUnknown && !buffered.isEmpty else { return finish() }
                    position += 1
                    buffered.removeAll(keepingCapacity: true)
                    return scalar.map { Array(String($0).utf8) } ?? []
                default: return finish()
                }
            }
            return nil
        }

        /// - Returns: what was held, which is no reference.
        package mutating func finish() -> [UInt8] {
            defer { buffered.removeAll(keepingCapacity: true) }
            return [UInt8(ascii: "&")] + buffered
        }
    }
}
