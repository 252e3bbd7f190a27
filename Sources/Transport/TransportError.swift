import BookModel
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Why an exchange failed before or within its answer. An answer that arrives whole is never a failure, whatever its
/// status.
package struct TransportError: ExplainedError, Sendable, CustomStringConvertible {
    package enum Kind: Sendable, Hashable {
        case badAddress
        /// The address is on this machine or in a private network, and the source does not allow that.
        case localAddress(host: String)
        /// An ad filter in the network resolves the host to no address at all (`0.0.0.0`).
        case filteredName(host: String)
        /// The host was connected to at an address of another scope than when it was checked.
        case changedAddress(host: String)
        case unresolvable(host: String)
        case refused
        /// No connection within the time allowed, or no way to the host.
        case unreachable
        /// The certificate or the handshake.
        case insecure(Message, remedy: Message? = nil)
        /// Connected, and then silent for longer than the stall timeout.
        case stalled
        /// Less than the minimum rate, on average over some time.
        case tooSlow(bytesPerSecond: Double)
        /// The document is not whole within the answer timeout.
        case overtime(seconds: Double)
        /// The connection ended before the answer did.
        case cut
        /// The connection ended, and with it a body without a length, but TLS was not closed (close_notify): what came may be
        /// all, or not.
        case notClosed
        /// Not HTTP, or not HTTP that makes sense.
        case malformed(Message)
        case redirect(Message, remedy: Message? = nil)
        case oversized(limit: Int)
        /// The body is compressed in a way that is not read here.
        case coded(Message)
        /// The server asked another worker to wait (``SharedWaits``), so that it was not asked.
        case askedToWait(seconds: Double)
        /// The proxy cannot be reached, or cannot reach the server now.
        case proxy(Message)
        /// The proxy wants other credentials than it got.
        case proxyCredentials(Message)
        /// The proxy will not, or what is set as proxy is none.
        case proxyRefusal(Message)
        case other(Message)
    }

    package let kind: Kind
    package let address: ResourceAddress

    package init(_ kind: Kind, address: ResourceAddress) {
        self.kind = kind
        self.address = address
    }

    /// Whether the same request may succeed later.
    package var disposition: Failure.Disposition {
        switch kind {
        case .unresolvable, .refused, .unreachable, .stalled, .tooSlow, .overtime, .cut, .notClosed, .malformed,
            .askedToWait, .proxy, .other:
            .retry
        case .badAddress, .localAddress, .filteredName, .changedAddress, .insecure, .redirect, .oversized, .coded,
            .proxyCredentials, .proxyRefusal:
            .skip
        }
    }

    /// Whether the server could not be connected to, or said nothing.
    package var isOfConnection: Bool {
        switch kind {
        case .unresolvable, .refused, .unreachable, .stalled, .cut: true
        default: false
        }
    }

    /// Seconds after which the server may be asked again; nil where it did not say.
    package var requestedWait: Double? {
        if case .askedToWait(let seconds) = kind { seconds } else { nil }
    }

    /// What to do about it, where that is known.
    package var remedy: Message? {
        switch kind {
        case .localAddress:
            "if that is meant, make it a source of the configuration, or set allow-private-addresses: true for its source"
        case .filteredName(let host):
            "allow \(host) in the ad filter (Pi-hole, AdGuard, the hosts file), then run again"
        case .changedAddress(let host):
            "see what \(host) resolves to (DNS); if that is meant, set allow-private-addresses: true for the source"
        case .redirect(_, let remedy): remedy
        case .proxyCredentials: "check the proxy's user and password, not the source's"
        case .insecure(_, let remedy): remedy
        case .proxyRefusal: "check the proxy (http_proxy, https_proxy, all_proxy, no_proxy, or the source's proxy)"
        default: nil
        }
    }

    /// Why, as the middle of a sentence.
    package var why: Message {
        switch kind {
        case .badAddress: "the address is not one that can be fetched"
        case .localAddress(let host):
            "it leads to \(host), on this machine or in a private network, where its source may not lead"
        case .filteredName(let host): "\(host) resolves to 0.0.0.0: an ad filter in this network blocks it"
        case .changedAddress(let host):
            "\(host) changed between an address on the internet and one in a private network while it was asked for"
        case .unresolvable(let host): "the host name \(host) cannot be resolved"
        case .refused: "the server refuses the connection"
        case .unreachable: "the server cannot be reached"
        case .insecure(let detail, _): "no secure connection: \(detail)"
        case .stalled: "the server stopped sending"
        case .tooSlow(let rate): "the server sends less than \(describeBytes(Int64(rate))) a second"
        case .overtime(let seconds): "the answer is not complete after \(Int(seconds)) s"
        case .cut, .notClosed: "the connection was cut"
        case .malformed(let detail): "the answer is not proper HTTP (\(detail))"
        case .redirect(let detail, _): detail
        case .oversized(let limit): "the answer is longer than \(describeBytes(Int64(limit)))"
        case .coded(let coding): "the answer is compressed (\(coding)), which was not asked for"
        case .askedToWait: "the server asked another worker to wait"
        case .proxy(let detail), .proxyCredentials(let detail), .proxyRefusal(let detail), .other(let detail): detail
        }
    }

    package var message: Message { "\(address): \(why)" }
    package var description: String { message.description }
}

extension TransportError {
    /// Whether a connection ended that had been opened.
    static func isCut(_ error: any Error) -> Bool { !(error is CancellationError) && kind(of: error) == .cut }

    /// Classifies what an exchange threw. Cancellation is no failure and stays what it is.
    static func classify(_ error: any Error, address: ResourceAddress) -> any Error {
        if error is CancellationError || error is TransportError { return error }
        if case ExchangeFailure.scopeChange = error {
            return TransportError(.changedAddress(host: address.host ?? ""), address: address)
        }
        return TransportError(kind(of: error), address: address)
    }

    private static func kind(of error: any Error) -> Kind {
        switch error {
        case ExchangeFailure.stalled: .stalled
        case ExchangeFailure.numericHostInTunnel:
            .insecure(
                "the certificate of a server without a name cannot be checked behind a proxy",
                remedy: "use the server's name, or list its address in no_proxy")
        case let error as NIOConnectionError: kind(of: error)
        case let error as IOError: kind(ofErrno: error.errnoCode)
        // The decoder reports a body that ends too early as a parser error.
        case HTTPParserError.invalidEOFState: .cut
        case HTTPParserError.headerOverflow: .malformed("too many header bytes")
        case is HTTPParserError: .malformed("its head or its chunks cannot be read")
        case ExchangeFailure.endlessAnnouncements: .malformed("it is announced again and again, and never comes")
        case ChannelError.connectTimeout: .unreachable
        // The connection ended, maybe before there was anything on it.
        case is ChannelError, is ChannelPipelineError: .cut
        case ExchangeFailure.unresolvable(let host): .unresolvable(host: host)
        case let error as NIOSSLError: kind(of: error)
        case is BoringSSLError, is NIOSSLExtraError: kind(ofHandshake: "\(error)")
        default: .other(Message(cause: error))
        }
    }

    private static func kind(of error: NIOConnectionError) -> Kind {
        if error.dnsAError != nil || error.dnsAAAAError != nil, error.connectionErrors.isEmpty {
            return .unresolvable(host: error.host)
        }
        // With several addresses (IPv6 and IPv4) the last one tried tells as much as the first.
        guard let last = error.connectionErrors.last?.error else { return .unreachable }
        return (last as? IOError).map { kind(ofErrno: $0.errnoCode) } ?? .unreachable
    }

    private static func kind(of error: NIOSSLError) -> Kind {
        switch error {
        case .uncleanShutdown: .cut
        case .failedToLoadCertificate, .noSuchFilesystemObject:
            .insecure("the certificates of this machine cannot be read", remedy: "install ca-certificates")
        default: kind(ofHandshake: "\(error)")
        }
    }

    /// - Parameter reason: the TLS library's own text, the only place where it says which fault it met.
    private static func kind(ofHandshake reason: String) -> Kind {
        if reason.contains(/CERTIFICATE_VERIFY_FAILED/) {
            return .insecure(
                "the server's certificate is not trusted (self-signed, or expired?)",
                remedy: "ca-file in the configuration names one that you trust")
        }
        if reason.contains(/ValidateHostname|hostnameImpossible|unableToValidate/.ignoresCase()) {
            return .insecure(
                "the server's certificate is for another host name", remedy: "check the host name in the address")
        }
        if reason.contains(/WRONG_VERSION_NUMBER|HTTP_REQUEST/) {
            return .insecure("the server does not speak HTTPS", remedy: "try the address with http://")
        }
        let isRefused = reason.contains(/ALERT|UNSUPPORTED_PROTOCOL|NO_SHARED|EOF during handshake/)
        return .insecure(isRefused ? "the server refuses the handshake" : "the handshake failed")
    }

    private static func kind(ofErrno code: CInt) -> Kind {
        switch code {
        case ECONNREFUSED: .refused
        case ECONNRESET, EPIPE, ECONNABORTED: .cut
        case EHOSTUNREACH, ENETUNREACH, ETIMEDOUT, EADDRNOTAVAIL, ENETDOWN, EHOSTDOWN: .unreachable
        default: .other(Message(errno: code))
        }
    }
}
