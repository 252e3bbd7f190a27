import Foundation
import Support
import Testing

extension ProductTests {
    /// Feeds and addresses as they are on the web: compressed, with queries in their episodes' addresses, behind pages and
    /// services.
    @Suite struct RealFeeds {
        private static let size = 20_000

        /// Each path has another file.
        private static func audio(at path: String) -> ServedFile {
            ServedFile(sampleMP3(bytes: size, seed: path.utf8.reduce(7) { $0 &* 31 &+ UInt64($1) }))
        }

        /// - Parameter name: also the path of its one file, and of its guid.
        private static func feed(_ name: String, query: String = "", count: Int = 1, head: String = "") -> String {
            let items = (1...count).map { number in
                """
                <item><title>Chapter \(number)</title><guid isPermaLink="false">\(name)-\(number)</guid>
                <pubDate>\(number) Mar 2020 10:00:00 GMT</pubDate>
                <enclosure url="/audio/\(name)-\(number).mp3\(query)" length="\(size)" type="audio/mpeg"/></item>
                """
            }
            return "<?xml version=\"1.0\"?><rss version=\"2.0\"><channel><title>Book \(name)</title>\(head)"
                + items.reversed().joined() + "</channel></rss>"
        }

        private static func withFeeds(
            _ answer: @escaping @Sendable (ServerRequest) -> Reply?,
            _ body: (Workbench, MisbehavingServer) async throws -> Void
        ) async throws {
            let script = ServerScript { request in
                if request.path.hasPrefix("/audio/") { return audio(at: request.path).answer(to: request) }
                return answer(request) ?? .notFound
            }
            try await withWorkbench { bench in
                try await withServer(script) { server in try await body(bench, server) }
            }
        }

        private static func tagged(_ text: String, _ request: ServerRequest) -> Reply {
            ServedFile(Array(text.utf8), etag: "\"f\"", lastModified: nil, contentType: "application/rss+xml")
                .answer(to: request)
        }

        // MARK: Conditions

        @Test func `feeds whose addresses have queries are asked whether they changed, unless one of these is needed`()
            async throws
        {
            let queries = ["plain": "", "libsyn": "?dest-id=14803", "art19": "?rss_browser=BAhJIgpib29rcwY6BkVU"]
            try await Self.withFeeds { request in
                let name = request.path.split(separator: "/").first.map { String($0.prefix { $0 != "." }) } ?? ""
                return queries[name].map { Self.tagged(Self.feed(name, query: $0, count: 20), request) }
            } _: { bench, server in
                let feeds = queries.keys.sorted().map { server.url("/\($0).xml") }
                for feed in feeds { #expect(try await bench.run("subscribe", "--latest", "1", feed).exitCode == 0) }
                func mirror() async throws -> [String: [String?]] {
                    let before = server.record.exchanges.count
                    let night = try await bench.run("mirror", "-q")
                    #expect(night.exitCode == 0, "\(night.errors)")
                    let asked = server.record.exchanges.dropFirst(before).filter { $0.request.path.hasSuffix(".xml") }
                    return Dictionary(grouping: asked.map(\.request), by: \.path)
                        .mapValues { $0.map { $0.header("If-None-Match") } }
                }
                _ = try await mirror()
                #expect(try bench.files().count == 3)
                let allConditional: [String: [String?]] = [
                    "/art19.xml": ["\"f\""], "/libsyn.xml": ["\"f\""], "/plain.xml": ["\"f\""],
                ]
                for _ in 1...2 { #expect(try await mirror() == allConditional) }
                // What the user deleted is missing: its address has to be had, and that of a plain one is known.
                for (name, file) in try bench.files() where !name.contains("art19") {
                    try FileManager.default.removeItem(at: file)
                }
                #expect(
                    try await mirror() == [
                        "/art19.xml": ["\"f\""], "/libsyn.xml": [nil], "/plain.xml": ["\"f\""],
                    ])
                #expect(try bench.files().count == 3)
                #expect(
                    server.requests(path: "/audio/libsyn-20.mp3").allSatisfy { $0.target.hasSuffix("?dest-id=14803") })
                #expect(try await mirror() == allConditional)
            }
        }

        #if os(Linux)
            @Test func `a server is not believed for more than a week that nothing changed`() async throws {
                let count = Watched(1)
                try await Self.withFeeds { request in
                    // As a cache does that forgets to look at what it holds.
                    Self.tagged(Self.feed("stuck", count: count.value), request)
                } _: { bench, server in
                    let clock = try await MovedClock.make(in: bench.folder)
                    for (days, fetched, tag) in [(0, 1, nil), (6, 0, "\"f\""), (8, 1, nil), (9, 0, "\"f\"")]
                        as [(Int, Int, String?)]
                    {
                        try clock.move(to: Double(days) * 24)
                        let run = try await bench.run(
                            "fetch", server.url("/feed.xml"), "--json", environment: clock.environment)
                        #expect(try run.summary().number("fetched") == fetched, "day \(days): \(run.errors)")
                        #expect(server.requests(path: "/feed.xml").last?.header("If-None-Match") == tag, "day \(days)")
                        count.update { $0 = 2 }
                    }
                }
            }
        #endif

        // MARK: Compression

        @Test func `feeds that come compressed are read, labelled or not`() async throws {
            let forms: [String: (DeflateFormat, String?)] = [
                "gzip": (.gzip, "gzip"), "deflate": (.zlib, "deflate"), "raw": (.bare, "deflate"),
                "silent": (.gzip, nil),
                "refuses": (.gzip, "gzip"),
            ]
            try await Self.withFeeds { request in
                let name = String(request.path.dropFirst().prefix { $0 != "." })
                guard let (format, label) = forms[name] else { return nil }
                if name == "refuses", request.header("Accept-Encoding")?.contains("gzip") != true {
                    return .text("compression required", status: 406)
                }
                var reply = Reply.reply(body: deflated(Array(Self.feed(name).utf8), format))
                reply.setHeader("Content-Encoding", label)
                return reply
            } _: { bench, server in
                for name in forms.keys.sorted() {
                    let run = try await bench.run("fetch", server.url("/\(name).xml"), "-q")
                    #expect(run.exitCode == 0, "\(name): \(run.errors)")
                }
                #expect(try bench.files().count == forms.count)
            }
        }

        @Test func `directories and JSON catalogs are read compressed as well`() async throws {
            let page = "<html><title>Index of /d/</title><a href='1.mp3'>1.mp3</a></html>"
            let listing = """
                {"status":0,"sections":1,"list":[{"id":1,"section":1,"name":"一","path":"/audio/1.mp3"}]}
                """
            try await Self.withFeeds { request in
                let text = request.path == "/d/" ? page : request.path == ScriptedCatalog.listPath ? listing : nil
                return text.map { Reply.reply(headers: ["Content-Encoding": "gzip"], body: deflated(Array($0.utf8))) }
                    ?? (request.path == "/d/1.mp3" ? Self.audio(at: request.path).answer(to: request) : nil)
            } _: { bench, server in
                try bench.configure(ScriptedCatalog.configuration(port: server.port))
                for reference in [server.url("/d/"), "cat:1"] {
                    let run = try await bench.run("fetch", reference, "-q", environment: bench.configured)
                    #expect(run.exitCode == 0, "\(reference): \(run.errors)")
                }
                #expect(try bench.files().count == 2)
            }
        }

        // MARK: What users type

        private static func page(_ links: String) -> Reply {
            .text(
                "<!DOCTYPE html><html><head><title>The Show $(x)</title>\(links)</head><body>"
                    + "<script>if (1<2) document.write('\"<a')</script></body></html>",
                type: "text/html; charset=utf-8")
        }

        private static func link(_ path: String, title: String = "") -> String {
            "<LINK rel=alternate title='\(title)' type='application/rss+xml' href='\(path)'>"
        }

        @Test func `a page leads to the feed that it names, which is read once, and is the feed's own book`()
            async throws
        {
            try await Self.withFeeds { request in
                switch request.path {
                case "/show":
                    // The site's own posts come first, and have no audio.
                    Self.page(
                        Self.link("/comments/feed", title: "Comments") + Self.link("/posts.xml")
                            + Self.link("/feed.xml"))
                case "/feed.xml": Self.tagged(Self.feed("show"), request)
                case "/posts.xml", "/comments/feed":
                    .text("<rss><channel><title>Posts</title></channel></rss>", type: "application/rss+xml")
                default: nil
                }
            } _: { bench, server in
                for reference in ["/show", "/feed.xml", "/show"] {
                    let run = try await bench.run("fetch", server.url(reference), "-q")
                    #expect(run.exitCode == 0, "\(reference): \(run.errors)")
                }
                #expect(server.requests(path: "/audio/show-1.mp3").count == 1)
                #expect(
                    server.requests(path: "/feed.xml").map { $0.header("If-None-Match") } == [nil, "\"f\"", "\"f\""])
                #expect(server.requests(path: "/comments/feed").isEmpty)
                let list = try await bench.run("list", "--json")
                #expect(try JSONObject.list(list.output).map { $0["id"] } == [server.url("/feed.xml")])
            }
        }

        @Test func `a feed of an address that hides a secret is fetched from the page that names it`() async throws {
            try await Self.withFeeds { request in
                switch request.path {
                case "/show": Self.page(Self.link("/feed.xml?token=0123456789abcdef"))
                case "/feed.xml" where request.query["token"] == "0123456789abcdef":
                    Self.tagged(Self.feed("show"), request)
                default: nil
                }
            } _: { bench, server in
                let run = try await bench.run("fetch", server.url("/show"), "-q")
                #expect(run.exitCode == 0, "\(run.errors)")
                #expect(try bench.files().count == 1)
            }
        }

        @Test func `a page without a feed says how to search for it`() async throws {
            try await Self.withFeeds { request in
                switch request.path {
                case "/none": Self.page("")
                case "/silent": Self.page(Self.link("/posts.xml"))
                case "/posts.xml": .text("<rss><channel><title>Posts</title></channel></rss>")
                default: nil
                }
            } _: { bench, server in
                for (path, why) in [
                    ("/none", "it is no feed"), ("/silent", "or lists no audio (\(server.url("/posts.xml")))"),
                ] {
                    let run = try await bench.run("fetch", server.url(path))
                    #expect(run.exitCode == 65 && run.errors.contains(why), "\(run.errors)")
                    #expect(run.errors.contains("booksync find \"The Show x\""), "\(run.errors)")
                }
                #expect(!bench.exists)
            }
        }

        @Test func `the first fetch of an address reads each kind of catalog once`() async throws {
            let page = "<html><title>Index of /d/</title><a href='1.mp3'>1.mp3</a></html>"
            try await Self.withFeeds { request in
                switch request.path {
                // Longer than what a look at it takes.
                case "/feed.xml":
                    Self.tagged(
                        Self.feed(
                            request.query["b"] == nil ? "long" : "moved",
                            head: "<!--" + String(repeating: " ", count: 5 << 20) + "-->"), request)
                case "/moved.xml": .text("", status: 302, headers: ["Location": "/feed.xml?b=1"])
                case "/d/": .text(page, type: "text/html")
                case "/d/1.mp3": Self.audio(at: request.path).answer(to: request)
                default: nil
                }
            } _: { bench, server in
                for path in ["/feed.xml", "/d/", "/moved.xml"] {
                    let run = try await bench.run("fetch", server.url(path), "-q")
                    #expect(run.exitCode == 0, "\(path): \(run.errors)")
                }
                #expect(
                    server.record.requests.map(\.path).filter { !$0.hasSuffix(".mp3") } == [
                        "/feed.xml", "/d/", "/moved.xml", "/feed.xml",
                    ])
            }
        }

        @Test func `an address of Apple's directory leads to the feed, or to a search for it`() async throws {
            let host = Watched("")
            try await Self.withFeeds { request in
                switch request.path {
                case "/lookup" where request.query["id"] == "1234567890" && request.query["country"] == "cn":
                    .text("{\"results\":[{\"collectionName\":\"Show\",\"feedUrl\":\"\(host.value)/feed.xml\"}]}")
                case "/lookup": .text("{\"resultCount\":0,\"results\":[]}")
                case "/feed.xml": Self.tagged(Self.feed("show"), request)
                default: nil
                }
            } _: { bench, server in
                host.update { $0 = server.url("") }
                try bench.configure("find: { itunes-url: \"\(server.url(""))\" }")
                let found = try await bench.run(
                    "fetch", "https://podcasts.apple.com/cn/podcast/the-show/id1234567890?i=1000", "-q",
                    environment: bench.configured)
                #expect(found.exitCode == 0, "\(found.errors)")
                #expect(try bench.files().count == 1)
                #expect(server.requests(path: "/feed.xml").count == 1)
                for (address, search) in [
                    ("https://podcasts.apple.com/us/podcast/the-show/id987654321", "booksync find \"the show\""),
                    ("https://podcasts.apple.com/us/podcast/%E6%95%85%E4%BA%8B/id987654321", "booksync find \"故事\""),
                    ("https://overcast.fm/itunes987654321/a-show", "booksync find \"a show\""),
                    ("https://open.spotify.com/show/4rOoJ6Egrf8K2IrywzwOMk", "booksync find TITLE"),
                ] {
                    let refused = try await bench.run("subscribe", address, environment: bench.configured)
                    #expect(refused.exitCode == 65 && refused.errors.contains(search), "\(refused.errors)")
                }
            }
            try await withWorkbenchAndRefusingPort { bench, port in
                try bench.configure("find: { itunes-url: \"http://127.0.0.1:\(port)\" }")
                let refused = try await bench.run(
                    "subscribe", "https://podcasts.apple.com/us/podcast/the-show/id1234567890",
                    environment: bench.configured)
                #expect(
                    refused.exitCode == 69 && refused.errors.contains("booksync find \"the show\""), "\(refused.errors)"
                )
            }
        }
    }
}
