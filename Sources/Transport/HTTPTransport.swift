import BookModel
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import NIOSSL

/// What the transport is set up with.
package struct TransportOptions: Sendable {
    /// Seconds.
    package var connectTimeout: Double
    /// Seconds without a byte after which an exchange is given up.
    package var stallTimeout: Double
    /// Bytes a second that a body has to bring on average, over twice the stall timeout; 0 for no minimum.
    package var minRate: Double
    /// Seconds for the head of an answer, and for the whole of one that is a document.
    package var answerTimeout: Double
    package var userAgent: String
    /// What requests with ``ProxyChoice/environment`` obey.
    package var proxies: ProxyEnvironment
    /// Trusted beside those of the machine, where a source does not say otherwise.
    package var authorities: TrustedAuthorities?
    /// The folder of ``SharedWaits``; nil for a worker that runs alone.
    package var sharedWaits: String?
    /// Responses that a request may be answered with; nil for none.
    package var readResponses: ReadResponses?
    /// Whether all connections belong to the loops of ``LoopExecutor``, so that those that a catalog was read over serve transfers as
    /// they are.
    package var isOfTransfers = false
    /// What secures connections.
    var security = TLSConfiguration.makeClientConfiguration()
    /// Looks names up before they are connected to.
    var resolver: ScopeCache.Resolver = AddressScope.resolving

    package init(
        connectTimeout: Double = 10, stallTimeout: Double = 30, minRate: Double = 1000, answerTimeout: Double = 600,
        userAgent: String = ProgramVersion.userAgent, proxies: ProxyEnvironment = .none,
        authorities: TrustedAuthorities? = nil
    ) {
        self.connectTimeout = connectTimeout
        self.stallTimeout = stallTimeout
        self.minRate = minRate
        self.answerTimeout = answerTimeout
        self.userAgent = userAgent
        self.proxies = proxies
        self.authorities = authorities
    }
}

/// HTTP for every target: pooled connections, our own redirect policy, proxies, and bodies that lose nothing when a
/// connection fails.
package struct HTTPTransport: Sendable {
    /// What all copies share.
    private final class Core: Sendable {
        let connections: ConnectionPool
        let options: TransportOptions
        let logger: Logger
        let scopes: ScopeCache
        let waits: SharedWaits?

        init(options: TransportOptions, logger: Logger) {
            self.connections = ConnectionPool(options: options)
            self.scopes = ScopeCache(options.resolver)
            self.waits = options.sharedWaits.map { SharedWaits(folder: $0, logger: logger) }
            self.options = options
            self.logger = logger
        }
    }

    private let core: Core
    private var access = SourceAccess.standard
    /// Gets the head of every answer that is not a redirect, whoever sent the request.
    package var note: (@Sendable (HTTPResponse) -> Void)?

    fileprivate init(options: TransportOptions, logger: Logger) {
        self.core = Core(options: options, logger: logger)
    }

    /// The same transport, for requests to the servers of a source.
    package func using(_ access: SourceAccess) -> HTTPTransport {
        var transport = self
        transport.access = access
        return transport
    }

    /// Sends the request, follows redirects, and returns as soon as the head of the answer is there. The body must be
    /// read to its end or dropped.
    ///
    /// All credentials, the request's own and those of the source, end at the first redirect to another origin.
    ///
    /// - Throws: ``TransportError``; `CancellationError`.
    package func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        if let read = readResponse(to: request) {
            core.options.readResponses?.remove(request.address)
            note?(read)
            return read
        }
        var chain = RedirectChain(at: request.address)
        let deadline = ContinuousClock.now + .seconds(core.options.answerTimeout)
        while true {
            let address = chain.address
            guard let target = RequestTarget(address) else { throw TransportError(.badAddress, address: address) }
            if let seconds = await core.waits?.secondsLeft(for: address.server) {
                throw TransportError(.askedToWait(seconds: seconds), address: address)
            }
            let now = Date().timeIntervalSince1970
            let credentials = try chain.credentials(
                adding: credentials(for: target, of: request), to: target, now: now)
            let route = try route(to: target, address: address)
            let scope = try await requiredScope(of: target, on: route, address: address)
            let response = try await exchange(request, target: target, on: route, within: scope, address, credentials)
            if request.method != .post,
                try chain.follow(
                    response.head, of: target, downgrade: request.isForDocument ? nil : access.downgrade, now: now)
            {
                core.logger.debug("following a redirect", metadata: ["to": "\(chain.address)"])
                continue
            }
            let answer = HTTPResponse(
                status: Int(response.head.status.code), headers: response.head.headers, address: address,
                movedTo: chain.movedTo,
                body: HTTPResponseBody(
                    base: response.body, address: address,
                    limits: BodyLimits(core.options, deadline: request.isForDocument ? deadline : nil),
                    endsWithConnection: !response.head.headers.contains(name: "Content-Length")
                        && !response.head.headers.contains(name: "Transfer-Encoding")))
            if [429, 503].contains(answer.status), let waits = core.waits,
                let seconds = answer.requestedWait(now: Date().timeIntervalSince1970)
            {
                await waits.record(seconds, for: address.server)
            }
            note?(answer)
            return answer
        }
    }

    /// Whether the server that answered was told who asks: in header fields, or in the address itself. Beyond a redirect to
    /// another server it was not.
    package func sentCredentials(with request: HTTPRequest, to answer: HTTPResponse) -> Bool {
        guard answer.address.server == request.address.server else { return false }
        return RequestTarget(request.address).map { !credentials(for: $0, of: request).isEmpty } ?? false
            || request.address.holdsSecrets
    }

    /// Has the next request to where a response is to be asked for from now on, with the same credentials, be answered with it.
    ///
    /// - Parameter body: all of it, decoded.
    package func keep(_ response: HTTPResponse, body: ByteBuffer, to request: HTTPRequest) {
        let address = response.movedTo ?? request.address
        guard let target = RequestTarget(address) else { return }
        core.options.readResponses?.keep(
            response, body: body, at: address, credentials: credentials(for: target, of: request))
    }

    /// Whether what was read already answers the request, so that no server is asked.
    package func knowsAnswer(to request: HTTPRequest) -> Bool { readResponse(to: request) != nil }

    private func readResponse(to request: HTTPRequest) -> HTTPResponse? {
        guard request.method == .get, request.isForDocument, let responses = core.options.readResponses,
            let target = RequestTarget(request.address)
        else { return nil }
        return responses.response(at: request.address, credentials: credentials(for: target, of: request))
    }

    /// What the request brings itself counts more than what the source has.
    private func credentials(for target: RequestTarget, of request: HTTPRequest) -> HTTPHeaders {
        var credentials = request.credentials
        let user = Authorization(userOf: request.address)
        guard user != nil || !access.credentials.isEmpty else { return credentials }
        let fields = access.credentials.fields(for: target, user: user, now: Date().timeIntervalSince1970)
        for (name, value) in fields where !credentials.contains(name: name) {
            credentials.add(name: name, value: value)
        }
        return credentials
    }

    private typealias Exchanged = (head: HTTPResponseHead, body: ResponseStream.Body)

    private func route(to target: RequestTarget, address: ResourceAddress) throws -> ConnectionRoute {
        do {
            let proxy: ProxyAddress? =
                switch access.proxy {
                case .environment: try core.options.proxies.proxy(for: target)
                case .direct: nil
                case .through(let proxy): proxy
                }
            return ConnectionRoute(to: target, through: proxy)
        } catch {
            throw TransportError(.proxyRefusal(error.why), address: address)
        }
    }

    private func exchange(
        _ request: HTTPRequest, target: RequestTarget, on route: ConnectionRoute, within scope: AddressScope?,
        _ address: ResourceAddress, _ credentials: HTTPHeaders
    ) async throws -> Exchanged {
        var headers = request.headers
        headers.add(contentsOf: credentials)
        headers.replaceOrAdd(name: "Host", value: target.hostField)
        if case .forwarded(let proxy) = route, let authorization = proxy.authorization?.field {
            headers.replaceOrAdd(name: "Proxy-Authorization", value: authorization)
        }
        // Lengths and ranges of audio count the bytes that are stored, which a coding would change.
        let standard = [
            ("User-Agent", core.options.userAgent), ("Accept", "*/*"),
            ("Accept-Encoding", request.isForDocument ? "gzip, deflate" : "identity"),
        ]
        for (name, value) in access.headers + standard where !headers.contains(name: name) {
            headers.add(name: name, value: value)
        }
        if request.method == .post { headers.replaceOrAdd(name: "Content-Length", value: "\(request.body.count)") }
        let head = HTTPRequestHead(
            version: .http1_1, method: HTTPMethod(rawValue: request.method.rawValue),
            uri: route.requestTarget(for: target), headers: headers)
        guard head.holdsNoControlCharacters else {
            throw TransportError(.other("a header field holds a control character"), address: address)
        }
        let key = ConnectionKey(
            route: route, endpoint: route.endpoint(for: target), scope: scope,
            authorities: access.authorities ?? core.options.authorities)
        let response: Exchanged
        do {
            core.logger.debug("sending a request", metadata: ["address": "\(address)"])
            // The answer timeout bounds the head alone; see `BodyLimits` for the body.
            response = try await core.connections.exchange(head, body: request.body, over: key)
            core.logger.debug(
                "answered", metadata: ["address": "\(address)", "status": "\(response.head.status.code)"])
        } catch {
            let failure = route.failure(error, address: address)
            core.logger.debug(
                "no answer", metadata: ["address": "\(address)", "why": "\(failure)", "error": "\(error)"])
            throw failure
        }
        if case .forwarded(let proxy) = route, response.head.status == .proxyAuthenticationRequired {
            let why: Message = ConnectionRoute.credentialsRefused(by: proxy, "407")
            throw TransportError(.proxyCredentials(why), address: address)
        }
        return response
    }

    /// Checks that the source may lead to the target, by what its host resolves to now. A name with addresses of both
    /// scopes is private where that is forbidden, and not where that would allow something.
    ///
    /// - Returns: the scope of the address that the connection must lead to, since names may resolve to others by then;
    ///   nil for any.
    private func requiredScope(
        of target: RequestTarget, on route: ConnectionRoute, address: ResourceAddress
    ) async throws -> AddressScope? {
        guard case .ownOnly(let origins) = access.privateAddresses else { return nil }
        let scopes = try await scopes(of: target, on: route, address: address)
        if scopes == [.global] || scopes == [.local] && origins.contains(WebOrigin(target)) {
            return route.resolvesNamesElsewhere ? nil : scopes.first
        }
        let refusal = TransportError(.localAddress(host: target.host), address: address)
        if origins.isEmpty { throw refusal }
        for own in origins.map(RequestTarget.init) {
            let route = try self.route(to: own, address: address)
            guard try await self.scopes(of: own, on: route, address: address) == [.local] else { throw refusal }
        }
        return nil
    }

    /// Never empty. What a proxy resolves is told by the host's name alone.
    private func scopes(
        of target: RequestTarget, on route: ConnectionRoute, address: ResourceAddress
    ) async throws -> Set<AddressScope> {
        if route.resolvesNamesElsewhere { return [AddressScope.ofUnresolved(target.host)] }
        let scopes = await core.scopes.scopes(of: target.host)
        if scopes.isEmpty { throw TransportError(.unresolvable(host: target.host), address: address) }
        if scopes.contains(.nowhere) { throw TransportError(.filteredName(host: target.host), address: address) }
        return scopes
    }

    fileprivate func shutdown() { core.connections.shutdown() }
}

/// Runs `body` with a transport that is shut down afterwards, however `body` ends.
package func withHTTPTransport<Result: Sendable>(
    options: TransportOptions, logger: Logger, _ body: (HTTPTransport) async throws -> Result
) async throws -> Result {
    let transport = HTTPTransport(options: options, logger: logger)
    defer { transport.shutdown() }
    return try await body(transport)
}
