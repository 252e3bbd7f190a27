import BookModel
import Logging
import NIOCore
import Support
import Synchronization
import Testing

@testable import Transport

/// Case 33 of the download cases: a source leads to the private network only where it is there itself. Names resolve as
/// each test says where they are checked; the connections lead to loopback all the same, as after DNS rebinding.
@Suite(.limitedConcurrency) struct PrivateAddressRuleTests {
    /// What names resolve to, one look-up after the other, the last for good.
    private final class Answers: Sendable {
        private let answers: [Set<AddressScope>]
        private let asked = Mutex<[String]>([])

        init(_ answers: Set<AddressScope>...) { self.answers = answers }

        var names: [String] { asked.withLock { $0 } }

        func resolve(_ name: String) -> Set<AddressScope> {
            asked.withLock { names in
                names.append(name)
                return answers[min(names.count, answers.count) - 1]
            }
        }
    }

    private func withTransport(
        _ answers: Answers? = nil, proxies: [String: String] = [:], trusting server: SecureServer? = nil,
        _ body: (HTTPTransport) async throws -> Void
    ) async throws {
        var options = TransportOptions(proxies: ProxyEnvironment(proxies))
        if let answers { options.resolver = { answers.resolve($0) } }
        if let server { options.security = server.trust }
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        try await withHTTPTransport(options: options, logger: logger, body)
    }

    /// Of a source whose own addresses these are.
    private func access(own: String...) -> SourceAccess {
        SourceAccess(privateAddresses: .ownOnly(Set(own.compactMap { WebOrigin(ResourceAddress($0)) })))
    }

    private func send(_ address: String, over transport: HTTPTransport) async throws -> String {
        let answer = try await transport.send(HTTPRequest(.get, ResourceAddress(address)))
        return String(buffer: try await answer.collect(upTo: 1000))
    }

    /// - Returns: nil when there was an answer.
    private func failure(_ address: String, over transport: HTTPTransport) async throws -> TransportError? {
        do {
            _ = try await send(address, over: transport)
            return nil
        } catch let failure as TransportError {
            return failure
        }
    }

    private func expect(
        _ expected: TransportError.Kind, of address: String, over transport: HTTPTransport,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let kind = try await failure(address, over: transport)?.kind
        #expect(kind == expected, sourceLocation: sourceLocation)
    }

    private func expectAnswer(
        of address: String, over transport: HTTPTransport, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let text = try await send(address, over: transport)
        #expect(text == "there", sourceLocation: sourceLocation)
    }

    @Test func `an ad filter is named, and not taken for a private network`() async throws {
        try await withServer(ServerScript.always(.text("ad"))) { server in
            let address = server.url("/a").replacing("127.0.0.1", with: "ads.example")
            try await withTransport(Answers([.nowhere])) { transport in
                let filtered = try await failure(address, over: transport.using(access(own: "https://feeds.example/")))
                #expect(filtered?.kind == .filteredName(host: "ads.example"))
                #expect(
                    filtered?.why.description
                        == "ads.example resolves to 0.0.0.0: an ad filter in this network blocks it")
                #expect(filtered?.disposition == .skip)
            }
            #expect(server.record.requests.isEmpty)
        }
    }

    @Test func `a public source never reaches this machine, and the message says what to do`() async throws {
        try await withServer(.always(.text("there"))) { server in
            try await withTransport { transport in
                for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "[2002:7f00:1::]"] {
                    let failure = try await failure(
                        "http://u:SECRET@\(host):\(server.port)/a?token=SECRET", over: transport.using(access()))
                    let name = host.drop { $0 == "[" }.prefix { $0 != "]" }
                    #expect(failure?.kind == .localAddress(host: String(name)))
                    #expect(failure?.disposition == .skip)
                    #expect(failure?.remedy?.description.contains("allow-private-addresses: true") == true)
                    #expect(failure?.description.contains("SECRET") == false)
                }
            }
            #expect(server.record.connectionsAccepted == 0)
        }
    }

    @Test func `a redirect into the private network is refused, wherever it begins`() async throws {
        try await withServer(.always(.text("there"))) { server in
            let leading = Reply.reply(status: 302, headers: ["Location": server.url("/private")])
            try await withServer(.always(leading)) { catalog in
                try await withProxy(.http) { proxy in
                    let proxies = ["http_proxy": "http://127.0.0.1:\(proxy.port)", "no_proxy": "127.0.0.1"]
                    try await withTransport(proxies: proxies) { transport in
                        let list = "http://catalog.example:\(catalog.port)/list"
                        let failure = try await failure(list, over: transport.using(access(own: list)))
                        #expect(failure?.kind == .localAddress(host: "127.0.0.1"))
                        #expect(failure?.address == server.address("/private"))
                    }
                }
                #expect(catalog.record.requests.map(\.path) == ["/list"])
            }
            #expect(server.record.connectionsAccepted == 0)
        }
    }

    @Test func `a source in the private network may lead to others there, by listing and by redirect`() async throws {
        try await withServer(.always(.text("there"))) { other in
            let leading = Reply.reply(status: 302, headers: ["Location": "http://localhost:\(other.port)/b"])
            try await withServer(.always(leading)) { own in
                try await withTransport { transport in
                    let transport = transport.using(access(own: own.url("/")))
                    try await expectAnswer(of: own.url("/list"), over: transport)
                    try await expectAnswer(of: other.url("/a"), over: transport)
                }
            }
        }
    }

    @Test func `a source with a public address too leads to its own private one and no further`() async throws {
        try await withServer(.always(.text("there"))) { own in
            try await withServer(.always(.text("elsewhere"))) { other in
                try await withTransport { transport in
                    let transport = transport.using(access(own: "http://8.8.8.8/list", own.url("/detail")))
                    try await expectAnswer(of: own.url("/cover"), over: transport)
                    try await expect(.localAddress(host: "127.0.0.1"), of: other.url("/a"), over: transport)
                }
                #expect(other.record.connectionsAccepted == 0)
            }
        }
    }

    @Test func `a name that is public when it is checked and private when it is connected to gets no request`()
        async throws
    {
        try await withServer(.always(.text("there"))) { server in
            try await withTransport(Answers([.global])) { transport in
                let address = "http://localhost:\(server.port)/a"
                for own in [[], [address]] {
                    let access = SourceAccess(
                        privateAddresses: .ownOnly(Set(own.compactMap { WebOrigin(ResourceAddress($0)) })))
                    let failure = try await failure(address, over: transport.using(access))
                    #expect(failure?.kind == .changedAddress(host: "localhost"))
                    #expect(failure?.disposition == .skip)
                    #expect(failure?.remedy?.description.contains("allow-private-addresses: true") == true)
                }
            }
            #expect(server.record.requests.isEmpty)
        }
    }

    @Test func `a connection that another source opened to a private address is not taken over`() async throws {
        try await withServer(.always(.text("there"))) { server in
            try await withTransport(Answers([.global])) { transport in
                let address = "http://localhost:\(server.port)/a"
                try await expectAnswer(of: address, over: transport)
                try await expect(.changedAddress(host: "localhost"), of: address, over: transport.using(access()))
                #expect(server.record.requests.count == 1)
                // The first source's own is kept, and used again as soon as it is free.
                try await waitUntil("a connection is used again") {
                    try await expectAnswer(of: address, over: transport)
                    let requests = server.record.requests
                    return Set(requests.map(\.connection)).count < requests.count
                }
            }
        }
    }

    @Test func `HTTPS to a name that turns private gets no request either`() async throws {
        try await SecureServer.run { server in
            try await withTransport(Answers([.global]), trusting: server) { transport in
                let address = "https://localhost:\(server.port)/a"
                try await expect(.changedAddress(host: "localhost"), of: address, over: transport.using(access()))
            }
        }
    }

    @Test func `a SOCKS proxy that is told addresses is told of no private one`() async throws {
        try await withProxy(.socks) { proxy in
            let proxies = ["all_proxy": "socks5://127.0.0.1:\(proxy.port)"]
            try await withTransport(Answers([.global]), proxies: proxies) { transport in
                try await expect(
                    .changedAddress(host: "localhost"), of: "http://localhost/a", over: transport.using(access()))
            }
            #expect(proxy.record.requests.isEmpty)
        }
    }

    @Test func `a name with a public and a private address is refused, and allows its source nothing`() async throws {
        try await withServer(.always(.text("there"))) { server in
            try await withTransport(Answers([.global, .local])) { transport in
                let own = "http://localhost:\(server.port)/a"
                let transport = transport.using(access(own: own))
                try await expect(.localAddress(host: "localhost"), of: own, over: transport)
                try await expect(.localAddress(host: "127.0.0.1"), of: server.url("/a"), over: transport)
            }
            #expect(server.record.connectionsAccepted == 0)
        }
    }

    @Test func `a look-up that fails is no public address, and is made again`() async throws {
        try await withServer(.always(.text("there"))) { server in
            let answers = Answers([], [.local])
            try await withTransport(answers) { transport in
                let transport = transport.using(access())
                let address = "http://localhost:\(server.port)/a"
                let first = try await failure(address, over: transport)
                #expect(first?.kind == .unresolvable(host: "localhost"))
                #expect(first?.disposition == .retry)
                for _ in 0..<2 {
                    try await expect(.localAddress(host: "localhost"), of: address, over: transport)
                }
            }
            // What was found is remembered.
            #expect(answers.names == ["localhost", "localhost"])
            #expect(server.record.connectionsAccepted == 0)
        }
    }

    @Test(arguments: [LoopbackProxy.Kind.http, .socks])
    func `behind a proxy nothing is resolved, and private names are refused as they stand`(
        kind: LoopbackProxy.Kind
    ) async throws {
        try await withServer(.always(.text("there"))) { server in
            try await withProxy(kind) { proxy in
                let scheme = kind == .http ? "http" : "socks5h"
                let answers = Answers([.global])
                let proxies = ["all_proxy": "\(scheme)://127.0.0.1:\(proxy.port)"]
                try await withTransport(answers, proxies: proxies) { transport in
                    let transport = transport.using(access(own: "http://catalog.example/"))
                    for host in ["127.0.0.1", "2130706433", "[::1]", "localhost", "printer", "nas.local"] {
                        let kind = try await failure("http://\(host):\(server.port)/a", over: transport)?.kind
                        let name = host.drop { $0 == "[" }.prefix { $0 != "]" }
                        #expect(kind == .localAddress(host: String(name)))
                    }
                    #expect(proxy.record.connectionsAccepted == 0)
                    let address = "http://audio.example:\(server.port)/a"
                    try await expectAnswer(of: address, over: transport)
                    let own = "http://nas.local:\(server.port)/list"
                    let there = transport.using(access(own: own))
                    try await expectAnswer(of: own, over: there)
                    try await expectAnswer(of: "http://printer:\(server.port)/a", over: there)
                }
                #expect(answers.names.isEmpty)
            }
        }
    }
}
