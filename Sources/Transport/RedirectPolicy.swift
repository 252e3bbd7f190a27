import BookModel

/// What to do with an answer that may be a redirect (RFC 9110 §15.4).
enum RedirectDecision: Equatable {
    /// Not a redirect: this is the answer.
    case accept
    case follow(ResourceAddress, sameOrigin: Bool)
    case refuse(Message)
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
        // Nearly every address is fit to be sent as it stands.
        if secretText.utf8.allSatisfy({ Self.isKept($0) && $0 != UInt8(ascii: "#") && $0 != UInt8(ascii: "%") }) {
            return secretText
        }
        let trimmed = secretText.unicodeScalars.drop(while: Self.isBlank).reversed().drop(while: Self.isBlank)
            .reversed()
        var bytes = Array(String(String.UnicodeScalarView(trimmed)).utf8)
        if let fragment = bytes.firstIndex(of: UInt8(ascii: "#")) { bytes.removeSubrange(fragment...) }
        var index = -1
        return percentEncoded(bytes) { byte in
            index += 1
            // One that begins no percent-encoding stands for itself.
            if byte == UInt8(ascii: "%") {
                return index + 2 < bytes.count && bytes[index + 1].hexadecimalValue != nil
                    && bytes[index + 2].hexadecimalValue != nil
            }
            return Self.isKept(byte)
        }
    }

    static func isKept(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"), UInt8(ascii: "^"),
            UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
            false
        default: byte > 0x20 && byte < 0x7F
        }
    }

    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value <= 0x20 || scalar == "\u{FEFF}"
    }
}
