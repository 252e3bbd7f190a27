import Foundation
import Support
import Testing

extension ProductTests {
    /// What is inside the files, judged by ffprobe.
    @Suite(.needs("ffmpeg", "ffprobe"))
    struct MediaTests {
        private static let probing = ["BOOKSYNC_PROBE": "auto"]

        /// Makes an audio file with ffmpeg and returns its bytes.
        private func make(_ name: String, _ arguments: String, in bench: Workbench) async throws -> [UInt8] {
            let input = "-v error -nostdin -f lavfi -t 20 -i sine=frequency=330 "
            let result = try await ForeignProgram.run(
                "ffmpeg", (input + arguments).split(separator: " ").map(String.init) + ["-y", name], in: bench)
            #expect(result.exitCode == 0, "\(result.errors)")
            return Array(try Data(contentsOf: bench.folder.appending(path: name)))
        }

        /// Three chapters, as ffmpeg reads them.
        private func writeChapters(in bench: Workbench) throws {
            let chapters = ["开头", "中间", "结尾"].enumerated().map { place, title in
                "[CHAPTER]\nTIMEBASE=1/1\nSTART=\(place * 7)\nEND=\(min(20, place * 7 + 7))\ntitle=\(title)\n"
            }
            try Data((";FFMETADATA1\ntitle=第一集\n" + chapters.joined()).utf8)
                .write(to: bench.folder.appending(path: "chapters"))
        }

        private static let simpleChapters = """
            <psc:chapters xmlns:psc="http://podlove.org/simple-chapters">
            <psc:chapter start="00:00:12" title="Ende"/><psc:chapter start="00:00" title="Anfang"/></psc:chapters>
            """

        /// A feed of files.
        /// - Parameter isDeclared: whether the feed and the server say of each file how long it is; else neither does.
        private func withFeed(
            _ files: [(name: String, bytes: [UInt8])], and chapters: [String: ServerScript] = [:],
            isDeclared: Bool = false, in bench: Workbench,
            _ body: (MisbehavingServer, [String: String]) async throws -> Void
        ) async throws {
            var scripts = Dictionary(
                uniqueKeysWithValues: files.map { name, bytes in
                    let file = ServerScript.file(bytes)
                    return ("/\(name)", isDeclared ? file : .file(bytes, ranges: false, [.framing(.untilClose)]))
                })
            scripts.merge(chapters) { $1 }
            scripts["/feed"] = ServerScript { request in
                let items = files.map { name, bytes in
                    let length = isDeclared ? "length=\"\(bytes.count)\"" : ""
                    let document = "http://\(request.header("Host") ?? "")/\(name).json"
                    return "<item>"
                        + (name.hasPrefix("psc") ? Self.simpleChapters : "")
                        + (chapters.isEmpty ? "" : "<podcast:chapters url=\"\(document)\" type=\"application/json\"/>")
                        + "<title>\(name)</title><guid>\(name)</guid><itunes:duration>\(name.hasPrefix("stub") ? 900 : 25)</itunes:duration>"
                        + "<enclosure url=\"http://\(request.header("Host") ?? "")/\(name)\" \(length) type=\"audio/mpeg\"/></item>"
                }
                return .text(
                    "<rss version=\"2.0\" xmlns:itunes=\"http://www.itunes.com/dtds/podcast-1.0.dtd\"><channel>"
                        + "<title>Sounds</title>\(items.joined())</channel></rss>")
            }
            try await withServer(.paths(scripts)) { server in
                let source = "type: feed, url: \"http://127.0.0.1:\(server.port)/feed\", allow-private-addresses: true"
                try bench.configure("sources:\n  own: { \(source) }\n")
                try await body(server, bench.configured.merging(Self.probing) { $1 })
            }
        }

        private func ffprobe(_ path: String, in bench: Workbench) async throws -> Double {
            let result = try await ForeignProgram.run(
                "ffprobe", ["-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", "L/\(path)"], in: bench
            )
            return try #require(Double(result.output.trimmingCharacters(in: .whitespacesAndNewlines)))
        }

        @Test func `durations, chapters and tags are read from the files, and served`() async throws {
            try await withWorkbench { bench in
                try writeChapters(in: bench)
                let chapters = "-i chapters -map_metadata 1 -c:a"
                let files = try await [
                    ("1.mp3", make("a.mp3", "\(chapters) libmp3lame -q:a 5", in: bench)),
                    ("2.m4a", make("b.m4a", "\(chapters) aac -movflags +faststart", in: bench)),
                    ("3.mp3", Array("ID3".utf8) + [3, 0, 0, 0, 0, 0, 0] + [UInt8](repeating: 1, count: 5000)),
                ]
                try await withFeed(files, in: bench) { server, environment in
                    let run = try await bench.run("fetch", "own:feed", environment: environment)
                    #expect(run.exitCode == 0, "\(run.errors)")
                    // What the run did not come to.
                    #expect(try await bench.run("verify", environment: environment).exitCode == 0)
                    let listed = try JSONObject.list(
                        try await bench.run("list", "own:feed", "--json", environment: environment).output)
                    for (section, name) in [(1, "1.mp3"), (2, "2.m4a")] {
                        let episode = try #require(listed.first { $0["name"] == name })
                        let shown = try JSONObject(
                            try await bench.run(
                                "show", "own:feed/\(try #require(episode.number("section")))", "--json",
                                environment: environment
                            ).output)
                        let media = try #require(shown.object("media"), "\(section)")
                        let seconds = try await ffprobe(try #require(episode["path"]), in: bench)
                        #expect(abs(try #require(episode.double("duration")) - seconds) < 0.1)
                        #expect(media.objects("chapters").compactMap { $0["title"] } == ["开头", "中间", "结尾"])
                        #expect(media.objects("tags").contains { $0["name"] == "title" && $0["text"] == "第一集" })
                    }
                    // What is no audio has what the catalog says.
                    let text = try #require(listed.first { $0["name"] == "3.mp3" })
                    #expect(text.double("duration") == 25 && text["state"] == "finished")
                    let shown = try await bench.run("show", "own:feed/1", environment: environment)
                    #expect(shown.output.contains("0:07 中间"), "\(shown.output)")

                    try await bench.serve(environment: environment) { shelf in
                        let feed = String(decoding: try await shelf.send("/feeds/own/feed.xml").body, as: UTF8.self)
                        #expect(feed.contains("<itunes:duration>20</itunes:duration>"), "\(feed)")
                        let address = try #require(
                            feed.firstMatch(of: /<podcast:chapters url="http:\/\/[^\/]+([^"]+)"/)?.1)
                        let document = try JSONObject(
                            String(decoding: try await shelf.send(String(address)).body, as: UTF8.self))
                        #expect(document["version"] == "1.2.0")
                        #expect(document.objects("chapters").compactMap { $0.double("startTime") } == [0, 7, 14])
                    }
                }
            }
        }

        @Test(.needs("chromium", "chromedriver"))
        func `the page of an episode lists its chapters, plays from one, and marks the one that is played`()
            async throws
        {
            try await withWorkbench { bench in
                try writeChapters(in: bench)
                let bytes = try await make("a.mp3", "-i chapters -map_metadata 1 -c:a libmp3lame", in: bench)
                try await withFeed([("1.mp3", bytes)], in: bench) { _, environment in
                    #expect(try await bench.run("fetch", "own:feed", environment: environment).exitCode == 0)
                    #expect(try await bench.run("verify", environment: environment).exitCode == 0)
                    try await bench.serve(environment: environment) { shelf in
                        try await Browser.run { browser in
                            let audio = "document.getElementById('audio')"
                            func button(_ number: Int) -> String { "main .chapters li:nth-child(\(number)) button" }
                            let current =
                                "[...document.querySelectorAll('main .chapters [aria-current]')].map(b => b.innerText)"
                            try await browser.open("\(shelf.address)/books/own/feed")
                            let page: String = try await browser.evaluate("document.querySelector('.row .name a').href")
                            try await browser.open(page)
                            #expect(try await browser.text(of: button(2)) == "0:07 中间")
                            try await browser.click(button(2))
                            try await browser.wait(until: "\(audio).currentTime > 7")
                            try await browser.wait(until: "\(current).join() === '0:07 中间'")
                            // In what is played already it only jumps.
                            let _: Bool = try await browser.evaluate(
                                "(window.loads = 0, \(audio).onloadstart = () => window.loads++, true)")
                            try await browser.click(button(1))
                            try await browser.wait(until: "\(current).join() === '0:00 开头'")
                            #expect(try await browser.evaluate("\(audio).currentTime < 7 && window.loads === 0"))
                            // The bar has them too, wherever the user goes.
                            try await browser.click("header a")
                            try await browser.wait(until: "!document.querySelector('main .chapters')")
                            try await browser.click("#player-chapters summary")
                            try await browser.click("#player-chapters li:nth-child(3) button")
                            try await browser.wait(until: "\(audio).currentTime > 14")
                            let marked = "document.querySelector('#player-chapters [aria-current]')?.innerText"
                            try await browser.wait(until: "\(marked) === '0:14 结尾'")
                            #expect(try await browser.evaluate("window.loads === 0"))
                        }
                    }
                }
            }
        }

        @Test func `a file without chapters has those of the catalog, which is asked once`() async throws {
            try await withWorkbench { bench in
                try writeChapters(in: bench)
                let plain = try await make("a.mp3", "-c:a libmp3lame", in: bench)
                let files = try await [
                    ("psc.mp3", plain), ("json.mp3", plain), ("broken.mp3", plain), ("long.mp3", plain),
                    ("gone.mp3", plain),
                    ("own.mp3", make("b.mp3", "-i chapters -map_metadata 1 -c:a libmp3lame", in: bench)),
                ]
                let document =
                    #"{"version":"1.2.0","chapters":[{"startTime":5,"title":"Two"},{"startTime":0,"title":"One"}]}"#
                let padded = document + String(repeating: " ", count: 1 << 20)
                let chapters: [String: ServerScript] = [
                    "/psc.mp3.json": .always(.text(document)), "/json.mp3.json": .always(.text(document)),
                    "/own.mp3.json": .always(.text(document)), "/broken.mp3.json": .always(.text("<html>")),
                    "/long.mp3.json": .always(.text(padded)), "/gone.mp3.json": .always(.text("", status: 404)),
                ]
                try await withFeed(files, and: chapters, in: bench) { server, environment in
                    let run = try await bench.run("fetch", "own:feed", environment: environment)
                    #expect(run.exitCode == 0, "\(run.errors)")
                    func told() async throws -> [String: String] {
                        let shown = try await bench.run("show", "own:feed/1-6", "--json", environment: environment)
                        return Dictionary(
                            uniqueKeysWithValues: try JSONObject.list(shown.output).map { episode in
                                let media = episode.object("media")
                                let titles = media?.objects("chapters").compactMap { $0["title"] } ?? []
                                let from = media?["chapters_from"] ?? "-"
                                return (episode["name"] ?? "", "\(titles.joined(separator: " ")) \(from)")
                            })
                    }
                    let expected = [
                        "psc.mp3": "Anfang Ende catalog", "json.mp3": "One Two catalog", "own.mp3": "开头 中间 结尾 file",
                        "broken.mp3": " -", "long.mp3": " -", "gone.mp3": " -",
                    ]
                    // A server that has nothing else to do reads what the run did not come to.
                    try await bench.serve(environment: environment) { _ in
                        var looks = 0
                        func isRead() async throws -> Bool {
                            let asked = server.record.requests.count { $0.path.hasSuffix(".json") }
                            return try await told() == expected && asked == 4
                        }
                        while try await !isRead(), looks < 200 { looks += 1 }
                    }
                    #expect(try await told() == expected)
                    let asked = server.record.requests.map(\.path).filter { $0.hasSuffix(".json") }
                    #expect(
                        asked.sorted()
                            == ["/broken.mp3.json", "/gone.mp3.json", "/json.mp3.json", "/long.mp3.json"])
                    // With tags in it, it is another file of the same episode.
                    let tagged = try await bench.run("tag", "own:feed", environment: environment)
                    #expect(tagged.exitCode == 0, "\(tagged.errors)")
                    _ = try await bench.run("fetch", "own:feed", environment: environment)
                    _ = try await bench.run("verify", environment: environment)
                    #expect(try await told() == expected)
                    #expect(server.record.requests.count { $0.path.hasSuffix(".json") } == asked.count)
                    try await bench.serve(environment: environment) { shelf in
                        let feed = String(decoding: try await shelf.send("/feeds/own/feed.xml").body, as: UTF8.self)
                        #expect(feed.matches(of: /<podcast:chapters url/).count == 3)
                    }
                }
            }
        }

        @Test func `what breaks off is asked for twice, and fails with the second at which it does`() async throws {
            try await withWorkbench { bench in
                let whole = try await make("a.flac", "-c:a flac", in: bench)
                let index = try await make("b.m4a", "-c:a aac", in: bench)
                let files = [
                    ("1.flac", Array(whole.prefix(whole.count / 2))), ("2.m4a", Array(index.prefix(index.count / 2))),
                    ("3.flac", whole), ("stub.flac", whole),
                ]
                try await withFeed(files, in: bench) { server, environment in
                    let run = try await bench.run("fetch", "own:feed", environment: environment)
                    #expect(run.exitCode == 75 && run.errors.contains("1 fetched"), "\(run.exitCode) \(run.errors)")
                    #expect(run.errors.contains(/its audio breaks off at 0:(09|10)/), "\(run.errors)")
                    #expect(run.errors.contains("its audio cannot be read"), "\(run.errors)")
                    #expect(run.errors.contains("it lasts 20 s, and the catalog says 15 min"), "\(run.errors)")
                    #expect(try bench.digests() == [sha256(whole)])
                    for (path, count) in [("/1.flac", 2), ("/2.m4a", 2), ("/3.flac", 1)] {
                        #expect(server.record.requests.count { $0.path == path } == count, "\(path)")
                    }
                    // The next night would bring the same bytes.
                    let next = try await bench.run("fetch", "own:feed", environment: environment)
                    #expect(next.exitCode == 75 && next.errors.contains("held back"), "\(next.errors)")
                    #expect(server.record.requests.count { $0.path == "/1.flac" } == 2)
                    // Without a look into the files nobody can tell.
                    let blind = try await bench.run(
                        "fetch", "own:feed", "--force",
                        environment: environment.merging(["BOOKSYNC_PROBE": "off"]) { $1 })
                    #expect(blind.exitCode == 0, "\(blind.errors)")
                    #expect(try bench.files().count == 4)
                    #expect(try await bench.run("verify", environment: environment).exitCode == 0)
                    let deep = try await bench.run("verify", "--deep", "--json", environment: environment)
                    let document = try JSONObject(deep.output)
                    #expect(deep.exitCode == 75 && document.object("totals")?.number("intact") == 2, "\(deep.output)")
                    let bad = document.objects("bad").filter { $0["condition"] == "broken_audio" }
                    // To fetch it again would bring the same.
                    let told = try await bench.run("verify", "--deep", environment: environment)
                    #expect(!told.errors.contains("--repair"), "\(told.errors)")
                    #expect(bad.count == 2 && bad.allSatisfy { $0["reason"]?.contains("its audio") == true })
                }
            }
        }

        /// An environment with this script for ffprobe.
        private func standIn(_ script: String, _ environment: [String: String], in bench: Workbench) throws
            -> [String: String]
        {
            let folder = bench.folder.appending(path: "programs")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let program = folder.appending(path: "ffprobe")
            try Data("#!/bin/sh\n\(script)\n".utf8).write(to: program)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program.path)
            return environment.merging(["PATH": folder.path]) { $1 }
        }

        private func durations(_ bench: Workbench, _ environment: [String: String]) async throws -> [Double] {
            try JSONObject.list(try await bench.run("list", "own:feed", "--json", environment: environment).output)
                .compactMap { $0.double("duration")?.rounded() }.sorted()
        }

        @Test func `a run ends with its last byte, and what it did not read of the files is read later`() async throws {
            try await withWorkbench { bench in
                let bytes = try await make("a.flac", "-c:a flac", in: bench)
                let files = (1...6).map { ("\($0).flac", bytes) }
                try await withFeed(files, isDeclared: true, in: bench) { _, environment in
                    let endless = try standIn("while :; do /bin/sleep 1; done", environment, in: bench)
                    let run = try await bench.run("fetch", "own:feed", environment: endless)
                    #expect(run.exitCode == 0 && run.errors.contains("6 fetched"), "\(run.errors)")
                    // It would wait for the lock.
                    #expect(try await bench.run("fetch", "own:feed", environment: endless).exitCode == 0)
                    #expect(try await durations(bench, environment) == [25, 25, 25, 25, 25, 25])
                    let verified = try await bench.run("verify", environment: environment)
                    #expect(
                        verified.exitCode == 0 && verified.errors.contains("durations, chapters and tags of 6 files"))
                    #expect(try await durations(bench, environment) == [20, 20, 20, 20, 20, 20])
                    let again = try await bench.run("verify", environment: environment)
                    #expect(!again.errors.contains("reading durations"), "\(again.errors)")
                }
            }
        }

        @Test func `no program is started for a file whose catalog, length and first bytes agree`() async throws {
            try await withWorkbench { bench in
                try writeChapters(in: bench)
                let files = try await [
                    ("1.mp3", make("a.mp3", "-c:a libmp3lame", in: bench)),
                    ("2.mp3", make("b.mp3", "-i chapters -map_metadata 1 -c:a libmp3lame", in: bench)),
                ]
                try await withFeed(files, isDeclared: true, in: bench) { _, environment in
                    let calls = bench.folder.appending(path: "calls")
                    // It may write no file, and make folders.
                    let script = """
                        for word; do case $word in file:*) /bin/mkdir -p "\(calls.path)/${word##*/}";; esac; done
                        exec \(try #require(ForeignProgram.path("ffprobe")).path) "$@"
                        """
                    let counting = try standIn(script, environment, in: bench)
                    #expect(try await bench.run("fetch", "own:feed", environment: counting).exitCode == 0)
                    try await bench.serve(environment: counting) { _ in
                        var looks = 0
                        while try await durations(bench, environment) != [20, 25], looks < 200 { looks += 1 }
                    }
                    #expect(try await durations(bench, environment) == [20, 25])
                    let read = try FileManager.default.contentsOfDirectory(atPath: calls.path)
                    #expect(read.count == 1 && read[0].hasPrefix("002 "), "\(read)")
                    // Whoever has every file read has this one read too.
                    #expect(try await bench.run("verify", environment: environment).exitCode == 0)
                    #expect(try await durations(bench, environment) == [20, 20])
                }
            }
        }
    }
}
