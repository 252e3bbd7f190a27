import Foundation
import Support
import Testing

/// A show at `/feed.xml`, as it is in one night.
private struct Show: Sendable {
    struct Item: Sendable {
        var title: String
        var guid: String
        /// Hours since 1 January 2020.
        var hour: Int
        var path: String
        var bytes: [UInt8]
    }

    var title = "Show"
    var items: [Item] = []
    /// Where the feed is for now, with the status that says so.
    var elsewhere: (status: Int, path: String)?

    /// So many items with a title each, listed as they come here.
    init(_ titles: [String], hours: (Int) -> Int) {
        items = titles.enumerated().map { index, title in
            Item(
                title: title, guid: "g\(index)", hour: hours(index), path: "/\(index).mp3",
                bytes: sampleMP3(bytes: 20_000 + index, seed: UInt64(index)))
        }
    }

    func answer(_ request: ServerRequest) -> Reply {
        if let item = items.first(where: { $0.path == request.path }) {
            return ServerScript.file(item.bytes, etag: "\"\(item.guid)\"").answer(request)
        }
        if request.path == "/maintenance.xml" { return page("Back soon", []) }
        if request.path == "/feed.xml", let elsewhere {
            return .text("", status: elsewhere.status, headers: ["Location": elsewhere.path])
        }
        let host = request.header("Host") ?? ""
        return request.path.hasSuffix(".xml") ? page(title, items.map { element(of: $0, at: host) }) : .notFound
    }

    private func page(_ title: String, _ items: [String]) -> Reply {
        .text(
            "<rss version=\"2.0\"><channel><title>\(title)</title>\(items.joined())</channel></rss>",
            type: "application/rss+xml")
    }

    private func element(of item: Item, at host: String) -> String {
        let date = Date(timeIntervalSince1970: 1_577_836_800 + Double(item.hour) * 3600).formatted(.iso8601)
        return "<item><title>\(item.title)</title><guid isPermaLink=\"false\">\(item.guid)</guid>"
            + "<pubDate>\(date)</pubDate><enclosure url=\"http://\(host)\(item.path)\" length=\"\(item.bytes.count)\" "
            + "type=\"audio/mpeg\"/></item>"
    }
}

extension ProductTests {
    /// Feeds as they change from night to night.
    @Suite struct FeedNights {
        private static func withShow(
            _ show: Show, _ body: (Workbench, MisbehavingServer, Watched<Show>) async throws -> Void
        ) async throws {
            let show = Watched(show)
            try await withWorkbench { bench in
                try await withServer(ServerScript { show.value.answer($0) }) { server in
                    try await body(bench, server, show)
                }
            }
        }

        private static let readings = ["I", "II", "III", "IV", "V", "VI"]

        @Test func `an audiobook that was put online from the last reading to the first is heard from the first on`()
            async throws
        {
            // Dated by the order in which they are listed.
            let titles = Self.readings.reversed().map { "A Novel, reading \($0)" }
            try await Self.withShow(Show(titles) { $0 }) { bench, server, _ in
                let fetched = try await bench.run("fetch", server.url("/feed.xml"), "-q")
                #expect(fetched.exitCode == 0, "\(fetched.errors)")
                let expected = Self.readings.enumerated().map { "Show/00\($0 + 1) A Novel, reading \($1).mp3" }
                #expect(try bench.files().keys.sorted() == expected)
            }
        }

        @Test func `numbers that are all that tells the files apart stay in their names`() async throws {
            let titles = (1...4).reversed().map { "\($0). A Novel, read by R" }
            try await Self.withShow(Show(titles) { $0 }) { bench, server, _ in
                _ = try await bench.run("fetch", server.url("/feed.xml"), "-q")
                let expected = (1...4).map { "Show/00\($0) \($0). A Novel, read by R.mp3" }
                #expect(try bench.files().keys.sorted() == expected)
            }
        }

        @Test func `files that are there already are renamed only when the user asks, which plan tells`() async throws {
            // At first the titles had no numbers.
            let titles = Self.readings.reversed().map { "\($0)" }
            try await Self.withShow(Show(titles.map { "Reading of \($0.lowercased())" }) { $0 }) {
                bench, server, show in
                let feed = server.url("/feed.xml")
                _ = try await bench.run("fetch", feed, "-q")
                let sent = server.record.audioBytes
                show.update { show in
                    for index in titles.indices { show.items[index].title = "Reading \(titles[index])" }
                }
                let fetched = try await bench.run("fetch", feed, "--json")
                #expect(fetched.exitCode == 0 && !fetched.errors.contains("--renumber"), "\(fetched.errors)")
                let before = try bench.files().keys.sorted()
                #expect(before.first == "Show/001 Reading VI.mp3")

                let planned = try await bench.run("plan", feed)
                #expect(planned.errors.contains("6 episodes would have another number"), "\(planned.errors)")
                #expect(planned.errors.contains("booksync fetch feed:\(feed) --renumber"))
                let shown = try JSONObject(try await bench.run("plan", feed, "--renumber", "--json").output)
                #expect(shown.object("totals")?.number("rename") == 6)
                #expect(try bench.files().keys.sorted() == before)

                let renumbered = try await bench.run("fetch", feed, "--renumber", "--json")
                #expect(try renumbered.summary().number("renamed") == 6, "\(renumbered.errors)")
                let after = Self.readings.enumerated().map { "Show/00\($0 + 1) Reading \($1).mp3" }
                #expect(try bench.files().keys.sorted() == after)
                #expect(server.record.audioBytes == sent)
                #expect(try !(await bench.run("plan", feed)).errors.contains("--renumber"))
                #expect(try await bench.run("fetch", feed, "--json").summary().number("kept") == 6)

                // Undo restores the numbers with the names, so that a new episode has one of its own.
                show.update { show in
                    var item = show.items[0]
                    (item.title, item.guid, item.path, item.hour) = ("Reading VII", "g7", "/7.mp3", 99)
                    item.bytes = sampleMP3(bytes: 20_100, seed: 77)
                    show.items.insert(item, at: 0)
                }
                #expect(try await bench.run("undo", "-q").exitCode == 0)
                #expect(try bench.files().keys.sorted() == before)
                for _ in 1...2 {
                    let next = try await bench.run("fetch", feed, "--json")
                    #expect(next.exitCode == 0, "\(next.errors)")
                    #expect(try bench.files().keys.sorted() == before + ["Show/007 Reading VII.mp3"])
                }
                #expect(try await bench.run("plan", feed).errors.contains("6 episodes would have another number"))
                let again = try await bench.run("fetch", feed, "--renumber", "--json")
                #expect(try again.summary().number("renamed") == 6, "\(again.errors)")
                #expect(try bench.files().keys.sorted() == after + ["Show/007 Reading VII.mp3"])
            }
        }

        @Test func `with fractions among the numbers the listing's order counts, and none is given twice`() async throws
        {
            let titles = ["Ep 1", "Ep 2", "Ep 2.5", "Ep 3", "Ep 4", "Ep 5", "Ep 6", "Ep 7", "Ep 8", "Ep 9"]
            try await Self.withShow(Show(titles) { $0 }) { bench, server, _ in
                let feed = server.url("/feed.xml")
                let listed = try JSONObject(try await bench.run("catalog", feed, "--json").output)
                #expect(listed.objects("episodes").compactMap { $0.number("section") } == Array(1...10))
                #expect(try await bench.run("fetch", feed, "-q").exitCode == 0)
                let expected = titles.enumerated().map { index, title in
                    "Show/\(index < 9 ? "00" : "0")\(index + 1) \(title).mp3"
                }
                #expect(try bench.files().keys.sorted() == expected)
                #expect(try await !bench.run("plan", feed).errors.contains("--renumber"))
            }
        }

        @Test func `a placeholder for a night renames nothing, and neither does a feed that moved`() async throws {
            try await Self.withShow(Show(["a", "b", "c"]) { $0 }) { bench, server, show async throws in
                #expect(try await bench.run("subscribe", server.url("/feed.xml"), "-q").exitCode == 0)
                _ = try await bench.run("mirror", "-q")
                let files = try bench.files().keys.sorted()
                show.update { $0.elsewhere = (302, "/maintenance.xml") }
                let placeholder = try await bench.run("mirror", "-q")
                #expect(placeholder.exitCode == 75)
                #expect(placeholder.errors.contains("no episodes"), "\(placeholder.errors)")
                #expect(try bench.files().keys.sorted() == files)
                // One with an episode that says why nothing else is there.
                show.update { $0.elsewhere = nil }
                let whole = show.value
                show.update { show in
                    (show.title, show.items) = ("Maintenance", [Show(["We will be back"]) { _ in 99 }.items[0]])
                    (show.items[0].guid, show.items[0].path) = ("back", "/back.mp3")
                }
                _ = try await bench.run("mirror", "-q")
                #expect(Set(try bench.files().keys.map { $0.split(separator: "/")[0] }) == ["Show"])
                show.update { show in
                    show = whole
                    show.elsewhere = (301, "/moved.xml")
                    show.items.append(Show(["a", "b", "c", "d"]) { $0 }.items[3])
                }
                #expect(try await bench.run("mirror", "--json").summary().number("renamed") == 0)
                let now = Set(try bench.files().keys)
                #expect(now.isSuperset(of: files) && now.contains { $0.hasSuffix("d.mp3") })
            }
        }

        @Test func `a new title renames the files after three listings, which is told also to the quiet`() async throws
        {
            try await Self.withShow(Show(["a", "b"]) { $0 }) { bench, server, show async throws in
                #expect(try await bench.run("subscribe", server.url("/feed.xml"), "-q").exitCode == 0)
                _ = try await bench.run("mirror", "-q")
                // To and fro, and then to stay.
                for (title, folder) in [
                    ("New", "Show"), ("New", "Show"), ("Show", "Show"), ("New", "Show"), ("New", "Show"),
                ] {
                    show.update { $0.title = title }
                    let night = try await bench.run("mirror", "-q")
                    #expect(night.exitCode == 0 && night.errors.isEmpty, "\(night.errors)")
                    #expect(try bench.files().keys.sorted() == ["\(folder)/001 a.mp3", "\(folder)/002 b.mp3"])
                }
                let night = try await bench.run("mirror", "-q")
                #expect(night.exitCode == 0 && night.errors.contains("'Show' is called 'New' from now on"))
                #expect(try bench.files().keys.sorted() == ["New/001 a.mp3", "New/002 b.mp3"])
                // What the user calls it counts at once.
                #expect(
                    try await bench.run("subscribe", server.url("/feed.xml"), "--title", "Mine", "-q").exitCode == 0)
                #expect(try await bench.run("mirror", "--json").summary().number("renamed") == 2)
            }
        }

        @Test func `each bulletin at one address is an episode, and guids that change every night are none`()
            async throws
        {
            try await Self.withShow(Show(["News"]) { $0 }) { bench, server, show async throws in
                var bulletins: [String] = []
                for night in 0..<3 {
                    show.update { show in
                        show.items[0].guid = "bulletin-\(night)"
                        show.items[0].hour = night
                        show.items[0].bytes = sampleMP3(bytes: 20_000, seed: UInt64(70 + night))
                    }
                    bulletins.append(sha256(show.value.items[0].bytes))
                    #expect(
                        try await bench.run("fetch", server.url("/feed.xml"), "--json").summary().number("fetched") == 1
                    )
                }
                #expect(try bench.digests() == bulletins)
            }
            try await Self.withShow(Show(["Part a", "Part b", "Part c"]) { $0 }) { bench, server, show async throws in
                for night in 0..<3 {
                    show.update { show in
                        for index in 0..<3 { show.items[index].guid = "\(night)-\(index)" }
                    }
                    let run = try await bench.run("fetch", server.url("/feed.xml"), "--json")
                    #expect(try run.summary().number("fetched") == (night == 0 ? 3 : 0), "\(run.errors)")
                }
                #expect(try bench.files().count == 3)
            }
        }
    }
}

extension ServerRecord {
    fileprivate var audioBytes: Int {
        exchanges.reduce(0) { $0 + ($1.request.path.hasSuffix(".mp3") ? $1.bodyBytesSent : 0) }
    }
}
