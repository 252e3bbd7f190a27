import Foundation
import Support
import Testing

extension ProductTests {
    /// What a catalog lists, asked or read from saved answers; nothing is stored.
    @Suite struct Catalog {
        private static let rss = """
            <?xml version="1.0"?><rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"><channel>
            <title>Emma</title><item><title>One</title><guid>g-1</guid><itunes:duration>1:40</itunes:duration>
            <itunes:season>2</itunes:season><itunes:episode>7</itunes:episode><pubDate>Tue, 03 Mar 2020 10:00:00 GMT</pubDate>
            <enclosure url="http://u:p@a.example/1.mp3?token=SECRET" length="123" type="audio/mpeg"/></item>
            <item><title>Two</title><enclosure url="http://a.example/2.mp3" type="audio/mpeg"/></item></channel></rss>
            """

        @Test func `a saved feed is told with everything that it says, and null for what it does not`() async throws {
            try await withWorkbench { bench in
                try Data(Self.rss.utf8).write(to: bench.folder.appending(path: "feed.xml"))
                let result = try await bench.run("catalog", "feed.xml", "--json")
                #expect(result.exitCode == 0, "\(result.errors)")
                let document = try JSONObject(result.output)
                #expect(document["type"] == "feed")
                #expect(document.object("book")?["title"] == "Emma")
                #expect(document.isNull("declared"))
                let episodes = document.objects("episodes")
                #expect(episodes.map { $0["name"] } == ["One", "Two"])
                let first = try #require(episodes.first)
                #expect(first["guid"] == "g-1" && first["type"] == "audio/mpeg")
                #expect(first.number("number") == 7 && first.number("season") == 2 && first.number("size") == 123)
                #expect(first.double("duration") == 100)
                #expect(first["published_at"] == "2020-03-03T10:00:00Z")
                #expect(!result.output.contains("SECRET") && !result.output.contains("u:p"))
                let second = try #require(episodes.last)
                for key in ["size", "duration", "published_at", "guid", "number", "season"] {
                    #expect(second.isNull(key), "\(key)")
                }
                #expect(!bench.exists)
            }
        }

        @Test func `an episode without a name has none, and the others theirs`() async throws {
            try await withWorkbench { bench in
                let page = """
                    {"bookId":1,"sections":2,"status":0,"list":[
                    {"id":1,"section":1,"path":"http://a.example/1.mp3"},
                    {"id":2,"section":2,"name":"Two","path":"http://a.example/%B5%DA2%BC%AF.mp3"}]}
                    """
                try Data(page.utf8).write(to: bench.folder.appending(path: "page.json"))
                let result = try await bench.run("catalog", "page.json", "--json")
                #expect(result.exitCode == 0, "\(result.errors)")
                let episodes = try JSONObject(result.output).objects("episodes")
                #expect(episodes.map { $0.isNull("name") } == [true, false])
                #expect(episodes.last?["name"] == "Two")
            }
        }

        @Test func `several files are a line each in their order, an unreadable one with its error`() async throws {
            try await withWorkbench { bench in
                try Data(Self.rss.utf8).write(to: bench.folder.appending(path: "a.xml"))
                try Data("{}".utf8).write(to: bench.folder.appending(path: "b.json"))
                try Data(Self.rss.utf8).write(to: bench.folder.appending(path: "c.xml"))
                let result = try await bench.run("catalog", "a.xml", "b.json", "c.xml", "--json")
                #expect(result.exitCode == 65)
                let lines = try result.outputLines.map { try JSONObject($0) }
                #expect(lines.map { $0["type"] } == ["feed", nil, "feed"])
                #expect(lines[1]["file"] == "b.json")
                #expect(lines[1]["error"]?.contains("b.json") == true)
                let one = try await bench.run("catalog", "b.json", "--json")
                #expect(one.exitCode == 65 && one.outputLines.map { $0 + "\n" } == [one.output])
                #expect(try JSONObject(one.output)["file"] == "b.json")
            }
        }

        @Test(arguments: ["nothing.json", "./nothing.xml", "/nowhere/feed.xml"])
        func `a file that is not there is said to be missing`(name: String) async throws {
            try await withWorkbench { bench in
                let result = try await bench.runBare(["catalog", name])
                #expect(result.exitCode == 64 && result.errors.contains("there is no such file"), "\(result.errors)")
            }
        }

        @Test func `what no request can be sent to is no address, and is not to be tried later`() async throws {
            try await withWorkbench { bench in
                let refused = try await bench.run("fetch", "http://[::1")
                #expect(refused.exitCode == 64, "\(refused.errors)")
            }
        }

        @Test func `the type can be said, and then counts`() async throws {
            try await withWorkbench { bench in
                try Data(Self.rss.utf8).write(to: bench.folder.appending(path: "a.xml"))
                #expect(try await bench.run("catalog", "a.xml", "--type", "librivox").exitCode == 65)
                #expect(try await bench.run("catalog", "a.xml", "--type", "feed").exitCode == 0)
                #expect(try await bench.run("catalog", "a.xml", "--type", "rss").exitCode == 64)
            }
        }

        @Test func `the demo catalog can be looked at without a library`() async throws {
            try await withWorkbench { bench in
                let result = try await bench.run("catalog", "demo:30776", "--json")
                #expect(result.exitCode == 0, "\(result.errors)")
                let document = try JSONObject(result.output)
                #expect(document["type"] == "book-resource")
                #expect(document.number("declared") == 112)
                #expect(document.objects("episodes").count == 112)
                #expect(!bench.exists)
                let lines = try await bench.run("catalog", "demo:30776")
                #expect(lines.outputLines.first?.contains("112 episodes, complete") == true)
            }
        }

        /// What is no catalog's answer, or none that lists a book, by the folder of the recorded answers.
        private static let unreadable: [String: Set<String>] = [
            "rss-hostile/synthetic": ["empty.xml", "not_xml_json.xml", "only_decl.xml", "quadratic_blowup.xml"],
            "html-index": [
                "MANIFEST.tsv", "expected.json", "apacheparse-F0-directory.html", "apacheparse-F0-special-files.html",
                "apacheparse-F0-unicode-org.html", "rclone-nginx.html",
            ],
            "json-ia": ["MANIFEST.tsv", "expected.json", "dark_item.json"],
            "json-librivox": ["MANIFEST.tsv", "error_not_found.json"],
            "json-lrts": [
                "FIELDS.tsv", "MANIFEST.tsv", "hostile_gbk_bytes.json", "hostile_html_login.html",
                "hostile_truncated.json", "synthetic_status_114_rate_limit.json", "synthetic_status_4_illegal.json",
            ],
            "opds": ["MANIFEST.tsv", "feed-2.json", "search.xml"],
            "audiobookshelf": ["MANIFEST.tsv", "libraries.json", "search.json"],
        ]

        @Test(arguments: unreadable.keys.sorted())
        func `every recorded answer is read, or refused with a sentence`(folder: String) async throws {
            let names = Corpus.names(in: folder)
            let files = names.map { Corpus.file("\(folder)/\($0)").path }
            try await withWorkbench { bench in
                let result = try await bench.runBare(["catalog", "--json"] + files)
                #expect(result.exitCode == 65)
                let documents = try result.outputLines.map { try JSONObject($0) }
                try #require(documents.count == files.count)
                var refused: Set<String> = []
                for (file, document) in zip(files, documents) {
                    let name = URL(filePath: file).lastPathComponent
                    if let error = document["error"] {
                        refused.insert(name)
                        #expect(document["file"] == file && !error.isEmpty, "\(name)")
                    } else {
                        #expect(document.object("book") != nil && document["type"] != nil, "\(name)")
                    }
                }
                #expect(refused == Self.unreadable[folder]?.intersection(names))
            }
        }
    }
}
