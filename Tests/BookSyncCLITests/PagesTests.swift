import BookModel
import BookSync
import Foundation
import LibraryFiles
import Support
import Testing

extension ProductTests {
    /// The pages of the shelf, as they come over the wire.
    @Suite struct Pages {
        private static let paths = [
            "/", "/?sort=title&page=7", "/books/demo/40111", "/books/demo/40111?state=finished&page=99",
            "/books/demo/40111/5000000001", "/queue", "/search?q=%E5%A4%9C", "/search?q=%22%3E%3Cb", "/search", "/runs",
            "/subscriptions", "/discover", "/doctor",
        ]

        @Test func `a page is in the visitor's language and has nothing inline`() async throws {
            try await withWorkbench { bench in
                try await bench.serveShortBook { shelf in
                    for path in Self.paths {
                        for (language, tag) in [("zh-CN,en;q=0.5", "zh-Hans"), ("en", "en"), ("fr", "en")] {
                            let page = try await shelf.send(
                                path, ["Accept-Language: \(language)", "Accept: text/html"])
                            #expect(page.status == 200 && page.fields["content-type"] == "text/html; charset=utf-8")
                            #expect(page.text.contains("<html lang=\"\(tag)\">"), "\(path)")
                            #expect(page.fields["vary"]?.contains("Accept-Language") == true)
                            let policy = page.fields["content-security-policy"] ?? ""
                            #expect(
                                policy.hasPrefix("default-src 'none'; script-src 'self';") && !policy.contains("unsafe")
                            )
                            #expect(
                                page.text.firstMatch(of: /<style|\sstyle=|\son[a-z]+=|<script>|javascript:/) == nil,
                                "\(path)")
                            #expect(page.text.firstMatch(of: /\{\{|phrase\./) == nil, "\(path)")
                            #expect(!page.text.contains("<b\""), "\(path)")
                        }
                    }
                }
            }
        }

        @Test func `what is not there is said to people in a page, to programs in JSON`() async throws {
            try await withWorkbench { bench in
                try await bench.serveShortBook { shelf in
                    for path in ["/nothing", "/books/demo/1", "/books/demo/40111/none", "/books/x/y/z", "/a%20b"] {
                        let page = try await shelf.send(path, ["Accept: text/html", "Accept-Language: zh"])
                        #expect(page.status == 404 && page.text.contains("这里什么也没有"), "\(path)")
                        let document = try await shelf.send(path)
                        #expect(document.status == 404 && document.fields["content-type"]?.contains("json") == true)
                    }
                }
            }
        }

        @Test func `a long book opens where the user is, and has an episode found by its number or its name`()
            async throws
        {
            try await withCatalog(ScriptedCatalog(episodes: 250, bytes: 2000).script) { bench, _ in
                let run = try await bench.run("fetch", "1/1,150", environment: bench.configured)
                #expect(run.exitCode == 0, "\(run.errors)")
                try await bench.serve(environment: bench.configured) { shelf in
                    func numbers(_ query: String) async throws -> [Int] {
                        let page = try await shelf.send("/books/cat/1\(query)", ["Accept: text/html"]).text
                        return page.matches(of: /<td role="cell" class="number">(\d+)/).compactMap { Int($0.1) }
                    }
                    #expect(try await numbers("") == Array(1...100))
                    let position = #"{"position": {"source": "cat", "book_id": "1", "id": "9150", "seconds": 5}}"#
                    let noted = try await shelf.send(
                        "/api/v1/position", method: "POST",
                        ["Content-Type: application/json", "Content-Length: \(position.utf8.count)"], body: position)
                    #expect(noted.status == 200)
                    #expect(try await numbers("") == Array(101...200))
                    #expect(try await numbers("?page=1") == Array(1...100))
                    #expect(try await numbers("?order=last") == Array((151...250).reversed()))
                    #expect(try await numbers("?find=230") == Array(201...250))
                    #expect(try await numbers("?find=230&order=last") == Array((151...250).reversed()))
                    #expect(try await numbers("?find=%E7%AC%AC24") == [24] + Array(240...249))
                    #expect(try await numbers("?find=%E7%AC%AC24&order=last&page=9") == (240...249).reversed() + [24])
                    #expect(try await numbers("?find=%25") == [])
                    #expect(try await numbers("?find=999") == [], "neither a number nor in a name")
                    #expect(try await numbers("?find=\(Int.max)") == [])
                    #expect(try await numbers("?find=0").prefix(3) == [10, 20, 30], "no number, but in names")
                    let found = try await shelf.send("/books/cat/1?find=230", ["Accept: text/html"]).text
                    #expect(found.matches(of: /id="sought"/).count == 1)
                    #expect(found.contains(#"aria-current="page">3</a>"#))
                    let hostile = try await shelf.send("/books/cat/1?find=%22%3E%3Cb&state=finished").text
                    #expect(hostile.contains(#"value="&quot;&gt;&lt;b""#))
                }
            }
        }

        @Test func `covers and what pages are dressed with are tagged, and say what they are`() async throws {
            let types = [
                ("/covers/demo/40111", "image/svg+xml"), ("/static/shelf.css", "text/css; charset=utf-8"),
                ("/static/shelf.js", "text/javascript; charset=utf-8"),
                ("/static/player.js", "text/javascript; charset=utf-8"),
                ("/static/pages.js", "text/javascript; charset=utf-8"),
                ("/static/live.js", "text/javascript; charset=utf-8"),
                ("/static/icon.svg", "image/svg+xml"), ("/static/shelf.webmanifest", "application/manifest+json"),
            ]
            try await withWorkbench { bench in
                try await bench.serveShortBook { shelf in
                    for (path, type) in types {
                        let answer = try await shelf.send(path)
                        #expect(answer.status == 200 && answer.fields["content-type"] == type, "\(path)")
                        #expect(answer.fields["content-security-policy"]?.contains("'self'") == false, "\(path)")
                        let tag = try #require(answer.fields["etag"])
                        #expect(try await shelf.send(path, ["If-None-Match: \(tag)"]).status == 304, "\(path)")
                    }
                    // What a page names is kept for good: in the next version of the program it has another address.
                    let page = try await shelf.send("/", ["Accept: text/html"]).text
                    let named = page.matches(of: /(?:href|src)="(\/static\/[0-9a-f]{16}\/)shelf\.(?:css|js)"/).map(\.1)
                    #expect(named.count == 2)
                    for name in ["shelf.css", "shelf.js", "pages.js", "live.js", "player.js"] {
                        let answer = try await shelf.send("\(named.first ?? "")\(name)")
                        #expect(answer.status == 200 && answer.fields["cache-control"]?.contains("immutable") == true)
                        #expect(try await shelf.send("/static/\(name)").fields["cache-control"] == "no-cache")
                        #expect(try await shelf.send("/static/0000000000000000/\(name)").status == 404)
                    }
                    for path in ["/static/layout.mustache", "/static/", "/covers/demo/1", "/static/../shelf.css"] {
                        #expect(try await shelf.send(path).status == 404, "\(path)")
                    }
                }
            }
        }

        @Test(.needs("ffmpeg"))
        func `in a list a cover that cannot be made smaller is drawn, and tried once`() async throws {
            try await withWorkbench { bench in
                try await bench.serveShortBook { shelf in
                    func small() async throws -> String? {
                        try await shelf.send("/covers/demo/40111/small").fields["content-type"]
                    }
                    let audio = try #require(try bench.files(in: bench.library).values.first)
                    // 20,000 pixels high and wide, of which nothing but the header is there.
                    let header: [UInt8] = [
                        0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0,
                        0x4E, 0x20, 0, 0, 0x4E, 0x20, 8, 2, 0, 0, 0, 0x5B, 0x33, 0x0D, 0x0B,
                    ]
                    let cover = audio.deletingLastPathComponent().appending(path: "cover.png")
                    try Data(header + [UInt8](repeating: 0, count: 70_000)).write(to: cover)
                    #expect(try await shelf.send("/covers/demo/40111").fields["content-type"] == "image/png")
                    #expect(try await small() == "image/svg+xml")
                    let folder = bench.library.path + "/.booksync/covers"
                    func copies() -> [FileAttributes?] {
                        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
                        return names.map { fileAttributes("\(folder)/\($0)") }
                    }
                    let tried = copies()
                    #expect(tried.count == 1 && tried.allSatisfy { $0?.size == 0 })
                    #expect(try await small() == "image/svg+xml")
                    #expect(copies() == tried)
                }
            }
        }

        @Test func `nothing is asked of catalogs because a page of another site had it loaded`() async throws {
            try await withWorkbench { bench in
                try await bench.serveShortBook { shelf in
                    let token = try await shelf.formToken(on: "/subscriptions")
                    for path in ["/subscriptions?ref=30776&token=\(token)", "/doctor?sources=1&token=\(token)"] {
                        let page = try await shelf.send(path)
                        #expect(page.status == 200, "\(path)")
                        #expect(!page.text.contains("id=\"preview\"") && !page.text.contains("data-asked"), "\(path)")
                    }
                    for action in ["preview", "doctor"] {
                        let fields = [("ref", "30776"), ("token", "guessed")]
                        #expect(try await shelf.post("/actions/\(action)", form: fields).status == 403, "\(action)")
                        #expect(try await shelf.send("/actions/\(action)").status == 405, "\(action)")
                    }
                    let meant = try await shelf.post(
                        "/actions/preview", form: [("ref", " demo:30776 "), ("token", token)])
                    #expect(meant.text.contains("id=\"preview\"") && meant.text.contains("第001集"))
                    let wrong = try await shelf.post(
                        "/actions/preview", form: [("ref", "nowhere:1"), ("token", token)])
                    #expect(wrong.status == 200 && wrong.text.contains("role=\"alert\""))
                    let doctor = try await shelf.post("/actions/doctor", form: [("token", token)])
                    #expect(doctor.status == 200 && doctor.text.contains("data-asked"))
                    // Nothing that was typed, and no token, stands in an address.
                    for page in [meant, wrong, doctor] {
                        #expect(page.text.firstMatch(of: /[?&](?:ref|token)=/) == nil)
                    }
                }
            }
        }

        @Test func `a shelf in good order is so in Chinese`() async throws {
            try await withWorkbench { bench in
                try await bench.serveShortBook { shelf in
                    let page = try await shelf.send("/doctor", ["Accept-Language: zh"])
                    #expect(page.text.contains("可写") && page.text.contains("绝不覆盖"))
                    #expect(!page.text.contains("lang=\"en\""))
                }
            }
        }

        /// Names that are spelt alike in all languages.
        private static let names: Set<String> = [
            "booksync", "archive", "demo", "dead", "internet", "itunes", "fyyd", "librivox", "library",
        ]

        @Test func `in Chinese nothing is English but what failures say of themselves, which is marked so`()
            async throws
        {
            try await withWorkbenchAndRefusingPort { bench, port in
                try bench.configure(
                    """
                    downloads: {retries: 0}
                    sources:
                      dead: {type: book-resource, url: "http://127.0.0.1:\(port)/list", allow-private-addresses: true}
                    """)
                #expect(try await bench.run("fetch", "40111", "-q").exitCode == 0)
                #expect(try await bench.run("fetch", "dead:1", "-q", environment: bench.configured).exitCode == 69)
                #expect(try await bench.run("pause", "40111", "-q").exitCode == 0)
                try await bench.serve(environment: bench.configured) { shelf in
                    let token = try await shelf.formToken(on: "/subscriptions")
                    let chinese = ["Accept-Language: zh", "Accept: text/html"]
                    var pages: [(path: String, page: ServedShelf.Answer)] = []
                    for path in Self.paths + ["/nothing"] {
                        pages.append((path, try await shelf.send(path, chinese)))
                    }
                    for reference in ["dead:1", "nowhere:1", "dead:1/x"] {
                        let fields = [("ref", reference), ("token", token)]
                        pages.append((reference, try await shelf.post("/actions/preview", form: fields, chinese)))
                    }
                    pages.append(
                        ("doctor", try await shelf.post("/actions/doctor", form: [("token", token)], chinese)))
                    for (path, page) in pages {
                        let body = page.text.replacing(/^.*?<body/.dotMatchesNewlines(), with: "<body")
                        let text = body.replacing(/<([a-z]+)[^>]* lang="en"[^>]*>.*?<\/\1>/, with: "")
                            .replacing(/<[^>]*>|\{[a-z]+\}|&[a-z]+;/, with: " ").replacing(/https?:[^ ]*/, with: "")
                            .replacing(/\/[^ ]+|booksync [a-z]+/, with: "")
                        let words = text.matches(of: /[A-Za-z][a-z]{3,}/).map { String($0.output) }
                        #expect(Set(words).subtracting(Self.names) == [], "\(path)")
                    }
                }
            }
        }
    }
}
