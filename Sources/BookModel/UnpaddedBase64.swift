import Foundation

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
