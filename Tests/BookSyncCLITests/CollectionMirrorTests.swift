import Foundation
import Support
import Synchronization
import Testing

extension ProductTests {
    @Suite(.limitedConcurrency) struct CollectionMirrorTests {
        private static let collection = "archive:collection:poetry"

        private func withArchive(
            _ items: [String: CollectedArchive.Item],
            _ body: (Workbench, MisbehavingServer, CollectedArchive) async throws -> Void
        ) async throws {
            let archive = CollectedArchive(items)
            try await withWorkbench { bench in
                try await withServer(ServerScript { archive.answer($0) }) { server in
                    try bench.configure(
                        """
                        downloads: { retries: 0 }
                        sources:
                          archive: { type: internet-archive, url: "\(server.url(""))" }
                        """)
                    try await body(bench, server, archive)
                }
            }
        }

        private static let poetry = [
            "a": CollectedArchive.Item(title: "Alpha"), "b": .init(title: "Beta"), "c": .init(title: "Gamma"),
            "d": .init(title: "Delta"), "e": .init(title: "Epsilon"), "y": .init(title: "乙", language: "chi"),
            "z": .init(title: "甲", language: "chi"),
        ]

        @Test
        func
            `a fortnight of a collection: new, gone, renamed, grown and split books, a cut list and a total that lies`()
            async throws
        {
            try await withArchive(Self.poetry) { bench, server, archive in
                func run(_ arguments: String...) async throws -> ProductRunner.Result {
                    try await bench.runBare(arguments + ["--library", "L"], environment: bench.configured)
                }
                /// - Returns: what is said of the collection, and of which books the archive was asked.
                func night(exitCode: Int32 = 0) async throws -> (said: String, asked: [String]) {
                    let before = server.record.requests.count
                    let result = try await run("mirror")
                    #expect(result.exitCode == exitCode, "\(result.exitCode) \(result.errors)")
                    let said = result.errors.split(separator: "\n").filter { $0.contains("collection:poetry") }
                    let asked = server.record.requests.dropFirst(before).map(\.path).filter {
                        $0.hasPrefix("/metadata/")
                    }
                    return (said.joined(separator: "\n"), asked.map { String($0.dropFirst(10)) }.sorted())
                }
                func fetched() throws -> [String: Int] {
                    let audio = server.record.requests.map(\.path).filter { $0.hasPrefix("/download/") }
                    return Dictionary(grouping: audio) { $0 }.mapValues(\.count)
                }

                let plan = try await run("plan", Self.collection, "--language", "en", "--json")
                let preview = try JSONObject(plan.output)
                #expect(preview.number("books") == 5 && preview.number("listed") == 7, "\(plan.output) \(plan.errors)")
                #expect(try await run("subscribe", Self.collection, "--language", "English").exitCode == 0)

                var (said, asked) = try await night()
                #expect(said == "archive:collection:poetry: 5 of 7 books, 5 new")
                #expect(asked == ["a", "b", "c", "d", "e"])
                #expect(try bench.files().count == 5)

                (said, asked) = try await night()
                #expect(said == "archive:collection:poetry: 5 of 7 books" && asked == [])

                archive.change { $0.items["f"] = .init(title: "Zeta") }
                (said, asked) = try await night()
                #expect(said == "archive:collection:poetry: 6 of 8 books, 1 new" && asked == ["f"])

                archive.change { $0.items["a"] = nil }
                (said, asked) = try await night()
                #expect(said.hasSuffix("5 of 7 books, 1 no longer listed, and kept (Alpha)") && asked == [], "\(said)")
                #expect(try bench.files().count == 6)
                (said, _) = try await night()
                #expect(said == "archive:collection:poetry: 5 of 7 books")

                archive.change { $0.items["b"]?.title = "Beta, revised" }
                (said, asked) = try await night()
                #expect(said == "archive:collection:poetry: 5 of 7 books" && asked == [])

                archive.change { $0.items["c"]?.files = 2 }
                (_, asked) = try await night()
                #expect(asked == ["c"])
                #expect(try bench.files().count == 7)

                archive.change {
                    $0.items["d"] = nil
                    $0.items["d1"] = .init(title: "Delta 1")
                    $0.items["d2"] = .init(title: "Delta 2")
                }
                (said, asked) = try await night()
                #expect(said.hasSuffix("6 of 8 books, 2 new, 1 no longer listed, and kept (Delta)"), "\(said)")
                #expect(asked == ["d1", "d2"])

                archive.change {
                    $0.brokenPage = 2
                    $0.items["e"] = nil
                    $0.items["aa"] = .init(title: "Alpha again")
                }
                (said, asked) = try await night(exitCode: 69)
                #expect(said.contains("the list of archive:collection:poetry") && said.contains("503"), "\(said)")
                // What was listed before the cut is fetched all the same.
                #expect(asked == ["aa"])
                archive.change { $0.brokenPage = nil }
                let before = server.record.requests.count
                (said, _) = try await night()
                #expect(server.record.requests[before].query["cursor"] == "4")
                #expect(said.contains("1 no longer listed, and kept (Epsilon)"), "\(said)")

                archive.change {
                    $0.total = 99
                    $0.items["f"] = nil
                }
                (said, _) = try await night()
                #expect(said.contains("the catalog says that there are 99") && !said.contains("no longer"), "\(said)")
                archive.change { $0.total = nil }
                (said, _) = try await night()
                #expect(said.contains("1 no longer listed, and kept (Zeta)"), "\(said)")

                archive.change { $0.items["a"] = .init(title: "Alpha") }
                (said, asked) = try await night()
                #expect(!said.contains("new") && asked == [], "\(said)")

                let unsubscribed = try await run("unsubscribe", Self.collection)
                #expect(unsubscribed.exitCode == 0, "\(unsubscribed.errors)")
                let last = server.record.requests.count
                (said, asked) = try await night(exitCode: 78)
                #expect(said == "" && server.record.requests.count == last)
                let all = ["a", "aa", "b", "c", "d", "d1", "d2", "e", "f"].map { ($0, 1) } + [("c", 2)]
                #expect(try bench.digests().sorted() == all.map { sha256(CollectedArchive.audio($0, $1)) }.sorted())
                #expect(try fetched().count == all.count && fetched().values.allSatisfy { $0 == 1 })
            }
        }

        @Test func `an alert names the books that a list has got since it is followed`() async throws {
            try await withArchive(["a": .init(title: "Alpha"), "b": .init(title: "Beta")]) { bench, server, archive in
                try bench.configure(
                    """
                    notify: { exec: "cat > '\(bench.folder.path)/alert'" }
                    sources:
                      archive: { type: internet-archive, url: "\(server.url(""))" }
                    """)
                func night() async throws -> JSONObject? {
                    let file = bench.folder.appending(path: "alert")
                    try? FileManager.default.removeItem(at: file)
                    let run = try await bench.runBare(["mirror", "--library", "L"], environment: bench.configured)
                    #expect(run.exitCode == 0, "\(run.errors)")
                    guard FileManager.default.fileExists(atPath: file.path) else { return nil }
                    return try JSONObject(String(contentsOf: file, encoding: .utf8))
                }
                func new(_ alert: JSONObject?) -> [String] {
                    alert?.objects("new_books").compactMap { $0["title"] } ?? []
                }
                _ = try await bench.runBare(
                    ["subscribe", Self.collection, "--library", "L"], environment: bench.configured)
                let first = try #require(try await night())
                #expect(new(first).isEmpty && first.objects("fetched_episodes").count == 2)
                archive.change {
                    // More of a book that is there is no new book.
                    $0.items["a"]?.files = 2
                    $0.items["c"] = .init(title: "Gamma")
                }
                let alert = try #require(try await night())
                #expect(new(alert) == ["Gamma"])
                #expect(alert.objects("new_books").first?["list"] == Self.collection)
                #expect(alert["text"]?.hasSuffix("; new: Gamma") == true, "\(alert["text"] ?? "")")
                #expect(alert.objects("fetched_episodes").count == 2)
                #expect(try await night() == nil)
            }
        }

        @Test func `a list that cannot be read counts like a book's catalog, and is told when it is well again`()
            async throws
        {
            let isOpen = Atomic(false)
            let list = ServerScript { _ in
                isOpen.load(ordering: .relaxed)
                    ? .text("{\"metadata\":{\"title\":\"T\"},\"publications\":[]}", type: "application/opds+json")
                    : .text("{}", status: 401)
            }
            try await withWorkbench { bench in
                try await withServer(list) { server in
                    try bench.configure(
                        """
                        downloads: { retries: 0 }
                        notify: { exec: "cat > '\(bench.folder.path)/alert'" }
                        sources: { shelf: { type: opds, url: "\(server.url("/feed"))" } }
                        subscriptions: [{ book: "shelf:feed:\(server.url("/feed"))" }]
                        """)
                    func night(_ arguments: String...) async throws -> ProductRunner.Result {
                        try await bench.runBare(
                            ["mirror", "--library", "L"] + arguments, environment: bench.configured)
                    }
                    func alert() throws -> JSONObject {
                        let file = bench.folder.appending(path: "alert")
                        defer { try? FileManager.default.removeItem(at: file) }
                        return try JSONObject(String(contentsOf: file, encoding: .utf8))
                    }
                    let quiet = try await night("-q")
                    #expect(quiet.exitCode == 77 && quiet.errors.contains("401"), "\(quiet.errors)")
                    #expect(try alert().objects("outages").count == 1)
                    let told = try await night("--json")
                    let summary = try JSONObject(try #require(told.outputLines.last))
                    #expect(told.exitCode == 77 && summary.number("exit_code") == 77, "\(told.output)")
                    #expect(summary.number("failed") == 1 && told.output.contains("\"event\":\"failed\""))
                    let runs = try await bench.runBare(["runs", "--json", "--library", "L"])
                    #expect(try JSONObject.list(runs.output).map { $0.number("exit_code") } == [77, 77])
                    isOpen.store(true, ordering: .relaxed)
                    #expect(try await night().exitCode == 0)
                    #expect(try alert().objects("recovered").count == 1)
                }
            }
        }

        @Test func `a list that is killed goes on at its page, and begins anew where its cursor has expired`()
            async throws
        {
            try await withArchive(Self.poetry) { bench, server, archive in
                #expect(
                    try await bench.run("subscribe", Self.collection, environment: bench.configured).exitCode == 0)
                func pages() -> [String] {
                    server.record.requests.filter { $0.path.hasSuffix("/scrape") }.map { $0.query["cursor"] ?? "first" }
                }
                let gate = Gate()
                archive.change { $0.stall = (page: 2, gate) }
                try await bench.start("mirror", environment: bench.configured) { product in
                    _ = try await server.waitUntil { $0.requests.contains { $0.query["cursor"] == "4" } }
                    product.send(signal: SIGKILL)
                    _ = try await product.result()
                }
                gate.open()
                archive.change { $0.stall = nil }
                #expect(pages() == ["first", "2", "4"])
                let resumed = try await bench.run("mirror", environment: bench.configured)
                #expect(resumed.exitCode == 0 && resumed.errors.contains("7 books, 7 new"), "\(resumed.errors)")
                #expect(Array(pages().dropFirst(3)) == ["4", "6"])
                #expect(try bench.files().count == 7)

                archive.change { $0.brokenPage = 1 }
                #expect(try await bench.run("mirror", environment: bench.configured).exitCode == 69)
                archive.change { ($0.brokenPage, $0.knowsCursors) = (nil, false) }
                #expect(try await bench.run("mirror", environment: bench.configured).exitCode == 69)
                archive.change { $0.knowsCursors = true }
                let anew = try await bench.run("mirror", environment: bench.configured)
                #expect(anew.exitCode == 0 && anew.errors.contains("7 books\n"), "\(anew.errors)")
            }
        }

        @Test func `pages without end end, and what is in two lists is brought once`() async throws {
            try await withArchive(Self.poetry) { bench, server, archive in
                let (poetry, chinese) = (Self.collection, "archive:search:language:chi")
                for list in [poetry, chinese] {
                    let options = list == poetry ? ["--match", "^[A-D]"] : ["--naming", "{title}/{section}.{ext}"]
                    let result = try await bench.runBare(
                        ["subscribe", list, "--library", "L"] + options, environment: bench.configured)
                    #expect(result.exitCode == 0, "\(result.errors)")
                }
                let mirror = try await bench.run("mirror", environment: bench.configured)
                #expect(mirror.exitCode == 0, "\(mirror.errors)")
                #expect(mirror.errors.contains("\(poetry): 3 of 7 books, 3 new"), "\(mirror.errors)")
                #expect(mirror.errors.contains("\(chinese): 7 books, 7 new"), "\(mirror.errors)")
                #expect(server.record.requests.count { $0.path.hasPrefix("/metadata/") } == 7)
                let files = try bench.files().keys.sorted()
                #expect(files.contains("乙/001.mp3"), "\(files)")

                archive.change { $0.isEndless = true }
                let endless = try await bench.run("mirror", environment: bench.configured)
                #expect(endless.exitCode == 65 && endless.errors.contains("its pages have no end"), "\(endless.errors)")
                let plan = try await bench.run("plan", poetry, environment: bench.configured)
                #expect(plan.exitCode == 65 && plan.errors.contains("its pages have no end"), "\(plan.errors)")
                #expect(try bench.files().count == 7)
            }
        }

        @Test func `what the shelf lacks of its authors is found, and nothing that it has`() async throws {
            try await withArchive(Self.poetry) { bench, server, _ in
                func next() async throws -> ProductRunner.Result {
                    try await bench.run("find", "--next", "--json", environment: bench.configured)
                }
                #expect(try await next().exitCode == 66)
                for book in ["archive:a", "archive:y"] {
                    #expect(try await bench.run("fetch", book, environment: bench.configured).exitCode == 0)
                }
                let found = try await next()
                let entries = try JSONObject(found.output).objects("entries")
                #expect(
                    entries.compactMap { $0["ref"] }.sorted() == ["b", "c", "d", "e", "z"].map { "archive:\($0)" },
                    "\(found)")
                let requests = server.record.requests.filter { $0.path == "/advancedsearch.php" }
                #expect(requests.map { $0.query["q"]?.contains("creator:\"A\"") } == [true])
                let refused = try await bench.run("find", "x", "--next", environment: bench.configured)
                #expect(refused.exitCode == 64 && refused.errors.contains("--next"), "\(refused.errors)")
            }
        }

        @Test func `a book that is not there keeps no other from being brought, and is asked for again`() async throws {
            try await withArchive(Self.poetry) { bench, server, archive in
                archive.change { $0.brokenItem = "b" }
                #expect(
                    try await bench.run("subscribe", Self.collection, environment: bench.configured).exitCode == 0)
                let first = try await bench.run("mirror", environment: bench.configured)
                #expect(first.exitCode == 66 && first.errors.contains("archive has no book b"), "\(first.errors)")
                #expect(try bench.files().count == 6)
                archive.change { $0.brokenItem = nil }
                let before = server.record.requests.count
                let second = try await bench.run("mirror", environment: bench.configured)
                #expect(second.exitCode == 0, "\(second.errors)")
                let asked = server.record.requests.dropFirst(before).map(\.path).filter { $0.hasPrefix("/metadata/") }
                #expect(asked == ["/metadata/b"])
                #expect(try bench.files().count == 7)
            }
        }

        @Test func `the feeds of an OPML address, and the books of an OPDS feed, are followed`() async throws {
            let feed = """
                <rss version="2.0"><channel><title>Radio</title><item><title>One</title>
                <enclosure url="/1.mp3" length="8" type="audio/mpeg"/><guid>1</guid></item></channel></rss>
                """
            let audio = CollectedArchive.audio("x", 1)
            try await withWorkbench { bench in
                let script = ServerScript { request in
                    let server = "http://\(request.header("Host") ?? "")"
                    switch request.path {
                    case "/list.opml":
                        return .text(
                            """
                            <opml version="2.0"><body><outline text="Radio" xmlUrl="\(server)/feed.xml"/>
                            <outline text="Secret" xmlUrl="\(server)/feed.xml?token=abcdefghijklmnop"/></body></opml>
                            """, type: "text/x-opml")
                    case "/feed.xml": return .text(feed, type: "application/rss+xml")
                    case "/opds":
                        return .text(
                            """
                            {"metadata":{"title":"New"},"publications":[{"metadata":{"title":"Work"},"links":[
                            {"rel":"self","href":"/work","type":"application/opds-publication+json"},
                            {"rel":"http://opds-spec.org/acquisition/open-access","href":"/1.mp3","type":"audio/mpeg"}]}]}
                            """, type: "application/opds+json")
                    case "/work":
                        return .text(
                            """
                            {"metadata":{"title":"Work"},"links":[
                            {"rel":"http://opds-spec.org/acquisition/open-access","href":"/1.mp3","type":"audio/mpeg"}]}
                            """, type: "application/opds-publication+json")
                    default: return .reply(headers: ["Content-Type": "audio/mpeg"], body: audio)
                    }
                }
                try await withServer(script) { server in
                    try bench.configure("downloads: { retries: 0 }")
                    for list in ["feed:opml:\(server.url("/list.opml"))", "opds:feed:\(server.url("/opds"))"] {
                        let result = try await bench.run("subscribe", list, environment: bench.configured)
                        #expect(result.exitCode == 0, "\(result.errors)")
                    }
                    let mirror = try await bench.run("mirror", environment: bench.configured)
                    #expect(mirror.exitCode == 0, "\(mirror.errors)")
                    #expect(try bench.digests() == [sha256(audio), sha256(audio)], "\(mirror.errors)")
                    #expect(server.requests(path: "/feed.xml").map(\.query) == [[:]])
                    let secret = try await bench.run(
                        "subscribe", "feed:opml:\(server.url("/list.opml"))?token=abcdefghijklmnop",
                        environment: bench.configured)
                    #expect(secret.exitCode == 64 && !secret.errors.contains("abcdefghijklmnop"), "\(secret.errors)")
                }
            }
        }

        private static func audio(_ number: String) -> [UInt8] {
            sampleMP3(bytes: 2000, seed: UInt64(number) ?? 0)
        }

        @Test(arguments: Tier.choose(1, of: [true, false]))
        func `serve downloads every book of a list of 510 feeds, whether it is asked to mirror or does so by itself`(
            isAsked: Bool
        ) async throws {
            try await withListOf510Feeds { bench, server in
                let option = isAsked ? "--no-color" : "--mirror-every=6h"
                try await bench.serve(option, environment: bench.configured) { shelf in
                    if isAsked {
                        let json = ["Content-Type: application/json", "Content-Length: 2"]
                        let asked = try await shelf.send("/api/v1/mirror", method: "POST", json, body: "{}")
                        #expect(asked.status == 200)
                    }
                    try await waitUntil("both runs are over") {
                        let runs = try JSONObject.list(try await shelf.send("/api/v1/runs").text)
                        return runs.count { $0.number("exit_code") != nil } == 2
                    }
                    let runs = try JSONObject.list(try await shelf.send("/api/v1/runs").text)
                    #expect(runs.compactMap { $0.number("fetched") }.sorted() == [10, 500])
                }
                try Self.expectAllOnce(bench, server)
            }
        }

        private func withListOf510Feeds(
            _ body: (Workbench, MisbehavingServer) async throws -> Void
        ) async throws {
            let script = ServerScript { request in
                let server = "http://\(request.header("Host") ?? "")"
                let parts = request.path.split(separator: "/")
                switch parts.first {
                case "list.opml":
                    let outlines = (1...510).map { "<outline xmlUrl=\"\(server)/feed/\($0)\"/>" }
                    return .text(
                        "<opml version=\"2.0\"><body>\(outlines.joined())</body></opml>", type: "text/x-opml")
                case "feed":
                    return .text(
                        """
                        <rss version="2.0"><channel><title>Radio \(parts[1])</title><item><title>One</title>
                        <enclosure url="/audio/\(parts[1])" length="8" type="audio/mpeg"/><guid>1</guid></item>
                        </channel></rss>
                        """, type: "application/rss+xml")
                default: return ServedFile(Self.audio(String(parts[1]))).answer(to: request)
                }
            }
            try await withWorkbench { bench in
                try await withServer(script) { server in
                    try bench.configure("sources: { feed: { type: feed, allow-private-addresses: true } }")
                    let list = "feed:opml:\(server.url("/list.opml"))"
                    #expect(try await bench.run("subscribe", list, environment: bench.configured).exitCode == 0)
                    try await body(bench, server)
                }
            }
        }

        /// Each feed and each file was requested once, and is on disk.
        private static func expectAllOnce(_ bench: Workbench, _ server: MisbehavingServer) throws {
            let asked = server.record.requests.map(\.path).filter { $0 != "/list.opml" }
            #expect(Set(asked).count == 1020 && asked.count == 1020)
            let expected = (1...510).map { sha256(audio("\($0)")) }
            #expect(try bench.digests().sorted() == expected.sorted())
        }

        @Test(.long) func `the mirror of the nightly line downloads every book of a list of 510 feeds`() async throws {
            try await withListOf510Feeds { bench, server in
                let night = try await bench.run(
                    "mirror", "--quiet", "--wait", "10min", "--time-limit", "8h", environment: bench.configured)
                #expect(night.exitCode == 0 && night.errors == "", "\(night.errors)")
                try Self.expectAllOnce(bench, server)
            }
        }

        @Test(.firstInLine) func `limits hold for all runs of a mirror together, and what they leave is 75`()
            async throws
        {
            try await withListOf510Feeds { bench, server in
                func night(_ count: Int) async throws -> ProductRunner.Result {
                    try await bench.run("mirror", "-q", "--max-episodes", "\(count)", environment: bench.configured)
                }
                let few = try await night(5)
                #expect(few.exitCode == 75, "\(few.errors)")
                let told = "10 books or more not checked: the limits of the run were reached"
                #expect(few.errors.contains(told), "\(few.errors)")
                #expect(try bench.files().count == 5)
                // All of the first run, and 5 of the second one.
                let most = try await night(500)
                #expect(most.exitCode == 75 && most.errors.contains("5 left for the next run"), "\(most.errors)")
                #expect(try bench.files().count == 505)
                let last = try await night(5)
                #expect(last.exitCode == 0 && last.errors == "", "\(last.errors)")
                #expect(try bench.files().count == 510)
                #expect(server.record.requests.count { $0.path.hasPrefix("/audio/") } == 510)
            }
        }

        @Test func `a list of the configuration is followed, by the short name of the archive`() async throws {
            try await withArchive(Self.poetry) { bench, server, _ in
                try bench.configure(
                    """
                    sources: { ia: { type: internet-archive, url: "\(server.url(""))" } }
                    subscriptions: [{ book: "archive:collection:poetry", language: zh, max-books: 1, keep: last 5 }]
                    """)
                let mirror = try await bench.run("mirror", environment: bench.configured)
                #expect(mirror.exitCode == 0, "\(mirror.errors)")
                #expect(mirror.errors.contains("ia:collection:poetry: 1 of 7 books, 1 new"), "\(mirror.errors)")
                #expect(try bench.digests() == [sha256(CollectedArchive.audio("y", 1))])
                let shown = try await bench.runBare(["config", "show"], environment: bench.configured)
                #expect(shown.output.contains("max-books: 1"), "\(shown.output)")
                let unsubscribed = try await bench.run(
                    "unsubscribe", "archive:collection:poetry", environment: bench.configured)
                #expect(unsubscribed.exitCode == 78, "\(unsubscribed.errors)")
            }
        }

        @Test func `a public list leads to no book in a private network`() async throws {
            let outlines = ["192.168.7.7", "127.0.0.1:9", "[::1]", "localhost", "public.example"].map {
                "<outline text=\"\($0)\" xmlUrl=\"http://\($0)/feed.xml\"/>"
            }
            let list = "<opml version=\"2.0\"><body>\(outlines.joined())</body></opml>"
            try await withWorkbench { bench in
                // As a proxy it answers for every host.
                try await withServer(.always(.text(list, type: "text/x-opml"))) { server in
                    try bench.configure("sources: { pods: { type: feed, proxy: \"\(server.url(""))\" } }")
                    let reference = "pods:opml:http://public.example/list.opml"
                    let plan = try await bench.run("plan", reference, "--json", environment: bench.configured)
                    #expect(try JSONObject(plan.output).number("books") == 1, "\(plan.output) \(plan.errors)")
                    #expect(server.record.requests.map(\.target) == ["http://public.example/list.opml"])
                }
            }
        }
    }
}
