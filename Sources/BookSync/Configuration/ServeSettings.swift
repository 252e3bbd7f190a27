import BookModel

/// How the shelf is served.
package struct ServeSettings: Sendable, Hashable {
    /// `HOST:PORT`, a port alone on the loopback, or `unix:PATH`.
    package var listen = "127.0.0.1:8731"
    /// What all paths begin with: empty, or with a slash in front and none at its end.
    package var basePath = ""
    /// The server's address as clients know it; nil for what each of them says.
    package var publicURL: String?
    /// Whether clients can change nothing.
    package var isReadOnly = false
    /// Seconds between two runs over all subscriptions; nil for none.
    package var mirrorInterval: Double?

    /// - Returns: nil when the text is no time between two runs: a minute at least.
    package static func mirrorInterval(_ text: String) -> Double? {
        parseSeconds(text).flatMap { (60...31_536_000).contains($0) ? $0 : nil }
    }

    /// Whether the text looks like a place to listen at; whether it is one, listening tells.
    static func canBePlace(_ text: String) -> Bool {
        if text.hasPrefix("unix:") { return text.utf8.count > "unix:".utf8.count && !text.contains("\0") }
        let port = text.split(separator: ":", omittingEmptySubsequences: false).last ?? ""
        return UInt16(port) != nil
    }

    /// Whether paths can begin so.
    package static func canBeBasePath(_ text: String) -> Bool {
        if text.isEmpty { return true }
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            default: "-._~/".utf8.contains(byte)
            }
        }
        return isPlain && text.hasPrefix("/") && !text.hasSuffix("/") && !text.contains("//")
    }
}
