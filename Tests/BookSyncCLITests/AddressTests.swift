import Foundation
import Support
import Testing

extension ProductTests {
    /// Books that are named by the address of their catalog, without any configuration.
    @Suite struct Addresses {
        private static let audio = (1...3).map { sampleMP3(bytes: 20_000 + $0, seed: UInt64($0)) }
        private static let digests = audio.map { sha256($0) }

        private static func feed(_ server: MisbehavingServer, title: String = "Emma") -> String {
            let items = (1...3).map { number in
                """
                <item><title>Chapter \(number)</title><guid isPermaLink="false">emma-\(number)</guid>
                <pubDate>0\(number) Mar 2020 10:00:00 GMT</pubDate>
                <enclosure url="\(server.url("/\(number).mp3"))" length="\(20_000 + number)" type="audio/mpeg"/></item>
                """
            }
            return "<?xml version=\"1.0\"?><rss version=\"2.0\"><channel><title>\(title)</title>"
                + items.reversed().joined() + "</channel></rss>"
        }

        /// A server with a feed, as a good one gives it: with a tag, and 304 to those that know it.
        private static func withFeed(_ body: (Workbench, MisbehavingServer) async throws -> Void) async throws {
            let page = Watched<String>("")
            var scripts = Dictionary(
                uniqueKeysWithValues: audio.enumerated().map { ("/\($0 + 1).mp3", ServerScript.file(ServedFile($1))) })
            for path in ["/feed.xml", "/./%66eed.xml"] {
                scripts[path] = ServerScript { request in
                    ServedFile(
                        Array(page.value.utf8), etag: "\"f1\"", lastModified: nil, contentType: "application/rss+xml"
                    )
                    .answer(to: request)
                }
            }
            try await withWorkbench { bench in
                try await withServer(.paths(scripts)) { server in
                    page.update { $0 = feed(server) }
                    try await body(bench, server)
                }
            }
        }

        @Test func `a feed is recognised, fetched, and costs one request when nothing changed`() async throws {
            try await Self.withFeed { bench, server in
                let first = try await bench.run("fetch", server.url("/feed.xml"), "--json")
                #expect(first.exitCode == 0, "\(first.errors)")
                #expect(!first.errors.contains("demo"))
                #expect(try first.summary().number("fetched") == 3)
                #expect(try bench.digests() == Self.digests)
                #expect(
                    try bench.files().keys.sorted() == (1...3).map { "Emma/00\($0) Chapter \($0).mp3" })

                let before = server.requests(path: "/feed.xml").count
                let again = try await bench.run("fetch", server.url("/feed.xml"), "--json")
                #expect(again.exitCode == 0, "\(again.errors)")
                #expect(try again.summary().number("kept") == 3)
                #expect(try again.summary().number("bytes_received") == 0)
                let asked = server.requests(path: "/feed.xml").dropFirst(before)
                #expect(asked.map { $0.header("If-None-Match") } == ["\"f1\""])

                // The address is the book's name from now on, with and without its source.
                let list = try await bench.run("list", server.url("/feed.xml"), "--json")
                #expect(try JSONObject.list(list.output).count == 3)
                let show = try await bench.run("show", "feed:\(server.url("/feed.xml"))")
                #expect(show.exitCode == 0 && show.output.contains("Emma"), "\(show.errors)")
            }
        }

        @Test func `episodes of a book are named behind its address`() async throws {
            try await Self.withFeed { bench, server in
                let feed = server.url("/feed.xml")
                let first = try await bench.run("fetch", "\(feed)#2", "--json")
                #expect(first.exitCode == 0, "\(first.errors)")
                #expect(try first.summary().number("fetched") == 1)
                #expect(try bench.files().keys.sorted() == ["Emma/002 Chapter 2.mp3"])
                #expect(try await bench.run("fetch", feed, "-q").exitCode == 0)

                let explained = try await bench.run("explain", "\(feed)#3")
                let verdict = "Emma, episode 3 'Chapter 3' (feed:\(feed)#3): nothing to do: on disk."
                #expect(explained.output.hasPrefix(verdict), "\(explained.errors)")
                let whole = try await bench.run("explain", feed)
                #expect(whole.exitCode == 64 && whole.errors.contains("\(feed)#12"), "\(whole.errors)")

                #expect(try await bench.run("remove", "feed:\(feed)#2").exitCode == 0)
                #expect(
                    try bench.files().keys.sorted() == ["Emma/001 Chapter 1.mp3", "Emma/003 Chapter 3.mp3"])
                #expect(try await bench.run("trash", "list").output.contains("feed:\(feed)#2"))
                #expect(try await bench.run("trash", "restore", "\(feed)#2").exitCode == 0)
                #expect(try bench.digests() == Self.digests)
            }
        }

        @Test func `another spelling of an address, or another password in it, names the same book`() async throws {
            try await Self.withFeed { bench, server in
                let place = String(server.url("/feed.xml").dropFirst("http://".count))
                let host = place.prefix { $0 != "/" }
                let first = try await bench.run("fetch", "http://user:p@ss@\(place)?a=1&b=2", "--json")
                #expect(try first.summary().number("fetched") == 3, "\(first.errors)")
                for address in [
                    "http://user:p%40ss@\(place)?a=1&b=2", "http://user:renewed@\(place)?a=1&amp;b=2",
                    "http://user:renewed@\(host)/./%66eed.xml?a=1&b=2", "feed://\(place)?a=1&b=2",
                ] {
                    let again = try await bench.run("fetch", address, "--json")
                    #expect(try again.summary().number("kept") == 3, "\(address): \(again.errors)")
                    #expect(try again.summary().number("bytes_received") == 0)
                }
                let list = try await bench.run("list", "--json")
                #expect(try JSONObject.list(list.output).count == 1, "\(list.output)")
                #expect(!list.output.contains("p@ss") && !list.output.contains("renewed"))
                let asked = server.requests(path: "/feed.xml").compactMap { $0.header("Authorization") }
                #expect(asked.last == "Basic dXNlcjpyZW5ld2Vk")
            }
        }

        @Test func `a source of one feed is the book that was fetched by the feed's address`() async throws {
            try await Self.withFeed { bench, server in
                let address = "http://user:sesame@" + server.url("/feed.xml").dropFirst("http://".count)
                #expect(try await bench.run("fetch", address, "-q").exitCode == 0)
                let followed = try await bench.run("subscribe", address)
                #expect(followed.exitCode == 0 && !(followed.output + followed.errors).contains("sesame"))
                #expect(try await bench.run("unsubscribe", address).exitCode == 0)
                try bench.configure("sources: { pod: { type: feed, url: \"\(address)\" } }")
                for reference in ["pod:emma", "pod:other", address] {
                    let plan = try await bench.run("fetch", reference, "--json", environment: bench.configured)
                    #expect(try plan.summary().number("kept") == 3, "\(reference): \(plan.errors)")
                }
                let subscribed = try await bench.run("subscribe", "pod:emma", environment: bench.configured)
                #expect(subscribed.exitCode == 0, "\(subscribed.errors)")
                let night = try await bench.run("mirror", "--json", environment: bench.configured)
                #expect(night.exitCode == 0, "\(night.errors)")
                #expect(try night.summary().number("kept") == 3)
                let doctor = try await bench.run("doctor", environment: bench.configured)
                #expect(doctor.exitCode == 0, "\(doctor.output)")
                #expect(server.requests(path: "/1.mp3").count == 1)
                #expect(
                    server.requests(path: "/feed.xml").allSatisfy {
                        $0.header("Authorization") == "Basic dXNlcjpzZXNhbWU="
                    })
            }
        }

        @Test func `two names of a source of one feed are one book`() async throws {
            try await Self.withFeed { bench, server in
                try bench.configure("sources: { pod: { type: feed, url: \"\(server.url("/feed.xml"))\" } }")
                for (reference, count) in [("pod:x", "fetched"), ("pod:y", "kept"), (server.url("/feed.xml"), "kept")] {
                    let run = try await bench.run("fetch", reference, "--json", environment: bench.configured)
                    #expect(try run.summary().number(count) == 3, "\(reference): \(run.errors)")
                }
                let shown = try await bench.run("show", "pod:y", "--json", environment: bench.configured)
                #expect(try JSONObject(shown.output)["id"] == "x", "\(shown.output) \(shown.errors)")
            }
        }

        @Test func `a forced run has the feed listed whatever it was before`() async throws {
            try await Self.withFeed { bench, server in
                for arguments in [["fetch"], ["fetch"], ["fetch", "--force"]] {
                    let run = try await ProductRunner.run(
                        arguments + [server.url("/feed.xml"), "--library", "L"], in: bench.folder)
                    #expect(run.exitCode == 0, "\(run.errors)")
                }
                let tags = server.requests(path: "/feed.xml").map { $0.header("If-None-Match") }
                #expect(tags.suffix(2) == ["\"f1\"", nil])
                #expect(try bench.digests() == Self.digests)
            }
        }

        @Test func `a subscription in the configuration may be an address, and one that is down holds up no other`()
            async throws
        {
            try await withRefusingPort { port in
                try await Self.withFeed { bench, server in
                    try bench.configure(
                        """
                        subscriptions:
                          - { book: "http://127.0.0.1:\(port)/down.xml" }
                          - { book: "\(server.url("/feed.xml"))" }
                        downloads: { retries: 0 }
                        """)
                    let mirror = try await bench.run("mirror", "--json", environment: bench.configured)
                    #expect(mirror.exitCode == 69, "\(mirror.errors)")
                    #expect(try mirror.summary().number("fetched") == 3)
                    #expect(try mirror.summary().number("failed") == 1)
                }
            }
        }

        @Test func `an address of nothing keeps no other book from being planned, fetched and subscribed to`()
            async throws
        {
            try await Self.withFeed { bench, server in
                let (nothing, feed) = (server.url("/nosuch.xml"), server.url("/feed.xml"))
                let plan = try await bench.run("plan", nothing, feed, "--json")
                #expect(plan.exitCode == 66 && plan.errors.contains(nothing), "\(plan.errors)")
                let events = try plan.events().compactMap { $0["event"] }
                #expect(events.contains("failed") && events.contains("plan"), "\(events)")
                let first = try await bench.run("fetch", nothing, feed, nothing, "--json")
                #expect(first.exitCode == 66 && first.errors.contains("1 catalog not read"), "\(first.errors)")
                #expect(try first.summary().number("fetched") == 3)
                #expect(try first.summary().number("failed") == 1)
                let alone = try await bench.run("fetch", nothing, "-q")
                #expect(alone.exitCode == 66 && alone.errors.contains("1 catalog not read"), "\(alone.errors)")
                let subscribed = try await bench.run("subscribe", nothing, feed, "--json")
                #expect(subscribed.exitCode == 66 && subscribed.errors.contains(nothing), "\(subscribed.errors)")
                #expect(try subscribed.events().map { $0["outcome"] } == ["not subscribed", "subscribed"])
            }
        }

        @Test func `doctor asks a directory of the configuration as a directory, whether it was mirrored or not`()
            async throws
        {
            let page = """
                <html><head><title>Index of /emma/</title></head><body><h1>Index of /emma/</h1><hr><pre><a href="../">../</a>
                <a href="01.mp3">01.mp3</a>              14-Mar-2011 07:06               20001
                </pre><hr></body></html>
                """
            let scripts: [String: ServerScript] = [
                "/emma/": .always(.text(page, type: "text/html")), "/emma/01.mp3": .file(ServedFile(Self.audio[0])),
            ]
            try await withWorkbench { bench in
                try await withServer(.paths(scripts)) { server in
                    try bench.configure("subscriptions: [{ book: \"\(server.url("/emma/"))\" }]")
                    for _ in 1...2 {
                        let doctor = try await bench.run("doctor", environment: bench.configured)
                        #expect(doctor.exitCode == 0, "\(doctor.output)")
                        #expect(doctor.output.contains("source directory: it answers"), "\(doctor.output)")
                        #expect(!doctor.output.contains("source feed"), "\(doctor.output)")
                        #expect(try await bench.run("mirror", "-q", environment: bench.configured).exitCode == 0)
                    }
                }
            }
        }

        @Test func `an address of nothing that is known, or that cannot be had, is told`() async throws {
            let scripts: [String: ServerScript] = [
                "/page": .always(.text("<html><title>Hello</title><p>world</p></html>", type: "text/html")),
                "/private": .always(.text("no", status: 401)),
                "/empty/": .always(.text("<html><title>Index of /empty/</title><a href=\"../\">../</a></html>")),
            ]
            try await withWorkbenchAndRefusingPort { bench, port in
                try await withServer(.paths(scripts)) { server in
                    for (path, code) in [("/page", 65), ("/private", 77), ("/missing", 66), ("/empty/", 66)] {
                        let result = try await bench.run("fetch", server.url(path))
                        #expect(Int(result.exitCode ?? -1) == code, "\(path): \(result.errors)")
                    }
                }
                let down = try await bench.run("fetch", "http://127.0.0.1:\(port)/feed")
                #expect(down.exitCode == 69)
                #expect(!bench.exists)
            }
        }
    }
}
