import BookModel

/// How the bytes of a request get to its server. Connections are kept, and shared by requests, for each route.
enum ConnectionRoute: Sendable, Hashable {
    /// Straight to the server.
    case direct
    /// Through an HTTP proxy that reads the requests and passes them on, each in absolute form.
    case forwarded(by: ProxyAddress)
    /// Through a proxy that passes on bytes between us and the one server.
    case tunnelled(by: ProxyAddress, to: Endpoint)

    /// - Parameter proxy: nil for none.
    init(to target: RequestTarget, through proxy: ProxyAddress?) {
        guard let proxy else {
            self = .direct
            return
        }
        switch proxy.kind {
        case .http where !target.isSecure: self = .forwarded(by: proxy)
        case .http, .socks: self = .tunnelled(by: proxy, to: target.endpoint)
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
        case .http, .socks(resolvesNames: true): true
        }
    }

    /// What is connected to: the server, or the proxy.
    func endpoint(for target: RequestTarget) -> Endpoint {
        proxy?.endpoint ?? target.endpoint
    }

    /// What the request line asks for. A proxy that forwards takes the absolute form (RFC 9112 §3.2.2): the connection leads
    /// to the proxy, so nothing else tells whom the request is for.
    func requestTarget(for target: RequestTarget) -> String {
        guard case .forwarded = self else { return target.pathAndQuery }
        return "http://\(target.hostField)\(target.pathAndQuery)"
    }
}

extension ConnectionRoute {
    /// Classifies what an exchange threw on this route: what cannot be reached is the proxy, since that is what is connected to.
    func failure(_ error: any Error, address: ResourceAddress) -> any Error {
        let classified = TransportError.classify(error, address: address)
        guard let proxy, let failure = classified as? TransportError else { return classified }
        if case ExchangeFailure.tunnel(let refusal) = error {
            return TransportError(Self.kind(of: refusal, by: proxy), address: address)
        }
        let kind: TransportError.Kind
        switch failure.kind {
        case .refused: kind = .proxy("the proxy \(proxy) refuses the connection")
        case .unreachable: kind = .proxy("the proxy \(proxy) cannot be reached")
        case .unresolvable(let host) where host == proxy.endpoint.host:
            kind = .proxy("the host name of the proxy \(proxy) cannot be resolved")
        default: return classified
        }
        return TransportError(kind, address: address)
    }

    /// - Parameter detail: how the proxy said so.
    static func credentialsRefused(by proxy: ProxyAddress, _ detail: Message) -> Message {
        proxy.authorization == nil
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
