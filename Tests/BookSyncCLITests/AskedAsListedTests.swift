import Foundation
import Support
import Testing

extension ForeignProgramTests {
    /// What booksync asks for, compared byte for byte with what Python's urllib asks for the addresses that feedparser and
    /// an HTML parser find. Both go through one proxy, which is told whole addresses whatever their hosts are.
    @Suite(
        .needs(python: "feedparser"))
    struct AskedAsListed {
        /// Standard input: a file and its address a line. Asks for all media, and says with each whether it is surely to be asked
        /// for: audio that is the only file of its item.
        private static let judge = """
            import json, sys, warnings, urllib.parse, urllib.request, feedparser
            from html.parser import HTMLParser
            from xml.etree import ElementTree
            warnings.simplefilter("ignore")
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": sys.argv[1]}))
            AUDIO = (".mp3", ".m4a", ".m4b", ".ogg", ".opus", ".flac", ".wav")
            def ask(address, is_only):
                address = urllib.parse.urldefrag(address.strip()).url
                address = urllib.parse.quote(address, safe="%/:=&?~+!$,;'@()*[]")
                headers = {"X-Only": "yes" if is_only else "no"}
                opener.open(urllib.request.Request(address, headers=headers)).read()
            def ask_link(base, reference):
                address = urllib.parse.urljoin(base, reference)
                is_below = address.startswith(base[:base.rindex("/") + 1])
                if address.startswith("http:"): ask(address, is_below and address.lower().endswith(AUDIO))
            class Links(HTMLParser):
                def handle_starttag(self, tag, attributes):
                    if tag == "a" and dict(attributes).get("href"): ask_link(self.base, dict(attributes)["href"])
            def read_json(document, address):
                if isinstance(document, list):
                    for entry in document:
                        if entry["type"] == "file": ask_link(address, urllib.parse.quote(entry["name"]))
                elif "files" in document:
                    root = address[:address.index("/metadata/")] + "/download/" + document["metadata"]["identifier"]
                    for file in document["files"]:
                        if file["name"].lower().endswith(AUDIO): ask(root + "/" + urllib.parse.quote(file["name"]), False)
                elif "books" in document:
                    books = document["books"]
                    for book in books.values() if isinstance(books, dict) else books:
                        for section in book["sections"]:
                            if section.get("listen_url"): ask(section["listen_url"], True)
                else:
                    for element in document["list"]:
                        if element.get("path"): ask(urllib.parse.urljoin(address, element["path"]), True)
            def read_feed(data, address):
                headers = {"content-location": address, "content-type": "application/xml"}
                for entry in feedparser.parse(data, response_headers=headers).entries:
                    found = [(e.get("href"), e.get("type")) for e in entry.get("enclosures", [])]
                    found += [(e.get("url"), e.get("type")) for e in entry.get("media_content", [])]
                    found = [media for media in found if media[0]]
                    for link, type in found:
                        link = urllib.parse.urljoin(address, link.strip())
                        ask(link, len(found) == 1 and (type or "").startswith("audio/"))
            for line in sys.stdin:
                path, address = line.rstrip("\\n").split("\\t")
                data = open(path, "rb").read()
                if data.lstrip()[:1] in (b"[", b"{"):
                    read_json(json.loads(data), address)
                elif address.endswith("index.xml"):
                    for file in ElementTree.fromstring(data).iter("file"):
                        ask_link(address, urllib.parse.quote(file.text))
                elif address.endswith(".html"):
                    links = Links()
                    links.base = address
                    links.feed(data.decode())
                else:
                    read_feed(data, address)
            """

        /// What was asked for, by who asked.
        private struct Asked {
            var byUs: Set<String> = []
            var byPython: Set<String> = []
            /// Of these, what is an item's only file.
            var only: Set<String> = []
        }

        private static let host = "http://listed.test/"

        /// - Parameters:
        ///   - documents: path below the host → its bytes. A JSON object is the answer to all queries.
        ///   - references: what to fetch.
        private func asked(
            _ documents: [String: Data], for references: [String], sources: String = ""
        ) async throws -> Asked {
            let host = Self.host
            let documents = documents.mapValues { bytes in
                ["https://", "https:\\/\\/"].reduce(bytes) {
                    $0.replacing(Data($1.utf8), with: Data($1.replacing("https", with: "http").utf8))
                }
            }
            @Sendable func document(at target: String) -> (name: String, bytes: Data)? {
                guard target.hasPrefix(host) else { return nil }
                let name = String(target.dropFirst(host.count))
                if let bytes = documents[name] { return (name, bytes) }
                let path = String(name.prefix { $0 != "?" })
                return documents[path].flatMap { $0.first == UInt8(ascii: "{") ? (path, $0) : nil }
            }
            let script = ServerScript { request in
                guard let (name, bytes) = document(at: request.target) else {
                    // Audio as small would be a stub, after which a server is left alone.
                    guard request.header("User-Agent")?.hasPrefix("Python-urllib") == true else { return .notFound }
                    return Reply(headers: ["Content-Type": "audio/mpeg"], body: sampleMP3(bytes: 4000))
                }
                return Reply(
                    headers: ["Content-Type": name.hasSuffix(".html") ? "text/html" : "application/xml"],
                    body: Array(bytes))
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
                    let configuration = "downloads: { retries: 0 }\nsources: { \(sources) }\n"
                    try Data(configuration.utf8).write(to: bench.folder.appending(path: "booksync.yaml"))
                    let python = try #require(await ForeignProgram.python(having: "feedparser"))
                    let judged = try await withProduct(
                        ["-c", "exec \"$0\" -c \"$1\" \"$2\" < lines", python.path, Self.judge, address],
                        environment: ForeignProgram.home, in: bench.folder, executable: URL(filePath: "/bin/sh")
                    ) { try await $0.result() }
                    try #require(judged.exitCode == 0, "\(judged.errors)")
                    let run = try await bench.runBare(
                        ["fetch", "--library", "L", "--config", "booksync.yaml", "--json"] + references,
                        environment: ["http_proxy": address])
                    #expect([0, 65, 66, 75].contains(run.exitCode), "\(run.errors)")
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
                for: ["odd/escaped.xml", "odd/numeric.xml"].map { Self.host + $0 })
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
            let asked = try await asked(["odd/index.html": Data(page.utf8)], for: [Self.host + "odd/index.html"])
            #expect(asked.only.count == names.count)
            #expect(asked.byUs.subtracting(asked.byPython).sorted() == [])
            #expect(asked.only.subtracting(asked.byUs).sorted() == [])
        }

        @Test
        func `recorded indexes are asked for what they link to`() async throws {
            let names = Corpus.names(in: "html-index").filter { $0 != "MANIFEST.tsv" && $0 != "expected.json" }
            var documents: [String: Data] = [:]
            for name in names {
                let parts = name.split(separator: ".")
                documents["\(parts[0])/index.\(parts[1])"] = try Data(contentsOf: Corpus.file("html-index/\(name)"))
            }
            let asked = try await asked(documents, for: documents.keys.sorted().map { Self.host + $0 })
            #expect(asked.only.count == Corpus.count(ofChosen: 244, ofWhole: 264))
            #expect(asked.byUs.subtracting(asked.byPython).sorted() == [])
            #expect(asked.only.subtracting(asked.byUs).sorted() == [])
        }

        @Test
        func `recorded answers of the archive, LibriVox and book-resource catalogs are asked for what they list`()
            async throws
        {
            var documents: [String: Data] = [:]
            var references: [String] = []
            var sources = [
                "ia: { type: internet-archive, url: \(Self.host) }"
            ]
            let items = Corpus.names(in: "json-ia").filter { $0.hasPrefix("metadata") }.map { "json-ia/\($0)" }
            let pairs = Corpus.names(in: "json-librivox").filter { $0.hasPrefix("pairs/ia-") }
            for name in items + pairs.map({ "json-librivox/\($0)" }) {
                let bytes = try Data(contentsOf: Corpus.file(name))
                let answer = try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
                let item = try #require((answer["metadata"] as? [String: Any])?["identifier"] as? String)
                documents["metadata/\(item)"] = bytes
                if items.contains(name) { references.append("ia:\(item)") }
            }
            let books = Corpus.names(in: "json-librivox").filter {
                $0.hasPrefix("librivox_") || $0.hasPrefix("pairs/lv-")
            }
            for (place, name) in books.enumerated() {
                // A source for each: LibriVox tells its books apart by the query alone.
                let id = name.filter(\.isNumber)
                documents["lv\(place)/api/feed/audiobooks"] = try Data(contentsOf: Corpus.file("json-librivox/\(name)"))
                sources.append(
                    "lv\(place): { type: librivox, url: \(Self.host)lv\(place)/, archive-url: \(Self.host) }")
                references.append("lv\(place):\(id)")
            }
            let pages = Corpus.names(in: "json-lrts").filter { $0.hasPrefix("real") || $0.hasPrefix("synthetic") }
            for (place, name) in pages.enumerated() {
                let bytes = try Data(contentsOf: Corpus.file("json-lrts/\(name)"))
                let page = try JSONSerialization.jsonObject(with: bytes) as? [String: Any]
                guard page?["list"] is [Any] else { continue }
                documents["page\(place)"] = bytes
                sources.append("page\(place): { type: book-resource, url: \(Self.host)page\(place) }")
                references.append("page\(place):1")
            }
            let asked = try await asked(documents, for: references, sources: sources.joined(separator: ", "))
            // Of some of LibriVox's books the archive's item is not recorded. Covers are asked for as well.
            let audio = asked.byUs.filter { !$0.hasPrefix(Self.host + "metadata/") && !$0.hasSuffix(".jpg") }
            #expect(audio.count == 307)
            #expect(audio.subtracting(asked.byPython).sorted() == [])
            #expect(asked.only.subtracting(asked.byUs).sorted() == [])
        }

        @Test
        func `recorded feeds are asked for what feedparser lists`() async throws {
            let names = Corpus.names(in: "rss").filter { $0.contains("/") && !$0.hasSuffix(".json") }
            var documents: [String: Data] = [:]
            for name in names { documents[name] = try Data(contentsOf: Corpus.file("rss/\(name)")) }
            let asked = try await asked(documents, for: names.map { Self.host + $0 })
            #expect(asked.byPython.count == Corpus.count(ofChosen: 56, ofWhole: 57))
            // The second page of one of them, and where another one says that it is from now on.
            let further: Set = ["http://example.com/feed/page2", "http://newlocation.com/example.rss"]
            #expect(asked.byUs.subtracting(asked.byPython).subtracting(further).sorted() == [])
            #expect(asked.only.subtracting(asked.byUs).sorted() == [])
        }
    }
}
