import BookSync
import Foundation
import Support
import Testing

extension ForeignProgramTests {
    /// What other people's podcast clients make of the feeds.
    @Suite(.full) struct PodcastClients {
        private static let feed = "feeds/demo/40111.xml"

        /// The digests of what is in a folder that a client filled, sorted.
        private func audio(in folder: String, of bench: Workbench) throws -> [String] {
            try bench.files(in: bench.folder.appending(path: folder)).filter { $0.key.hasSuffix(".mp3") }
                .map { sha256(try Data(contentsOf: $0.value)) }.sorted()
        }

        @Test(.needs("gpo"))
        func `gPodder subscribes, downloads every episode, and later finds nothing new`() async throws {
            try await withWorkbench { bench in
                try await bench.serveShortBook { shelf in
                    let home = ["GPODDER_HOME": bench.folder.appending(path: "gpodder").path]
                    func gpo(_ arguments: String...) async throws -> ProductRunner.Result {
                        let result = try await ForeignProgram.run("gpo", arguments, environment: home, in: bench)
                        #expect(result.exitCode == 0, "\(result.output) \(result.errors)")
                        return result
                    }
                    let added = try await gpo("subscribe", "\(shelf.address)/\(Self.feed)")
                    #expect(added.output.contains("Successfully added"), "\(added.output)")
                    #expect(try await gpo("list").output.contains("夜航船"))
                    let downloaded = try await gpo("download")
                    #expect(downloaded.output.contains("6 episodes downloaded"), "\(downloaded.output)")
                    #expect(try audio(in: "gpodder", of: bench) == bench.digests().sorted())
                    #expect(try await gpo("update").output.contains("0 new episodes"))
                    #expect(try await gpo("download").output.contains("0 episodes downloaded"))
                }
            }
        }

        @Test(
            .needs("newsboat", "sqlite3"))
        func `newsboat knows every episode, in the order of the book`() async throws {
            try await withWorkbench { bench in
                try await bench.serveShortBook { shelf in
                    try Data("\(shelf.address)/\(Self.feed)\n".utf8).write(to: bench.folder.appending(path: "urls"))
                    try Data().write(to: bench.folder.appending(path: "config"))
                    let files = ["-C", "config", "-u", "urls", "-c", "cache.db"]
                    let loaded = try await ForeignProgram.run("newsboat", files + ["-x", "reload"], in: bench)
                    #expect(loaded.exitCode == 0, "\(loaded.errors)")
                    // By date, as most clients show a feed.
                    let query = """
                        SELECT title || '|' || enclosure_type || '|' || enclosure_url FROM rss_item
                        WHERE guid != '' AND pubDate > 0 ORDER BY pubDate
                        """
                    let items = try await ForeignProgram.run("sqlite3", ["cache.db", query], in: bench).outputLines
                    let wanted = (1...6).map {
                        "第00\($0)集_夜航船|audio/mpeg|\(shelf.address)/media/demo/40111/500000000\($0).mp3"
                    }
                    #expect(items == wanted)
                }
            }
        }

        @Test(.needs("podget"))
        func `podget downloads every episode, and none again`() async throws {
            try await withWorkbench { bench in
                try await bench.serveShortBook { shelf in
                    func podget(_ arguments: String...) async throws -> ProductRunner.Result {
                        // Its session files would lie in /tmp/podget, which may be another user's.
                        try await ForeignProgram.run(
                            "podget", ["-d", "podget", "--dir_session", "sessions"] + arguments, in: bench)
                    }
                    _ = try await podget("--create-config", "podgetrc")
                    try Data("\(shelf.address)/\(Self.feed) books night-boat\n".utf8)
                        .write(to: bench.folder.appending(path: "podget/serverlist"))
                    let first = try await podget("-l", "podcasts", "-vv")
                    #expect(try audio(in: "podcasts", of: bench) == bench.digests().sorted(), "\(first.output)")
                    let second = try await podget("-l", "podcasts", "-vv")
                    let text = second.output + second.errors
                    #expect(text.components(separatedBy: "Already downloaded").count == 7, "\(text)")
                }
            }
        }

        // MARK: Judges of XML

        @Test(.needs("xmllint"))
        func `xmllint accepts the feed and the list of feeds`() async throws {
            try await withWorkbench { bench in
                try await bench.serveShortBook { shelf in
                    for path in ["/\(Self.feed)", "/feeds/all.opml"] {
                        try Data(try await shelf.send(path).body).write(to: bench.folder.appending(path: "x.xml"))
                        let result = try await ForeignProgram.run(
                            "xmllint", ["--noout", "--nonet", "--pedantic", "x.xml"], in: bench)
                        #expect(result.exitCode == 0 && result.errors.isEmpty, "\(path): \(result.errors)")
                    }
                }
            }
        }

        /// Prints what is wrong, a line each.
        private static let judgement = """
            import sys, warnings, feedparser
            warnings.simplefilter("error")
            feed = feedparser.parse(sys.argv[1])
            def demand(holds, what):
                if not holds: print(what)
            demand(feed.bozo == 0, "bozo: %s" % feed.get("bozo_exception"))
            demand(feed.version == "rss20", "version " + feed.version)
            channel = feed.feed
            for name in ["title", "subtitle", "link", "language", "author", "itunes_explicit", "tags"]:
                demand(name in channel, "the channel has no " + name)
            demand(channel.link.endswith("/books/demo/40111") and not "/api/" in channel.link, "it leads to " + channel.link)
            demand(channel.get("itunes_type") == "serial", "the channel is not serial")
            own = [link.href for link in channel.links if link.rel == "self"]
            demand(own == [sys.argv[1]], "the feed's own address is %s" % own)
            demand(len(feed.entries) == int(sys.argv[2]), "%d entries" % len(feed.entries))
            demand(len({entry.get("id") for entry in feed.entries}) == len(feed.entries), "ids are not unique")
            dates = [entry.get("published_parsed") for entry in feed.entries]
            demand(all(dates) and dates == sorted(dates) and len(set(dates)) == len(dates), "dates: %s" % dates)
            for number, entry in enumerate(feed.entries, 1):
                demand(len(entry.enclosures) == 1, "%d has no enclosure" % number)
                demand(entry.enclosures[0].type == "audio/mpeg", "%d has no type" % number)
                demand(int(entry.enclosures[0].length) > 0, "%d has no length" % number)
                demand(entry.get("itunes_episode") == str(number), "%d has no number" % number)
                demand(int(entry.get("itunes_duration", 0)) > 0, "%d has no duration" % number)
            again = feedparser.parse(sys.argv[1], etag=feed.etag)
            demand(again.get("status") == 304, "asked with its tag: %s" % again.get("status"))
            """

        @Test(
            .needs(python: "feedparser"))
        func `feedparser finds nothing wrong with the feed, and everything in it`() async throws {
            try await withWorkbench { bench in
                try await bench.serveShortBook { shelf in
                    let arguments = ["-c", Self.judgement, "\(shelf.address)/\(Self.feed)", "6"]
                    let result = try await withProduct(
                        arguments, environment: ForeignProgram.home, in: bench.folder,
                        executable: await ForeignProgram.python(having: "feedparser")
                    ) { try await $0.result() }
                    #expect(result.exitCode == 0 && result.output.isEmpty && result.errors.isEmpty, "\(result)")
                }
            }
        }

        // MARK: Players

        /// Of the longest episode.
        private func audioAddress(_ shelf: ServedShelf) -> String {
            "\(shelf.address)/media/demo/40111/5000000006.mp3"
        }

        @Test(.needs("ffprobe"))
        func `ffprobe reads the length that the feed tells`() async throws {
            try await withWorkbench { bench in
                try await bench.serveShortBook { shelf in
                    let asked = [
                        "-v", "warning", "-of", "csv=p=0", "-show_entries", "format=format_name,duration,size",
                    ]
                    let result = try await ForeignProgram.run("ffprobe", asked + [audioAddress(shelf)], in: bench)
                    #expect(result.exitCode == 0 && result.errors.isEmpty, "\(result.errors)")
                    let values = try #require(result.outputLines.first).split(separator: ",")
                    let file = try await shelf.send("/media/demo/40111/5000000006.mp3", method: "HEAD")
                    let told = try #require(
                        try await shelf.send("/\(Self.feed)").text
                            .matches(of: /<itunes:duration>([0-9]+)</).last.flatMap { Double($0.output.1) })
                    #expect(values.first == "mp3" && values.last.map(String.init) == file.fields["content-length"])
                    #expect(abs(try #require(Double(values[1])) - told) < 1)
                }
            }
        }

        @Test(.needs("ffmpeg"))
        func `a player that jumps ahead asks for a range and goes on from there`() async throws {
            try await withWorkbench { bench in
                try await bench.serveShortBook { shelf in
                    func play(_ arguments: String...) async throws -> ProductRunner.Result {
                        let input = ["-nostdin", "-seekable", "1"] + arguments + ["-i", audioAddress(shelf)]
                        return try await ForeignProgram.run("ffmpeg", input + ["-f", "null", "-"], in: bench)
                    }
                    let whole = try await play("-v", "warning", "-xerror")
                    #expect(whole.exitCode == 0 && whole.errors.isEmpty, "\(whole.errors)")
                    // By place in the file, as players do that have no table of the file's seconds.
                    let jumped = try await play("-v", "debug", "-fflags", "+fastseek", "-ss", "80")
                    #expect(jumped.exitCode == 0)
                    let ranges = jumped.errors.matches(of: /Range: bytes=([0-9]+)-/).compactMap { Int($0.output.1) }
                    let read = jumped.errors.firstMatch(of: /Statistics: ([0-9]+) bytes read, [1-9][0-9]* seeks/)
                        .flatMap { Int($0.output.1) }
                    #expect(ranges.contains { $0 > 250_000 }, "\(ranges)")
                    #expect(read.map { $0 < 200_000 } == true, "\(String(describing: read))")
                }
            }
        }
    }
}
