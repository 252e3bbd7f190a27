import BookModel
import Logging
import NIOCore
import NIOPosix
import Support
import Testing

@testable import Transport

@Suite(.limitedConcurrency) struct TrustedAuthoritiesTests {
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func answer(
        of server: SecureServer, to options: TransportOptions = .init(), with access: SourceAccess = .standard
    ) async throws -> String {
        try await withHTTPTransport(options: options, logger: logger) { transport in
            let address = ResourceAddress("https://localhost:\(server.port)/a")
            let answer = try await transport.using(access).send(HTTPRequest(.get, address))
            return String(buffer: try await answer.collect(upTo: 1000))
        }
    }

    @Test func `a certificate of one's own is good for the source that names it, or for all`() async throws {
        try await SecureServer.run { server in
            let authorities = try TrustedAuthorities(pem: Array(SecureServer.certificateText.utf8))
            let expected = "/a for localhost:\(server.port)"
            #expect(try await answer(of: server, with: SourceAccess(authorities: authorities)) == expected)
            #expect(try await answer(of: server, to: TransportOptions(authorities: authorities)) == expected)
            try await withProxy(.http) { proxy in
                let access = SourceAccess(
                    proxy: .through(try ProxyAddress(parsing: "http://127.0.0.1:\(proxy.port)")),
                    authorities: authorities)
                #expect(try await answer(of: server, with: access) == expected)
                #expect(proxy.record.requests == ["CONNECT localhost:\(server.port) HTTP/1.1"])
            }
            do {
                _ = try await answer(of: server)
                Issue.record("a certificate was believed that nobody vouches for")
            } catch let failure as TransportError {
                #expect(
                    "\(failure.why)"
                        == "no secure connection: the server's certificate is not trusted (self-signed, or expired?)")
                #expect("\(failure.remedy ?? "")".contains("ca-file"))
                #expect(failure.disposition == .skip)
            }
        }
    }

    /// Answers as a server does that reads HTTP and gets a TLS handshake.
    private final class PlainServer: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let refusal = ByteBuffer(string: "HTTP/1.1 400 Bad Request\r\n\r\n")
            context.writeAndFlush(wrapOutboundOut(refusal), promise: nil)
        }
    }

    /// - Returns: why there is no answer, and what to do.
    private func refusal(of address: String, _ options: TransportOptions = .init()) async throws -> (String, String) {
        try await withHTTPTransport(options: options, logger: logger) { transport in
            do {
                _ = try await transport.send(HTTPRequest(.get, ResourceAddress(address)))
                return ("", "")
            } catch let failure as TransportError {
                return ("\(failure.why)", "\(failure.remedy ?? "")")
            }
        }
    }

    @Test func `why there is no secure connection is said in words, with what to do`() async throws {
        try await SecureServer.run { server in
            var options = TransportOptions()
            options.security = server.trust
            let other = try await refusal(of: "https://127.0.0.1:\(server.port)/a", options)
            #expect(other.0 == "no secure connection: the server's certificate is for another host name")
            #expect(other.1 == "check the host name in the address")
        }
        let plain = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(PlainServer()) }
            }.bind(host: "127.0.0.1", port: 0).get()
        let found = try await refusal(of: "https://127.0.0.1:\(plain.localAddress?.port ?? 0)/a")
        #expect(found.0 == "no secure connection: the server does not speak HTTPS")
        #expect(found.1 == "try the address with http://")
        try await plain.close().get()
    }

    @Test(arguments: ["", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
    func `what is no certificate is refused`(text: String) {
        #expect(throws: TrustedAuthorities.Unreadable.self) { try TrustedAuthorities(pem: Array(text.utf8)) }
    }
}
