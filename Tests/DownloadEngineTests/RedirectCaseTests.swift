import BookModel
import DownloadEngine
import Foundation
import Support
import Testing
import Transport

/// Case 23: addresses that lead elsewhere. Who gets credentials is told by the tests of Transport.
@Suite(.limitedConcurrency) struct RedirectCaseTests {
    private let bytes = sampleMP3(bytes: 120_000)

    private static func leading(to location: String, status: Int = 302) -> ServerScript {
        .always(.text("elsewhere", status: status, headers: ["Location": location]))
    }

    /// `/a.mp3` and as many hops as asked, then the file.
    private func chain(of hops: Int) -> ServerScript {
        var scripts: [String: ServerScript] = ["/\(hops)": .file(bytes)]
        scripts["/a.mp3"] = Self.leading(to: "/1")
        for hop in 1..<max(hops, 1) { scripts["/\(hop)"] = Self.leading(to: "/\(hop + 1)", status: 307) }
        return .paths(scripts)
    }

    @Test(arguments: [1, 6, 20])
    func `case 23: up to twenty redirects are followed, and the range is asked for at each`(hops: Int) async throws {
        try await withBench(chain(of: hops)) { bench in
            let episode = bench.episode()
            try await bench.leave(bytes[..<50_000], of: episode)
            let report = try await bench.fetch(episode)
            #expect(report.outcomes == [.resumed], "\(report.sentences)")
            #expect(try bench.file() == bytes)
            #expect(bench.server.record.requests.count == hops + 1)
            #expect(bench.server.record.requests.allSatisfy { $0.header("Range") == "bytes=50000-" })
            #expect(bench.server.record.requests.allSatisfy { $0.header("If-Range") == "\"v1\"" })
        }
    }

    @Test func `case 23: one redirect more is a failure that names the hop, and is not tried again`() async throws {
        try await withBench(chain(of: 21)) { bench in
            let report = try await bench.fetch(bench.episode())
            let why = try #require(report.failures.first?.failure.why.description)
            #expect(why == "more than 20 redirects in a row, the last of them from \(bench.server.url("/20"))")
            #expect(bench.server.record.requests.count == 21)
            #expect(try bench.file() == nil)
        }
    }

    @Test(
        arguments: [
            ("/a.mp3", 1), ("/a.mp3#x", 1), ("file:///etc/passwd", 1), ("ftp://127.0.0.1/a.mp3", 1),
            ("javascript:alert(1)", 1),
        ])
    func `case 23: loops, and other schemes than http and https, lead nowhere`(
        location: String, requests: Int
    ) async throws {
        try await withBench(.paths(["/a.mp3": Self.leading(to: location)])) { bench in
            let report = try await bench.fetch(bench.episode())
            #expect(report.failures.count == 1, "\(report.sentences)")
            #expect(bench.server.record.requests.count == requests)
            #expect(try bench.file() == nil)
            #expect(try bench.partialNames() == [])
        }
    }

    @Test func `case 23: a circle of servers ends where an address comes again`() async throws {
        let scripts = ["/a.mp3": "/b", "/b": "/c", "/c": "/b"].mapValues { Self.leading(to: $0) }
        try await withBench(.paths(scripts)) { bench in
            let report = try await bench.fetch(bench.episode())
            let why = try #require(report.failures.first?.failure.why.description)
            #expect(why == "redirect 3 leads back to \(bench.server.url("/b")): the redirects go in a circle")
            #expect(report.failures.first?.failure.kind == .temporary)
            #expect(bench.server.record.requests.map(\.path) == ["/a.mp3", "/b", "/c"])
        }
    }

    @Test func `case 23: a server that sets a cookie and leads back to itself is followed`() async throws {
        let bytes = bytes
        let script = ServerScript { request in
            guard request.header("Cookie") != "visit=1; seen=yes" else { return ServedFile(bytes).answer(to: request) }
            var reply = Reply.text("wait", status: 302, headers: ["Location": "/a.mp3"])
            reply.headers += [("Set-Cookie", "seen=yes; HttpOnly"), ("Set-Cookie", "visit=1; Path=/a.mp3; Max-Age=60")]
            return reply
        }
        try await withBench(script) { bench in
            let report = try await bench.fetch(bench.episode())
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            #expect(bench.server.record.requests.map { $0.header("Cookie") } == [nil, "visit=1; seen=yes"])
            // The next transfer knows nothing of it.
            #expect(try await bench.fetch(bench.episode(2)).outcomes == [.fetched])
            #expect(bench.server.record.requests.map { $0.header("Cookie") == nil } == [true, false, true, false])
        }
    }

    @Test func `case 23: another server is as good, and its pages are refused like any`() async throws {
        try await withServer(.paths(["/x.mp3": .file(bytes), "/page": .always(.text("<html>", type: "text/html"))])) {
            other in
            try await withBench(
                .paths([
                    "/a.mp3": Self.leading(to: other.url("/x.mp3")), "/b.mp3": Self.leading(to: other.url("/page")),
                ])
            ) { bench in
                let report = try await bench.fetch(bench.episode(), bench.episode(2, at: "/b.mp3"))
                #expect(report.receipts.map(\.section) == [1])
                #expect(report.failures.map(\.section) == [2])
                #expect(try bench.file() == bytes)
            }
        }
    }

    /// Fetches an episode from a server that is also reached over HTTPS and leads wherever `/to?` says.
    ///
    /// - Parameters:
    ///   - address: gets the ports of HTTPS and of HTTP.
    ///   - rule: of the source, which has a password for its server.
    private func fetchSecurely(
        from address: (Int, Int) -> String, rule: DowngradeRule, isPrivate: Bool = false,
        _ body: (EngineReport, [ServerRequest]) throws -> Void
    ) async throws {
        let script = ServerScript { [bytes] request in
            guard request.path == "/to" else { return ServedFile(bytes).answer(to: request) }
            return .text("", status: 302, headers: ["Location": request.query["to"] ?? ""])
        }
        try await withBench(script) { bench in
            try await SecureServer.before(bench.server) { port in
                var episode = bench.episode()
                let address = ResourceAddress(address(port, bench.server.port))
                episode.address = address
                let origins = isPrivate ? Set([try #require(WebOrigin(address))]) : []
                var request = try await bench.request(episode)
                request.access = SourceAccess(
                    authorities: try TrustedAuthorities(pem: Array(SecureServer.certificateText.utf8)),
                    credentials: SourceCredentials(origins: origins, authorization: .bearer(Secret("TOKEN"))),
                    downgrade: rule)
                try body(await bench.run([request]), bench.server.record.requests)
            }
        }
    }

    private static func to(_ address: String) -> String {
        "/to?to=" + (address.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
    }

    @Test(arguments: [(DowngradeRule.withoutCredentials, false), (.allow, false), (.allow, true)])
    func `case 23: audio goes from HTTPS down to HTTP and up again, without any credentials on the way`(
        rule: DowngradeRule, isPrivate: Bool
    ) async throws {
        let address = { (secure: Int, plain: Int) in
            let up = "http://127.0.0.1:\(plain)" + Self.to("https://localhost:\(secure)/a.mp3")
            return "https://localhost:\(secure)" + Self.to(up)
        }
        try await fetchSecurely(from: address, rule: rule, isPrivate: isPrivate) { report, requests in
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            #expect(
                requests.map { $0.header("Authorization") } == [isPrivate ? "Bearer TOKEN" : nil, nil, nil])
        }
    }

    @Test(arguments: [(DowngradeRule.withoutCredentials, true), (.refuse, false)])
    func
        `case 23: what needed credentials, or is forbidden to, does not go down to HTTP, and the failure names the hop`(
            rule: DowngradeRule, isPrivate: Bool
        ) async throws
    {
        let address = { (secure: Int, plain: Int) in
            "https://localhost:\(secure)" + Self.to("http://127.0.0.1:\(plain)/a.mp3")
        }
        try await fetchSecurely(from: address, rule: rule, isPrivate: isPrivate) { report, requests in
            let failure = try #require(report.failures.first?.failure)
            let why = failure.why.description
            #expect(why.hasPrefix("redirect 1 leads from HTTPS down to HTTP, from https://localhost:"), "\(why)")
            #expect(failure.remedy?.description.contains("https-downgrade: allow") == true)
            #expect(requests.count == 1)
        }
    }

    @Test func `case 23: the secret of an address is not repeated over HTTP`() async throws {
        let key = "key=4f1aSECRET"
        let address = { (secure: Int, plain: Int) in
            "https://localhost:\(secure)" + Self.to("http://127.0.0.1:\(plain)/a.mp3?\(key)") + "&\(key)"
        }
        try await fetchSecurely(from: address, rule: .withoutCredentials) { report, requests in
            #expect(report.failures.count == 1 && requests.count == 1)
            #expect(report.sentences.first?.contains("SECRET") == false)
        }
    }
}
