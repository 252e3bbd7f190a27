import BookModel
import Foundation
import Logging
import NIOHTTP1
import Support
import Testing

@testable import Transport

/// Case 23 of the download cases: what goes over the wire to the origin that was asked, and to those behind it.
@Suite(.limitedConcurrency) struct CredentialWireTests {
    private static let cookies = """
        127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\tCOOKIE
        127.0.0.1\tFALSE\t/deep\tFALSE\t0\tdeep\tDEEP
        """

    private static func basic(_ pair: String) -> String { "Basic " + Data(pair.utf8).base64EncodedString() }

    private static func credentials(
        of server: MisbehavingServer, authorization: Authorization? = nil, netrc: String = ""
    ) throws -> SourceCredentials {
        SourceCredentials(
            origins: [try #require(WebOrigin(server.address("/")))], authorization: authorization,
            cookies: try CookieFile(parsing: cookies), netrc: try Netrc(parsing: netrc))
    }

    private func send(_ request: HTTPRequest, with credentials: SourceCredentials) async throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        try await withHTTPTransport(options: TransportOptions(), logger: logger) { transport in
            _ = try await transport.using(SourceAccess(credentials: credentials)).send(request).collect(upTo: 1000)
        }
    }

    @Test(arguments: [
        (Authorization.bearer(Secret("TOKEN")), "Bearer TOKEN"),
        (.basic(user: Secret("me"), password: Secret("pw:é")), basic("me:pw:é")),
    ])
    func `case 23: a redirect to another origin loses everything, and nothing comes back with the way back`(
        authorization: Authorization, field: String
    ) async throws {
        // Sends everybody back, who then gets an answer.
        let sendingBack = ServerScript { .reply(status: 302, headers: ["Location": $0.query["back"] ?? ""]) }
        try await withServer(sendingBack) { other in
            let leadingAway = ServerScript { request in
                switch request.path {
                case "/first": .reply(status: 301, headers: ["Location": "/deep/second"])
                case "/deep/second":
                    .reply(
                        status: 302,
                        headers: ["Location": other.url("/away?back=http://\(request.header("Host") ?? "")/third")])
                default: .text("there")
                }
            }
            try await withServer(leadingAway) { server in
                var request = HTTPRequest(.get, server.address("/first"), headers: ["Range": "bytes=5-"])
                request.credentials.add(name: "X-Key", value: "CONFIGURED")
                try await send(
                    request,
                    with: try Self.credentials(
                        of: server, authorization: authorization, netrc: "machine 127.0.0.1 login n password n"))
                let asked = server.record.requests
                #expect(asked.map(\.path) == ["/first", "/deep/second", "/third"])
                #expect(asked.map { $0.header("Authorization") } == [field, field, nil])
                #expect(asked.map { $0.header("Cookie") } == ["sid=COOKIE", "deep=DEEP; sid=COOKIE", nil])
                #expect(asked.map { $0.header("X-Key") } == ["CONFIGURED", "CONFIGURED", nil])
                let away = try #require(other.record.requests.first)
                for name in ["Authorization", "Cookie", "X-Key"] { #expect(away.header(name) == nil) }
                #expect((asked + [away]).allSatisfy { $0.header("Range") == "bytes=5-" })
            }
        }
    }

    @Test func `headers of a source go to every server, and secret ones to its own`() async throws {
        try await withServer(.always(.text("there"))) { other in
            let leadingAway = Reply.reply(status: 302, headers: ["Location": other.url("/away")])
            try await withServer(.always(leadingAway)) { own in
                var credentials = SourceCredentials(origins: [try #require(WebOrigin(own.address("/")))])
                credentials.headers = ["X-Key": Secret("KEY")]
                let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
                try await withHTTPTransport(options: TransportOptions(), logger: logger) { transport in
                    for headers in [[], [("User-Agent", "Mine/1"), ("Referer", "http://own/")]] {
                        let access = SourceAccess(credentials: credentials, headers: headers)
                        _ = try await transport.using(access).send(HTTPRequest(.get, own.address("/a"))).collect(
                            upTo: 100)
                    }
                }
                #expect(own.record.requests.map { $0.header("X-Key") } == ["KEY", "KEY"])
                #expect(other.record.requests.map { $0.header("X-Key") } == [nil, nil])
                for requests in [own.record.requests, other.record.requests] {
                    let agent = requests.map { $0.header("User-Agent") ?? "" }
                    #expect(agent[0].contains(/^booksync\/[0-9.]+ \(\+https:[^ ]+\)$/) && agent[1] == "Mine/1")
                    #expect(requests.map { $0.header("Referer") } == [nil, "http://own/"])
                    #expect(requests.map { $0.header("Accept") } == ["*/*", "*/*"])
                }
            }
        }
    }

    @Test func `case 23: another port is another origin, which gets nothing even when it is asked first`() async throws
    {
        try await withServer(.always(.text("there"))) { own in
            try await withServer(.always(.text("there"))) { other in
                let credentials = try Self.credentials(
                    of: own, authorization: .bearer(Secret("TOKEN")),
                    netrc: "machine 127.0.0.1 login n password n default login d password d")
                try await send(HTTPRequest(.get, other.address("/a")), with: credentials)
                let request = try #require(other.record.requests.first)
                #expect(request.header("Authorization") == nil && request.header("Cookie") == nil)
            }
        }
    }

    @Test func `a netrc is for hosts that nothing else is set for`() async throws {
        try await withServer(.always(.text("there"))) { server in
            let netrc = "machine 127.0.0.1 login net password rc"
            try await send(
                HTTPRequest(.get, server.address("/1")), with: try Self.credentials(of: server, netrc: netrc))
            try await send(
                HTTPRequest(.get, server.address("/2")),
                with: try Self.credentials(of: server, authorization: .bearer(Secret("TOKEN")), netrc: netrc))
            try await send(
                HTTPRequest(.get, server.address("/3"), credentials: ["Authorization": "Own"]),
                with: try Self.credentials(of: server, authorization: .bearer(Secret("TOKEN")), netrc: netrc))
            try await send(
                HTTPRequest(.get, server.address("/4")),
                with: try Self.credentials(of: server, netrc: "default login d password \"\""))
            let address = ResourceAddress(server.url("/5").replacing("http://", with: "http://u%40x:p@"))
            try await send(
                HTTPRequest(.get, address),
                with: try Self.credentials(of: server, authorization: .bearer(Secret("TOKEN")), netrc: netrc))
            #expect(
                server.record.requests.map { $0.header("Authorization") }
                    == [Self.basic("net:rc"), "Bearer TOKEN", "Own", Self.basic("d:"), Self.basic("u@x:p")])
        }
    }

    @Test(
        arguments: [
            ("http://cdn.example/", nil), ("https://cdn.example/", basic("c:p")),
            ("https://cdn.example:444/", basic("c:p")),
            ("https://other.example/", nil), ("http://own.example/", basic("d:p")), ("https://own.example/", nil),
        ] as [(String, String?)])
    func `a catalog cannot have passwords of the netrc sent in clear, nor those of the default`(
        address: String, field: String?
    ) throws {
        let credentials = SourceCredentials(
            origins: [try #require(WebOrigin(ResourceAddress("http://own.example/books")))],
            netrc: try Netrc(parsing: "machine cdn.example login c password p default login d password p"))
        let target = try #require(RequestTarget(ResourceAddress(address)))
        #expect(credentials.fields(for: target, user: nil, now: 0).first(name: "Authorization") == field)
    }
}
