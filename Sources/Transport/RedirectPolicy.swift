import BookModel

/// What to do with an answer that may be a redirect (RFC 9110 §15.4).
enum RedirectDecision: Equatable {
    /// Not a redirect: this is the answer.
    case accept
    case follow(ResourceAddress, sameOrigin: Bool)
    case refuse(String)
}

enum RedirectPolicy {
    static let maxHops = 5

    /// - Parameters:
    ///   - hops: how many redirects were followed already.
    ///   - location: the `Location` field.
    static func decide(
        status: Int, location: String?, from address: ResourceAddress, hops: Int
    ) -> RedirectDecision {
        guard [301, 302, 303, 307, 308].contains(status), let location, !location.isEmpty else { return .accept }
        guard hops < maxHops else {
            return .refuse("more than \(maxHops) redirects in a row")
        }
        guard let target = address.resolving(location), let origin = WebOrigin(target) else {
            return .refuse("the redirect leads to no http or https address, and no other is followed")
        }
        let own = WebOrigin(address)
        if own?.isSecure == true, !origin.isSecure {
            return .refuse("the redirect leads from HTTPS down to HTTP")
        }
        return .follow(target, sameOrigin: origin == own)
    }
}

extension ResourceAddress {
    /// The address as it goes over the wire (RFC 3986): without a fragment, with everything percent-encoded that may
    /// not stand in a URL, and with percent-encodings that are there already left alone.
    package var wireText: String {
        let trimmed = secretText.unicodeScalars.drop(while: Self.isBlank).reversed().drop(while: Self.isBlank)
            .reversed()
        var bytes = Array(String(String.UnicodeScalarView(trimmed)).utf8)
        if let fragment = bytes.firstIndex(of: UInt8(ascii: "#")) { bytes.removeSubrange(fragment...) }
        let hexadecimal = Array("0123456789ABCDEF".utf8)
        var encoded: [UInt8] = []
        encoded.reserveCapacity(bytes.count)
        for (index, byte) in bytes.enumerated() {
            let isStrayPercent =
                byte == UInt8(ascii: "%")
                && !(index + 2 < bytes.count && Self.isHexadecimal(bytes[index + 1])
                    && Self.isHexadecimal(bytes[index + 2]))
            if byte <= 0x20 || byte >= 0x7F || Self.forbidden.contains(byte) || isStrayPercent {
                encoded += [UInt8(ascii: "%"), hexadecimal[Int(byte >> 4)], hexadecimal[Int(byte & 15)]]
            } else {
                encoded.append(byte)
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    private static let forbidden = Set("\"<>\\^`{|}".utf8)

    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value <= 0x20 || scalar == "\u{FEFF}"
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        Character(Unicode.Scalar(byte)).isHexDigit
    }
}
