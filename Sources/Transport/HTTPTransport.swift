import AsyncHTTPClient
import BookModel
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// What the transport is set up with.
package struct TransportOptions: Sendable {
    /// Seconds.
    package var connectTimeout: Double
    /// Seconds without a byte after which an exchange is given up.
    package var stallTimeout: Double
    package var connectionsPerHost: Int
    package var userAgent: String

    package init(
        connectTimeout: Double = 10, stallTimeout: Double = 30, connectionsPerHost: Int = 8,
        userAgent: String = "booksync"
    ) {
        self.connectTimeout = connectTimeout
        self.stallTimeout = stallTimeout
        self.connectionsPerHost = connectionsPerHost
        self.userAgent = userAgent
    }
}

/// HTTP for every room: one client with pooled connections, our own redirect policy, and bodies that lose nothing
/// when a connection fails.
package final class HTTPTransport: Sendable {
    private let client: HTTPClient
    private let options: TransportOptions
    private let logger: Logger
    private let scopes = ScopeCache()
    /// Servers that answered, so that a connection to them may have been kept.
    private let answeredServers = Mutex<Set<String>>([])

    fileprivate init(options: TransportOptions, logger: Logger) {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.httpVersion = .http1Only
        configuration.timeout = .init(
            connect: .milliseconds(Int64(options.connectTimeout * 1000)),
            read: .milliseconds(Int64(options.stallTimeout * 1000)))
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = options.connectionsPerHost
        // A refused connection is told at once; how often to try again is decided by whoever sent the request.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.http1_1ConnectionDebugInitializer = { channel in
            channel.eventLoop.flatSubmit { Self.prepare(channel) }
        }
        self.client = HTTPClient(
            eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton), configuration: configuration)
        self.options = options
        self.logger = logger
    }

    /// Large receive buffers when the line is fast (measured: a third of the CPU time per GiB saved), and the handler
    /// that saves the tail of a failing body.
    private static func prepare(_ channel: any Channel) -> EventLoopFuture<Void> {
        channel.setOption(
            ChannelOptions.recvAllocator,
            value: AdaptiveRecvByteBufferAllocator(minimum: 16 << 10, initial: 64 << 10, maximum: 256 << 10)
        ).flatMapThrowing {
            let pipeline = channel.pipeline.syncOperations
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
            try pipeline.addHandler(ReceivedTailHandler(), position: .after(decoder))
        }
    }

    /// Sends the request, follows redirects, and returns as soon as the head of the answer is there. The body must be
    /// read to its end or dropped.
    ///
    /// - Throws: ``WireFailure``; `CancellationError`.
    package func send(_ request: WireRequest) async throws -> WireAnswer {
        var address = request.address
        var credentials = request.credentials
        var hops = 0
        while true {
            let response = try await exchangeOnOpenConnection(request, address: address, credentials: credentials)
            let decision = RedirectPolicy.decide(
                status: Int(response.status.code), location: response.headers.first(name: "Location"), from: address,
                hops: hops)
            switch decision {
            case .accept:
                return WireAnswer(
                    status: Int(response.status.code), headers: response.headers, address: address,
                    body: WireBody(base: response.body, address: address))
            case .refuse(let why):
                throw WireFailure(.redirect(why), address: address)
            case .follow(let target, let sameOrigin):
                logger.debug("following a redirect", metadata: ["to": "\(target)"])
                if !sameOrigin { credentials = [:] }
                address = target
                hops += 1
            }
        }
    }

    /// A kept connection that the server closes just as a request goes out says nothing about the request: it is sent
    /// once more at once, on another connection (RFC 9112 §9.3.1; GET and HEAD are idempotent). Where no connection was
    /// kept that explanation does not hold, and the failure is one.
    private func exchangeOnOpenConnection(
        _ request: WireRequest, address: ResourceAddress, credentials: HTTPHeaders
    ) async throws -> HTTPClientResponse {
        let server = address.server
        let mayBeKept = answeredServers.withLock { $0.contains(server) }
        let response: HTTPClientResponse
        do {
            response = try await exchange(request, address: address, credentials: credentials)
            if mayBeKept { return response }
        } catch let failure as WireFailure where failure.kind == .cut && mayBeKept {
            answeredServers.withLock { _ = $0.remove(server) }
            try Task.checkCancellation()
            response = try await exchange(request, address: address, credentials: credentials)
        }
        answeredServers.withLock { _ = $0.insert(server) }
        return response
    }

    private func exchange(
        _ request: WireRequest, address: ResourceAddress, credentials: HTTPHeaders
    ) async throws -> HTTPClientResponse {
        let text = address.wireText
        guard text.hasPrefix("http://") || text.hasPrefix("https://") else {
            throw WireFailure(.badAddress, address: address)
        }
        if !request.allowsLocalAddresses, let host = address.host, await scopes.scope(of: host) == .local {
            throw WireFailure(.localAddress, address: address)
        }
        var outgoing = HTTPClientRequest(url: text)
        outgoing.method = request.method == .head ? .HEAD : .GET
        outgoing.headers = request.headers
        outgoing.headers.add(contentsOf: credentials)
        if !outgoing.headers.contains(name: "User-Agent") {
            outgoing.headers.add(name: "User-Agent", value: options.userAgent)
        }
        if !outgoing.headers.contains(name: "Accept-Encoding") {
            // Lengths and ranges count the bytes that are stored, so no coding is wanted in between.
            outgoing.headers.add(name: "Accept-Encoding", value: "identity")
        }
        do {
            logger.debug("sending a request", metadata: ["address": "\(address)"])
            // The deadline bounds the whole exchange; what guards against silence is the stall timeout.
            return try await client.execute(outgoing, deadline: .distantFuture)
        } catch {
            throw WireFailure.classify(error, address: address)
        }
    }

    /// Whether an address lies on this machine or in a private network.
    package func isLocal(_ address: ResourceAddress) async -> Bool {
        guard let host = address.host else { return false }
        return await scopes.scope(of: host) == .local
    }

    fileprivate func shutdown() async throws {
        try await client.shutdown()
    }
}

/// Runs `body` with a transport that is shut down afterwards, however `body` ends.
package func withHTTPTransport<Result: Sendable>(
    options: TransportOptions, logger: Logger, _ body: (HTTPTransport) async throws -> Result
) async throws -> Result {
    let transport = HTTPTransport(options: options, logger: logger)
    let outcome: Swift.Result<Result, any Error>
    do {
        outcome = .success(try await body(transport))
    } catch {
        outcome = .failure(error)
    }
    try await transport.shutdown()
    return try outcome.get()
}
