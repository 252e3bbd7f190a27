import BookModel
import TextParsing

/// An element as the catalog sent it, without the secrets in the addresses that it holds.
enum MaskedElement {
    /// No real element is a hundredth as long; whatever is, is not worth a place in the store.
    static let maxLength = 256 << 10

    /// - Returns: the element as JSON, or nil when it is longer than ``maxLength``.
    static func json(of element: JSONValue) -> String? {
        guard element.range.count <= maxLength else { return nil }
        return element.withSourceBytes { bytes in
            guard mayHoldSecrets(bytes) else { return String(decoding: bytes, as: UTF8.self) }
            return String(decoding: masked(bytes), as: UTF8.self)
        }
    }

    /// What is masked of an address begins with `?`, `@` or `#`, and an escape `\u` may hide one of them.
    private static func mayHoldSecrets(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var previous: UInt8 = 0
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "?"), UInt8(ascii: "@"), UInt8(ascii: "#"): return true
            case UInt8(ascii: "u") where previous == UInt8(ascii: "\\"): return true
            default: previous = byte
            }
        }
        return false
    }

    /// One walk from string to string; a string with a colon behind it is a member's name.
    private static func masked(_ bytes: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        var masked: [UInt8] = []
        masked.reserveCapacity(bytes.count)
        var copied = 0
        var position = 0
        var isPath = false
        while position < bytes.count {
            guard bytes[position] == UInt8(ascii: "\"") else {
                position += 1
                continue
            }
            let start = position
            position = JSONBytes.endOfString(bytes, from: start, within: bytes.count)
            let content = UnsafeBufferPointer(rebasing: bytes[(start + 1)..<(position - 1)])
            let next = JSONBytes.skipWhitespace(bytes, from: position, within: bytes.count)
            if next < bytes.count, bytes[next] == UInt8(ascii: ":") {
                isPath = JSONString.content(content) == "path"
            } else if mayHoldSecrets(content) {
                let text = JSONString.content(content)
                guard isPath || text.contains("://") || text.hasPrefix("//") else { continue }
                let shown = ResourceAddress(text).withoutSecrets
                guard shown != text else { continue }
                masked += bytes[copied..<start]
                masked += Array(JSONString.quoted(shown).utf8)
                copied = position
            }
        }
        return masked + bytes[copied...]
    }
}
