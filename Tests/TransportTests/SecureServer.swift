import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

@testable import Transport

/// An HTTPS server on a random loopback port that answers every request with what it was asked: its target, its `Host`,
/// and whatever it was told of a proxy.
struct SecureServer {
    let port: Int
    /// Trusts this server, and no other.
    let trust: TLSConfiguration

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
    static func run(_ body: (SecureServer) async throws -> Void) async throws {
        let certificate = try NIOSSLCertificate(bytes: Array(certificateText.utf8), format: .pem)
        let key = try NIOSSLPrivateKey(bytes: Array(keyText.utf8), format: .pem)
        let context = try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: [.certificate(certificate)], privateKey: .privateKey(key)))
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Echo())
                }
            }.bind(host: "127.0.0.1", port: 0).get()
        var trust = TLSConfiguration.makeClientConfiguration()
        trust.trustRoots = .certificates([certificate])
        do {
            try await body(SecureServer(port: channel.localAddress?.port ?? 0, trust: trust))
        } catch {
            try await channel.close().get()
            throw error
        }
        try await channel.close().get()
    }

    /// Signed by itself, for audio.example and localhost, from 2020 to 2119; made for these tests and good for nothing
    /// else.
    static let certificateText = """
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
