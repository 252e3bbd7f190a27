import Foundation
import Support
import Testing

extension ProductTests {
    /// Subscriptions as OPML, from and to other programs.
    @Suite struct OutlineExchange {
        private static let list = """
            <?xml version="1.0"?><opml version="2.0"><body>
            <outline text="睡前"><outline text="长篇"><outline text="One &amp; only" type="rss" xmlUrl="http://h.example/1.xml"/>
            </outline></outline>
            <outline text="One again" xmlUrl="http://h.example/1.xml" category="news"/>
            <outline text="Two" xmlUrl="http://h.example/2.xml"/>
            <outline text="Two" xmlUrl="http://h.example/2.xml"/>
            <outline text="LibriVox" xmlUrl="https://librivox.org/rss/47"/>
            </body></opml>
            """

        /// Of the subscriptions of a library, in no order.
        private static func subscriptions(
            _ bench: Workbench, _ library: String, _ environment: [String: String] = [:]
        ) async throws -> Set<String> {
            let result = try await bench.runBare(
                ["subscriptions", "--json", "--library", library], environment: environment)
            return Set(
                try JSONObject.list(result.output).map { object in
                    let tags = (object.members["tags"] as? [String] ?? []).sorted()
                    return ["source", "id", "title", "only", "match", "exclude"].map { object[$0] ?? "-" }
                        .joined(separator: " ") + " \(object.number("latest") ?? 0) \(tags)"
                })
        }

        @Test func `a list is followed with titles and folders, twice is once, and nobody is asked`() async throws {
            // Whoever is asked, is asked through this one.
            try await withCatalog(.always(.notFound)) { bench, proxy in
                let environment = ["http_proxy", "https_proxy", "all_proxy"].reduce(into: [:]) {
                    $0[$1] = "http://127.0.0.1:\(proxy.port)"
                }
                try Data(Self.list.utf8).write(to: bench.folder.appending(path: "in.opml"))
                let first = try await bench.run("subscriptions", "--import", "in.opml", environment: environment)
                #expect(first.exitCode == 0, "\(first.errors)")
                #expect(first.errors.contains("3 subscribed, 0 followed already, 0 refused"), "\(first.errors)")
                #expect(first.output.contains("Two (in the list 2 times)"), "\(first.output)")
                #expect(
                    try await Self.subscriptions(bench, "L") == [
                        "feed http://h.example/1.xml One & only - - - 0 [\"news\", \"睡前/长篇\"]",
                        "feed http://h.example/2.xml Two - - - 0 []", "librivox 47 LibriVox - - - 0 []",
                    ])
                let table = try await bench.run("subscriptions")
                #expect(table.output.contains("睡前/长篇, news"), "\(table.output)")
                let again = try await bench.run(
                    "subscriptions", "--import", "in.opml", "--json", environment: environment)
                #expect(again.exitCode == 0)
                let document = try JSONObject(again.output)
                #expect(document.number("subscribed") == 0 && document.number("already") == 3)
                #expect(document.objects("feeds").map { $0["outcome"] } == ["already", "already", "already"])
                #expect(proxy.record.connectionsAccepted == 0)
            }
        }

        @Test func `what cannot be followed is named with 65, and the rest is followed`() async throws {
            try await withWorkbench { bench in
                let list = """
                    <opml><body><outline text="Good" xmlUrl="http://h.example/1.xml"/>
                    <outline text="Bad" xmlUrl="ftp://h.example/x"/>
                    <outline text="Secret" xmlUrl="http://user:hunter2@h.example/x?token=hunter2"/>
                    <outline text="More" type="include" url="http://h.example/more.opml"/>
                    </body></opml>
                    """
                try Data(list.utf8).write(to: bench.folder.appending(path: "in.opml"))
                let result = try await bench.run("subscriptions", "--import", "in.opml", "--json")
                #expect(result.exitCode == 65)
                let document = try JSONObject(result.output)
                let outcomes = document.objects("feeds").compactMap { $0["outcome"] }
                #expect(outcomes == ["subscribed", "refused", "subscribed"])
                #expect(result.errors.contains("'Bad' cannot be subscribed to"), "\(result.errors)")
                #expect(result.errors.contains("another list, which is not read: http://h.example/more.opml"))
                #expect(!(result.output + result.errors).contains("hunter2"))
                #expect(try await Self.subscriptions(bench, "L").count == 2)

                for (text, code) in [("<html>Login</html>", Int32(65)), (nil, 74)] as [(String?, Int32)] {
                    let file = bench.folder.appending(path: "other.opml")
                    if let text {
                        try Data(text.utf8).write(to: file)
                    } else {
                        try FileManager.default.removeItem(at: file)
                    }
                    let refused = try await bench.run("subscriptions", "--import", "other.opml")
                    #expect(refused.exitCode == code)
                    #expect(refused.errors.contains("other.opml"), "\(refused.errors)")
                }
                let both = try await bench.run("subscriptions", "--import", "a", "--export", "b")
                #expect(both.exitCode == 64)
            }
        }

        @Test func `what is exported is imported the same, books without a feed and wishes included`() async throws {
            try await withWorkbench { bench in
                try Data(Self.list.utf8).write(to: bench.folder.appending(path: "in.opml"))
                _ = try await bench.run("subscriptions", "--import", "in.opml", "-q")
                _ = try await bench.run("subscribe", "demo:40111/latest:2", "demo:30776/1-3,7", "-q")
                let written = try await bench.run("subscriptions", "--export", "out.opml")
                #expect(written.exitCode == 0 && written.output.contains("wrote "), "\(written.errors)")
                #expect(written.errors.contains("2 books have no feed"), "\(written.errors)")
                let first = try await Self.subscriptions(bench, "L")
                #expect(first.count == 5)
                let copied = try await bench.shell(
                    "$BOOKSYNC subscriptions --export - --library L | $BOOKSYNC subscriptions --import - --library M")
                #expect(copied.exitCode == 0, "\(copied.errors)")
                #expect(try await Self.subscriptions(bench, "M") == first)
                let text = try String(contentsOf: bench.folder.appending(path: "out.opml"), encoding: .utf8)
                #expect(try await bench.runBare(["export", "opml", "--library", "M"]).output == text)
                let one = try await bench.run("export", "opml", "librivox:47", "--output", "one.opml")
                #expect(one.exitCode == 0)
                #expect(
                    try await bench.runBare(["subscriptions", "--import", "one.opml", "--library", "N", "-q"]).exitCode
                        == 0)
                #expect(try await Self.subscriptions(bench, "N") == ["librivox 47 LibriVox - - - 0 []"])
                #expect(try await bench.run("export", "opml", "1").exitCode == 66)
            }
        }

        @Test func `an address is exported whole, or left out and named where it holds a secret`() async throws {
            try await withWorkbench { bench in
                let list = """
                    <opml><body><outline xmlUrl="http://h.example/?feed=podcast"/>
                    <outline xmlUrl="http://h.example/x?show=7&amp;n=12"/></body></opml>
                    """
                try Data(list.utf8).write(to: bench.folder.appending(path: "in.opml"))
                _ = try await bench.run("subscriptions", "--import", "in.opml", "-q")
                try bench.configure(
                    """
                    subscriptions:
                      - book: "http://me:hunter2@h.example/mine.xml"
                      - book: "http://h.example/paid.xml?token=hunter2"
                    """)
                for arguments in [["subscriptions", "--export", "-"], ["export", "opml"]] {
                    let run = try await bench.runBare(
                        arguments + ["--library", "L"], environment: bench.configured)
                    #expect(run.exitCode == 0, "\(run.errors)")
                    #expect(run.output.contains(#"xmlUrl="http://h.example/?feed=podcast""#), "\(run.output)")
                    #expect(run.output.contains(#"xmlUrl="http://h.example/x?show=7&amp;n=12""#))
                    #expect(run.output.ranges(of: "xmlUrl=").count == 2, "\(run.output)")
                    #expect(run.output.ranges(of: "is not exported: it holds a secret").count == 2)
                    #expect(run.errors.ranges(of: "is not exported: it holds a secret").count == 2, "\(run.errors)")
                    #expect(!(run.output + run.errors).contains("hunter2"))
                }
            }
        }

        @Test func `a feed that has moved is asked at its new address by whoever imports the list`() async throws {
            var begun = ServedFeed()
            begun.items = [2, 1].map { ServedFeed.Item($0) }
            try await withFeed(begun) { bench, server, feed in
                let (old, new) = (server.url("/feed.xml"), server.url("/new.xml"))
                #expect(try await bench.run("subscribe", old, "-q").exitCode == 0)
                #expect(try await bench.run("mirror", "-q").exitCode == 0)
                feed.update { $0.path = "/new.xml" }
                #expect(try await bench.run("subscriptions", "--moved", old, new, "-q").exitCode == 0)
                #expect(try await bench.run("export", "opml", "--output", "out.opml").exitCode == 0)
                func imported(_ file: String, _ library: String) async throws -> ProductRunner.Result {
                    try await bench.runBare(["subscriptions", "--import", file, "--library", library])
                }
                #expect(try await imported("out.opml", "M").errors.contains("1 subscribed"))
                let asked = server.record.requests.count
                #expect(try await bench.runBare(["mirror", "--library", "M", "-q"]).exitCode == 0)
                #expect(server.record.requests.dropFirst(asked).allSatisfy { $0.path != "/feed.xml" })
                // It is known by either address, and nobody's list moves it.
                let foreign = "<opml><body><outline xmlUrl=\"\(new)\"/></body></opml>"
                try Data(foreign.utf8).write(to: bench.folder.appending(path: "foreign.opml"))
                for library in ["L", "M"] {
                    for file in ["out.opml", "foreign.opml"] {
                        let again = try await imported(file, library)
                        #expect(again.errors.contains("0 subscribed, 1 followed already"), "\(again.errors)")
                    }
                }
                #expect(try await imported("foreign.opml", "N").errors.contains("1 subscribed"))
                #expect(try await imported("out.opml", "N").errors.contains("1 followed already"))
                let text = try String(contentsOf: bench.folder.appending(path: "out.opml"), encoding: .utf8)
                let moving = text.replacing("xmlUrl=\"\(new)\"", with: "xmlUrl=\"http://h.example/other.xml\"")
                try Data(moving.utf8).write(to: bench.folder.appending(path: "moving.opml"))
                #expect(try await imported("moving.opml", "L").errors.contains("1 followed already"))
                #expect(try await bench.run("mirror", "-q").exitCode == 0)
                #expect(server.audioRequests.count == 4)
            }
        }

        @Test func `a book whose address is left out of the list is refused and named, where it is not followed`()
            async throws
        {
            var begun = ServedFeed()
            begun.items = [ServedFeed.Item(1)]
            begun.token = "hunter2-and-more"
            try await withFeed(begun) { bench, server, _ in
                let address = server.url("/feed.xml?auth=hunter2-and-more")
                #expect(try await bench.run("subscribe", address, "demo:40111", "-q").exitCode == 0)
                #expect(try await bench.run("mirror", "-q").exitCode == 0)
                #expect(try await bench.run("export", "opml", "--output", "out.opml").exitCode == 0)
                let run = try await bench.runBare(
                    ["subscriptions", "--import", "out.opml", "--library", "M", "--json"])
                #expect(run.exitCode == 65, "\(run.errors)")
                let document = try JSONObject(run.output)
                #expect(document.number("subscribed") == 1 && document.number("refused") == 1, "\(run.output)")
                #expect(run.errors.contains("its address holds a secret and is not in the file"), "\(run.errors)")
                #expect(run.errors.contains("booksync subscribe ADDRESS"), "\(run.errors)")
                #expect(!(run.output + run.errors).contains("hunter2"))
                #expect(try await bench.runBare(["mirror", "--library", "M", "-q"]).exitCode == 0)
                let again = try await bench.run("subscriptions", "--import", "out.opml")
                #expect(again.exitCode == 0 && again.errors.contains("2 followed already"), "\(again.errors)")
            }
        }

        @Test func `a private address is told of at the import, and a shelf's import refuses it`() async throws {
            try await withWorkbench { bench in
                let list = """
                    <opml xmlns:b="urn:booksync:opml"><body><outline text="Router" xmlUrl="http://192.168.1.1/feed.xml"/>
                    <outline text="Disk" b:book="feed:http://192.168.1.2/a.xml" xmlUrl="http://192.168.1.2/a.xml"/>
                    <outline text="Moved" b:book="feed:http://h.example/2.xml" xmlUrl="http://192.168.1.3/a.xml"/>
                    <outline text="Good" xmlUrl="http://h.example/1.xml"/></body></opml>
                    """
                try Data(list.utf8).write(to: bench.folder.appending(path: "in.opml"))
                let run = try await bench.run("subscriptions", "--import", "in.opml")
                let names =
                    "feed:http://192.168.1.1/feed.xml, feed:http://192.168.1.2/a.xml, feed:http://h.example/2.xml"
                #expect(run.exitCode == 0 && run.errors.contains("private network: \(names);"), "\(run.errors)")
                #expect(run.errors.ranges(of: "private network").count == 1, "\(run.errors)")
                #expect(try await bench.run("fetch", "demo:40111/1", "--library", "M", "-q").exitCode == 0)
                try await bench.serve(library: "M") { shelf in
                    let body = String(decoding: try JSONEncoder().encode(["outline": list]), as: UTF8.self)
                    let answer = try await shelf.send(
                        "/api/v1/import", method: "POST",
                        ["Content-Type: application/json", "Content-Length: \(body.utf8.count)"], body: body)
                    let told = try JSONObject(answer.text)
                    #expect(told.number("count") == 1 && told.number("refused") == 3, "\(answer.text)")
                    #expect(answer.text.contains("in a private network"), "\(answer.text)")
                }
            }
        }

        @Test func `the page of an import says what was added and refused, and what is no list`() async throws {
            try await withWorkbench { bench in
                try await bench.serveShortBook { shelf in
                    let token = try await shelf.formToken(on: "/subscriptions")
                    func imported(_ list: String) async throws -> String {
                        let answer = try await shelf.post(
                            "/actions/import", form: [("outline", list), ("token", token)])
                        #expect(answer.status == 200)
                        return answer.text
                    }
                    let list = """
                        <opml><body><outline text="Good" xmlUrl="http://h.example/1.xml"/>
                        <outline text="Bad" xmlUrl="ftp://h.example/x"/></body></opml>
                        """
                    let first = try await imported(list)
                    #expect(first.contains("1 added, 0 followed already, 1 refused"))
                    #expect(first.contains("&#39;Bad&#39; cannot be subscribed to"))
                    let long = list + String(repeating: " ", count: 100_000)
                    #expect(try await imported(long).contains("0 added, 1 followed already, 1 refused"))
                    let wrong = try await imported("<html>Login</html>")
                    #expect(wrong.contains("Nothing was imported") && wrong.contains("cannot be read as OPML"))
                    // The page has words of other troubles for its scripts.
                    let notice = try #require(wrong.firstMatch(of: /<div class="trouble notice".*?<\/div>/)).output
                    #expect(!notice.contains("answer cannot be understood"), "no source is involved")
                }
            }
        }

        @Test func `feeds belong to the source that is configured for them, and to the configuration's subscriptions`()
            async throws
        {
            try await withWorkbench { bench in
                try bench.configure(
                    """
                    sources:
                      pods: { type: feed }
                    subscriptions: [{ book: "pods:http://h.example/2.xml", latest: 3 }]
                    """)
                try Data(Self.list.utf8).write(to: bench.folder.appending(path: "in.opml"))
                let result = try await bench.run(
                    "subscriptions", "--import", "in.opml", environment: bench.configured)
                #expect(result.errors.contains("2 subscribed, 1 followed already"), "\(result.errors)")
                let found = try await Self.subscriptions(bench, "L", bench.configured)
                #expect(found.contains("pods http://h.example/2.xml - - - - 3 []"), "\(found)")
                #expect(found.contains { $0.hasPrefix("pods http://h.example/1.xml One & only") })
            }
        }
    }
}
