import BookModel

extension ResourceAddress {
    /// What a reference in a document from this address leads to (RFC 3986 §5.2). The bytes stay as they are written, but for
    /// what must be percent-encoded of a relative one; a whole address stays as it is.
    ///
    /// - Returns: nil when the reference is empty, or a fragment alone.
    package func resolving(_ reference: String) -> ResourceAddress? {
        let encoded = ResourceAddress(reference).wireText
        guard !encoded.isEmpty else { return nil }
        let parts = AddressParts(encoded[...])
        guard parts.scheme == nil else { return ResourceAddress(reference) }
        var whole = AddressParts(wireText[...])
        if let authority = parts.authority {
            whole.authority = authority
            whole.path = parts.path
            whole.query = parts.query
        } else {
            whole.query = parts.path.isEmpty ? parts.query ?? whole.query : parts.query
            if parts.path.hasPrefix("/") {
                whole.path = Self.withoutDots(parts.path)
            } else if !parts.path.isEmpty {
                let folder = whole.path.lastIndex(of: "/").map { whole.path[...$0] } ?? "/"
                whole.path = Self.withoutDots(folder + parts.path)
            }
        }
        return ResourceAddress(whole.text)
    }

    /// What all spellings of an address have in common (RFC 3986 §6.2), whoever asks: without scheme, user, default port and
    /// fragment, the host in lower case, no dots in the path, and percent-encodings only where they mean something else. An `&amp;`,
    /// as addresses have it in XML, counts as `&`.
    package var normalForm: String {
        let parts = AddressParts(wireText[...])
        let authority = parts.authority ?? ""
        let host = (authority.lastIndex(of: "@").map { authority[$0...].dropFirst() } ?? authority).lowercased()
        let port = [":80", ":443", ":"].first(where: host.hasSuffix) ?? ""
        let path = Self.withoutDots(parts.path.hasPrefix("/") ? parts.path : "/" + parts.path)
        let query = (parts.query ?? "").split { $0 == "&" || $0 == ";" }.filter { $0 != "amp" }.joined(separator: "&")
        return host.dropLast(port.count) + Self.plainly(path) + (query.isEmpty ? "" : "?" + Self.plainly(query[...]))
    }

    /// The text with those percent-encodings decoded that need none, and the others in upper-case digits.
    private static func plainly(_ text: Substring) -> String {
        let bytes = Array(text.utf8)
        var plain: [UInt8] = []
        var index = 0
        while index < bytes.count {
            guard bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
                let high = bytes[index + 1].hexadecimalValue, let low = bytes[index + 2].hexadecimalValue
            else {
                plain.append(bytes[index])
                index += 1
                continue
            }
            let byte = high << 4 | low
            let isPlain = isKept(byte) && !"%/?#&;=+".utf8.contains(byte)
            plain += isPlain ? [byte] : Array(percentEncoded(CollectionOfOne(byte)) { _ in false }.utf8)
            index += 3
        }
        return String(decoding: plain, as: UTF8.self)
    }

    /// The path without `.` and `..` (RFC 3986 §5.2.4).
    private static func withoutDots(_ path: Substring) -> Substring {
        var kept: [Substring] = []
        let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        for segment in segments {
            if segment == ".." { _ = kept.popLast() } else if segment != "." { kept.append(segment) }
        }
        // What such a segment leads to is a folder.
        if let last = segments.last, last == "." || last == ".." { kept.append("") }
        return "/\(kept.joined(separator: "/"))"
    }
}

/// The parts of an address or a reference without a fragment (RFC 3986 §3).
private struct AddressParts {
    var scheme: Substring?
    var authority: Substring?
    var path: Substring
    var query: Substring?

    init(_ text: Substring) {
        var rest = text
        scheme = Self.scheme(of: rest)
        if let scheme { rest = rest[scheme.endIndex...].dropFirst() }
        if rest.hasPrefix("//") {
            let authority = rest.dropFirst(2).prefix { $0 != "/" && $0 != "?" }
            rest = rest[authority.endIndex...]
            self.authority = authority
        }
        path = rest.prefix { $0 != "?" }
        query = path.endIndex < rest.endIndex ? rest[path.endIndex...].dropFirst() : nil
    }

    var text: String {
        (scheme.map { "\($0):" } ?? "") + (authority.map { "//\($0)" } ?? "") + path + (query.map { "?\($0)" } ?? "")
    }

    /// What stands before the first colon, if it can be a scheme (§3.1).
    private static func scheme(of text: Substring) -> Substring? {
        let scheme = text.utf8.prefix { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "+-.".utf8.contains(byte)
        }
        guard scheme.endIndex < text.endIndex, text.utf8[scheme.endIndex] == UInt8(ascii: ":"),
            let first = scheme.first,
            first >= UInt8(ascii: "A")
        else { return nil }
        return text[..<scheme.endIndex]
    }
}
