import Foundation
import Support
import Testing

extension ProductTests {
    /// A run is done when all that is wanted is there, and what it says is so.
    @Suite struct HonestRuns {
        private static func feed(_ title: String, items: [Int], host: String = "") -> String {
            let items = items.map { number in
                """
                <item><title>Ep \(number)</title><guid>\(title)-\(number)</guid>
                <enclosure url="\(host)/audio/\(number).mp3" length="20000" type="audio/mpeg"/></item>
                """
            }
            return "<rss version=\"2.0\"><channel><title>\(title)</title>\(items.joined())</channel></rss>"
        }

        private static func answer(_ feed: String) -> Reply { .text(feed, type: "application/rss+xml") }

        @Test func `a listing that is cut or empty is 75, with a line, every night that it is`() async throws {
            let whole = Self.feed("Emma", items: [1, 2, 3])
            let second = try #require(whole.range(of: "<item><title>Ep 2")).lowerBound
            let third = try #require(whole.range(of: "<item><title>Ep 3")).lowerBound
            let (one, two, empty) = (String(whole[..<second]), String(whole[..<third]), Self.feed("Emma", items: []))
            let (cut, none) = ("the feed ends in the middle", "the feed lists no episodes")
            let served = Watched(whole)
            let script = ServerScript { request in
                request.path == "/emma.xml"
                    ? Self.answer(served.value) : ServerScript.file(sampleMP3(bytes: 20_000)).answer(request)
            }
            try await withWorkbench { bench in
                try await withServer(script) { server in
                    #expect(try await bench.run("subscribe", server.url("/emma.xml"), "-q").exitCode == 0)
                    let nights: [(feed: String, why: String?)] = [
                        (whole, nil), (String(whole.dropLast(30)), cut), (two, cut), (two, cut), (two, cut), (one, cut),
                        (one, cut), (whole, nil), (one, cut), (empty, none), (empty, none),
                    ]
                    for (feed, why) in nights {
                        served.update { $0 = feed }
                        let night = try await bench.run("mirror", "-q")
                        #expect(night.exitCode == (why == nil ? 0 : 75), "\(night.errors)")
                        let line = why.map { "failed: Emma: episodes may be missing: \($0)" } ?? ""
                        #expect(night.errors.hasPrefix(line), "\(night.errors)")
                        #expect(night.errorLines.count == (why == nil ? 0 : 1), "\(night.errors)")
                        let doctor = try await bench.run("doctor").output
                        let isTold = doctor.contains("the last listing of Emma was incomplete")
                        #expect(isTold == (why != nil), "\(doctor)")
                    }
                    #expect(try bench.files().count == 3)
                    // A podcast that has not begun lacks nothing.
                    #expect(
                        try await bench.runBare(["fetch", server.url("/emma.xml"), "--library", "New"]).exitCode == 0)
                }
            }
        }

        @Test func `a whole response with a count that is always wrong is told in the first night`() async throws {
            let script = ServerScript { request in
                guard request.path == "/api/feed/audiobooks" else {
                    return ServerScript.file(sampleMP3(bytes: 20_000)).answer(request)
                }
                let address = "http://\(request.header("Host") ?? "")/audio/1.mp3"
                return .text(
                    """
                    {"books":[{"id":"4711","title":"A Case","num_sections":"2","sections":[{"id":"101",
                    "section_number":"1","title":"Chapter 1","listen_url":"\(address)","playtime":"5"}]}]}
                    """)
            }
            try await withWorkbench { bench in
                try await withServer(script) { server in
                    let base = server.url("")
                    try bench.configure(
                        """
                        sources:
                          librivox: { type: librivox, url: "\(base)", archive-url: "\(base)", allow-private-addresses: true }
                        subscriptions: [{ book: "librivox:4711" }]
                        """)
                    for code: Int32 in [75, 0, 0] {
                        let night = try await bench.run("mirror", environment: bench.configured)
                        #expect(night.exitCode == code, "\(night.errors)")
                        #expect(night.errors.contains("declares 2 sections and lists 1"), "\(night.errors)")
                    }
                }
            }
        }

        @Test func `a failure names its book and episode in the mail, the log, the runs, JSON and the queue`()
            async throws
        {
            let script = ServerScript { request in
                switch request.path {
                case "/good.xml": Self.answer(Self.feed("Good", items: [1]))
                case "/bad.xml": Self.answer(Self.feed("Bad mix", items: [1, 2]))
                case "/audio/1.mp3": ServerScript.file(sampleMP3(bytes: 20_000)).answer(request)
                default: .notFound
                }
            }
            try await withWorkbench { bench in
                try await withServer(script) { server in
                    for path in ["/good.xml", "/bad.xml"] {
                        #expect(try await bench.run("subscribe", server.url(path), "-q").exitCode == 0)
                    }
                    let name = "Bad mix, episode 2 'Ep 2': the server does not have the file (404)"
                    let mail = try await bench.run("mirror", "--quiet", "--log-file", "log")
                    #expect(mail.exitCode == 75)
                    #expect(mail.errorLines.first?.hasPrefix("failed: \(name)") == true, "\(mail.errors)")
                    #expect(mail.errorLines.last?.contains("1 failed in") == true, "\(mail.errors)")
                    let log = try String(contentsOf: bench.folder.appending(path: "log"), encoding: .utf8)
                    #expect(log.contains(name), "\(log)")
                    let runs = try await bench.run("runs")
                    #expect(runs.output.contains(name), "\(runs.output)")
                    // A row has the names in columns of their own, and says them once.
                    let queue = try await bench.run("queue")
                    let row = try #require(queue.outputLines.last)
                    #expect(row.hasPrefix("Bad mix ") && row.contains("Ep 2"), "\(row)")
                    #expect(row.contains("the server does not have the file (404)"), "\(row)")
                    #expect(row.ranges(of: "Ep 2").count == 1 && row.ranges(of: "Bad mix").count == 1, "\(row)")
                    let again = try await bench.run("fetch", server.url("/bad.xml#2"), "--json")
                    let failed = try again.events().first { $0["event"] == "failed" }
                    #expect(failed?["error"]?.hasPrefix(name) == true, "\(again.output)")
                }
            }
        }

        @Test func `a catalog that fails is named by the title of its book`() async throws {
            let isGone = Watched(false)
            let script = ServerScript { request in
                if request.path != "/mover.xml" { return ServerScript.file(sampleMP3(bytes: 20_000)).answer(request) }
                return isGone.value ? .notFound : Self.answer(Self.feed("Mover", items: [1]))
            }
            try await withWorkbench { bench in
                try await withServer(script) { server in
                    #expect(try await bench.run("subscribe", server.url("/mover.xml"), "-q").exitCode == 0)
                    #expect(try await bench.run("mirror", "-q").exitCode == 0)
                    isGone.update { $0 = true }
                    let night = try await bench.run("mirror", "-q")
                    #expect(night.exitCode == 66)
                    #expect(night.errors.hasPrefix("failed: Mover: "), "\(night.errors)")
                    #expect(night.errors.contains(server.url("/mover.xml")))
                }
            }
        }

        @Test(arguments: [
            (["40111/latest:2"], "2 fetched"), (["40111", "--match", "00[12]"], "2 fetched"),
            (["40111/2"], "1 fetched"), (["40111/3"], "0 fetched, 1 kept"),
        ])
        func `what was not asked for is not counted`(_ asked: [String], _ counts: String) async throws {
            try await withWorkbench { bench in
                #expect(try await bench.run("fetch", "40111/1-4", "-q").exitCode == 0)
                #expect(try await bench.run("remove", "40111/1", "40111/4", "--yes", "-q").exitCode == 0)
                try await bench.dropFiles("40111/2")
                let plan = try await bench.runBare(["plan", "--library", "L"] + asked)
                let result = try await bench.runBare(["fetch", "--library", "L"] + asked)
                // Episode 1 is removed, and matches.
                let isMatch = asked.contains("--match")
                let expected = isMatch ? "1 fetched" : counts
                let line = try #require(result.errorLines.last)
                #expect(line.contains("夜航船: \(expected)"), "\(line)")
                #expect(line.contains("1 removed earlier") == isMatch, "\(line)")
                #expect(line.contains("kept") == counts.contains("kept"), "\(line)")
                #expect(plan.outputLines.last?.contains("to keep") == counts.contains("kept"), "\(plan.output)")
                let summary = try await bench.runBare(["fetch", "--json", "--library", "L"] + asked).summary()
                let words = ["fetched", "kept", "removed", "filtered", "locked", "failed", "left"]
                #expect(words.compactMap(summary.number).reduce(0, +) == 6)
            }
        }

        @Test func `a removed episode that is asked for by name is told, with what brings it back`() async throws {
            try await withWorkbench { bench in
                #expect(try await bench.run("fetch", "40111/1-2", "-q").exitCode == 0)
                #expect(try await bench.run("remove", "40111/1", "-q").exitCode == 0)
                let quiet = try await bench.run("fetch", "40111/1", "-q")
                #expect(quiet.exitCode == 75)
                #expect(quiet.errors.contains("夜航船, episode 1 '第001集_夜航船': removed"), "\(quiet.errors)")
                for remedy in ["booksync fetch demo:40111/1 --force", "booksync trash restore demo:40111/1"] {
                    #expect(quiet.errors.contains(remedy), "\(quiet.errors)")
                }
                let explained = try await bench.run("explain", "40111/1")
                #expect(explained.output.contains("booksync trash restore demo:40111/1 brings it back"))
                // Nobody asks for each of these.
                let range = try await bench.run("fetch", "40111/1-2")
                #expect(range.exitCode == 0 && range.errors.contains("1 kept, 1 removed earlier"), "\(range.errors)")
                #expect(try await bench.run("fetch", "40111/1", "--force", "-q").exitCode == 0)
                #expect(try bench.files().count == 2)
            }
        }

        @Test func `episodes that --max-episodes leaves are told, also with --quiet`() async throws {
            try await withWorkbench { bench in
                #expect(try await bench.run("subscribe", "demo:40111", "-q").exitCode == 0)
                let first = try await bench.run("mirror", "-q", "--max-episodes", "4")
                #expect(first.exitCode == 75)
                #expect(first.errors.contains("2 left for the next run"), "\(first.errors)")
                let recorded = try #require(try JSONObject.list(try await bench.run("runs", "--json").output).last)
                #expect(recorded.number("exit_code") == 75)
                #expect(recorded["error"]?.hasPrefix("2 episodes left for the next run") == true)
                let second = try await bench.run("mirror", "-q", "--max-episodes", "4")
                #expect(second.exitCode == 0 && second.errors == "", "\(second.errors)")
            }
        }

        @Test func `the seconds of a run count the wait for its address`() async throws {
            // The first answer comes slowly; the others at once.
            let feed = Self.feed("Slow", items: [1]) + String(repeating: " ", count: 60_000)
            let asked = Watched(0)
            let script = ServerScript { request in
                guard request.path == "/slow.xml" else {
                    return ServerScript.file(sampleMP3(bytes: 20_000)).answer(request)
                }
                var reply = Self.answer(feed)
                asked.update { $0 += 1 }
                if asked.value == 1 { reply.pace = Pace(bytesPerSecond: 30_000) }
                return reply
            }
            try await withWorkbench { bench in
                try await withServer(script) { server in
                    let result = try await bench.run("fetch", server.url("/slow.xml"), "--json")
                    #expect(result.exitCode == 0, "\(result.errors)")
                    #expect(try result.summary().double("seconds") ?? 0 >= 1)
                }
            }
        }
    }
}
