import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// An HTTPS server on a random loopback port that answers every request with what it was asked: its target, its `Host`,
/// and whatever it was told of a proxy.
package struct SecureServer {
    package let port: Int
    /// Trusts this server, and no other.
    package let trust: TLSConfiguration

    private final class Echo: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard case .head(let head) = unwrapInboundIn(data) else { return }
            let proxy = head.headers["Proxy-Authorization"].joined()
            let text = "\(head.uri) for \(head.headers["Host"].joined())\(proxy)"
            let length: HTTPHeaders = ["Content-Length": "\(text.utf8.count)"]
            context.write(wrapOutboundOut(.head(.init(version: .http1_1, status: .ok, headers: length))), promise: nil)
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }

    /// Runs a server for `audio.example` for as long as the body takes.
    package static func run(_ body: (SecureServer) async throws -> Void) async throws {
        let context = try makeContext()
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Echo())
                }
            }.bind(host: "127.0.0.1", port: 0).get()
        var trust = TLSConfiguration.makeClientConfiguration()
        trust.trustRoots = .certificates([try makeCertificate()])
        let port = channel.localAddress?.port ?? 0
        try await closing(channel) { try await body(SecureServer(port: port, trust: trust)) }
    }

    private static func makeCertificate() throws -> NIOSSLCertificate {
        try NIOSSLCertificate(bytes: Array(certificateText.utf8), format: .pem)
    }

    private static func makeContext() throws -> NIOSSLContext {
        let key = try NIOSSLPrivateKey(bytes: Array(keyText.utf8), format: .pem)
        return try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: [.certificate(try makeCertificate())], privateKey: .privateKey(key)))
    }

    private static func closing(_ channel: any Channel, after body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch {
            try await channel.close().get()
            throw error
        }
        try await channel.close().get()
    }

    /// Ends a connection without closing TLS on it.
    private struct RudeEnd: Sendable {}

    /// Stands between TLS and the socket.
    private final class RudeEnding: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer

        func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
            guard event is RudeEnd else { return context.triggerUserOutboundEvent(event, promise: promise) }
            context.close(promise: promise)
        }
    }

    /// Hands the bytes of one connection to another, and ends that when its own has ended.
    private final class Relay: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let other: any Channel
        private let endsRudely: Bool
        private var lastWrite: EventLoopFuture<Void>?

        init(to other: any Channel, endsRudely: Bool = false) {
            (self.other, self.endsRudely) = (other, endsRudely)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            lastWrite = other.writeAndFlush(unwrapInboundIn(data))
        }

        func channelInactive(context: ChannelHandlerContext) {
            let (other, endsRudely) = (other, endsRudely)
            (lastWrite ?? other.eventLoop.makeSucceededVoidFuture()).whenComplete { _ in
                if endsRudely {
                    other.triggerUserOutboundEvent(RudeEnd(), promise: nil)
                } else {
                    other.close(promise: nil)
                }
            }
        }
    }

    /// Runs a server for `localhost` that hands every connection to a plain server, and ends it when that does.
    ///
    /// - Parameters:
    ///   - endsRudely: whether TLS then ends without the message that closes it (close_notify).
    ///   - body: gets the port.
    package static func before(
        _ plain: MisbehavingServer, endsRudely: Bool = false, _ body: (Int) async throws -> Void
    ) async throws {
        let context = try makeContext()
        let plainPort = plain.port
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                ClientBootstrap(group: channel.eventLoop).channelInitializer { behind in
                    behind.eventLoop.makeCompletedFuture {
                        try behind.pipeline.syncOperations.addHandler(Relay(to: channel, endsRudely: endsRudely))
                    }
                }.connect(host: "127.0.0.1", port: plainPort).flatMapThrowing { behind in
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(RudeEnding())
                    try pipeline.addHandler(NIOSSLServerHandler(context: context))
                    try pipeline.addHandler(Relay(to: behind))
                }
            }.bind(host: "127.0.0.1", port: 0).get()
        let port = channel.localAddress?.port ?? 0
        try await closing(channel) { try await body(port) }
    }

    /// Signed by itself, for audio.example and localhost, from 2020 to 2119; made for these tests and good for nothing
    /// else.
    package static let certificateText = """
        -----BEGIN CERTIFICATE-----
        MIIBeTCCAR6gAwIBAgIBATAKBggqhkjOPQQDAjAYMRYwFAYDVQQDDA1hdWRpby5l
        eGFtcGxlMCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAwWjAYMRYwFAYD
        VQQDDA1hdWRpby5leGFtcGxlMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEUQe5
        Ql+/E8+dJT81Fx5XvLvPG0+iZj2BljsC0TyNF/uaeQpVldEP033+7xmb1svnhN3n
        lb9K/j85UrcJ4sDG7aNXMFUwIwYDVR0RBBwwGoINYXVkaW8uZXhhbXBsZYIJbG9j
        YWxob3N0MA8GA1UdEwEB/wQFMAMBAf8wHQYDVR0OBBYEFFxTQVutyy0ovkrdKu6Z
        v6iuDk0KMAoGCCqGSM49BAMCA0kAMEYCIQDNB3iuNRrKtfQx2nHxu2n4GGd60hY6
        N4en0GcSKw9B6QIhALTmnFPpskheAj+xtUCcqfQOOtuTTJEr7LvjJaaBaJ5X
        -----END CERTIFICATE-----
        """

    private static let keyText = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgingLiv/5mlBPK9F8
        6AP8VlHHswyrT8E1vEvCCz1qocGhRANCAARRB7lCX78Tz50lPzUXHle8u88bT6Jm
        PYGWOwLRPI0X+5p5ClWV0Q/Tff7vGZvWy+eE3eeVv0r+PzlStwniwMbt
        -----END PRIVATE KEY-----
        """
}
