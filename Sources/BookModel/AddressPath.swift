/// Paths of addresses, segment by segment (RFC 3986 §3.3).
package enum AddressPath {
    /// The text as one segment: everything is percent-encoded but the unreserved characters.
    package static func encoded(_ segment: some StringProtocol) -> String { percentEncoded(segment.utf8) }

    /// A path's segments, each encoded; the slashes between them stay.
    package static func encoded(path: String) -> String {
        percentEncoded(path.utf8) { $0.isUnreserved || $0 == UInt8(ascii: "/") }
    }

    /// The bytes that a segment stands for; what is no percent-encoding stays as it is.
    package static func decoded(_ segment: some StringProtocol) -> [UInt8] {
        let source = Array(segment.utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(source.count)
        var position = 0
        while position < source.count {
            if source[position] == UInt8(ascii: "%"), position + 2 < source.count,
                let high = source[position + 1].hexadecimalValue, let low = source[position + 2].hexadecimalValue
            {
                bytes.append(high << 4 | low)
                position += 3
            } else {
                bytes.append(source[position])
                position += 1
            }
        }
        return bytes
    }

    /// The name that a segment stands for. One that is no text, or would not be a name any more (a slash, a control
    /// character), stays encoded.
    package static func name(_ segment: some StringProtocol) -> String {
        let bytes = decoded(segment)
        let isName = !bytes.contains { $0 < 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "/") }
        guard isName, let text = String(validating: bytes, as: UTF8.self) else { return percentEncoded(bytes) }
        return text
    }

    /// Whether a name means a folder relative to another, and no file.
    package static func isDots(_ name: some StringProtocol) -> Bool { name == "." || name == ".." }
}

extension ResourceAddress {
    /// The address with segments added below it, before its query. The segments must be percent-encoded.
    package func appending(path: String) -> ResourceAddress {
        let text = secretText.prefix { $0 != "#" }
        let base = text.prefix { $0 != "?" }
        let query = text[base.endIndex...]
        return ResourceAddress(base + (base.hasSuffix("/") ? "" : "/") + path + query)
    }

    /// The address with fields added to its query, and without a fragment.
    package func adding(query fields: [(name: String, value: String)]) -> ResourceAddress {
        guard !fields.isEmpty else { return self }
        let text = secretText.prefix { $0 != "#" }
        let added = fields.map { "\(AddressPath.encoded($0.name))=\(AddressPath.encoded($0.value))" }
        return ResourceAddress(text + (text.contains("?") ? "&" : "?") + added.joined(separator: "&"))
    }

    /// The part of the path between the host and the query, as written; empty when there is none.
    package var pathText: Substring {
        let text = secretText.prefix { $0 != "?" && $0 != "#" }
        guard let scheme = text.firstRange(of: "://") else { return text }
        let authority = text[scheme.upperBound...]
        return authority.firstIndex(of: "/").map { authority[$0...] } ?? ""
    }

    /// Host and port in lower case; nil for what is no address of the web.
    private var webAuthority: Substring? {
        let server = self.server
        guard let scheme = server.firstRange(of: "://"), ["http", "https"].contains(server[..<scheme.lowerBound]),
            scheme.upperBound != server.endIndex
        else { return nil }
        return server[scheme.upperBound...]
    }

    /// Whether it is a whole http or https address.
    package var isOfWeb: Bool { webAuthority != nil }

    /// Whether its host is that domain, or one within it.
    package func isOf(domain: String) -> Bool {
        guard let host = webAuthority?.prefix(while: { $0 != ":" }) else { return false }
        return host == domain || host.hasSuffix("." + domain)
    }
}
