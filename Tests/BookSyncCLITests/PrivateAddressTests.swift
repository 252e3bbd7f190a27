import Foundation
import Support
import Testing

extension ProductTests {
    /// Case 33 of the download cases, where names can be given addresses: a catalog out in the world, which a proxy plays,
    /// and names that lead into the user's own network.
    @Suite(
        .needs("root and unshare") { await OwnHosts.arePossible() })
    struct PrivateAddresses {
        private static let hosts = "127.0.0.1 localhost\n127.0.0.1 private.example\n"

        /// A catalog whose first episode is at a private name, the second and third lead there, and the fourth is its own.
        private static func script(_ catalog: ScriptedCatalog, _ port: Watched<Int>) -> ServerScript {
            ServerScript { request in
                let isPublic = request.header("Host")?.hasPrefix("catalog.example:") == true
                switch request.path {
                case ScriptedCatalog.listPath:
                    var reply = catalog.script.answer(request)
                    let text = String(decoding: reply.body, as: UTF8.self)
                    reply.body = Array(
                        text.replacing("\"/audio/1.mp3", with: "\"http://private.example:\(port.value)/audio/1.mp3")
                            .utf8)
                    return reply
                case "/audio/2.mp3" where isPublic:
                    return .reply(
                        status: 302, headers: ["Location": "http://private.example:\(port.value)/audio/2.mp3"])
                case "/audio/3.mp3" where isPublic:
                    return .reply(status: 302, headers: ["Location": "http://127.0.0.1:\(port.value)/audio/3.mp3"])
                default: return catalog.script.answer(request)
                }
            }
        }

        @Test func `case 33: a public catalog leads to no name or address of the private network, unless it may`()
            async throws
        {
            let catalog = ScriptedCatalog(episodes: 4)
            let port = Watched(0)
            try await withProxy(.http) { proxy in
                try await withCatalog(Self.script(catalog, port)) { bench, server in
                    port.update { $0 = server.port }
                    let source = """
                        sources:
                          cat: { type: book-resource, url: "http://catalog.example:\(server.port)\(ScriptedCatalog.listPath)" }
                        """
                    let environment = [
                        "http_proxy": "http://127.0.0.1:\(proxy.port)", "no_proxy": "private.example,127.0.0.1",
                    ]
                    try bench.configure(source)
                    let refused = try await bench.run("fetch 1 --json", hosts: Self.hosts, environment: environment)
                    #expect(refused.exitCode == 75, "\(refused.errors)")
                    #expect(try refused.finishedSections() == [4])
                    let failed = try refused.events().filter { $0["event"] == "failed" }
                    #expect(failed.compactMap { $0.number("section") }.sorted() == [1, 2, 3])
                    for event in failed {
                        #expect(event["error"]?.contains("allow-private-addresses") == true, "\(event.members)")
                    }
                    // What went out went to the public name, and nothing was tried twice.
                    let asked = server.record.requests.filter { $0.path.hasPrefix("/audio/") }
                    #expect(asked.map(\.path).sorted() == ["/audio/2.mp3", "/audio/3.mp3", "/audio/4.mp3"])
                    #expect(Set(asked.map { $0.header("Host") }) == ["catalog.example:\(server.port)"])

                    try bench.configure(
                        source.replacing("url:", with: "allow-private-addresses: true, url:"))
                    let allowed = try await bench.run("fetch 1 --json", hosts: Self.hosts, environment: environment)
                    #expect(allowed.exitCode == 0, "\(allowed.errors)")
                    #expect(try allowed.finishedSections() == [1, 2, 3])
                    #expect(try bench.digests() == catalog.digests)
                }
            }
        }
    }
}

extension ProductTests {
    /// Case 33 of the download cases behind a proxy, which plays the internet: catalogs, covers and audio.
    @Suite struct PrivateAddressesBehindProxy {
        private func withPublicCatalog(
            _ script: @escaping @Sendable (ServerRequest, Int) -> Reply,
            isolation: isolated (any Actor)? = #isolation,
            _ body: (Workbench, MisbehavingServer, [String: String]) async throws -> Void
        ) async throws {
            let port = Watched(0)
            try await withProxy(.http) { proxy in
                try await withCatalog(ServerScript { script($0, port.value) }) { bench, server in
                    port.update { $0 = server.port }
                    let proxied = ["http_proxy": "http://127.0.0.1:\(proxy.port)"]
                    try await body(bench, server, bench.configured.merging(proxied) { $1 })
                }
            }
        }

        @Test(arguments: ["127.0.0.1", "[::ffff:10.0.0.1]", "[2002:c0a8:101::]", "localhost", "printer", "nas.local"])
        func `case 33: a redirect of a public catalog is not followed into the private network, unless it may be`(
            host: String
        ) async throws {
            let catalog = ScriptedCatalog(episodes: 1)
            try await withPublicCatalog { request, port in
                guard request.path == "/public" else { return catalog.script.answer(request) }
                let target = "http://\(host):\(port)\(ScriptedCatalog.listPath)?token=SECRET"
                return .reply(status: 302, headers: ["Location": target])
            } _: { bench, server, environment in
                let source = "type: book-resource, url: \"http://catalog.example:\(server.port)/public\""
                try bench.configure("sources: { cat: { \(source) } }")
                let refused = try await bench.run("fetch", "1", environment: environment)
                #expect(refused.exitCode == 69, "\(refused.errors)")
                #expect(refused.errors.contains("private network"), "\(refused.errors)")
                #expect(refused.errors.contains("allow-private-addresses: true"), "\(refused.errors)")
                #expect(!(refused.output + refused.errors).contains("SECRET"), "\(refused.errors)")
                #expect(Set(server.record.requests.map(\.path)) == ["/public"])

                try bench.configure("sources: { cat: { \(source), allow-private-addresses: true } }")
                _ = try await bench.run("fetch", "1", environment: environment)
                #expect(server.record.requests.contains { $0.path == ScriptedCatalog.listPath })
            }
        }

        @Test func `case 33: a public OPDS catalog leads to no private manifest and no private audio`() async throws {
            let bytes = sampleMP3(bytes: 20_000)
            try await withPublicCatalog { request, port in
                switch request.path {
                case "/entry":
                    return .text(
                        #"{"links":[{"rel":"http://opds-spec.org/acquisition","type":"application/audiobook+json","href":"http://nas.local:\#(port)/m"}]}"#
                    )
                case "/m": return .text(#"{"readingOrder":["1.mp3","http://nas.local:\#(port)/2.mp3"]}"#)
                default: return ServedFile(bytes).answer(to: request)
                }
            } _: { bench, server, environment in
                try bench.configure("downloads: { retries: 0 }")
                let entry = try await bench.run(
                    "fetch", "http://catalog.example:\(server.port)/entry", environment: environment)
                #expect(entry.exitCode == 69 && entry.errors.contains("nas.local"), "\(entry.errors)")
                let manifest = try await bench.run(
                    "fetch", "http://catalog.example:\(server.port)/m", environment: environment)
                #expect(manifest.exitCode == 75, "\(manifest.errors)")
                #expect(manifest.errors.contains("it leads to nas.local, on this machine"), "\(manifest.errors)")
                #expect(try bench.digests() == [sha256(bytes)])
                #expect(Set(server.record.requests.map(\.path)) == ["/entry", "/m", "/1.mp3"])
            }
        }

        @Test func `case 33: pages, covers and audio that a public feed puts at private names are not asked for`()
            async throws
        {
            let bytes = sampleMP3(bytes: 20_000)
            try await withPublicCatalog { request, port in
                switch request.path {
                case "/feed.xml":
                    let audio = ["/1.mp3", "http://nas.local:\(port)/2.mp3", "http://[64:ff9b::a00:1]:\(port)/3.mp3"]
                    return .text(Self.feed(audio: audio + ["/4.mp3"], port: port), type: "application/rss+xml")
                case "/4.mp3": return .reply(status: 302, headers: ["Location": "http://router:\(port)/5.mp3"])
                default: return ServedFile(bytes).answer(to: request)
                }
            } _: { bench, server, environment in
                try bench.configure("sources: { feeds: { type: feed } }\ndownloads: { export: [cover], retries: 0 }")
                let feed = "http://catalog.example:\(server.port)/feed.xml"
                let result = try await bench.run("fetch", feed, environment: environment)
                #expect(result.exitCode == 75, "\(result.errors)")
                #expect(try bench.digests() == [sha256(bytes)])
                #expect(Set(server.record.requests.map(\.path)) == ["/feed.xml", "/1.mp3", "/4.mp3"])
                #expect(Set(server.record.requests.map { $0.header("Host") }) == ["catalog.example:\(server.port)"])
                for host in ["nas.local", "64:ff9b::a00:1", "router", "printer"] {
                    #expect(result.errors.contains("it leads to \(host), on this machine"), "\(result.errors)")
                }
            }
        }

        private static func feed(audio: [String], port: Int) -> String {
            let items = audio.enumerated().map { index, address in
                """
                <item><title>Part \(index + 1)</title><guid>g\(index)</guid>\
                <enclosure url="\(address)" type="audio/mpeg" length="20000"/></item>
                """
            }
            return """
                <rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" \
                xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>Tides</title>
                <itunes:image href="http://printer:\(port)/cover.jpg"/>
                <atom:link rel="next" href="http://printer:\(port)/page2.xml"/>
                \(items.joined(separator: "\n"))
                </channel></rss>
                """
        }
    }
}

extension ProductTests {
    @Suite struct PrivateAddressesOfClients {
        private static func feed(_ request: ServerRequest) -> Reply {
            .text(
                """
                <rss version="2.0"><channel><title>Tides</title><item><title>Low</title><guid>a</guid>\
                <enclosure url="/1.mp3" type="audio/mpeg" length="20000"/></item></channel></rss>
                """, type: "application/rss+xml")
        }

        @Test func `case 33: clients of a server get at a private server only where the configuration names it`()
            async throws
        {
            try await withServer(ServerScript(Self.feed)) { server in
                try await withWorkbench { bench in
                    let feed = server.url("/feed.xml")
                    let typed = "{\"refs\": [\"\(server.url("/other.xml"))\"]}"
                    let fields = ["Content-Type: application/json", "Content-Length: \(typed.utf8.count)"]
                    // A subscription of the command line is no word of the configuration either.
                    let subscribed = try await bench.run("subscribe", feed)
                    #expect(subscribed.exitCode == 0, "\(subscribed.errors)")
                    #expect(subscribed.errors.contains("the mirror of booksync serve only where the configuration"))
                    try bench.configure("serve: { mirror-every: 6h }")
                    func doctor() async throws -> String {
                        try await bench.run("doctor", environment: bench.configured).output
                    }
                    #expect(try await doctor().contains("in a private network: feed:\(feed); "))
                    try bench.configure("serve: { mirror-every: 6h }\nsubscriptions: [{ book: \"\(feed)\" }]")
                    #expect(try await !doctor().contains("private network"))
                    let requests = server.record.requests.count
                    try await bench.serve { shelf in
                        for action in ["fetch", "subscribe", "preview"] {
                            let answer = try await shelf.send(
                                "/api/v1/\(action)", method: "POST", fields, body: typed)
                            #expect(answer.status == 422, "\(action): \(answer.text)")
                            #expect(answer.text.contains("make it a source of the configuration"), "\(answer.text)")
                        }
                        let mirrored = try await shelf.send("/api/v1/mirror", method: "POST", ["Content-Length: 0"])
                        #expect(mirrored.status == 200, "\(mirrored.text)")
                        try await shelf.product.waitForErrors(containing: "private network")
                    }
                    #expect(server.record.requests.count == requests)

                    try bench.configure("sources: { tides: { type: feed, url: \"\(server.url("/other.xml"))\" } }")
                    try await bench.serve(environment: bench.configured) { shelf in
                        let answer = try await shelf.send("/api/v1/preview", method: "POST", fields, body: typed)
                        #expect(answer.status == 200, "\(answer.text)")
                    }
                }
            }
        }
    }
}
