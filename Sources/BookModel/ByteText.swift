import Foundation

extension Sequence<UInt8> {
    /// Two lower-case digits a byte.
    @inlinable package var hexadecimal: String {
        func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }
        var text: [UInt8] = []
        text.reserveCapacity(2 * underestimatedCount)
        for byte in self {
            text.append(digit(byte >> 4))
            text.append(digit(byte & 15))
        }
        return String(decoding: text, as: UTF8.self)
    }
}

/// Text with bytes percent-encoded, in upper-case digits (RFC 3986 §2.1).
/// - Parameter isKept: which bytes stand for themselves.
package func percentEncoded(
    _ bytes: some Sequence<UInt8>, keeping isKept: (UInt8) -> Bool = \.isUnreserved
) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(bytes.underestimatedCount)
    for byte in bytes {
        guard !isKept(byte) else {
            text.append(byte)
            continue
        }
        text.append(UInt8(ascii: "%"))
        text.append(digits[Int(byte >> 4)])
        text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
}

/// Base64 without the padding at its end (RFC 4648 §3.2).
package enum UnpaddedBase64 {
    package static func text(of bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString().replacing("=", with: "")
    }

    /// - Returns: nil for a text that ``text(of:)`` does not make: what decodes alike has one spelling.
    package static func bytes(of text: String) -> [UInt8]? {
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: text + padding), self.text(of: data) == text else { return nil }
        return Array(data)
    }
}

extension UInt8 {
    /// Whether it is one of ASCII's ten digits.
    @inlinable package var isDigit: Bool { self &- 0x30 < 10 }

    /// The value of one of ASCII's hexadecimal digits, in either case; nil for any other byte.
    @inlinable package var hexadecimalValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x37
        case 0x61...0x66: self - 0x57
        default: nil
        }
    }

    /// Whether it stands for itself anywhere in an address: letters, digits and `-._~` (RFC 3986 §2.3).
    package var isUnreserved: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "-._~".utf8.contains(self)
        }
    }
}
