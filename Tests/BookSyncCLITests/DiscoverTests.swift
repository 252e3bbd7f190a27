import Foundation
import Support
import Testing

extension ProductTests {
    /// The page that searches catalogs, as it comes over the wire.
    @Suite struct Discovering {
        static func withCatalogs(
            _ others: [String: ServerScript] = [:], settings: String = "",
            isolation: isolated (any Actor)? = #isolation,
            _ body: (Workbench, ServedShelf, MisbehavingServer) async throws -> Void
        ) async throws {
            try await withWorkbench { bench in
                #expect(try await bench.run("fetch", "40111", "--only", "1", "-q").exitCode == 0)
                try await withServer(try Finding.script(others)) { server in
                    let librivox = """
                          librivox: { type: librivox, url: "\(server.url("/librivox"))", archive-url: "\(server.url(""))" }
                          feeds: { type: feed }
                        """
                    try bench.configure(Finding.configuration(server) + "\n" + librivox + "\n" + settings)
                    try await bench.serve(environment: bench.configured) { try await body(bench, $0, server) }
                }
            }
        }

        /// Searches as the page's form does, and follows to the page with what was found.
        static func search(
            _ text: String, in source: String = "", language: String = "", on shelf: ServedShelf,
            _ fields: [String] = []
        ) async throws -> ServedShelf.Answer {
            let token = try await shelf.formToken(on: "/discover")
            let posted = try await shelf.post(
                "/actions/discover",
                form: [("q", text), ("source", source), ("language", language), ("token", token)])
            #expect(posted.status == 303, "\(posted.text)")
            let result = try #require(posted.fields["location"])
            return try await shelf.send(result, ["Accept: text/html", ServedShelf.visit] + fields)
        }

        private static func subscriptions(_ bench: Workbench) async throws -> [String] {
            let list = try await bench.run("subscriptions", "--json", environment: bench.configured)
            return try JSONObject.list(list.output).compactMap { $0["id"] }
        }

        @Test func `what all catalogs found is one page, with those that did not answer`() async throws {
            try await Self.withCatalogs(["/search": .always(.text("", status: 503))]) { _, shelf, _ in
                let page = try await Self.search("letters", on: shelf)
                #expect(page.status == 200)
                // Of both catalogs that have it, and listed once.
                let rows = page.text.split(separator: "<li data-ids=").dropFirst()
                let row = try #require(rows.first { $0.contains(">Letters of Two Brides<") })
                #expect(rows.count { $0.contains(">Letters of Two Brides<") } == 1)
                #expect(
                    row.contains("en · 57 episodes · 9 h 9 min · ") && row.contains("in librivox, archive"), "\(row)")
                #expect(row.contains("Honoré de Balzac") && row.contains(">All by Honoré de Balzac</button>"))
                #expect(page.text.contains("itunes cannot be searched: it answers with HTTP status 503"))
                let chinese = try await Self.search("letters", on: shelf, ["Accept-Language: zh"])
                #expect(chinese.text.contains(">Honoré de Balzac 的全部作品</button>"))
                let one = try await Self.search("letters", in: "librivox", language: "Chinese", on: shelf)
                #expect(one.text.contains(">Letters<") && !one.text.contains(">Letters of Two Brides<"))
                for (source, language) in [("nosuch", ""), ("", "?")] {
                    let refused = try await Self.search("letters", in: source, language: language, on: shelf)
                    #expect(
                        refused.status == 200 && refused.text.contains("This cannot be asked for"), "\(refused.text)")
                }
            }
        }

        @Test func `only a form of ours has catalogs asked, once for the same search, and tabs keep their own`()
            async throws
        {
            try await Self.withCatalogs { _, shelf, server in
                for method in ["GET", "HEAD"] {
                    for fields in [[], ["Sec-Fetch-Site: cross-site"], ["Sec-Fetch-Site: same-origin"]] {
                        let shown = try await shelf.send("/discover?q=letters", method: method, fields)
                        #expect(shown.status == 200 && (method == "HEAD" || shown.text.contains("value=\"letters\"")))
                    }
                }
                // A page of another site, in a browser that does not say so, has no token.
                for token in [[], [("token", "x")]] {
                    let refused = try await shelf.post("/actions/discover", form: [("q", "letters")] + token)
                    #expect(refused.status == 403)
                }
                #expect(server.record.requests.isEmpty)
                let first = try await Self.search("letters", on: shelf)
                let count = server.record.requests.count
                #expect(count > 3)
                async let second = Self.search("letters", on: shelf)
                async let third = shelf.send("/discover?q=letters")
                for again in try await [second, third] {
                    #expect(again.text.split(separator: "<li ").count == first.text.split(separator: "<li ").count)
                }
                #expect(server.record.requests.count == count)
                // Another tab's search.
                _ = try await Self.search("brides", on: shelf)
                let both = server.record.requests.count
                #expect(both > count)
                #expect(try await Self.search("letters", on: shelf).text == first.text)
                #expect(server.record.requests.count == both)
            }
        }

        @Test func `two searches at a time are both told of to their end, line by line`() async throws {
            let gate = Gate()
            var late = Reply.text(try String(contentsOf: Corpus.fixture("search/librivox.json"), encoding: .utf8))
            late.ending = .stallAfter(bytes: 0, until: gate)
            try await Self.withCatalogs(["/librivox/api/feed/audiobooks": .always(late)]) { _, shelf, server in
                let token = try await shelf.formToken(on: "/discover")
                @Sendable func lines(_ text: String) async throws -> String {
                    try await shelf.post(
                        "/actions/discover", form: [("q", text), ("token", token)], ["Accept: application/x-ndjson"]
                    ).text
                }
                async let first = lines("letters")
                _ = try await server.waitUntil { $0.requests.contains { $0.path.hasPrefix("/librivox") } }
                async let second = lines("brides")
                _ = try await server.waitUntil { $0.requests.count { $0.path.hasPrefix("/librivox") } > 1 }
                gate.open()
                for told in try await [first, second] {
                    let last = try #require(told.split(whereSeparator: \.isNewline).last { $0.hasPrefix("\"") })
                    #expect(!last.contains("still asking") && last.contains("<li data-ids="), "\(last)")
                }
            }
        }

        @Test func `a book and all books by an author are added as buttons post them`() async throws {
            try await Self.withCatalogs { bench, shelf, _ in
                let token = try await shelf.formToken(on: "/discover")
                func add(_ reference: String) async throws -> ServedShelf.Answer {
                    try await shelf.post(
                        "/actions/subscribe",
                        form: [("ref", reference), ("token", token), ("return", "/discover?q=letters")])
                }
                let list = "librivox:author:Honoré de Balzac"
                for reference in [list, "archive:letters_brides_0709_librivox"] {
                    let added = try await add(reference)
                    #expect(added.status == 303 && added.fields["location"] == "/discover?q=letters", "\(added.text)")
                }
                #expect(
                    Set(try await Self.subscriptions(bench))
                        == ["author:Honoré de Balzac", "letters_brides_0709_librivox"])
                let page = try await Self.search("letters", on: shelf)
                #expect(
                    page.text.contains(">All by Honoré de Balzac: Added</span>")
                        && page.text.contains(">Add: Added</span>"))
                // A list that there is none of, and what only a book has.
                #expect(try await add("archive:author:Nobody").status == 400)
                let limited = #"{"refs":["librivox:author:X"],"latest":3}"#
                let json = ["Content-Type: application/json", "Content-Length: \(limited.utf8.count)"]
                let refused = try await shelf.send("/api/v1/subscribe", method: "POST", json, body: limited)
                #expect(refused.status == 400 && refused.text.contains("it is a list of books"), "\(refused.text)")
                // A list is unsubscribed by its button, too.
                let followed = try await shelf.send("/subscriptions")
                let name = try #require(
                    followed.text.firstMatch(of: /unsubscribe" name="ref" value="(librivox:[^"]+)"/)
                ).output.1
                _ = try await shelf.post("/actions/unsubscribe", form: [("ref", String(name)), ("token", token)])
                #expect(try await Self.subscriptions(bench) == ["letters_brides_0709_librivox"])
            }
        }

        @Test func `the shelf shows what followed authors have besides, and asks nobody for it`() async throws {
            let found = try String(contentsOf: Corpus.fixture("search/librivox.json"), encoding: .utf8)
            let list = ServerScript { .text((Int($0.query["offset"] ?? "0") ?? 0) > 0 ? #"{"books":[]}"# : found) }
            try await Self.withCatalogs(["/librivox/api/feed/audiobooks": list]) { bench, shelf, server in
                #expect(try await !shelf.send("/").text.contains("More by authors"))
                for arguments in [["subscribe", "librivox:author:Honoré de Balzac", "--language", "zh"], ["mirror"]] {
                    let run = try await bench.runBare(arguments + ["--library", "L"], environment: bench.configured)
                    #expect(run.exitCode == 0, "\(run.errors)")
                }
                let count = server.record.requests.count
                let page = try await shelf.send("/", ["Accept: text/html"])
                let more = try #require(page.text.components(separatedBy: "More by authors you follow").last)
                #expect(more.contains(">Letters of Two Brides</span>") && more.contains(">Honoré de Balzac</span>"))
                let name = try #require(more.firstMatch(of: /name="ref" value="(librivox:[^"]+)"/)).output.1
                #expect(server.record.requests.count == count)
                let token = try await shelf.formToken(on: "/")
                let form = [("ref", String(name)), ("token", token), ("return", "/")]
                #expect(try await shelf.post("/actions/subscribe", form: form).status == 303)
                #expect(try await Self.subscriptions(bench).contains(String(name.dropFirst("librivox:".count))))
            }
        }

        @Test func `a feed in the private network is not added`() async throws {
            try await Self.withCatalogs { bench, shelf, _ in
                try await withServer(.always(.text("<rss/>"))) { home in
                    let token = try await shelf.formToken(on: "/discover")
                    for action in ["subscribe", "preview"] {
                        let form = [("ref", home.url("/feed.xml")), ("token", token)]
                        let refused = try await shelf.post("/actions/\(action)", form: form, ["Accept: text/html"])
                        #expect(refused.text.contains("The source cannot be reached"), "\(refused.text)")
                    }
                    #expect(home.record.requests.isEmpty)
                    #expect(try await Self.subscriptions(bench) == [])
                }
            }
        }

        @Test func `a read-only shelf searches nothing, and does not offer it`() async throws {
            try await Self.withCatalogs(settings: "serve: { read-only: true }") { _, shelf, server in
                #expect(try await shelf.send("/discover?q=letters").status == 403)
                let page = try await shelf.send("/")
                #expect(!page.text.contains("/discover"))
                #expect(server.record.requests.isEmpty)
            }
        }

        @Test func `two hundred hostile titles are shown as text`() async throws {
            let titles = (1...200).map { "<script>alert(\($0))</script>\" onclick=\"letters \($0)" }
            let feeds = titles.enumerated().map { index, title in
                [
                    "collectionName": title, "feedUrl": "https://feeds.example.org/\(index).xml",
                    "artistName": "<b>'\(index)",
                ]
            }
            let document = try JSONEncoder().encode(["results": feeds])
            let answer = ServerScript.always(.text(String(decoding: document, as: UTF8.self)))
            try await Self.withCatalogs(["/search": answer]) { _, shelf, _ in
                let page = try await Self.search("letters", in: "itunes", on: shelf)
                #expect(page.text.split(separator: "<li data-ids=").count == 201)
                #expect(page.text.firstMatch(of: /<script>|<b>'|" onclick/) == nil)
                #expect(page.text.contains("&lt;script&gt;alert(200)"))
            }
        }
    }
}

extension ForeignClientTests {
    @Suite(.full, .needs("chromium", "chromedriver"))
    struct DiscoveringInTheBrowser {
        @Test func `results appear as each catalog answers, and are added where they stand`() async throws {
            let gate = Gate()
            var late = Reply.text(
                try String(contentsOf: Corpus.fixture("search/librivox.json"), encoding: .utf8))
            late.ending = .stallAfter(bytes: 0, until: gate)
            let script = ServerScript.always(late)
            try await ProductTests.Discovering.withCatalogs(["/librivox/api/feed/audiobooks": script]) {
                bench, shelf, _ in
                try await Browser.run(.init(languages: "en", width: 1200, height: 900)) { browser in
                    func count(_ text: String) -> String {
                        "[...document.querySelectorAll('.found li')].filter(e => e.innerText.includes('\(text)')).length"
                    }
                    try await browser.open(shelf.address)
                    try await browser.click("nav a[href='/discover']")
                    try await browser.wait(until: "document.getElementById('wanted')")
                    try await browser.type("letters\(Browser.Key.enter.rawValue)", into: "#wanted")
                    try await browser.wait(until: "\(count("Letters of Two Brides")) === 1")
                    let status = "document.querySelector('#results [role=status]').innerText"
                    try await browser.wait(until: "\(status).endsWith('still asking librivox')")
                    let inBoth = """
                        [...document.querySelectorAll('.found li')].find(e => e.innerText.includes('Letters of Two Brides'))
                          .innerText.includes('in librivox, archive')
                        """
                    #expect(try await browser.evaluate("!\(inBoth)"))
                    #expect(try await browser.evaluate("location.search.startsWith('?q=letters')"))
                    gate.open()
                    try await browser.wait(until: "!\(status).includes('still asking')")
                    #expect(try await browser.evaluate(inBoth))
                    #expect(try await browser.evaluate("\(count("Letters of Two Brides")) === 1"))
                    if ProcessInfo.processInfo.environment["BOOKSYNC_UPDATE_DOCUMENTATION"] != nil {
                        try await browser.screenshot().write(to: Corpus.fixture("screenshots/discover.png"))
                    }
                    try await browser.click("[aria-label='Add: Letters of Two Brides']")
                    try await browser.wait(until: "document.activeElement.innerText === 'Added'")
                    try await browser.click("[aria-label='All by Honoré de Balzac: Letters of Two Brides']")
                    try await browser.wait(until: "document.activeElement.ariaLabel.endsWith('Two Brides: Added')")
                    try await browser.wait(
                        until: "document.querySelectorAll('.found [aria-disabled=true]').length === 2")
                    let list = try await bench.run("subscriptions", "--json", environment: bench.configured)
                    #expect(
                        Set(try JSONObject.list(list.output).compactMap { $0["id"] })
                            == ["52", "author:Honoré de Balzac"], "\(list.output)")
                    #expect(try await browser.complaints() == [])
                }
            }
        }

        @Test func `without a script the page has what all found, and a preview`() async throws {
            try await ProductTests.Discovering.withCatalogs { bench, shelf, _ in
                try await Browser.run(.init(languages: "zh-CN,zh", width: 360, height: 740, runsScripts: false)) {
                    browser in
                    try await browser.open("\(shelf.address)/discover")
                    try await browser.type("letters\(Browser.Key.enter.rawValue)", into: "#wanted")
                    #expect(try await browser.text(of: ".found li:first-child .title").hasPrefix("Letters"))
                    try await browser.click("[aria-label='添加：Letters of Two Brides']")
                    try await browser.wait(for: "已添加", in: ".found")
                    let list = try await bench.run("subscriptions", "--json", environment: bench.configured)
                    #expect(try JSONObject.list(list.output).count == 1)
                    try await browser.click(".found li:first-child [form=look]")
                    let alert = try await browser.text(of: "main [role=alert]")
                    #expect(!alert.isEmpty)
                }
            }
        }
    }
}
