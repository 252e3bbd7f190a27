import Foundation
import Support
import Testing

extension ForeignClientTests {
    /// What booksync asks for, compared byte for byte with what Python's urllib asks for the addresses that feedparser and
    /// an HTML parser find. Both go through one proxy, which is told whole addresses whatever their hosts are.
    @Suite(
        .enabled("Python's feedparser is not installed") { await ForeignProgram.python(having: "feedparser") != nil })
    struct AskedAsListed {
        /// Standard input: a file and its address a line. Asks for all media, and says with each whether its item has
        /// no other.
        private static let judge = """
            import sys, warnings, urllib.parse, urllib.request, feedparser
            from html.parser import HTMLParser
            warnings.simplefilter("ignore")
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": sys.argv[1]}))
            def ask(address, is_only):
                address = urllib.parse.urldefrag(address.strip()).url
                address = urllib.parse.quote(address, safe="%/:=&?~+!$,;'@()*[]")
                headers = {"X-Only": "yes" if is_only else "no"}
                opener.open(urllib.request.Request(address, headers=headers)).read()
            class Links(HTMLParser):
                def handle_starttag(self, tag, attributes):
                    if tag == "a": ask(urllib.parse.urljoin(self.base, dict(attributes)["href"]), True)
            for line in sys.stdin:
                path, address = line.rstrip("\\n").split("\\t")
                data = open(path, "rb").read().replace(b"https://", b"http://")
                if path.endswith(".html"):
                    links = Links()
                    links.base = address
                    links.feed(data.decode())
                    continue
                headers = {"content-location": address, "content-type": "application/xml"}
                for entry in feedparser.parse(data, response_headers=headers).entries:
                    found = [(e.get("href"), e.get("type")) for e in entry.get("enclosures", [])]
                    found += [(e.get("url"), e.get("type")) for e in entry.get("media_content", [])]
                    found = [media for media in found if media[0]]
                    for link, type in found:
                        link = urllib.parse.urljoin(address, link.strip())
                        ask(link, len(found) == 1 and (type or "").startswith("audio/"))
            """

        /// What was asked for, by who asked.
        private struct Asked {
            var byUs: Set<String> = []
            var byPython: Set<String> = []
            /// Of these, what is an item's only file.
            var only: Set<String> = []
        }

        /// - Parameter documents: path below the folder → its bytes.
        private func asked(_ documents: [String: Data], for references: [String]) async throws -> Asked {
            let host = "http://listed.test/"
            @Sendable func document(at target: String) -> (name: String, bytes: Data)? {
                guard target.hasPrefix(host) else { return nil }
                let name = String(target.dropFirst(host.count))
                return documents[name].map { (name, $0) }
            }
            let script = ServerScript { request in
                guard let (name, bytes) = document(at: request.target) else {
                    return Reply(headers: ["Content-Type": "audio/mpeg"], body: sampleMP3(bytes: 4000))
                }
                return Reply(
                    headers: ["Content-Type": name.hasSuffix(".html") ? "text/html" : "application/xml"],
                    body: Array(bytes.replacing(Data("https://".utf8), with: Data("http://".utf8))))
            }
            return try await withWorkbench { bench in
                try await withServer(script) { proxy in
                    let address = "http://127.0.0.1:\(proxy.port)"
                    var lines = ""
                    for (name, bytes) in documents {
                        let file = bench.folder.appending(path: "documents/\(name)")
                        try FileManager.default.createDirectory(
                            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
                        try bytes.write(to: file)
                        lines += "\(file.path)\t\(host)\(name)\n"
                    }
                    try Data(lines.utf8).write(to: bench.folder.appending(path: "lines"))
                    let python = try #require(await ForeignProgram.python(having: "feedparser"))
                    let judged = try await withProduct(
                        ["-c", "exec \"$0\" -c \"$1\" \"$2\" < lines", python.path, Self.judge, address],
                        environment: ForeignProgram.home, in: bench.folder, executable: URL(filePath: "/bin/sh")
                    ) { try await $0.result() }
                    try #require(judged.exitCode == 0, "\(judged.errors)")
                    let run = try await bench.runBare(
                        ["fetch", "--library", "L", "--json"] + references.map { host + $0 },
                        environment: ["http_proxy": address])
                    #expect([0, 75, 65].contains(run.exitCode), "\(run.errors)")
                    var asked = Asked()
                    for request in proxy.record.requests where document(at: request.target) == nil {
                        if request.header("User-Agent")?.hasPrefix("Python-urllib") == true {
                            asked.byPython.insert(request.target)
                            if request.header("X-Only") == "yes" { asked.only.insert(request.target) }
                        } else {
                            asked.byUs.insert(request.target)
                        }
                    }
                    return asked
                }
            }
        }

        /// Paths and queries with everything in them that an address may have, and what it may not have. (A lone `%`
        /// and an empty query are missing: booksync encodes the one and keeps the other, and urllib does neither.)
        private static let oddities = [
            "a b", "第1集", "%E7%AC%AC1", "%e7%ac%ac2", "%B5%DA1%BC%AF", "!$'()*,:;@=+~-_.", "|^`{}", "[1]", "a%2Fb",
            "a%2fb",
            "%25", "a//b", "%41", "caf\u{E9}", "cafe\u{301}", "\u{1F3A7}", "a;b=c", "%3F", "%23", "a\\b",
            "%2e%2e",
        ]
        private static let queries = [
            "", "?a=1", "?a=1&b=2", "?a=1;b=2", "?a=b c", "?a=b+c", "?a=%26&b=%3D", "?q=第&r=%e7",
            "?x=http://h/p?y=1&z=2",
            "?a[]=1", "?&&", "?a=1&amp;b=2", "?=", "?a=\u{E9}#part", "#part",
        ]

        private static func escaped(_ text: String) -> String {
            text.replacing("&", with: "&amp;").replacing("\"", with: "&quot;").replacing("<", with: "&lt;")
        }

        @Test
        func `addresses with every odd character are asked for as they are listed`() async throws {
            var paths = Self.oddities.map { "/path/\($0).mp3" } + Self.queries.map { "/query.mp3\($0)" }
            paths += Self.queries.map { "/script\($0)" }
            var addresses = paths.enumerated().map { "http://audio\($0).test\($1)" }
            addresses += ["//other.test/a.mp3", "/rooted/第.mp3?a=1&b=2", "below/b.mp3", "../up/c.mp3", "?only=query"]
            addresses += ["http://audio.test:81/port.mp3", "HTTP://audio.test/upper.mp3"]
            func feed(_ written: (String) -> String) -> Data {
                let items = addresses.enumerated().map {
                    "<item><title>\($0)</title><enclosure type=\"audio/mpeg\" url=\"\(written($1))\"/></item>"
                }
                return Data("<rss version=\"2.0\"><channel><title>T</title>\(items.joined())</channel></rss>".utf8)
            }
            func numeric(_ text: String) -> String {
                text.unicodeScalars.map { "&#x\(String($0.value, radix: 16));" }.joined()
            }
            let asked = try await asked(
                ["odd/escaped.xml": feed(Self.escaped), "odd/numeric.xml": feed(numeric)],
                for: ["odd/escaped.xml", "odd/numeric.xml"])
            #expect(asked.byUs.subtracting(asked.byPython).sorted() == [])
            #expect(asked.only.subtracting(asked.byUs).sorted() == [])
            // The one that is a query alone is another one in each document.
            #expect(asked.byPython.count == addresses.count + 1)
        }

        @Test
        func `links of an index are asked for as they are written`() async throws {
            // `a%2fb` is `a%2Fb` once more, and listed once.
            let others: Set = ["%2e%2e", "a//b", "a%2fb"]
            let names = Self.oddities.filter { !others.contains($0) }.map { "\($0).mp3" }
            let rows = names.map { "<a href=\"\(Self.escaped($0))\">x</a>  01-Jan-2020 10:00  4000\n" }
            let page = "<html><head><title>Index of /odd/</title></head><body><pre>\(rows.joined())</pre></body></html>"
            let asked = try await asked(["odd/index.html": Data(page.utf8)], for: ["odd/index.html"])
            #expect(asked.only.count == names.count)
            #expect(asked.byUs.subtracting(asked.byPython).sorted() == [])
            #expect(asked.only.subtracting(asked.byUs).sorted() == [])
        }

        @Test
        func `recorded feeds are asked for what feedparser lists`() async throws {
            let names = Corpus.names(in: "rss").filter { $0.contains("/") && !$0.hasSuffix(".json") }
            var documents: [String: Data] = [:]
            for name in names { documents[name] = try Data(contentsOf: Corpus.file("rss/\(name)")) }
            let asked = try await asked(documents, for: names)
            #expect(asked.byPython.count == Corpus.count(ofChosen: 56, ofWhole: 57))
            // The second page of one of them.
            let further: Set = ["http://example.com/feed/page2"]
            #expect(asked.byUs.subtracting(asked.byPython).subtracting(further).sorted() == [])
            #expect(asked.only.subtracting(asked.byUs).sorted() == [])
        }
    }
}
