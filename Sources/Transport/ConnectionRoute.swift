import BookModel

/// How the bytes of a request get to its server. Connections are kept, and shared by requests, for each route.
enum ConnectionRoute: Sendable, Hashable {
    /// Straight to the server.
    case direct
    /// Through an HTTP proxy that reads the requests and passes them on, each in absolute form.
    case forwarded(by: ProxyAddress)
    /// Through a proxy that passes on bytes between us and the one server.
    case tunnelled(by: ProxyAddress, to: TunnelEnd)

    /// Where a tunnel leads.
    struct TunnelEnd: Sendable, Hashable {
        var isSecure: Bool
        var host: String
        var port: Int
        var authority: String
    }

    /// - Parameter proxy: nil for none.
    init(to target: RequestTarget, through proxy: ProxyAddress?) {
        guard let proxy else {
            self = .direct
            return
        }
        switch proxy.kind {
        case .http where !target.isSecure, .https where !target.isSecure: self = .forwarded(by: proxy)
        case .http, .https, .socks:
            let end = TunnelEnd(
                isSecure: target.isSecure, host: target.host, port: target.port, authority: target.authority)
            self = .tunnelled(by: proxy, to: end)
        }
    }

    var proxy: ProxyAddress? {
        switch self {
        case .direct: nil
        case .forwarded(let proxy), .tunnelled(let proxy, _): proxy
        }
    }

    /// Whether the proxy, and not this program, resolves the server's name.
    var resolvesNamesElsewhere: Bool {
        switch proxy?.kind {
        case nil, .socks(resolvesNames: false): false
        case .http, .https, .socks(resolvesNames: true): true
        }
    }

    /// What the client connects to: the server, or the proxy.
    func origin(for target: RequestTarget) -> String {
        guard let proxy else { return "\(target.isSecure ? "https" : "http")://\(target.authority)" }
        return "\(proxy.kind == .https ? "https" : "http")://\(proxy.authority)"
    }

    /// What the request line asks for. A proxy that forwards takes the absolute form (RFC 9112 §3.2.2): the connection leads
    /// to the proxy, so nothing else tells whom the request is for.
    func requestTarget(for target: RequestTarget) -> String {
        guard case .forwarded = self else { return target.pathAndQuery }
        return "http://\(target.hostField)\(target.pathAndQuery)"
    }

    /// Tells which requests may find the same kept connection.
    func connectionKey(for target: RequestTarget) -> String {
        if case .forwarded(let proxy) = self { return "\(proxy)" }
        return "\(target.isSecure) \(target.authority.lowercased())"
    }
}

extension ConnectionRoute {
    /// Classifies what the HTTP client threw on this route: what cannot be reached is the proxy, since that is what the
    /// client connects to.
    func failure(_ error: any Error, address: ResourceAddress) -> any Error {
        let classified = TransportError.classify(error, address: address)
        guard let proxy, let failure = classified as? TransportError else { return classified }
        if let error = error as? TunnelFailure {
            return TransportError(Self.kind(of: error.refusal, by: proxy), address: address)
        }
        let kind: TransportError.Kind
        switch failure.kind {
        case .refused: kind = .proxy("the proxy \(proxy) refuses the connection")
        case .unreachable: kind = .proxy("the proxy \(proxy) cannot be reached")
        case .unresolvable(let host) where host == proxy.host:
            kind = .proxy("the host name of the proxy \(proxy) cannot be resolved")
        default: return classified
        }
        return TransportError(kind, address: address)
    }

    /// - Parameter detail: how the proxy said so.
    static func credentialsRefused(by proxy: ProxyAddress, _ detail: Message) -> Message {
        proxy.user == nil
            ? "the proxy \(proxy) wants a user and a password (\(detail))"
            : "the proxy \(proxy) does not accept the user and password given for it (\(detail))"
    }

    private static func kind(of refusal: TunnelRefusal, by proxy: ProxyAddress) -> TransportError.Kind {
        switch refusal {
        case .credentials(let detail): .proxyCredentials(Self.credentialsRefused(by: proxy, detail))
        case .unreachable(let detail): .proxy("the proxy \(proxy) cannot get through to the server: \(detail)")
        case .forbidden(let detail): .proxyRefusal("the proxy \(proxy) does not connect to the server: \(detail)")
        case .unreadable: .proxyRefusal("the proxy \(proxy) does not answer as a proxy of that kind does")
        case .silent: .proxy("the proxy \(proxy) does not answer")
        case .closed: .proxy("the proxy \(proxy) closed the connection before there was one to the server")
        }
    }
}
