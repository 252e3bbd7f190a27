import BookModel
import Dispatch
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization

/// What a connection leads to, and what it was allowed to lead to: requests of the same key may share it.
struct ConnectionKey: Sendable, Hashable {
    var route: ConnectionRoute
    var endpoint: Endpoint
    /// Of the address that is connected to; nil for any. A connection that leads elsewhere fails with
    /// ``ExchangeFailure/scopeChange`` before any request is sent on it.
    var scope: AddressScope?
    /// Trusted beside those of the machine.
    var authorities: TrustedAuthorities?

    /// Whether the connection is secured to its end.
    var isSecure: Bool {
        if case .tunnelled(_, let end) = route { end.isSecure } else { endpoint.isSecure }
    }
}

/// Connections of HTTP/1.1, kept open between exchanges.
///
/// As many are opened as there are requests at a time: how many those may be is decided by whoever sends them.
final class ConnectionPool: Sendable {
    private struct State {
        var idle: [ConnectionKey: [HTTPConnection]] = [:]
        var isShutDown = false
    }

    private let options: TransportOptions
    private let state = Mutex(State())
    private let security = Mutex<[TrustedAuthorities?: NIOSSLContext]>([:])

    init(options: TransportOptions) {
        self.options = options
        ConnectionTypes.make()
    }

    /// Sends a request and returns when the head of the answer is there.
    ///
    /// A kept connection that the server closes just as a request goes out says nothing about the request: it is sent once more at
    /// once, on a new connection (RFC 9112 §9.3.1; GET and HEAD are idempotent). Others go out on a new one to begin with.
    func exchange(
        _ head: HTTPRequestHead, body: [UInt8], over key: ConnectionKey
    ) async throws -> (head: HTTPResponseHead, body: ResponseStream.Body) {
        let group = options.isOfTransfers ? LoopExecutor.group : .singleton
        let eventLoop = MultiThreadedEventLoopGroup.currentEventLoop ?? group.any()
        let timeout = TimeAmount.milliseconds(Int64(options.answerTimeout * 1000))
        let request = OutgoingRequest(head: head, body: body)
        if head.method == .GET || head.method == .HEAD, let kept = takeIdle(key, preferring: eventLoop) {
            do {
                return try await ResponseStream.open(within: timeout, on: kept.channel.eventLoop) {
                    kept.send(request, answerTo: $0)
                }
            } catch  where TransportError.isCut(error) {
                try Task.checkCancellation()
            }
        }
        let security = key.isSecure ? try await security(trusting: key.authorities) : nil
        return try await ResponseStream.open(within: timeout, on: eventLoop) { stream in
            self.connect(key, securedBy: security, on: eventLoop).whenComplete { result in
                switch result {
                case .success(let connection): connection.send(request, answerTo: stream)
                case .failure(let error): stream.end(with: .failure(error))
                }
            }
        }
    }

    /// No request may be under way any more.
    func shutdown() {
        let all = state.withLock { state in
            defer { state = State(isShutDown: true) }
            return state.idle.values.joined()
        }
        for connection in all { connection.channel.close(promise: nil) }
    }

    /// Parts of bodies reach a reader on the same event loop without a change of thread.
    private func takeIdle(_ key: ConnectionKey, preferring eventLoop: any EventLoop) -> HTTPConnection? {
        state.withLock { state in
            guard let idle = state.idle[key], !idle.isEmpty else { return nil }
            let index = idle.lastIndex { $0.channel.eventLoop === eventLoop } ?? idle.count - 1
            return state.idle[key]?.remove(at: index)
        }
    }

    private func keep(_ connection: HTTPConnection, for key: ConnectionKey) {
        let isOver = state.withLock { state in
            if !state.isShutDown { state.idle[key, default: []].append(connection) }
            return state.isShutDown
        }
        if isOver { connection.channel.close(promise: nil) }
    }

    // MARK: Opening

    /// The address is checked on the connection itself: between a look-up and the connection a name may have come to
    /// resolve to another. No byte of a request has gone out by then. Not guaranteed: a TLS handshake has, with the name.
    private func connect(
        _ key: ConnectionKey, securedBy security: NIOSSLContext?, on eventLoop: any EventLoop
    ) -> EventLoopFuture<HTTPConnection> {
        let timeout = TimeAmount.milliseconds(Int64(options.connectTimeout * 1000))
        return ClientBootstrap(group: eventLoop)
            .connectTimeout(timeout)
            // Large buffers where the line is fast: a third of the processor time per GiB. TLS copies what it decrypts.
            .channelOption(
                ChannelOptions.recvAllocator,
                value: AdaptiveRecvByteBufferAllocator(
                    minimum: 64 << 10, initial: 128 << 10, maximum: security == nil ? 512 << 10 : 128 << 10)
            )
            .connect(host: key.endpoint.host, port: key.endpoint.port)
            .flatMap { channel in
                self.address(for: key.route, on: eventLoop).flatMapThrowing { resolved in
                    try self.prepare(channel, for: key, at: resolved, securedBy: security, within: timeout)
                }.flatMap { $0 }.flatMapErrorThrowing { error in
                    channel.close(promise: nil)
                    throw error
                }
            }
    }

    /// Adds what a connection needs that was just opened; on its event loop.
    /// - Returns: the connection, when it is secured.
    private func prepare(
        _ channel: any Channel, for key: ConnectionKey, at resolved: SocketAddress?, securedBy security: NIOSSLContext?,
        within timeout: TimeAmount
    ) throws -> EventLoopFuture<HTTPConnection> {
        if let scope = key.scope {
            let reached = key.route.proxy == nil ? channel.remoteAddress : resolved
            guard let address = reached?.addressBytes else { throw ChannelError.ioOnClosedChannel }
            guard AddressScope(address) == scope else { throw ExchangeFailure.scopeChange }
        }
        guard case .tunnelled(let proxy, let end) = key.route else {
            return try finish(channel, securedTo: key.endpoint.host, by: security, for: key, within: timeout)
        }
        let negotiation = try negotiation(with: proxy, to: end, at: resolved?.addressBytes)
        let opened = channel.eventLoop.makePromise(of: Void.self)
        opened.failing {
            try channel.pipeline.syncOperations.addHandler(TunnelHandler(negotiation, timeout: timeout, opened: opened))
        }
        return opened.futureResult.flatMapThrowing {
            try self.finish(channel, securedTo: end.host, by: security, for: key, within: timeout)
        }.flatMap { $0 }
    }

    /// - Parameter security: nil for none.
    private func finish(
        _ channel: any Channel, securedTo host: String, by security: NIOSSLContext?, for key: ConnectionKey,
        within timeout: TimeAmount
    ) throws -> EventLoopFuture<HTTPConnection> {
        let pipeline = channel.pipeline.syncOperations
        if let security {
            let isName = AddressScope.ofNumeric(host) == nil
            // Without a name the certificate is held against the address that is connected to: in a tunnel, the proxy's.
            guard isName || host == key.endpoint.host else { throw ExchangeFailure.numericHostInTunnel }
            try pipeline.addHandler(NIOSSLClientHandler(context: security, serverHostname: isName ? host : nil))
        }
        let ready = channel.eventLoop.makePromise(of: Void.self)
        let handler = ExchangeHandler(
            stallTimeout: .milliseconds(Int64(options.stallTimeout * 1000)),
            handshakeTimeout: security == nil ? nil : timeout, ready: ready,
            onFree: { self.keep($0, for: key) },
            onClose: { channel in self.state.withLock { $0.idle[key]?.removeAll { $0.channel === channel } } })
        ready.failing {
            try pipeline.addHandlers([
                HTTPRequestEncoder(),
                ByteToMessageHandler(
                    HTTPResponseDecoder(leftOverBytesStrategy: .dropBytes, informationalResponseStrategy: .forward)),
                handler,
            ])
        }
        let connection = HTTPConnection(channel: channel, handler: NIOLoopBound(handler, eventLoop: channel.eventLoop))
        return ready.futureResult.map { connection }
    }

    private func negotiation(
        with proxy: ProxyAddress, to end: Endpoint, at address: [UInt8]?
    ) throws -> any TunnelNegotiation {
        guard case .socks = proxy.kind else {
            return ConnectNegotiation(
                authority: end.authority, authorization: proxy.authorization?.field, userAgent: options.userAgent)
        }
        let destination = address.map(SOCKSNegotiation.Destination.address) ?? .name(end.host)
        guard let negotiation = SOCKSNegotiation(to: destination, port: end.port) else {
            throw ExchangeFailure.tunnel(.forbidden("the server's name is too long for SOCKS"))
        }
        return negotiation
    }

    /// The server's address for a SOCKS proxy that does not resolve names itself, or where the name is one; else nil.
    private func address(for route: ConnectionRoute, on eventLoop: any EventLoop) -> EventLoopFuture<SocketAddress?> {
        guard case .tunnelled(let proxy, let end) = route, case .socks(let resolvesNames) = proxy.kind,
            !resolvesNames || AddressScope.ofNumeric(end.host) != nil
        else { return eventLoop.makeSucceededFuture(nil) }
        let promise = eventLoop.makePromise(of: SocketAddress?.self)
        // The resolver blocks.
        DispatchQueue.global().async {
            do {
                promise.succeed(try SocketAddress.makeAddressResolvingHost(end.host, port: end.port))
            } catch {
                promise.fail(ExchangeFailure.unresolvable(host: end.host))
            }
        }
        return promise.futureResult
    }

    /// Reads the machine's certificates, once.
    private func security(trusting authorities: TrustedAuthorities?) async throws -> NIOSSLContext {
        if let known = security.withLock({ $0[authorities] }) { return known }
        var configuration = TrustedAuthorities.extend(options.security, by: authorities)
        configuration.applicationProtocols = ["http/1.1"]
        // Whoever closes a connection wants nothing of it any more.
        configuration.shutdownTimeout = .milliseconds(100)
        let context = try await NIOThreadPool.singleton.runIfActive { [configuration] in
            try NIOSSLContext(configuration: configuration)
        }
        security.withLock { $0[authorities] = context }
        return context
    }
}

extension EventLoopPromise where Value == Void {
    /// Fails with what the handler that is to complete it could not be added for.
    fileprivate func failing(unless addHandler: () throws -> Void) {
        do { try addHandler() } catch { fail(error) }
    }
}

/// The generic types of connections, which have to be made before event loops come to need them.
///
/// Swift makes a generic type when it is first asked for. Of two threads that ask for `ByteToMessageHandler<HTTPDecoder<…>>` first at
/// the same moment, one may find the decoder all but complete; then its runtime (6.3.1) looks for a superclass, which that class has
/// not, and the process crashes (`swift_conformsToProtocolMaybeInstantiateSuperclasses`).
package enum ConnectionTypes {
    /// Each decoder is complete before it is asked what it conforms to.
    private static let made = [
        ObjectIdentifier(HTTPResponseDecoder.self), ObjectIdentifier(HTTPRequestDecoder.self),
        ObjectIdentifier(ByteToMessageHandler<HTTPResponseDecoder>.self),
        ObjectIdentifier(ByteToMessageHandler<HTTPRequestDecoder>.self),
    ]

    /// Has them made, by one thread while others wait for it.
    package static func make() { precondition(!made.isEmpty) }
}
