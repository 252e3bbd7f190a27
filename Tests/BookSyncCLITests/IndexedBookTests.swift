import Foundation
import Support
import Testing

extension ProductTests {
    /// Books of archive items, of LibriVox and of directories, fetched through the whole program from a server that
    /// answers as those do.
    @Suite struct IndexedBooks {
        private static let audio = (1...3).map { sampleMP3(bytes: 20_000 + $0, seed: UInt64($0)) }
        private static let digests = audio.map { sha256($0) }
        private static let token = "TOKEN-51d0aa"

        /// Fetches a book: interrupted in the middle of its last file, resumed, and once more.
        private func fetchThrice(
            _ reference: (Int) -> String, pages: [String: String], audio: [String: [UInt8]], source: (Int) -> String,
            title: String, files: [String], token: String? = nil
        ) async throws {
            let (gate, last) = (Gate(), try #require(audio.first { $0.value == Self.audio[2] }?.key))
            var scripts = pages.mapValues { ServerScript.always(.text($0)) }
            for (path, bytes) in audio {
                scripts[path] = .file(bytes, path == last ? [.stall(at: 12_000, until: gate), .wellBehaved] : [])
            }
            try await withWorkbench { bench in
                try await withServer(.paths(scripts)) { server in
                    let book = reference(server.port)
                    try bench.configure(
                        "sources:\n  mine: { \(source(server.port)), allow-private-addresses: true }\n")
                    func fetch() async throws -> ProductRunner.Result {
                        try await bench.run("fetch", "--book", book, "--json", environment: bench.configured)
                    }
                    func sent() -> Int { audio.keys.map { server.bodyBytesSent(path: $0) }.reduce(0, +) }
                    try await bench.start("fetch", "--book", book, "--json", environment: bench.configured) { run in
                        // What a run tells of is on disk, and what it began is journalled.
                        for section in 1...2 {
                            try await run.waitForOutput(
                                containing: #""event":"finished""#, #""section":\#(section),"#)
                        }
                        try await run.waitForOutput(containing: #""event":"started""#, #""section":3,"#)
                        run.send(signal: SIGINT)
                        let first = try await run.result()
                        #expect(first.exitCode == 130, "\(first.errors)")
                        #expect(try first.summary().number("fetched") == 2)
                        #expect(try first.events().filter { $0["event"] == "notice" }.isEmpty)
                    }

                    let second = try await fetch()
                    #expect(second.exitCode == 0, "\(second.errors)")
                    let resumed = try second.summary()
                    #expect(resumed.number("fetched") == 0 && resumed.number("kept") == 2)
                    #expect(resumed.number("resumed") == 1)
                    #expect(try bench.files().keys.sorted() == files.map { title + "/" + $0 })
                    #expect(try bench.digests() == Self.digests)

                    let sentForAll = sent()
                    #expect(sentForAll <= Self.audio.map(\.count).reduce(12_000, +))
                    let third = try await fetch()
                    #expect(third.exitCode == 0)
                    let counts = try third.summary()
                    #expect(counts.number("fetched") == 0 && counts.number("kept") == 3)
                    #expect(counts.number("bytes_received") == 0)
                    #expect(sent() == sentForAll)
                    let list = try await bench.run("list", book, "--json", environment: bench.configured)
                    #expect(try JSONObject.list(list.output).count == 3)
                    guard let token else { return }
                    #expect(server.record.requests.allSatisfy { $0.header("Authorization") == "Bearer \(token)" })
                    var shown = second.output + second.errors + third.output + third.errors + list.output
                    for command in [["catalog", book], ["show", book], ["config", "show"], ["doctor"]] {
                        let result = try await bench.runBare(
                            command + ["--json", "-vv", "--library", "L", "--log-file", "log"],
                            environment: bench.configured)
                        #expect(result.exitCode == 0, "\(command): \(result.errors)")
                        shown += result.output + result.errors
                    }
                    shown += try String(contentsOf: bench.folder.appending(path: "log"), encoding: .utf8)
                    #expect(!shown.contains(token))
                    let kept = try #require(
                        FileManager.default.enumerator(at: bench.library, includingPropertiesForKeys: nil))
                    for case let file as URL in kept where !file.hasDirectoryPath {
                        #expect(try Data(contentsOf: file).firstRange(of: Data(token.utf8)) == nil, "\(file.path)")
                    }
                }
            }
        }

        private static func archiveItem(sizes: [Int]) -> String {
            let files = sizes.enumerated().map { place, size in
                """
                {"name":"emma_0\(place + 1)_64kb.mp3","source":"derivative","original":"emma_0\(place + 1).wav","size":"\(size)",\
                "format":"64Kbps MP3","length":"02:28","track":"\(place + 1)/3","title":"Chapter \(place + 1)"},\
                {"name":"emma_0\(place + 1).wav","source":"original","format":"WAVE"}
                """
            }
            return """
                {"created":1,"files_count":7,"metadata":{"identifier":"emma_librivox","title":"Emma","creator":["Jane Austen"]},
                "files":[\(files.joined(separator: ",")),{"name":"emma_meta.xml","source":"original","format":"Metadata"}]}
                """
        }

        private static let archiveAudio = Dictionary(
            uniqueKeysWithValues: audio.enumerated().map { ("/download/emma_librivox/emma_0\($0 + 1)_64kb.mp3", $1) })
        private static let chapters = (1...3).map { "00\($0) Chapter \($0).mp3" }

        @Test func `an archive item is interrupted, resumed, and then there is nothing to do`() async throws {
            try await fetchThrice(
                { _ in "mine:emma_librivox" },
                pages: ["/metadata/emma_librivox": Self.archiveItem(sizes: Self.audio.map(\.count))],
                audio: Self.archiveAudio,
                source: {
                    "type: internet-archive, url: \"http://127.0.0.1:\($0)\", formats: [\"VBR MP3\", \"64Kbps MP3\"]"
                },
                title: "Jane Austen/Emma", files: Self.chapters)
        }

        @Test func `a LibriVox book comes out of its archive item, interrupted and resumed`() async throws {
            let sections = (1...3).map {
                #"{"id":"70\#($0)","section_number":"\#($0)","title":"Chapter \#($0)","listen_url":null,"playtime":"148"}"#
            }
            let book = """
                {"books":[{"id":"52","title":"Emma","num_sections":"3","authors":[{"first_name":"Jane","last_name":"Austen"}],
                "url_iarchive":"http://www.archive.org/details/emma_librivox","sections":[\(sections.joined(separator: ","))]}]}
                """
            try await fetchThrice(
                { _ in "mine:52" },
                pages: [
                    "/api/feed/audiobooks": book,
                    "/metadata/emma_librivox": Self.archiveItem(sizes: Self.audio.map(\.count)),
                ],
                audio: Self.archiveAudio,
                source: {
                    "type: librivox, url: \"http://127.0.0.1:\($0)/\", archive-url: \"http://127.0.0.1:\($0)/\""
                },
                title: "Jane Austen/Emma", files: Self.chapters)
        }

        @Test func `a directory is interrupted and resumed, discs and all`() async throws {
            func row(_ href: String, _ size: String) -> String {
                "<a href=\"\(href)\">\(href)</a>          14-Mar-2011 07:06     \(size)\r\n"
            }
            func index(_ rows: String) -> String {
                "<html>\r\n<head><title>Index of /</title></head>\r\n<body>\r\n<pre><a href=\"../\">../</a>\r\n\(rows)</pre></body>\r\n</html>\r\n"
            }
            try await fetchThrice(
                { _ in "mine:Emma" },
                pages: [
                    "/books/Emma/": index(row("disc2/", "-") + row("cover.jpg", "45678") + row("Preface.mp3", "20001")),
                    "/books/Emma/disc2/": index(row("Part%2010.mp3", "20003") + row("Part%202.mp3", "20002")),
                ],
                audio: [
                    "/books/Emma/Preface.mp3": Self.audio[0], "/books/Emma/disc2/Part%202.mp3": Self.audio[1],
                    "/books/Emma/disc2/Part%2010.mp3": Self.audio[2],
                ],
                source: { "type: directory, url: \"http://127.0.0.1:\($0)/books\", depth: 2" },
                title: "Emma", files: ["001 Preface.mp3", "002 Part 2.mp3", "003 Part 10.mp3"])
        }

        @Test func `an audiobook of an OPDS catalog is interrupted, resumed, and then there is nothing to do`()
            async throws
        {
            let order = zip(["1.mp3", "第二 集.mp3", "/audio/3.mp3"], 1...3).map { href, part in
                #"{"url":"\#(href)","encodingFormat":"audio/mpeg","duration":"PT2M28S","name":"Part \#(part)"}"#
            }
            let manifest = """
                {"conformsTo":"https://www.w3.org/TR/audiobooks/","type":"Audiobook","name":"Emma","author":"Jane Austen",
                "readBy":"Ruth Golding","readingOrder":[\(order.joined(separator: ","))]}
                """
            let entry = """
                <entry xmlns="http://www.w3.org/2005/Atom"><title>Emma</title>
                <link rel="http://opds-spec.org/acquisition/open-access" href="/b/m.json" type="application/audiobook+json"/></entry>
                """
            try await fetchThrice(
                { "http://127.0.0.1:\($0)/works/1" }, pages: ["/works/1": entry, "/b/m.json": manifest],
                audio: [
                    "/b/1.mp3": Self.audio[0], "/b/%E7%AC%AC%E4%BA%8C%20%E9%9B%86.mp3": Self.audio[1],
                    "/audio/3.mp3": Self.audio[2],
                ],
                source: { "type: opds, url: \"http://127.0.0.1:\($0)/opds\"" },
                title: "Jane Austen/Emma", files: (1...3).map { "00\($0) Part \($0).mp3" })
        }

        @Test
        func `a book of an Audiobookshelf server is interrupted and resumed, and its token is kept from all else`()
            async throws
        {
            let id = "bc0719db-2124-4ba2-9860-1b729cbfcc6e"
            let tracks = (1...3).map {
                """
                {"index":\($0),"ino":"70\($0)","title":"Chapter \($0).mp3","contentUrl":"/api/items/\(id)/file/70\($0)",
                "mimeType":"audio/mpeg","metadata":{"filename":"Chapter \($0).mp3","size":\(20_000 + $0)}}
                """
            }
            let item = """
                {"id":"\(id)","libraryId":"lib","mediaType":"book","media":{"metadata":{"title":"Emma",
                "authors":[{"id":"a","name":"Jane Austen"}]},"tracks":[\(tracks.joined(separator: ","))]}}
                """
            try await fetchThrice(
                { "http://127.0.0.1:\($0)/item/\(id)" }, pages: ["/api/items/\(id)": item],
                audio: Dictionary(
                    uniqueKeysWithValues: Self.audio.enumerated().map {
                        ("/api/items/\(id)/file/70\($0 + 1)/download", $1)
                    }),
                source: { "type: audiobookshelf, url: \"http://127.0.0.1:\($0)\", bearer: \(Self.token)" },
                title: "Jane Austen/Emma", files: (1...3).map { "00\($0) Chapter \($0).mp3" }, token: Self.token)
        }

        @Test func `the address of a directory names its book for every command, also when the store was lost`()
            async throws
        {
            let index = "<html><head><title>Index of /b/</title></head><body><a href=\"1.mp3\">1.mp3</a></body></html>"
            let script = ServerScript.paths(["/b/": .always(.text(index)), "/b/1.mp3": .file(Self.audio[0])])
            try await withWorkbench { bench in
                try await withServer(script) { server in
                    let address = server.url("/b/")
                    try bench.configure("subscriptions: [{ book: \"\(address)\" }]")
                    #expect(try await bench.run("mirror", environment: bench.configured).exitCode == 0)
                    for command in [
                        ["list", address], ["show", address], ["explain", address + "#1"], ["plan", "--offline"],
                        ["verify", address], ["export", "csv", address, "--output", "-"], ["pause", address],
                        ["remove", address, "--dry-run"], ["trash", "restore", address], ["resume", address],
                    ] {
                        let result = try await bench.runBare(
                            command + ["--library", "L"], environment: bench.configured)
                        #expect(result.exitCode == 0, "\(command): \(result.errors)")
                    }
                    for name in ["store.sqlite", "store.sqlite-wal", "store.sqlite-shm"] {
                        try? FileManager.default.removeItem(at: bench.library.appending(path: ".booksync/\(name)"))
                    }
                    let mirror = try await bench.run("mirror", environment: bench.configured)
                    #expect(mirror.exitCode == 0, "\(mirror.errors)")
                    #expect(server.requests(path: "/b/1.mp3").count == 1)
                }
            }
        }

        @Test func `what is not there is 66, what cannot be read is 65, what cannot be reached is 69`() async throws {
            try await withWorkbenchAndRefusingPort { bench, refusing in
                let scripts: [String: ServerScript] = [
                    "/metadata/none": .always(.text("{}")), "/metadata/page": .always(.text("<html>busy</html>")),
                    "/page/": .always(.text("<html><title>Login</title></html>")),
                    "/api/items/page": .always(.text("<html><title>Login</title></html>")),
                    "/api/items/forbidden": .always(.text("Forbidden", status: 403)),
                    "/lent": .always(
                        .text(#"{"links":[{"rel":"http://opds-spec.org/acquisition/borrow","href":"/loan"}]}"#)),
                    "/api/feed/audiobooks": .always(
                        .text("{\"error\":\"Audiobooks could not be found\"}", status: 404)),
                ]
                try await withServer(.paths(scripts)) { server in
                    try bench.configure(
                        """
                        sources:
                          ia: { type: internet-archive, url: "\(server.url(""))" }
                          lv: { type: librivox, url: "\(server.url(""))" }
                          dir: { type: directory, url: "\(server.url("/"))" }
                          abs: { type: audiobookshelf, url: "\(server.url(""))", bearer: TOKEN-1 }
                          opds: { type: opds }
                          down: { type: directory, url: "http://127.0.0.1:\(refusing)/" }
                        downloads: { retries: 0 }
                        """)
                    for (book, code) in [
                        ("ia:none", 66), ("ia:page", 65), ("lv:1", 66), ("dir:nothing", 66), ("dir:page", 65),
                        ("down:x", 69), ("abs:none", 66), ("abs:page", 65), ("abs:forbidden", 77),
                        (server.url("/item/none"), 66), ("opds:\(server.url("/page/"))", 65), (server.url("/lent"), 66),
                    ] {
                        let result = try await bench.run("fetch", book, environment: bench.configured)
                        #expect(Int(result.exitCode ?? -1) == code, "\(book): \(result.errors)")
                        #expect(result.signal == nil)
                    }
                }
            }
        }
    }
}
