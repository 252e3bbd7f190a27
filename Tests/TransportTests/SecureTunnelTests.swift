import BookModel
import Foundation
import Logging
import NIOCore
import Support
import Testing

@testable import Transport

/// Case 32 of the download cases: HTTPS through proxies.
@Suite(.limitedConcurrency) struct SecureTunnelTests {
    private func answers(
        _ addresses: [String], through proxy: String, trusting server: SecureServer
    ) async throws -> [String] {
        var options = TransportOptions(proxies: ProxyEnvironment(["https_proxy": proxy]))
        options.security = server.trust
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return try await withHTTPTransport(options: options, logger: logger) { transport in
            var texts: [String] = []
            for address in addresses {
                let answer = try await transport.send(HTTPRequest(.get, ResourceAddress(address)))
                texts.append(String(buffer: try await answer.collect(upTo: 1000)))
            }
            return texts
        }
    }

    @Test func `case 32: HTTPS goes through CONNECT, and only the proxy sees the proxy's password`() async throws {
        try await SecureServer.run { server in
            try await withProxy(.http) {
                $0.credentials = "me:pw"
            } _: { proxy in
                let origin = "https://audio.example:\(server.port)"
                let texts = try await answers(
                    ["\(origin)/a?b=c", "\(origin)/d"], through: "http://me:pw@127.0.0.1:\(proxy.port)",
                    trusting: server)
                #expect(texts == ["/a?b=c", "/d"].map { "\($0) for audio.example:\(server.port)" })
                // One tunnel, kept.
                #expect(proxy.record.requests == ["CONNECT audio.example:\(server.port) HTTP/1.1"])
                let head = try #require(proxy.record.heads.first)
                #expect(head.contains("Proxy-Authorization: Basic \(Data("me:pw".utf8).base64EncodedString())"))
            }
        }
    }

    @Test func `case 32: HTTPS goes through SOCKS`() async throws {
        try await SecureServer.run { server in
            try await withProxy(.socks) { proxy in
                let texts = try await answers(
                    ["https://audio.example:\(server.port)/a"], through: "socks5h://127.0.0.1:\(proxy.port)",
                    trusting: server)
                #expect(texts == ["/a for audio.example:\(server.port)"])
                #expect(proxy.record.requests == ["SOCKS audio.example:\(server.port)"])
            }
        }
    }

    @Test(arguments: ["other.example", "127.0.0.1"])
    func `case 32: a tunnel does not make another server's certificate good`(host: String) async throws {
        try await SecureServer.run { server in
            try await withProxy(.http) { proxy in
                do {
                    _ = try await answers(
                        ["https://\(host):\(server.port)/a"], through: "127.0.0.1:\(proxy.port)", trusting: server)
                    Issue.record("\(host) was believed")
                } catch let failure as TransportError {
                    guard case .insecure = failure.kind else {
                        Issue.record("\(failure)")
                        return
                    }
                }
            }
        }
    }

    @Test func `case 32: a proxy that refuses a tunnel is told from the server`() async throws {
        try await SecureServer.run { server in
            for (answer, kind) in [
                ("HTTP/1.1 403 No\r\n\r\n", "does not connect to the server: it answers 403"),
                ("HTTP/1.1 502 No\r\n\r\n", "cannot get through to the server: it answers 502"),
                ("HTTP/1.1 407 No\r\n\r\n", "wants a user and a password (407)"),
                ("", "closed the connection before there was one to the server"),
                ("+OK POP3\r\n\r\n", "does not answer as a proxy of that kind does"),
            ] {
                try await withProxy(.http) {
                    $0.insult = Array(answer.utf8)
                } _: { proxy in
                    do {
                        _ = try await answers(
                            ["https://audio.example:\(server.port)/"], through: "127.0.0.1:\(proxy.port)",
                            trusting: server)
                        Issue.record("there was an answer")
                    } catch let failure as TransportError {
                        #expect(failure.why.description == "the proxy http://127.0.0.1:\(proxy.port) \(kind)")
                    }
                }
            }
        }
    }
}
