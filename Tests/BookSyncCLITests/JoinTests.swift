import Foundation
import Support
import Testing

extension ProductTests {
    /// One file of a book's episodes, judged by ffprobe, mutagen and mpg123.
    @Suite(.needs("ffmpeg", "ffprobe"))
    struct JoinTests {
        /// Makes an audio file: a second and a half of a tone, and half a second of silence.
        private func make(_ name: String, _ arguments: String, seconds: Int = 2, in bench: Workbench) async throws
            -> [UInt8]
        {
            let tone = "aevalsrc='0.5*sin(880*PI*t)*lt(t,\(Double(seconds) - 0.5))':s=44100:d=\(seconds)"
            let words = arguments.split(separator: " ").map(String.init)
            let result = try await ForeignProgram.run(
                "ffmpeg", ["-v", "error", "-nostdin", "-f", "lavfi", "-i", tone] + words + ["-y", name], in: bench)
            #expect(result.exitCode == 0, "\(result.errors)")
            return Array(try Data(contentsOf: bench.folder.appending(path: name)))
        }

        /// Fetches a book of these files, with an ffmpeg that counts how often it is called.
        private func withBook(
            _ files: [(name: String, bytes: [UInt8])], title: String = "A Book", probe: String = "auto",
            cover: [UInt8]? = nil, in bench: Workbench,
            _ body: ([String: String]) async throws -> Void
        ) async throws {
            var scripts = Dictionary(
                uniqueKeysWithValues: files.enumerated().map { place, file in
                    ("/\(place).\(file.name.suffix(3))", ServerScript.file(file.bytes, ranges: false))
                })
            if let cover { scripts["/cover.jpg"] = .file(cover, ranges: false) }
            let hasCover = cover != nil
            scripts["/feed"] = ServerScript { request in
                let picture = "<itunes:image href=\"http://\(request.header("Host") ?? "")/cover.jpg\"/>"
                let items = files.enumerated().map { place, file in
                    let address = "http://\(request.header("Host") ?? "")/\(place).\(file.name.suffix(3))"
                    return
                        "<item><title>\(file.name)</title><guid>\(place)</guid><itunes:episode>\(place + 1)</itunes:episode>"
                        + "<enclosure url=\"\(address)\" type=\"audio/mpeg\"/></item>"
                }
                return .text(
                    "<rss version=\"2.0\" xmlns:itunes=\"http://www.itunes.com/dtds/podcast-1.0.dtd\"><channel>"
                        + "<title>\(title)</title><itunes:author>Somebody</itunes:author>\(hasCover ? picture : "")"
                        + "\(items.joined())</channel></rss>"
                )
            }
            let shim = bench.folder.appending(path: "bin")
            try FileManager.default.createDirectory(at: shim, withIntermediateDirectories: true)
            for tool in ["ffmpeg", "ffprobe"] {
                let real = try #require(ForeignProgram.path(tool)).path
                let script =
                    "#!/bin/sh\necho \"$@\" | tr '\\n' ' ' >>'\(bench.folder.path)/\(tool).calls'\nexec \(real) \"$@\"\n"
                try Data(script.utf8).write(to: shim.appending(path: tool))
                try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: shim.path + "/" + tool)
            }
            try await withServer(.paths(scripts)) { server in
                let source = "type: feed, url: \"http://127.0.0.1:\(server.port)/feed\", allow-private-addresses: true"
                try bench.configure("sources:\n  own: { \(source) }\n")
                let path = "\(shim.path):\(ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")"
                let environment = bench.configured.merging(["BOOKSYNC_PROBE": probe, "PATH": path]) { $1 }
                let run = try await bench.run("fetch", "own:feed", environment: environment)
                #expect(run.exitCode == 0, "\(run.errors)")
                try await body(environment)
            }
        }

        /// How often ffmpeg encoded.
        private func encodes(in bench: Workbench, by log: String = "ffmpeg.calls") throws -> Int {
            let calls = bench.folder.appending(path: log)
            guard FileManager.default.fileExists(atPath: calls.path) else { return 0 }
            return try String(contentsOf: calls, encoding: .utf8).components(separatedBy: "-b:a").count - 1
        }

        private func join(
            _ arguments: String..., environment: [String: String], in bench: Workbench, exitCode: Int32 = 0
        ) async throws -> [JSONObject] {
            let result = try await ProductRunner.run(
                ["join", "own:feed", "--json", "--library", "L"] + arguments, environment: environment, in: bench.folder
            )
            #expect(result.exitCode == exitCode, "\(result.exitCode) \(result.output) \(result.errors)")
            return try result.outputLines.map { try JSONObject($0) }.filter { $0["event"] == "joined" }
        }

        @Test func `the page of a book joins it, says whether the file is fresh, and gives it away`() async throws {
            try await withWorkbench { bench in
                let bytes = try await make("a.mp3", "-c:a libmp3lame", in: bench)
                try await withBook([("One.mp3", bytes), ("Two.mp3", bytes)], in: bench) { environment in
                    let name = "Joined/Somebody/A Book.m4b"
                    try await bench.serve(environment: environment) { shelf in
                        func page() async throws -> String { try await self.page(of: shelf) }
                        let token = try await shelf.formToken(on: "/books/own/feed")
                        let form = [("book", "own:feed"), ("return", "/books/own/feed")]
                        #expect(try await page().contains("Not made yet"))
                        #expect(try await shelf.post("/actions/join", form: form).status == 403)
                        let unknown = [("book", "own:other"), ("token", token)]
                        #expect(try await shelf.post("/actions/join", form: unknown).status == 303)
                        let asked = try await shelf.post("/actions/join", form: form + [("token", token)])
                        #expect(asked.status == 303 && asked.fields["location"] == "/books/own/feed", "\(asked.text)")
                        try await waitUntil("it is joined") { try await page().contains("Up to date") }
                        #expect(try await !page().contains("actions/join"))
                        let link = try #require(try await page().firstMatch(of: /href="([^"]+)" download="([^"]+)"/))
                        #expect(link.output.2 == "A Book.m4b")
                        let file = Array(try Data(contentsOf: bench.library.appending(path: name)))
                        let given = try await shelf.send(String(link.output.1))
                        #expect(given.status == 200 && given.body == file)
                        let part = try await shelf.send(String(link.output.1), ["Range: bytes=5-9"])
                        #expect(part.status == 206 && part.body == Array(file[5...9]))
                        #expect(try await shelf.send("/joined/own/feed/7.m4b").status == 404)
                        // What was not joined is among the runs.
                        let runs = try await shelf.send("/runs", ["Accept: text/html"]).text
                        #expect(runs.contains("own:other"), "\(runs)")
                        _ = try await bench.run("remove", "own:feed/2", environment: environment)
                        #expect(try await page().contains("Older than the episodes"))
                        try Data("another".utf8).write(to: bench.library.appending(path: name))
                        #expect(try await shelf.send(String(link.output.1)).status == 404)
                    }
                    let bare = environment.merging(["PATH": "/nowhere"]) { $1 }
                    try await bench.serve(environment: bare) { shelf in
                        let page = try await shelf.send("/books/own/feed")
                        #expect(page.status == 200 && !page.text.contains("id=\"joined\""))
                    }
                }
            }
        }

        /// What the page of the book says of it as one file.
        private func page(of shelf: ServedShelf) async throws -> String {
            let text = try await shelf.send("/books/own/feed", ["Accept: text/html"]).text
            return String(try #require(text.components(separatedBy: "id=\"joined\"").last).prefix(1500))
        }

        /// Has that run in place of ffmpeg; `REAL` is ffmpeg itself, and `LAST` the last argument, the file that is written.
        private func replaceFFmpeg(by script: String, in bench: Workbench) throws {
            let real = try #require(ForeignProgram.path("ffmpeg")).path
            let text = "#!/bin/sh\nfor LAST; do :; done\n\(script.replacing("REAL", with: real))\n"
            let file = bench.folder.appending(path: "bin/ffmpeg")
            try Data(text.utf8).write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
        }

        @Test(arguments: [("m4b", "--normalize", "-18"), ("mp3", "--bitrate", "32k")])
        func `a file of the same episodes is up to date on the page, whatever the options were`(
            format: String, option: String, value: String
        ) async throws {
            try await withWorkbench { bench in
                let files = [("1.mp3", try await make("a.mp3", "-c:a libmp3lame", in: bench))]
                try await withBook(files, in: bench) { environment in
                    _ = try await join("--format", format, option, value, environment: environment, in: bench)
                    try await bench.serve(environment: environment) { shelf in
                        let page = try await page(of: shelf)
                        #expect(page.contains("Up to date") && page.contains("A Book.\(format)"), "\(page)")
                        #expect(!page.contains("actions/join"), "\(page)")
                    }
                    // With other options it is another file.
                    let planned = try await join("--format", format, "--dry-run", environment: environment, in: bench)
                    #expect(planned.first?["outcome"] == "planned", "\(planned)")
                }
            }
        }

        @Test func `the page says why a book was not joined, and what cannot be written is not called unreadable`()
            async throws
        {
            try await withWorkbench { bench in
                let files = [("1.mp3", try await make("a.mp3", "-c:a libmp3lame", in: bench))]
                try await withBook(files, in: bench) { environment in
                    try replaceFFmpeg(
                        by: """
                            case "$*" in *-b:a*) echo '[error] Unknown encoder' >&2; exit 1;; esac
                            exec REAL "$@"
                            """, in: bench)
                    let failed = try await join("--format", "m4b", environment: environment, in: bench, exitCode: 74)
                    let why = try #require(failed.first?["error"])
                    #expect(why.contains("cannot be written: Unknown encoder; see whether the disk has room"), "\(why)")
                    try await bench.serve(environment: environment) { shelf in
                        let token = try await shelf.formToken(on: "/books/own/feed")
                        #expect(try await !page(of: shelf).contains("Unknown encoder"))
                        _ = try await shelf.post(
                            "/actions/join", form: [("book", "own:feed"), ("return", "/"), ("token", token)])
                        try await waitUntil("it is told") { try await page(of: shelf).contains("Unknown encoder") }
                        #expect(try await page(of: shelf).contains("actions/join"))
                        let runs = try await shelf.send("/runs", ["Accept: text/html"]).text
                        #expect(runs.contains("Join · 1 book"), "\(runs)")
                    }
                }
            }
        }

        /// The streams of pictures in a file, by codec, as ffprobe reads them.
        private func pictures(_ file: URL, in bench: Workbench) async throws -> [String] {
            let result = try await ForeignProgram.run(
                "ffprobe", ["-v", "error", "-show_streams", "-of", "json", file.path], in: bench)
            return try JSONObject(result.output).objects("streams")
                .filter { $0.object("disposition")?.number("attached_pic") == 1 }.compactMap { $0["codec_name"] }
        }

        @Test(arguments: [(false, "mjpeg"), (true, "png")])
        func `a book with a cover is joined into every format with it, exported or in the first episode`(
            isEmbedded: Bool, codec: String
        ) async throws {
            try await withWorkbench { bench in
                let name = isEmbedded ? "cover.png" : "cover.jpg"
                _ = try await ForeignProgram.run(
                    "ffmpeg",
                    ["-v", "error", "-f", "lavfi", "-i", "testsrc=size=99x99:rate=1", "-frames:v", "1", "-y", name],
                    in: bench)
                let audio = try await make("a.m4a", "-c:a aac", in: bench)
                _ = try await ForeignProgram.run(
                    "ffmpeg",
                    ["-v", "error", "-i", "a.m4a", "-i", name, "-map", "0", "-map", "1", "-c", "copy"]
                        + ["-disposition:v:0", "attached_pic", "-y", "b.m4a"], in: bench)
                let pictured = Array(try Data(contentsOf: bench.folder.appending(path: "b.m4a")))
                let cover = Array(try Data(contentsOf: bench.folder.appending(path: name)))
                try await withBook(
                    [("1.m4a", isEmbedded ? pictured : audio), ("2.m4a", audio)], cover: isEmbedded ? nil : cover,
                    in: bench
                ) { environment in
                    if !isEmbedded {
                        let exported = try await bench.run("export", "cover", "own:feed", environment: environment)
                        #expect(exported.exitCode == 0, "\(exported.errors)")
                    }
                    for format in ["m4b", "mka", "mp3"] {
                        _ = try await join("--format", format, environment: environment, in: bench)
                        let file = joined("A Book.\(format)", in: bench)
                        #expect(try await pictures(file, in: bench) == [codec], "\(format)")
                        let (_, titles, tags) = try await read(file, in: bench)
                        #expect(titles == ["1.m4a", "2.m4a"] && tags["title"] == "A Book", "\(format) \(tags)")
                    }
                }
            }
        }

        private func joined(_ name: String, in bench: Workbench) -> URL {
            bench.library.appending(path: "Joined/Somebody/\(name)")
        }

        /// What ffprobe reads: the chapters' starts and titles, and the file's tags.
        private func read(
            _ file: URL, in bench: Workbench
        ) async throws -> (starts: [Double], titles: [String], tags: [String: String]) {
            let result = try await ForeignProgram.run(
                "ffprobe", ["-v", "error", "-show_chapters", "-show_format", "-of", "json", file.path], in: bench)
            let document = try JSONObject(result.output)
            let chapters = document.objects("chapters")
            let tags = document.object("format")?.object("tags")
            return (
                chapters.compactMap { Double($0["start_time"] ?? "") },
                chapters.compactMap { $0.object("tags")?["title"] },
                Dictionary((tags?.keys ?? []).map { ($0.lowercased(), tags?[$0] ?? "") }) { first, _ in first }
            )
        }

        /// The packets of files, behind each other.
        private func packets(_ files: [URL], in bench: Workbench) async throws -> [UInt8] {
            var bytes: [UInt8] = []
            for file in files {
                let output = bench.folder.appending(path: "packets")
                _ = try await ForeignProgram.run(
                    "ffmpeg",
                    ["-v", "error", "-i", file.path, "-map", "0:a:0", "-c", "copy", "-f", "data", "-y", output.path],
                    in: bench)
                bytes += Array(try Data(contentsOf: output))
            }
            return bytes
        }

        /// The seconds at which tones begin, as they are heard.
        private func onsets(_ file: URL, in bench: Workbench) async throws -> [Double] {
            let output = bench.folder.appending(path: "samples")
            _ = try await ForeignProgram.run(
                "ffmpeg", ["-v", "error", "-i", file.path, "-ac", "1", "-ar", "8000", "-f", "u8", "-y", output.path],
                in: bench)
            let samples = Array(try Data(contentsOf: output))
            var (onsets, quiet) = ([Double](), Int.max / 2)
            for (index, sample) in samples.enumerated() {
                guard abs(Int(sample) - 128) > 8 else {
                    quiet += 1
                    continue
                }
                if quiet > 1600 { onsets.append(Double(index) / 8000) }
                quiet = 0
            }
            return onsets
        }

        private func expect(_ starts: [Double], near onsets: [Double]) {
            #expect(starts.count == onsets.count, "\(starts.count) \(onsets.count)")
            for (start, onset) in zip(starts, onsets) { #expect(abs(start - onset) < 0.1, "\(start) \(onset)") }
        }

        private func episodes(in bench: Workbench) throws -> [URL] {
            try bench.files().filter { !$0.key.hasPrefix("Joined/") && !$0.key.contains("cover") }.sorted {
                $0.key < $1.key
            }.map(\.value)
        }

        // MARK: -

        @Test(arguments: [
            ("m4a", "-c:a aac -b:a 64k", "m4b"), ("mp3", "-c:a libmp3lame -q:a 6", "mp3"),
            ("ogg", "-c:a libopus", "mka"),
        ])
        func `what agrees is copied packet for packet, with a chapter where each episode begins`(
            kind: String, encoder: String, format: String
        ) async throws {
            try await withWorkbench { bench in
                var files: [(String, [UInt8])] = []
                for number in 1...4 {
                    files.append(
                        ("It's \(number).\(kind)", try await make("e.\(kind)", encoder, seconds: number + 1, in: bench))
                    )
                }
                try await withBook(files, title: "Rock 'n' Roll", in: bench) { environment in
                    let before = try episodes(in: bench)
                    let planned = try await join("--format", format, "--dry-run", environment: environment, in: bench)
                    #expect(planned.first?["outcome"] == "planned")
                    #expect(!FileManager.default.fileExists(atPath: bench.library.path + "/Joined"))
                    let made = try await join("--format", format, environment: environment, in: bench)
                    #expect(made.first?["outcome"] == "written" && made.first?.number("reencoded") == 0, "\(made)")
                    let file = joined("Rock 'n' Roll.\(format)", in: bench)
                    #expect(try await packets([file], in: bench) == packets(before, in: bench))
                    let (starts, titles, tags) = try await read(file, in: bench)
                    #expect(titles == files.map(\.0))
                    expect(starts, near: try await onsets(file, in: bench))
                    #expect(
                        tags["title"] == "Rock 'n' Roll" && tags["album"] == "Rock 'n' Roll"
                            && tags["artist"] == "Somebody")
                    #expect(try encodes(in: bench) == 0)
                }
            }
        }

        @Test(
            .needs(python: "mutagen"),
            arguments: [("m4a", "-c:a aac"), ("mp3", "-c:a libmp3lame -write_xing 0 -q:a 7")])
        func `no chapter of a long book is off by more than a tenth of a second, copied or encoded`(
            kind: String, encoder: String
        ) async throws {
            try await withWorkbench { bench in
                let (short, long) = (
                    try await make("a.\(kind)", encoder, in: bench),
                    try await make("b.\(kind)", encoder, seconds: 3, in: bench)
                )
                let count = Tier.choose(full: 30, long: 300)
                let files = (1...count).map { ("\($0).\(kind)", $0 % 3 == 0 ? long : short) }
                try await withBook(files, in: bench) { environment in
                    _ = try await join("--format", "m4b", environment: environment, in: bench)
                    let file = joined("A Book.m4b", in: bench)
                    let (starts, titles, _) = try await read(file, in: bench)
                    #expect(titles == files.map(\.0))
                    expect(starts, near: try await onsets(file, in: bench))
                    let left = try FileManager.default.contentsOfDirectory(
                        atPath: bench.library.path + "/.booksync/joining")
                    #expect(left == [])
                    let python = try #require(await ForeignProgram.python(having: "mutagen"))
                    let script =
                        "import sys, mutagen; f = mutagen.File(sys.argv[1]); print(f.tags['\\xa9nam'][0], int(f.info.length))"
                    let judged = try await withProduct(
                        ["-c", script, file.path], environment: ForeignProgram.home, in: bench.folder,
                        executable: python
                    ) { try await $0.result() }
                    #expect(judged.output.hasPrefix("A Book "), "\(judged.output) \(judged.errors)")
                    // Two are of 2 seconds and the third is of 3; encoders add some hundredths to each.
                    let seconds = judged.output.split(whereSeparator: \.isWhitespace).last.flatMap { Int($0) }
                    #expect((count * 7 / 3...count * 5 / 2).contains(seconds ?? 0), "\(judged.output)")
                }
            }
        }

        @Test(.needs("mpg123"), .needs(python: "mutagen"))
        func `MP3 files of several kinds are encoded once, and mpg123 plays and mutagen reads what comes of it`()
            async throws
        {
            try await withWorkbench { bench in
                let files = try await [
                    ("1.mp3", make("a.mp3", "-c:a libmp3lame -b:a 64k -ar 22050", in: bench)),
                    ("2.mp3", make("b.mp3", "-c:a libmp3lame -q:a 4 -write_xing 0", in: bench)),
                    ("3.mp3", make("c.mp3", "-c:a libmp3lame -b:a 96k -ac 2", in: bench)),
                ]
                try await withBook(files, in: bench) { environment in
                    let made = try await join(
                        "--format", "mp3", "--normalize", "-18", environment: environment, in: bench)
                    #expect(made.first?.number("reencoded") == 1 && made.first?.number("episodes") == 3, "\(made)")
                    let file = joined("A Book.mp3", in: bench)
                    expect(try await read(file, in: bench).starts, near: try await onsets(file, in: bench))
                    let played = try await ForeignProgram.run("mpg123", ["-q", "-t", file.path], in: bench)
                    #expect(played.exitCode == 0 && played.errors == "", "\(played.errors)")
                    let python = try #require(await ForeignProgram.python(having: "mutagen"))
                    let script = """
                        import sys, mutagen
                        tags = mutagen.File(sys.argv[1]).tags
                        print(tags["TIT2"], tags["TALB"], tags["TPE1"], *[c.sub_frames["TIT2"] for c in tags.getall("CHAP")])
                        """
                    let judged = try await withProduct(
                        ["-c", script, file.path], environment: ForeignProgram.home, in: bench.folder,
                        executable: python
                    ) { try await $0.result() }
                    #expect(
                        judged.output == "A Book A Book Somebody 1.mp3 2.mp3 3.mp3\n",
                        "\(judged.output) \(judged.errors)")
                }
            }
        }

        @Test func `a join that is killed goes on behind the last episode that was encoded`() async throws {
            try await withWorkbench { bench in
                let bytes = try await make("a.mp3", "-c:a libmp3lame -q:a 6", seconds: 90, in: bench)
                // The same bytes are encoded once.
                let files = (0..<10).map { ("\($0).mp3", bytes + [UInt8](repeating: 0, count: $0)) }
                try await withBook(files, in: bench) { environment in
                    let folder = bench.library.appending(path: ".booksync/joining")
                    func finished() -> Int {
                        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
                        return names.count { $0.hasSuffix(".m4b") && !$0.hasPrefix(".") }
                    }
                    try await bench.start("join", "own:feed", "--format", "m4b", environment: environment) { run in
                        try await waitUntil("some are encoded") { finished() >= 3 }
                        run.send(signal: SIGKILL)
                        #expect(try await run.result().signal == SIGKILL)
                    }
                    #expect(!FileManager.default.fileExists(atPath: joined("A Book.m4b", in: bench).path))
                    let done = finished()
                    #expect(done < 9)
                    // An ffmpeg that was just begun may write to the other log after the kill.
                    let again = bench.folder.appending(path: "again")
                    try FileManager.default.copyItem(at: bench.folder.appending(path: "bin"), to: again)
                    let script = try String(contentsOf: again.appending(path: "ffmpeg"), encoding: .utf8)
                    try Data(script.replacing("ffmpeg.calls", with: "again.calls").utf8)
                        .write(to: again.appending(path: "ffmpeg"))
                    let path = environment["PATH", default: ""]
                    let made = try await join(
                        "--format", "m4b", environment: environment.merging(["PATH": "\(again.path):\(path)"]) { $1 },
                        in: bench)
                    #expect(made.first?["outcome"] == "written")
                    #expect(try encodes(in: bench, by: "again.calls") == 10 - done)
                    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
                }
            }
        }

        #if os(Linux)
            @Test func `a join that is killed takes its ffmpeg along, and the next run removes what that was writing`()
                async throws
            {
                try await withWorkbench { bench in
                    let files = [("1.mp3", try await make("a.mp3", "-c:a libmp3lame", in: bench))]
                    try await withBook(files, in: bench) { environment in
                        try replaceFFmpeg(
                            by: "echo audio >\"${LAST#file:}\"; exec tail -f \"${LAST#file:}\"", in: bench)
                        let folder = bench.library.appending(path: ".booksync/joining").path
                        func unfinished() -> [String] {
                            // It is made when the join begins.
                            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
                            return names.filter { $0.hasSuffix(".new") }
                        }
                        try await bench.start("join", "own:feed", "--format", "m4b", environment: environment) { run in
                            try await waitUntil("ffmpeg writes") { !unfinished().isEmpty }
                            run.send(signal: SIGKILL)
                            #expect(try await run.result().signal == SIGKILL)
                        }
                        try await waitUntil("no process is left") { try processes(naming: folder).isEmpty }
                        let doctor = try await bench.run("doctor", environment: environment)
                        #expect(doctor.output.contains("leftovers: 1 file of an unfinished join"), "\(doctor.output)")
                        #expect(unfinished().count == 1)
                        let run = try await bench.run("fetch", "own:feed", environment: environment)
                        #expect(run.exitCode == 0 && unfinished().isEmpty, "\(run.errors)")
                    }
                }
            }

            @Test func `a join is cancelled on the page, and made when somebody asks for it again`() async throws {
                try await withWorkbench { bench in
                    let files = [("1.mp3", try await make("a.mp3", "-c:a libmp3lame", in: bench))]
                    try await withBook(files, in: bench) { environment in
                        let hangs = bench.folder.appending(path: "hangs").path
                        try replaceFFmpeg(
                            by: """
                                [ -e '\(hangs)' ] || exec REAL "$@"
                                echo audio >"${LAST#file:}"; exec tail -f "${LAST#file:}"
                                """, in: bench)
                        try Data().write(to: URL(filePath: hangs))
                        let folder = bench.library.appending(path: ".booksync/joining").path
                        try await bench.serve(environment: environment) { shelf in
                            let token = try await shelf.formToken(on: "/books/own/feed")
                            func ask(_ action: String, _ field: String, _ value: String = "own:feed") async throws {
                                let form = [(field, value), ("return", "/books/own/feed"), ("token", token)]
                                #expect(try await shelf.post("/actions/\(action)", form: form).status == 303)
                            }
                            try await ask("join", "book")
                            try await waitUntil("ffmpeg writes") { try !processes(naming: folder).isEmpty }
                            // Others have the library meanwhile, here and in another terminal.
                            try await ask("fetch", "ref", "demo:40111/1")
                            try await shelf.product.waitForErrors(containing: "1 fetched")
                            let run = try await bench.run("fetch", "demo:40111/2", environment: environment)
                            #expect(run.exitCode == 0, "\(run.errors)")
                            #expect(try !processes(naming: folder).isEmpty)
                            let page = try await page(of: shelf)
                            #expect(page.contains("Being made: 0") && page.contains("actions/cancel"), "\(page)")
                            #expect(page.contains("data-moves") && !page.contains("actions/join"), "\(page)")
                            try await ask("cancel", "ref")
                            try await waitUntil("no process is left") { try processes(naming: folder).isEmpty }
                            let after = try await self.page(of: shelf)
                            #expect(after.contains("Not made yet") && after.contains("actions/join"), "\(after)")
                            #expect(!after.contains("data-moves") && !after.contains("class=\"why\""), "\(after)")
                            try FileManager.default.removeItem(atPath: hangs)
                            try await ask("join", "book")
                            try await waitUntil("it is joined") {
                                try await self.page(of: shelf).contains("Up to date")
                            }
                            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
                        }
                    }
                }
            }

            @Test func `how far a join is counts for its book alone, not for one that waits behind it`() async throws {
                try await withWorkbench { bench in
                    let audio = try await make("a.mp3", "-c:a libmp3lame", in: bench)
                    try await withBook([("1.mp3", audio), ("2.mp3", audio)], in: bench) { environment in
                        #expect(try await bench.run("fetch", "demo:40111/1", environment: environment).exitCode == 0)
                        try replaceFFmpeg(
                            by: """
                                case "$*" in *"002 2"*) ;; *) exec REAL "$@" ;; esac
                                echo audio >"${LAST#file:}"; exec tail -f "${LAST#file:}"
                                """, in: bench)
                        try await bench.serve(environment: environment) { shelf in
                            func join(_ book: String, on page: String) async throws {
                                let token = try await shelf.formToken(on: page)
                                let form = [("book", book), ("return", page), ("token", token)]
                                #expect(try await shelf.post("/actions/join", form: form).status == 303)
                            }
                            try await join("own:feed", on: "/books/own/feed")
                            try await waitUntil("the first episode is encoded") {
                                try await self.page(of: shelf).contains(/Being made: [1-9]/)
                            }
                            try await join("demo:40111", on: "/books/demo/40111")
                            let other = try await shelf.send("/books/demo/40111", ["Accept: text/html"]).text
                            #expect(other.contains("Being made: 0"), "\(other)")
                            #expect(try await self.page(of: shelf).contains(/Being made: [1-9]/))
                        }
                    }
                }
            }
        #endif

        @Test(arguments: [("m4b", false), ("mp3", false), ("mp3", true)])
        func `an incomplete join leaves out what is no audio or is gone, names it, and knows its file again`(
            format: String, isGone: Bool
        ) async throws {
            try await withWorkbench { bench in
                var files: [(String, [UInt8])] = []
                for number in 1...3 {
                    files.append(
                        ("\(number).m4a", try await make("e.m4a", "-c:a aac", seconds: number + 1, in: bench)))
                }
                try await withBook(files, in: bench) { environment in
                    // Of the same size, so that only who reads it finds out.
                    let episode = try episodes(in: bench)[1]
                    try Data(count: files[1].1.count).write(to: episode)
                    if isGone { try FileManager.default.removeItem(at: episode) }
                    let (why, code) = isGone ? ("is not there as it was fetched", 75) : ("cannot be read as audio", 74)
                    let whole = try await join(
                        "--format", format, environment: environment, in: bench, exitCode: Int32(code))
                    #expect(whole.map { $0["outcome"] } == ["failed"], "\(whole)")
                    for result in ["written", "unchanged"] {
                        let made = try await join(
                            "--format", format, "--incomplete", environment: environment, in: bench)
                        #expect(made.map { $0["outcome"] } == ["left_out", result], "\(made)")
                        #expect(made.first?["path"].map { episode.path.hasSuffix("/" + $0) } == true, "\(made)")
                        #expect(made.first?["error"]?.contains(why) == true, "\(made)")
                    }
                    let file = joined("A Book.\(format)", in: bench)
                    let (starts, titles, _) = try await read(file, in: bench)
                    #expect(titles == ["1.m4a", "3.m4a"])
                    expect(starts, near: try await onsets(file, in: bench))
                    let told = try await bench.run(
                        "join", "own:feed", "--format", format, "--incomplete", environment: environment)
                    #expect(told.exitCode == 0 && told.errors.contains("is left out: "), "\(told.errors)")
                    // What is not in it is missed where all is asked for.
                    _ = try await join(
                        "--format", format, environment: environment, in: bench, exitCode: Int32(code))
                }
            }
        }

        /// Where a join is killed: at a call on a path of the library. strace counts the calls of each thread by itself; the one
        /// that begins the run makes some seven.
        static let steps: [(call: String, path: String)] =
            (1...6).map { ("pwrite64:signal=KILL:when=\($0)", ".booksync/store.sqlite-wal") }
            + [
                ("/rename:signal=KILL", "Joined/Somebody"), ("/rename:signal=KILL", "TEMPORARY"),
                ("fsync:signal=KILL", "Joined/Somebody"),
            ]

        @Test(
            .needs("strace, and the right to trace") { await SystemCallTrace.isPossible() },
            arguments: Tier.choose(4, of: steps.indices))
        func `a join that is killed at any step leaves the old file or the new one, and the next one finishes`(
            step: Int
        ) async throws {
            try await withWorkbench { bench in
                let files = try await [
                    ("1.mp3", make("a.mp3", "-c:a libmp3lame -b:a 64k", in: bench)),
                    ("2.mp3", make("b.mp3", "-c:a libmp3lame -b:a 64k -ar 22050", in: bench)),
                ]
                try await withBook(files, in: bench) { environment in
                    _ = try await join("--format", "mp3", environment: environment, in: bench)
                    let file = joined("A Book.mp3", in: bench)
                    let old = sha256(try Data(contentsOf: file))
                    let product = try #require(ProductRunner.executable)
                    let (call, place) = Self.steps[step]
                    let name = ".booksync-" + sha256(Data("Joined/Somebody/A Book.mp3".utf8)).prefix(32) + ".mp3"
                    let path = bench.library.path + "/" + (place == "TEMPORARY" ? ".booksync/joining/\(name)" : place)
                    let killed = try await withProduct(
                        ["-f", "-o", "/dev/null", "-P", path, "-e", "inject=\(call)", "-e", "signal=none"]
                            + [
                                product.path, "join", "own:feed", "--format", "mp3", "--bitrate", "32k", "--library",
                                "L",
                            ],
                        environment: environment, in: bench.folder, executable: SystemCallTrace.tool
                    ) { try await $0.result() }
                    #expect(killed.signal == SIGKILL, "\(killed)")
                    let left = sha256(try Data(contentsOf: file))
                    let next = try await join(
                        "--format", "mp3", "--bitrate", "32k", environment: environment, in: bench)
                    #expect(["written", "unchanged"].contains(next.first?["outcome"]), "\(killed) \(next)")
                    let new = sha256(try Data(contentsOf: file))
                    #expect(left == old || left == new)
                    #expect(old != new)
                    #expect(try bench.files().keys.filter { $0.hasPrefix("Joined/") } == ["Joined/Somebody/A Book.mp3"])
                    #expect(
                        try FileManager.default.contentsOfDirectory(atPath: bench.library.path + "/.booksync/joining")
                            == [])
                }
            }
        }

        @Test func `it is made anew when an episode changes, and else nothing is done`() async throws {
            try await withWorkbench { bench in
                let files = try await [
                    ("1.m4a", make("a.m4a", "-c:a aac", in: bench)), ("2.m4a", make("b.m4a", "-c:a aac", in: bench)),
                ]
                try await withBook(files, in: bench) { environment in
                    _ = try await join("--format", "m4b", environment: environment, in: bench)
                    let file = joined("A Book.m4b", in: bench)
                    let calls = bench.folder.appending(path: "ffmpeg.calls")
                    let (first, before) = (try Data(contentsOf: file), try Data(contentsOf: calls))
                    #expect(
                        try await join("--format", "m4b", environment: environment, in: bench).first?["outcome"]
                            == "unchanged")
                    #expect(try Data(contentsOf: calls) == before)
                    let longer = try await make("c.m4a", "-c:a aac", seconds: 4, in: bench)
                    try Data(longer).write(to: try episodes(in: bench)[1])
                    let stale = try await join(
                        "--format", "m4b", "--bitrate", "32k", environment: environment, in: bench, exitCode: 75)
                    #expect(stale.first?["error"]?.contains("is not there as it was fetched") == true)
                    #expect(try Data(contentsOf: file) == first)
                    #expect(
                        try await bench.run("verify", "own:feed", "--accept", environment: environment).exitCode == 0)
                    #expect(
                        try await join("--format", "m4b", environment: environment, in: bench).first?["outcome"]
                            == "written")
                    expect(try await read(file, in: bench).starts, near: try await onsets(file, in: bench))
                    // What is no audio any more fails by its name, and the file stays.
                    let whole = try Data(contentsOf: file)
                    let episode = try episodes(in: bench)[0]
                    try Data(try Data(contentsOf: episode).prefix(4000)).write(to: episode)
                    let accepted = try await bench.run("verify", "own:feed", "--accept", environment: environment)
                    #expect(accepted.exitCode == 0, "\(accepted.errors)")
                    let failed = try await join("--format", "m4b", environment: environment, in: bench, exitCode: 74)
                    #expect(
                        failed.first?["outcome"] == "failed" && failed.first?["error"]?.contains("/001 ") == true,
                        "\(failed)")
                    #expect(try Data(contentsOf: file) == whole)
                }
            }
        }

        @Test func `it is divided by time, what others made stays, and no file of it is taken for an episode`()
            async throws
        {
            try await withWorkbench { bench in
                var files: [(String, [UInt8])] = []
                for number in 1...3 {
                    files.append(
                        ("\(number).m4a", try await make("e.m4a", "-c:a aac", seconds: 40 + number, in: bench)))
                }
                try await withBook(files, in: bench) { environment in
                    let made = try await join(
                        "--format", "m4b", "--max-part", "90s", environment: environment, in: bench)
                    #expect(made.compactMap { $0["path"] } == (1...2).map { "Joined/Somebody/A Book (\($0) of 2).m4b" })
                    #expect(try await read(joined("A Book (2 of 2).m4b", in: bench), in: bench).titles == ["3.m4a"])
                    let whole = try await join("--format", "m4b", environment: environment, in: bench)
                    #expect(whole.first?.number("parts") == 1)
                    #expect(try bench.files().keys.filter { $0.hasPrefix("Joined/") } == ["Joined/Somebody/A Book.m4b"])
                    // Neither by a run nor by the user's word is it an episode, even where nothing is known of it.
                    let again = try await bench.run("fetch", "own:feed", "--json", environment: environment)
                    #expect(try again.summary().number("kept") == 3, "\(again.output)")
                    let other = bench.folder.appending(path: "L/.booksync")
                    try FileManager.default.removeItem(at: other)
                    let adopted = try await bench.run(
                        "adopt", "L", "--book", "own:feed", "--json", environment: environment)
                    #expect(
                        adopted.exitCode == 0 && !adopted.output.contains("Joined/"),
                        "\(adopted.output) \(adopted.errors)")
                    // That store does not know it: it may be anybody's.
                    let left = try await join("--format", "m4b", environment: environment, in: bench, exitCode: 75)
                    #expect(
                        left.first?["outcome"] == "left"
                            && left.first?["error"]?.contains("booksync did not write it") == true)
                    let forced = try await join("--format", "m4b", "--force", environment: environment, in: bench)
                    #expect(forced.first?["outcome"] == "written")
                    try FileManager.default.createDirectory(
                        at: bench.folder.appending(path: "out"), withIntermediateDirectories: true)
                    _ = try await join("--format", "m4b", "--output", "out", environment: environment, in: bench)
                    #expect(
                        try FileManager.default.contentsOfDirectory(atPath: bench.folder.path + "/out") == [
                            "A Book.m4b"
                        ])
                    #expect(
                        try await join("--format", "m4b", environment: environment, in: bench).first?["outcome"]
                            == "unchanged")
                }
            }
        }

        @Test func `mirror keeps it fresh, works without ffmpeg, and does nothing on a quiet night`() async throws {
            try await withWorkbench { bench in
                let files = [("1.m4a", try await make("a.m4a", "-c:a aac", in: bench))]
                try await withBook(files, probe: "off", in: bench) { environment in
                    let joining = environment.merging(["BOOKSYNC_JOIN": "m4b"]) { $1 }
                    _ = try await bench.run("subscribe", "own:feed", environment: environment)
                    let without = try await bench.run(
                        "mirror", environment: joining.merging(["PATH": bench.folder.path]) { $1 })
                    #expect(without.exitCode == 0, "\(without.errors)")
                    #expect(
                        without.errors.components(separatedBy: "ffmpeg is not installed").count == 2,
                        "\(without.errors)")
                    let refused = try await bench.run(
                        "join", "own:feed", "--format", "m4b",
                        environment: joining.merging(["PATH": bench.folder.path]) { $1 })
                    #expect(refused.exitCode == 78 && refused.errors.contains("ffmpeg is not installed"))
                    let first = try await bench.run("mirror", environment: joining)
                    #expect(
                        first.exitCode == 0 && first.errors.contains("joined 1 episode into Joined/"), "\(first.errors)"
                    )
                    #expect(FileManager.default.fileExists(atPath: joined("A Book.m4b", in: bench).path))
                    let calls = bench.folder.appending(path: "ffprobe.calls")
                    let before = try Data(contentsOf: calls)
                    let second = try await bench.run("mirror", environment: joining)
                    #expect(second.exitCode == 0 && !second.errors.contains("joined"), "\(second.errors)")
                    #expect(try Data(contentsOf: calls) == before)
                }
            }
        }
    }
}
