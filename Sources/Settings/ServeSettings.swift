import BookModel

/// How the shelf is served.
package struct ServeSettings: Sendable, Hashable {
    /// `HOST:PORT`, a port alone on the loopback, or `unix:PATH`.
    package var listen = "127.0.0.1:8731"
    /// What all paths begin with: empty, or with a slash in front and none at its end.
    package var basePath = ""
    /// The server's address as clients know it; nil for what each of them says.
    package var publicURL: String?
    /// Of the one password that lets in; nil where none is set.
    package var password: PasswordHash?
    /// Lets programs in that send it as `Authorization: Bearer`; nil where none is set.
    package var token: Secret?
    /// Names and numeric addresses that the server answers to beside its own, in lower case.
    package var hosts: [String] = []
    /// Whether clients can change nothing.
    package var isReadOnly = false
    /// Seconds between two runs over all subscriptions; nil for none.
    package var mirrorInterval: Double?

    /// PEM files of the certificate, those that signed it behind it, and of its private key; nil where the server speaks HTTP.
    package var certificatePath: String?
    package var keyPath: String?

    /// Characters of a token, at least.
    static let minToken = 16

    /// Whether somebody has to prove who they are at all.
    package var asksWhoComes: Bool { password != nil || token != nil }

    /// Whether a field can carry it (RFC 6750 §2.1, and what else is visible), and nobody guesses it.
    static func canBeToken(_ text: String) -> Bool {
        (minToken...1024).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// Whether a Host field can name it: letters, digits, dots and hyphens, or colons in an IPv6 address.
    static func canBeHost(_ text: String) -> Bool {
        guard let first = text.first, first.isASCII, first.isLetter || first.isNumber || first == ":" else {
            return false
        }
        let isAddress = text.contains(":")
        return text.utf8.count <= 253
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x61...0x66: true
                case 0x67...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): !isAddress
                case UInt8(ascii: "."), UInt8(ascii: ":"): true
                default: false
                }
            } && (!isAddress || text.count(where: { $0 == ":" }) > 1)
    }

    /// - Returns: nil when the text is no time between two runs: a minute at least.
    package static func mirrorInterval(_ text: String) -> Double? {
        parseSeconds(text).flatMap { (60...31_536_000).contains($0) ? $0 : nil }
    }

    /// Whether the text looks like an address to listen on; whether it is one, listening tells.
    static func isListenAddress(_ text: String) -> Bool {
        if text.hasPrefix("unix:") { return text.utf8.count > "unix:".utf8.count && !text.contains("\0") }
        let port = text.split(separator: ":", omittingEmptySubsequences: false).last ?? ""
        return UInt16(port) != nil
    }

    /// Whether paths can begin so.
    package static func canBeBasePath(_ text: String) -> Bool {
        if text.isEmpty { return true }
        let isPlain = text.utf8.allSatisfy { $0.isUnreserved || $0 == UInt8(ascii: "/") }
        // Browsers take dots for ways up and down.
        let hasDots = text.split(separator: "/").contains { $0 == "." || $0 == ".." }
        return isPlain && !hasDots && text.hasPrefix("/") && !text.hasSuffix("/") && !text.contains("//")
    }
}
