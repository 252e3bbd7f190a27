import Foundation
import Support
import Testing

extension ProductTests {
    /// What catalogs claim of files that are on disk, and where else a file may be: real reports, each with its server.
    @Suite struct CatalogClaims {
        private static func audio(_ count: Int, bytes: Int = 20_000) -> [[UInt8]] {
            (1...count).map { sampleMP3(bytes: bytes + $0, seed: UInt64($0)) }
        }

        private static func body(_ server: MisbehavingServer, after: Int = 0) -> Int {
            server.record.exchanges.dropFirst(after).reduce(0) {
                $0 + ($1.request.path.contains(".mp3") || $1.request.path.hasSuffix("/download") ? $1.bodyBytesSent : 0)
            }
        }

        /// lftp #14 and #348, ngx-fancyindex #163, DirectoryLister #1350.
        @Test func `neither a page's clock nor another program that lists it downloads anything`() async throws {
            let audio = Self.audio(4)
            let night = Watched(0)
            @Sendable func index(_ folder: String) -> String {
                let rows = (1...4).map { part in
                    let clock = night.value == 1 ? "11:0\(part)" : "10:0\(part)"
                    let row =
                        night.value < 2
                        ? "05-Jan-2024 \(clock)   \(audio[part - 1].count)" : "2024-01-05 \(clock):1\(part)   20K"
                    return "<a href=\"0\(part).mp3\">0\(part).mp3</a>    \(row)\n"
                }
                return
                    "<html><head><title>Index of /\(folder)/</title></head><body><pre>\(rows.joined())</pre></body></html>"
            }
            // One that honours conditions, and two that send 200 with the same tag, or the same date and length.
            let script = ServerScript { request in
                let folder = String(request.path.dropFirst().prefix { $0 != "/" })
                guard let part = request.path.split(separator: "/").dropFirst().first?.prefix(2), let number = Int(part)
                else { return .text(index(folder), type: "text/html") }
                var plain = request
                if folder != "a" { plain.headers.removeAll { $0.name.lowercased().hasPrefix("if-") } }
                let file = ServedFile(
                    audio[number - 1], etag: folder == "c" ? nil : "\"\(number)\"",
                    lastModified: folder == "b" ? nil : ServedFile.longAgo)
                return file.answer(to: plain)
            }
            try await withWorkbench { bench in
                try await withServer(script) { server in
                    let books = ["a", "b", "c"].map { "{ book: \"\(server.url("/\($0)/"))\" }" }
                    try bench.configure("subscriptions: [\(books.joined(separator: ", "))]")
                    func mirror() async throws {
                        let run = try await bench.run("mirror", environment: bench.configured)
                        #expect(run.exitCode == 0, "\(run.errors)")
                    }
                    try await mirror()
                    let all = 3 * audio.reduce(0) { $0 + $1.count }
                    #expect(Self.body(server) == all)
                    let asked = server.record.requests.count
                    night.update { $0 = 1 }
                    try await mirror()
                    // The pages alone.
                    #expect(server.record.requests.count == asked + 3)
                    night.update { $0 = 2 }
                    try await mirror()
                    try await mirror()
                    #expect(Self.body(server) == all)
                    #expect(try bench.files().count == 12)
                    // What was asked once is not asked again.
                    #expect(server.record.requests.count == asked + 3 + 15 + 3)
                }
            }
        }

        /// aria2 #590, AntennaPod #7409, podcast-archiver #203.
        @Test func `a length that never was the file's says nothing, and one that was is a new version`() async throws {
            let stitched = (0..<6).map { sampleMP3(bytes: 70_000 + 3000 * $0, seed: UInt64($0)) }
            let corrected = [sampleMP3(bytes: 30_000, seed: 7), sampleMP3(bytes: 31_000, seed: 8)]
            let night = Watched(0)
            @Sendable func feed(_ name: String, _ length: Int, _ path: String) -> Reply {
                .text(
                    """
                    <rss version="2.0"><channel><title>\(name)</title><item><title>one</title><guid>\(name)</guid>\
                    <enclosure url="\(path)" length="\(length)" type="audio/mpeg"/></item></channel></rss>
                    """, type: "application/rss+xml")
            }
            let script = ServerScript { request in
                switch request.path {
                case "/stitched.xml": return feed("Stitched", 65_000 + night.value * 777, "/a.mp3")
                case "/corrected.xml": return feed("Corrected", corrected[min(night.value, 1)].count, "/b.mp3")
                case "/b.mp3":
                    return ServedFile(
                        corrected[min(night.value, 1)], etag: "\"\(min(night.value, 1))\"", lastModified: nil
                    ).answer(to: request)
                default:
                    let file = ServedFile(stitched[request.number % 6], etag: nil, lastModified: nil)
                    var reply = file.answer(to: request)
                    if request.number == 0 { reply.ending = .cutAfter(bytes: 20_000) }
                    return reply
                }
            }
            try await withWorkbench { bench in
                try await withServer(script) { server in
                    let books = ["/stitched.xml", "/corrected.xml"].map { "{ book: \"\(server.url($0))\" }" }
                    try bench.configure("subscriptions: [\(books.joined(separator: ", "))]")
                    for _ in 0..<3 {
                        let run = try await bench.run("mirror", environment: bench.configured)
                        #expect(run.exitCode == 0, "\(run.errors)")
                        night.update { $0 += 1 }
                    }
                    #expect(server.requests(path: "/a.mp3").count == 2)
                    #expect(server.requests(path: "/b.mp3").map(\.method) == ["GET", "HEAD", "GET"])
                    #expect(Set(try bench.digests()) == [sha256(stitched[1]), sha256(corrected[1])])
                    let trash = try await bench.run("trash", "list", "--json", environment: bench.configured)
                    #expect(try JSONObject.list(trash.output).map { $0.number("size") } == [30_000])
                }
            }
        }

        /// A feed of one episode, of which the server has another version each night.
        private static func feed(of versions: [[UInt8]], _ night: Watched<Int>) -> ServerScript {
            ServerScript { request in
                let bytes = versions[night.value]
                guard request.path == "/feed.xml" else {
                    return ServedFile(bytes, etag: "\"\(night.value)\"").answer(to: request)
                }
                return .text(
                    """
                    <rss version="2.0"><channel><title>Show</title><item><title>one</title><guid>1</guid>\
                    <enclosure url="/1.mp3" length="\(bytes.count)" type="audio/mpeg"/></item></channel></rss>
                    """, type: "application/rss+xml")
            }
        }

        @Test(arguments: ["on-catalog-change: keep", "sources: { feeds: { type: feed, on-catalog-change: keep } }", ""])
        func `on-catalog-change keeps the first version, for all, for a source or for a subscription`(setting: String)
            async throws
        {
            let versions = Self.audio(2)
            let night = Watched(0)
            try await withWorkbench { bench in
                try await withServer(Self.feed(of: versions, night)) { server in
                    let own = setting.isEmpty ? ", on-catalog-change: keep" : ""
                    let book = setting.contains("feeds") ? "feeds:\(server.url("/feed.xml"))" : server.url("/feed.xml")
                    try bench.configure("\(setting)\nsubscriptions: [{ book: \"\(book)\"\(own) }]")
                    #expect(try await bench.run("mirror", environment: bench.configured).exitCode == 0)
                    night.update { $0 = 1 }
                    let run = try await bench.run("mirror", environment: bench.configured)
                    #expect(run.exitCode == 0, "\(run.errors)")
                    #expect(try bench.digests() == [sha256(versions[0])])
                    #expect(server.requests(path: "/1.mp3").count == 1)
                    let sources = setting.contains("feeds") ? "sources: { feeds: { type: feed } }" : ""
                    try bench.configure("subscriptions: [{ book: \"\(book)\" }]\n\(sources)")
                    let replaced = try await bench.run("mirror", environment: bench.configured)
                    #expect(replaced.exitCode == 0, "\(replaced.errors)")
                    #expect(try bench.digests() == [sha256(versions[1])])
                }
            }
        }

        @Test func `a feed that claims another version each night is followed three times, and then the file is kept`()
            async throws
        {
            let versions = Self.audio(8)
            let night = Watched(0)
            try await withWorkbench { bench in
                try await withServer(Self.feed(of: versions, night)) { server in
                    #expect(try await bench.run("subscribe", server.url("/feed.xml"), "-q").exitCode == 0)
                    for number in 0..<6 {
                        night.update { $0 = number }
                        let run = try await bench.run("mirror", "-q")
                        #expect(run.exitCode == 0, "\(run.errors)")
                        #expect(try bench.digests() == [sha256(versions[min(number, 3)])])
                        guard number == 3 else {
                            #expect(run.errors == "", "night \(number)")
                            continue
                        }
                        #expect(run.errors.hasPrefix("Show, episode 1 'one': replaced 3 times within 30 days"))
                        #expect(run.errorLines.count == 1 && run.errors.contains("on-catalog-change: keep"))
                        #expect(run.errors.contains("booksync fetch feed:\(server.url("/feed.xml")) --force"))
                        // It does not depend on what is in the trash.
                        #expect(try await bench.run("trash", "empty", "--yes", "-q").exitCode == 0)
                    }
                    #expect(server.requests(path: "/1.mp3").count { $0.method == "GET" } == 4)
                    let explained = try await bench.run("explain", "\(server.url("/feed.xml"))#1")
                    #expect(explained.output.contains("it was replaced 3 times within 30 days"), "\(explained.output)")
                    let forced = try await bench.run("fetch", server.url("/feed.xml"), "--force", "-q")
                    #expect(forced.exitCode == 0 && forced.errors == "", "\(forced.errors)")
                    #expect(try bench.digests() == [sha256(versions[5])])
                    night.update { $0 = 6 }
                    #expect(try await bench.run("mirror", "-q").errors == "")
                    #expect(try bench.digests() == [sha256(versions[5])])
                }
            }
        }

        @Test func `files that are renamed in a directory are the same episodes, and nothing is downloaded for it`()
            async throws
        {
            let audio = Self.audio(5)
            /// Names of the server's files, each with the number of its audio.
            let files = Watched<[String: Int]>([:])
            let script = ServerScript { request in
                let name = String(request.path.dropFirst("/book/".count))
                if let number = files.value[name] {
                    return ServedFile(audio[number], etag: "\"\(number)\"").answer(to: request)
                }
                let rows = files.value.sorted { $0.key < $1.key }.map { name, number in
                    "<a href=\"\(name)\">\(name)</a>    05-Jan-2024 10:0\(number)   \(audio[number].count)\n"
                }
                return .text(
                    "<html><head><title>Index of /book/</title></head><body><pre>\(rows.joined())</pre></body></html>",
                    type: "text/html")
            }
            try await withWorkbench { bench in
                try await withServer(script) { server in
                    let book = server.url("/book/")
                    func fetch(_ options: String...) async throws -> JSONObject {
                        let run = try await bench.runBare(["fetch", book, "--json", "--library", "L"] + options)
                        #expect(run.exitCode == 0, "\(run.errors)")
                        return try run.summary()
                    }
                    files.update { $0 = ["001.mp3": 0, "002.mp3": 1, "003.mp3": 2] }
                    #expect(try await fetch().number("fetched") == 3)
                    let sent = Self.body(server)
                    // A preface comes first, and one more behind the last.
                    files.update { $0 = ["001.mp3": 3, "002.mp3": 0, "003.mp3": 1, "004.mp3": 2, "005.mp3": 4] }
                    let second = try await fetch()
                    #expect(second.number("fetched") == 2 && second.number("replaced") == 0, "\(second)")
                    #expect(Self.body(server) == sent + audio[3].count + audio[4].count)
                    for _ in 1...2 { #expect(try await fetch().number("kept") == 5) }
                    #expect(try bench.files().count == 5)
                    let renumbered = try await fetch("--renumber")
                    #expect(renumbered.number("fetched") == 0 && renumbered.number("gone") == 0, "\(renumbered)")
                    #expect(try bench.digests() == [3, 0, 1, 2, 4].map { sha256(audio[$0]) })
                    #expect(Self.body(server) == sent + audio[3].count + audio[4].count)
                    // One is renamed, one is replaced at its name.
                    files.update { $0 = ["001.mp3": 3, "002.mp3": 0, "003.mp3": 1, "004.mp3": 2, "end.mp3": 4] }
                    #expect(try await fetch().number("fetched") == 0)
                    #expect(try bench.files().count == 5)
                    #expect(try bench.files().keys.contains { $0.hasSuffix("end.mp3") })
                }
            }
        }

        /// audiobookshelf #5567, #5568, #1447 and #5010.
        @Test func `the tracks of an Audiobookshelf server are known by their paths, whatever numbers they have`()
            async throws
        {
            let audio = Self.audio(8)
            /// What the tracks say, and what the server answers to, by part.
            let numbers = Watched<(tracks: [Int: Int], files: [Int: Int])>(([:], [:]))
            @Sendable func item(_ id: String, _ title: String, _ parts: ClosedRange<Int>) -> String {
                let (tracks, files) = numbers.value
                func metadata(_ part: Int) -> String {
                    """
                    "metadata":{"filename":"0\(part) Chapter.mp3","relPath":"0\(part) Chapter.mp3","size":\(audio[part - 1].count)}
                    """
                }
                let listed = parts.map {
                    #"{"index":\#($0 - parts.lowerBound + 1),"ino":"\#(tracks[$0] ?? 0)","duration":100,\#(metadata($0))}"#
                }
                let served = parts.map { #"{"ino":"\#(files[$0] ?? 0)",\#(metadata($0))}"# }
                return """
                    {"id":"\(id)","libraryId":"lib","mediaType":"book","media":{"metadata":{"title":"\(title)"},
                    "tracks":[\(listed.joined(separator: ","))]},"libraryFiles":[\(served.joined(separator: ","))]}
                    """
            }
            let script = ServerScript { request in
                let words = request.path.split(separator: "/").map(String.init)
                if words.count == 3 {
                    return .text(words[2] == "one" ? item("one", "One", 1...4) : item("two", "Two", 5...8))
                }
                let part = numbers.value.files.first { words.count > 4 && String($0.value) == words[4] }?.key
                return part.map { ServedFile(audio[$0 - 1], etag: "W/\"\($0)\"").answer(to: request) } ?? .notFound
            }
            try await withWorkbench { bench in
                try await withServer(script) { server in
                    try bench.configure(
                        """
                        sources:
                          friend: { type: audiobookshelf, url: "\(server.url("/"))", bearer: TOKEN-51d0aa }
                        """)
                    func fetch(_ id: String) async throws {
                        let run = try await bench.run("fetch", "friend:\(id)", environment: bench.configured)
                        #expect(run.exitCode == 0, "\(run.errors)")
                    }
                    let sound = Dictionary(uniqueKeysWithValues: (1...4).map { ($0, 1000 + $0) })
                    numbers.update { $0 = (sound, sound) }
                    try await fetch("one")
                    // The server keeps each number twice, and those of the tracks are stale.
                    numbers.update {
                        $0 = (
                            Dictionary(uniqueKeysWithValues: (5...8).map { ($0, 14_390 + $0) }),
                            Dictionary(uniqueKeysWithValues: (5...8).map { ($0, 281_474 + $0) })
                        )
                    }
                    try await fetch("two")
                    let sent = Self.body(server)
                    #expect(sent == audio.reduce(0) { $0 + $1.count })
                    // Another disk; then one where numbers are those that other tracks had.
                    for moved in [[1: 7661, 2: 7662, 3: 7663, 4: 7664], [1: 7661, 2: 7663, 3: 7664, 4: 9999]] {
                        numbers.update { $0 = (moved, moved) }
                        try await fetch("one")
                    }
                    #expect(Self.body(server) == sent)
                    #expect(try bench.digests().sorted() == audio.map { sha256($0) }.sorted())
                }
            }
        }

        /// librivox-catalog #211.
        @Test func `sections whose uploads are gone come from the archive item`() async throws {
            let audio = Self.audio(3)
            let night = Watched(0)
            let script = ServerScript { request in
                let server = "http://\(request.header("Host") ?? "")"
                func address(_ part: Int) -> String {
                    if night.value > 0, part == 1 { return "\(server)/download/it/case_1.mp3" }
                    return part == 3 ? "" : "\(server)/uploads/x/case_\(part)_128kb.mp3"
                }
                switch request.path {
                case "/api/feed/audiobooks":
                    let sections = (1...3).map {
                        """
                        {"id":"10\($0)","section_number":"\($0)","title":"Chapter \($0)","listen_url":"\(address($0))","playtime":"5"}
                        """
                    }
                    return .text(
                        """
                        {"books":[{"id":"4711","title":"A Case","num_sections":"3","url_iarchive":"http://x/details/it",
                        "sections":[\(sections.joined(separator: ","))]}]}
                        """)
                case "/metadata/it":
                    let files = (1...3).map {
                        """
                        {"name":"case_\($0).mp3","format":"64Kbps MP3","source":"original","size":"\(audio[$0 - 1].count)",
                        "title":"Chapter \($0)","track":"\($0)/3","length":"5"}
                        """
                    }
                    return .text(#"{"metadata":{"identifier":"it"},"files":[\#(files.joined(separator: ","))]}"#)
                default:
                    let name = request.path.split(separator: "_").last?.prefix(1) ?? ""
                    guard request.path.hasPrefix("/download/it/case_"), let part = Int(name) else { return .notFound }
                    return ServedFile(audio[part - 1], etag: nil).answer(to: request)
                }
            }
            try await withWorkbench { bench in
                try await withServer(script) { server in
                    let base = server.url("")
                    try bench.configure(
                        """
                        sources:
                          librivox: { type: librivox, url: "\(base)", archive-url: "\(base)", allow-private-addresses: true }
                        """)
                    for _ in 0..<2 {
                        let run = try await bench.run("fetch", "librivox:4711", environment: bench.configured)
                        #expect(run.exitCode == 0, "\(run.errors)")
                        night.update { $0 += 1 }
                    }
                    #expect(try bench.digests() == audio.map { sha256($0) })
                    let sent = server.record.exchanges.filter { $0.request.path.hasPrefix("/download/it/") }
                    #expect(sent.map(\.bodyBytesSent).sorted() == audio.map(\.count).sorted())
                }
            }
        }
    }
}
