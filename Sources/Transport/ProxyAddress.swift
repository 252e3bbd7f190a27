import BookModel
import Foundation

/// A proxy as `http_proxy` and its kind name it: `scheme://user:password@host:port`.
package struct ProxyAddress: Sendable, Hashable, CustomStringConvertible {
    package enum Kind: Sendable, Hashable {
        /// HTTP (RFC 9110 §3.7): plain requests in absolute form, the others through a tunnel made by CONNECT.
        case http
        /// SOCKS version 5 (RFC 1928), without a password. Names are resolved here where `resolvesNames` is false.
        case socks(resolvesNames: Bool)
    }

    package var kind: Kind
    let endpoint: Endpoint
    /// User and password, decoded; nil where the address has no user.
    var authorization: Authorization?

    /// Why a text names no proxy, in words that hold nothing of it but its scheme.
    package struct Unreadable: Error, Sendable, Hashable {
        package var why: Message
    }

    /// Without a scheme it is an HTTP proxy; without a port it is 1080, as curl has it.
    package init(parsing text: String) throws(Unreadable) {
        var rest = text[...]
        var scheme = "http"
        if let slashes = rest.firstRange(of: "://") {
            scheme = rest[..<slashes.lowerBound].lowercased()
            rest = rest[slashes.upperBound...]
        }
        switch scheme {
        case "http": kind = .http
        case "socks5": kind = .socks(resolvesNames: false)
        case "socks", "socks5h": kind = .socks(resolvesNames: true)
        default:
            let name =
                scheme.count <= 12 && scheme.allSatisfy { $0.isASCII && $0.isLetter || $0.isNumber } ? scheme : "?"
            throw Unreadable(why: "proxies of the kind \(name):// are not known, only http, socks5 and socks5h")
        }
        rest = rest.prefix { !"/?#".contains($0) }
        if let at = rest.lastIndex(of: "@") {
            let words = rest[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(
                String.init)
            guard let user = words[0].removingPercentEncoding,
                let password = (words.count == 2 ? words[1] : "").removingPercentEncoding
            else { throw Unreadable(why: "the proxy's user or password is not properly percent-encoded") }
            guard kind == .http else { throw Unreadable(why: "a SOCKS proxy is given no user and password here") }
            authorization = .basic(user: Secret(user), password: Secret(password))
            rest = rest[at...].dropFirst()
        }
        guard let endpoint = Self.endpoint(rest) else {
            throw Unreadable(why: "the proxy's address has no proper host and port")
        }
        self.endpoint = endpoint
    }

    private static func endpoint(_ text: Substring) -> Endpoint? {
        let host: Substring
        var rest: Substring
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            host = text[..<end].dropFirst()
            rest = text[end...].dropFirst()
            guard AddressScope.ofNumeric(String(host)) != nil else { return nil }
        } else {
            host = text.prefix { $0 != ":" }
            rest = text[host.endIndex...]
        }
        let isName = host.allSatisfy { $0.isLetter || $0.isNumber || "-_.:%".contains($0) }
        guard !host.isEmpty, isName else { return nil }
        if rest.isEmpty { return Endpoint(isSecure: false, host: String(host), port: 1080) }
        guard rest.removeFirst() == ":", rest.count <= 5, rest.allSatisfy({ $0.isASCII && $0.isNumber }),
            let port = rest.isEmpty ? 1080 : Int(rest), (1...65535).contains(port)
        else { return nil }
        return Endpoint(isSecure: false, host: String(host), port: port)
    }

    /// With its scheme, and without user and password.
    package var description: String {
        let scheme =
            switch kind {
            case .http: "http"
            case .socks(let resolvesNames): resolvesNames ? "socks5h" : "socks5"
            }
        return "\(scheme)://\(authorization == nil ? "" : "***@")\(endpoint.authority)"
    }
}

/// Which way requests take.
package enum ProxyChoice: Sendable, Hashable {
    /// As the environment says; see ``ProxyEnvironment``.
    case environment
    /// Straight to the server, whatever the environment says.
    case direct
    /// Through this proxy, to any server.
    case through(ProxyAddress)
}
