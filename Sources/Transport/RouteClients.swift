import AsyncHTTPClient
import BookModel
import Dispatch
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization

/// The HTTP clients, one for each route, since a client keeps its connections by the address that it connects to, and
/// behind a proxy many servers share that. Requests that may lead to other addresses have other clients, so that none of
/// them takes over a connection that another was allowed to open.
final class RouteClients: Sendable {
    private let options: TransportOptions
    /// What connections have in common that may be shared.
    private struct Key: Hashable {
        var route: ConnectionRoute
        var scope: AddressScope?
        var authorities: TrustedAuthorities?
    }

    private let clients = Mutex<[Key: HTTPClient]>([:])
    private let tunnelSecurity = Mutex<[TrustedAuthorities?: NIOSSLContext]>([:])

    init(options: TransportOptions) {
        self.options = options
    }

    /// The client for a route, made when it is first asked for.
    ///
    /// - Parameters:
    ///   - scope: of the addresses that its connections may lead to; nil for any. A connection that leads elsewhere fails
    ///     with ``TransportError/ScopeChange`` before any request is sent on it.
    ///   - authorities: trusted beside those of the machine.
    /// - Throws: `NIOSSLError` when the machine's certificates cannot be read.
    func client(
        for route: ConnectionRoute, within scope: AddressScope?, trusting authorities: TrustedAuthorities?
    ) async throws -> HTTPClient {
        let key = Key(route: route, scope: scope, authorities: authorities)
        if let client = clients.withLock({ $0[key] }) { return client }
        var security: NIOSSLContext?
        if case .tunnelled(_, let end) = route, end.isSecure {
            security = try await securityInTunnels(trusting: authorities)
        }
        return clients.withLock { clients in
            if let client = clients[key] { return client }
            let client = makeClient(for: key, security: security)
            clients[key] = client
            return client
        }
    }

    /// No request may be under way any more.
    func shutdown() async throws {
        let all = clients.withLock { clients in
            defer { clients = [:] }
            return Array(clients.values)
        }
        // Every one of them, also when one fails.
        var failure: (any Error)?
        for client in all {
            do { try await client.shutdown() } catch { failure = error }
        }
        if let failure { throw failure }
    }

    private func makeClient(for key: Key, security: NIOSSLContext?) -> HTTPClient {
        let route = key.route
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.tracing.tracer = nil
        configuration.httpVersion = .http1Only
        configuration.tlsConfiguration = TrustedAuthorities.extend(options.security, by: key.authorities)
        configuration.timeout = .init(
            connect: .milliseconds(Int64(options.connectTimeout * 1000)),
            read: .milliseconds(Int64(options.stallTimeout * 1000)))
        // A proxy that forwards stands for any number of servers; who counts their connections is the engine.
        var connections = options.connectionsPerHost
        if case .forwarded = route { connections = max(connections, 256) }
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections
        // A refused connection is told at once; how often to try again is decided by whoever sent the request.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.http1_1ConnectionDebugInitializer = { [options] channel in
            Self.prepare(channel, for: key, security: security, options: options)
        }
        return HTTPClient(
            eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton), configuration: configuration)
    }

    /// Large receive buffers when the line is fast (measured: a third of the CPU time per GiB saved), the handler that
    /// saves the tail of a failing body, and what the route needs.
    ///
    /// The address is checked first, on the connection itself: between a look-up and the connection a name may have come to
    /// resolve to another. No byte of a request has gone out by then. Not guaranteed: a TLS handshake has, with the name.
    private static func prepare(
        _ channel: any Channel, for key: Key, security: NIOSSLContext?, options: TransportOptions
    ) -> EventLoopFuture<Void> {
        let route = key.route
        return channel.eventLoop.flatSubmit {
            channel.setOption(
                ChannelOptions.recvAllocator,
                value: AdaptiveRecvByteBufferAllocator(minimum: 64 << 10, initial: 128 << 10, maximum: 512 << 10)
            ).flatMap {
                addresses(of: route, on: channel.eventLoop)
            }.flatMapThrowing { resolved in
                if let scope = key.scope {
                    let reached = route.proxy == nil ? channel.remoteAddress : resolved
                    guard let address = reached?.addressBytes else { throw ChannelError.ioOnClosedChannel }
                    guard AddressScope(address) == scope else { throw TransportError.ScopeChange() }
                }
                let pipeline = channel.pipeline.syncOperations
                let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
                try pipeline.addHandler(ReceivedTailHandler(), position: .after(decoder))
                try pipeline.addHandler(RequestTargetHandler(), position: .after(decoder))
                switch route {
                case .direct, .forwarded: break
                case .tunnelled(let proxy, let end):
                    let encoder = try pipeline.handler(type: HTTPRequestEncoder.self)
                    let negotiation = try negotiation(
                        with: proxy, to: end, at: resolved?.addressBytes, options: options)
                    let timeout = TimeAmount.milliseconds(Int64(options.connectTimeout * 1000))
                    try pipeline.addHandler(TunnelHandler(negotiation, timeout: timeout), position: .before(encoder))
                    guard let security else { return }
                    let isName = AddressScope.ofNumeric(end.host) == nil
                    let handler = try NIOSSLClientHandler(context: security, serverHostname: isName ? end.host : nil)
                    try pipeline.addHandler(handler, position: .before(encoder))
                }
            }.flatMapErrorThrowing { error in
                channel.close(promise: nil)
                throw error
            }
        }
    }

    private static func negotiation(
        with proxy: ProxyAddress, to end: ConnectionRoute.TunnelEnd, at address: [UInt8]?, options: TransportOptions
    ) throws -> any TunnelNegotiation {
        guard case .socks = proxy.kind else {
            return ConnectNegotiation(
                authority: end.authority, authorization: proxy.authorization, userAgent: options.userAgent)
        }
        let destination = address.map(SOCKSNegotiation.Destination.address) ?? .name(end.host)
        guard
            let negotiation = SOCKSNegotiation(
                to: destination, port: end.port, user: proxy.user, password: proxy.password)
        else { throw TunnelFailure(refusal: .forbidden("a name or password is too long for SOCKS")) }
        return negotiation
    }

    /// The server's address for a SOCKS proxy that does not resolve names itself, or where the name is one; else nil.
    private static func addresses(
        of route: ConnectionRoute, on eventLoop: any EventLoop
    ) -> EventLoopFuture<SocketAddress?> {
        guard case .tunnelled(let proxy, let end) = route, case .socks(let resolvesNames) = proxy.kind,
            !resolvesNames || AddressScope.ofNumeric(end.host) != nil
        else { return eventLoop.makeSucceededFuture(nil) }
        let promise = eventLoop.makePromise(of: SocketAddress?.self)
        // The resolver blocks.
        DispatchQueue.global().async {
            do {
                promise.succeed(try SocketAddress.makeAddressResolvingHost(end.host, port: end.port))
            } catch {
                promise.fail(TransportError.Unresolvable(host: end.host))
            }
        }
        return promise.futureResult
    }

    /// What secures connections inside tunnels. Reads the machine's certificates, once.
    private func securityInTunnels(trusting authorities: TrustedAuthorities?) async throws -> NIOSSLContext {
        if let known = tunnelSecurity.withLock({ $0[authorities] }) { return known }
        var configuration = TrustedAuthorities.extend(options.security, by: authorities)
        configuration.applicationProtocols = ["http/1.1"]
        let context = try await NIOThreadPool.singleton.runIfActive { [configuration] in
            try NIOSSLContext(configuration: configuration)
        }
        tunnelSecurity.withLock { $0[authorities] = context }
        return context
    }
}
