import BookModel
import Foundation

/// Where a connection leads.
struct Endpoint: Sendable, Hashable {
    var isSecure: Bool
    /// Without brackets.
    var host: String
    var port: Int

    /// `host:port`, with an IPv6 address in brackets.
    var authority: String { "\(bracketedHost):\(port)" }

    fileprivate var bracketedHost: String { host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host }
}

/// Who a request is for, and what is asked of them: the parts of an address as requests need them.
struct RequestTarget: Sendable, Hashable {
    let endpoint: Endpoint
    /// Never empty.
    let pathAndQuery: String

    var isSecure: Bool { endpoint.isSecure }
    /// Without brackets.
    var host: String { endpoint.host }
    var port: Int { endpoint.port }

    /// - Returns: nil for an address that is not one of http or https with a host.
    init?(_ address: ResourceAddress) {
        let text = address.wireText
        // Schemes are case-insensitive (RFC 3986 §3.1).
        let scheme = text.prefix { $0 != "/" }.lowercased()
        let isSecure = scheme == "https:"
        guard isSecure || scheme == "http:", text.dropFirst(scheme.count).hasPrefix("//"),
            let url = URL(string: text), let host = url.plainHost
        else {
            return nil
        }
        let standardPort = isSecure ? 443 : 80
        guard (1...65535).contains(url.port ?? standardPort) else { return nil }
        // What is put on the wire by hand may hold nothing that ends a line or a name.
        guard host.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && !"/?#@\\".utf8.contains($0) }) else { return nil }
        endpoint = Endpoint(isSecure: isSecure, host: host, port: url.port ?? standardPort)
        let rest = text.dropFirst(isSecure ? 8 : 7).drop { $0 != "/" && $0 != "?" }
        pathAndQuery = rest.hasPrefix("/") ? String(rest) : "/" + rest
    }

    /// The root of a server.
    init(_ origin: WebOrigin) {
        endpoint = Endpoint(isSecure: origin.isSecure, host: origin.host, port: origin.port)
        pathAndQuery = "/"
    }

    /// What `Host` says: the port only where it is not the usual one (RFC 9110 §7.2).
    var hostField: String {
        port == (isSecure ? 443 : 80) ? endpoint.bracketedHost : endpoint.authority
    }
}
