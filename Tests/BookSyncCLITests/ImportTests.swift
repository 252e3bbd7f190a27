import Foundation
import Support
import Testing

extension ProductTests {
    /// What other programs fetched, taken over from the records that they made (`Fixtures/imports`).
    @Suite struct Importing {
        private let files = FileManager.default

        private static func name(_ section: Int) -> String {
            "Chapter \(section): The road \(section.isMultiple(of: 2) ? "and" : "&") the sea"
        }

        /// As `make-imports` served it.
        private static func audio(_ section: Int) -> [UInt8] {
            [0xFF, 0xFB, 0x90, 0x64]
                + Array(repeatElement("episode \(section) ", count: 400 + section).joined().utf8)
        }

        private static let script = ServerScript { request in
            guard request.path.hasPrefix("/audio/part-"),
                let section = request.path.dropFirst(12).first?.wholeNumberValue
            else { return request.path == "/feed.xml" ? .text(feed(request), type: "application/rss+xml") : .notFound }
            return ServerScript.file(ServedFile(audio(section))).answer(request)
        }

        private static func feed(_ request: ServerRequest) -> String {
            let host = request.header("Host") ?? ""
            let items = (1...8).reversed().map { section in
                let address = "http://\(host)/audio/part-\(section).mp3?sig=abc\(section)&amp;x=1"
                return """
                    <item><title>\(name(section).replacing("&", with: "&amp;"))</title>
                    <guid isPermaLink="false">guid-00\(section)</guid><pubDate>0\(section) Mar 2024 23:30:00 +0000</pubDate>
                    <enclosure url="\(address)" length="\(audio(section).count)" type="audio/mpeg"/></item>
                    """
            }
            return "<rss version=\"2.0\"><channel><title>Sea Roads</title>\(items.joined())</channel></rss>"
        }

        /// Runs the body beside a server of the feed, with the records of the fixture, in which its port stands.
        private func withRecords<Answer>(
            isolation: isolated (any Actor)? = #isolation,
            _ body: (_ bench: Workbench, _ server: MisbehavingServer, _ feed: String) async throws -> Answer
        ) async throws -> Answer {
            try await withWorkbench { bench in
                try await withServer(Self.script) { server in
                    let port = String(server.port)
                    try #require(port.count == 5)
                    for name in try files.contentsOfDirectory(atPath: Corpus.fixture("imports").path) {
                        var bytes = try Data(contentsOf: Corpus.fixture("imports/\(name)"))
                        while let place = bytes.range(of: Data("127.0.0.1:18770".utf8)) {
                            bytes.replaceSubrange(place, with: Data("127.0.0.1:\(port)".utf8))
                        }
                        try bytes.write(to: bench.folder.appending(path: name))
                    }
                    return try await body(bench, server, "http://127.0.0.1:\(port)/feed.xml")
                }
            }
        }

        private func write(_ sections: some Sequence<Int>, _ bench: Workbench, as path: (Int) -> String) throws {
            for section in sections {
                let file = bench.folder.appending(path: path(section))
                try files.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data(Self.audio(section)).write(to: file)
            }
        }

        private func audioRequests(_ server: MisbehavingServer) -> [Int] {
            server.record.exchanges.filter { $0.request.path.hasPrefix("/audio/") }
                .compactMap { $0.request.path.dropFirst(12).first?.wholeNumberValue }.sorted()
        }

        /// What is on disk is what the server sends, and no file that booksync does not name itself.
        private func expectShelf(of sections: [Int], _ bench: Workbench) async throws {
            let expected = Dictionary(
                uniqueKeysWithValues: sections.map { section in
                    let name = Self.name(section).replacing(":", with: "：")
                    return ("Sea Roads/00\(section) \(name).mp3", sha256(Self.audio(section)))
                })
            #expect(try bench.files().mapValues { sha256(try Data(contentsOf: $0)) } == expected)
            #expect(try await bench.run("verify").exitCode == 0)
        }

        @Test(arguments: ["--copy", "--link", "--move"])
        func `gPodder's feeds are followed, its files taken, and what it deleted is not fetched again`(
            way: String
        ) async throws {
            try await withRecords { bench, server, _ in
                try files.moveItem(
                    at: bench.folder.appending(path: "gpodder-Database"), to: bench.folder.appending(path: "Database"))
                try write([1, 2] + (4...8), bench) { "Downloads/Sea Roads/part-\($0).mp3" }
                let before = try bench.files(in: bench.folder.appending(path: "Downloads"))

                let refused = try await bench.run("import", "gpodder", "Database")
                #expect(refused.exitCode == 64)
                #expect(refused.errors.contains("say --link, --copy or --move"), "\(refused.errors)")
                let dry = try await bench.run("import", "gpodder", "Database", way, "--dry-run", "--json")
                #expect(dry.exitCode == 0, "\(dry.errors)")
                #expect(!bench.exists)
                let planned = try #require(try JSONObject(dry.output).objects("books").first)
                #expect(
                    planned.object("adoption")?.objects("recognised").map { $0["confidence"] ?? "" }
                        == Array(repeating: "record", count: 7))
                #expect(planned.objects("not_fetched_again").map { $0["id"] } == ["guid-003"])
                #expect(planned["subscription"] == nil)

                let result = try await bench.run("import", "gpodder", "Database", way)
                #expect(result.exitCode == 0, "\(result.errors)")
                #expect(
                    result.outputLines.last?.hasSuffix(
                        "Sea Roads: 7 adopted, 1 fetched before and not fetched again, subscribed") == true,
                    "\(result.output)")
                let after = try bench.files(in: bench.folder.appending(path: "Downloads"))
                #expect(Set(after.keys) == (way == "--move" ? [] : Set(before.keys)))
                let mirror = try await bench.run("mirror", "--json").summary()
                #expect(mirror.number("kept") == 7)
                #expect(mirror.number("removed") == 1)
                #expect(audioRequests(server) == [])
                try await expectShelf(of: [1, 2] + (4...8), bench)

                let why = try await bench.run("explain", "Sea Roads/3")
                #expect(why.output.contains("Another program had fetched it"), "\(why.output)")
                let again = try await bench.run("import", "gpodder", "Database", way, "--json")
                #expect(again.exitCode == 0, "\(again.errors)")
                let second = try #require(try JSONObject(again.output).objects("books").first)
                #expect(second["subscription"] == "already")
                let totals = second.object("adoption")?.object("totals")
                #expect(totals?.number("adopted") == 0 && totals?.number("unmatched") == 0)
                #expect(second.objects("not_fetched_again").isEmpty)

                #expect(try await bench.run("remove", "Sea Roads/3", "--forget").exitCode == 0)
                #expect(try await bench.run("mirror", "--json").summary().number("fetched") == 1)
                #expect(audioRequests(server) == [3])
            }
        }

        @Test func `Audiobookshelf's files are found where its container's folder is now`() async throws {
            try await withRecords { bench, server, _ in
                try write(2...8, bench) { "abs/Sea Roads/Chapter \($0) - The road.mp3" }
                let result = try await bench.run("import", "audiobookshelf", ".", "--files", "abs", "--copy")
                #expect(result.exitCode == 64)
                let named = try await bench.run(
                    "import", "audiobookshelf", "audiobookshelf.sqlite", "--files", "abs", "--copy")
                #expect(named.exitCode == 0, "\(named.errors)")
                #expect(named.errors.contains("2 books of Audiobookshelf without a feed"), "\(named.errors)")
                #expect(named.output.contains("7 adopted, subscribed"), "\(named.output)")
                #expect(try await bench.run("mirror", "--json").summary().number("fetched") == 1)
                #expect(audioRequests(server) == [1])
                try await expectShelf(of: Array(1...8), bench)
            }
        }

        @Test(arguments: ["podcast-dl-archive.json", "podcast-dl-8-archive.json"])
        func `podcast-dl's files are found by day and title`(archive: String) async throws {
            try await withRecords { bench, server, feed in
                try write(1...5, bench) { "out/2024030\($0)-\(Self.name($0).replacing(":", with: "_")).mp3" }
                let nameless = try await bench.run("import", "podcast-dl", archive)
                #expect(nameless.exitCode == 64)
                #expect(nameless.errors.contains("name them with --book"), "\(nameless.errors)")
                #expect(try await bench.run("subscribe", feed).exitCode == 0)
                let result = try await bench.run("import", "podcast-dl", archive, "--files", "out", "--move")
                #expect(result.exitCode == 0, "\(result.errors)")
                #expect(result.output.contains("5 adopted"), "\(result.output)")
                #expect(try await bench.run("mirror", "--json").summary().number("fetched") == 3)
                #expect(audioRequests(server) == [6, 7, 8])
                try await expectShelf(of: Array(1...8), bench)
            }
        }

        @Test func `yt-dlp's archive alone keeps what it lists from being fetched`() async throws {
            try await withRecords { bench, server, feed in
                let result = try await bench.run("import", "yt-dlp", "yt-dlp-archive.txt", "--book", feed)
                #expect(result.exitCode == 0, "\(result.errors)")
                #expect(result.output.contains("6 fetched before and not fetched again"), "\(result.output)")
                #expect(try await bench.run("fetch", feed, "--json").summary().number("fetched") == 2)
                #expect(audioRequests(server) == [1, 2])
            }
        }

        @Test func `the demo catalog is asked where there is no other`() async throws {
            try await withWorkbench { bench in
                try Data("generic 5000000006\n".utf8).write(to: bench.folder.appending(path: "archive"))
                for arguments in [["--book", "demo:40111"], []] {
                    let result = try await bench.runBare(["import", "yt-dlp", "archive", "--library", "L"] + arguments)
                    #expect(result.exitCode == 0, "\(result.errors)")
                    #expect(try await bench.run("subscribe", "demo:40111").exitCode == 0)
                }
            }
        }

        @Test func `a page that castget saved as audio is fetched, the rest is not`() async throws {
            try await withRecords { bench, server, _ in
                try files.createDirectory(
                    at: bench.folder.appending(path: ".castget"), withIntermediateDirectories: true)
                try files.moveItem(
                    at: bench.folder.appending(path: "castget-roads.xml"),
                    to: bench.folder.appending(path: ".castget/roads.xml"))
                let spool = bench.folder.appending(path: "spool").path
                let configuration = try String(contentsOf: bench.folder.appending(path: "castgetrc"), encoding: .utf8)
                try Data(configuration.replacing("SPOOL", with: spool).utf8)
                    .write(to: bench.folder.appending(path: ".castgetrc"))
                try write([1, 2], bench) { "spool/part-\($0).mp3" }
                try Data("<!DOCTYPE html><html><body>not found</body></html>".utf8)
                    .write(to: bench.folder.appending(path: "spool/part-3.mp3"))
                let result = try await bench.run("import", "castget", ".castgetrc", "--copy")
                #expect(result.exitCode == 0, "\(result.errors)")
                let sentence =
                    "Sea Roads: 2 adopted, 1 not recognised and left alone, 1 fetched before and not fetched again, subscribed"
                #expect(result.output.contains(sentence), "\(result.output)")
                #expect(try await bench.run("mirror", "--json").summary().number("fetched") == 5)
                #expect(audioRequests(server) == [3, 5, 6, 7, 8])
                try await expectShelf(of: [1, 2, 3, 5, 6, 7, 8], bench)
            }
        }

        @Test func `a feed that cannot be asked leaves the others alone`() async throws {
            try await withRecords { bench, _, feed in
                let dead = feed.replacing("feed.xml", with: "gone.xml")
                try Data("[gone]\nurl=\(dead)\nspool=/nowhere\n[roads]\nurl=\(feed)\nspool=/nowhere\n".utf8)
                    .write(to: bench.folder.appending(path: ".castgetrc"))
                let result = try await bench.run("import", "castget", ".castgetrc", "--json")
                #expect(result.exitCode == 66, "\(result.errors)")
                let books = try JSONObject(result.output).objects("books")
                #expect(books.map { $0["id"] } == [dead, feed])
                #expect(books.map { $0["subscription"] } == ["subscribed", "subscribed"])
                #expect(books.map { $0["error"] == nil } == [false, true])
            }
        }
    }
}
