import BookModel

/// Where a server listens: `127.0.0.1:8731`, `[::1]:8731`; port 0 means any free one.
package struct ListenAddress: Sendable, Hashable, CustomStringConvertible {
    package let host: String
    package let port: Int
}

extension ListenAddress {
    /// A free port that only this machine reaches.
    package static let loopback = ListenAddress(host: "127.0.0.1", port: 0)

    /// Reads `HOST:PORT`, or a port alone on the loopback.
    /// - Throws: ``Failure`` of kind `usage`.
    package init(parsing text: String) throws {
        let colon = text.lastIndex(of: ":")
        let port = colon.map { String(text[text.index(after: $0)...]) } ?? text
        var host = colon.map { String(text[..<$0]) } ?? "127.0.0.1"
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
        } else if host.contains(":") {
            throw Self.refused(text, "an IPv6 address needs brackets before its port")
        }
        guard !host.isEmpty else { throw Self.refused(text, "there is no host before the colon") }
        guard let number = UInt16(port) else { throw Self.refused(text, "'\(port)' is not a port from 0 to 65535") }
        self.init(host: host, port: Int(number))
    }

    private static func refused(_ text: String, _ why: Message) -> Failure {
        Failure(
            .usage, disposition: .stop, what: "cannot listen on '\(text)'", why: why,
            remedy: "write HOST:PORT, as in 127.0.0.1:8731")
    }

    /// `HOST:PORT`, with brackets around an IPv6 address.
    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// `http://HOST:PORT`
    package var url: String { "http://\(description)" }
}
