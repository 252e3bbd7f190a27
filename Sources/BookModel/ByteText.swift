import Foundation

extension Sequence<UInt8> {
    /// Two lower-case digits a byte.
    package var hexadecimal: String {
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
    /// Whether it stands for itself anywhere in an address: letters, digits and `-._~` (RFC 3986 §2.3).
    package var isUnreserved: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "-._~".utf8.contains(self)
        }
    }
}
