import Foundation
import Support
import Testing

extension ProductTests {
    /// Tags that are embedded in files, judged by mutagen, mpg123, ffmpeg's stream hash and the bytes that were served.
    @Suite(.needs("ffmpeg", "ffprobe"))
    struct TagTests {
        private func make(_ name: String, _ arguments: String, in bench: Workbench) async throws -> [UInt8] {
            let input = "-v error -nostdin -f lavfi -t 8 -i sine=frequency=330 "
            let result = try await ForeignProgram.run(
                "ffmpeg", (input + arguments).split(separator: " ").map(String.init) + ["-y", name], in: bench)
            #expect(result.exitCode == 0, "\(result.errors)")
            return Array(try Data(contentsOf: bench.folder.appending(path: name)))
        }

        private func cover(in bench: Workbench) async throws -> [UInt8] {
            _ = try await ForeignProgram.run(
                "ffmpeg",
                [
                    "-v", "error", "-f", "lavfi", "-i", "testsrc=size=300x300:rate=1", "-frames:v", "1", "-y",
                    "cover.jpg",
                ],
                in: bench)
            return Array(try Data(contentsOf: bench.folder.appending(path: "cover.jpg")))
        }

        /// A feed of these files, each fetched once.
        private func withBook(
            _ files: [(name: String, bytes: [UInt8])], fetching: Bool = true, in bench: Workbench,
            _ body: (MisbehavingServer, [String: String]) async throws -> Void
        ) async throws {
            var scripts = Dictionary(
                uniqueKeysWithValues: files.map {
                    ("/\($0.name)", ServerScript.file($0.bytes, etag: "\"\($0.bytes.count)\"", ranges: false))
                })
            scripts["/cover.jpg"] = .file(try await cover(in: bench), ranges: false)
            scripts["/feed"] = ServerScript { request in
                let host = "http://\(request.header("Host") ?? "")"
                let items = files.enumerated().map { place, file in
                    "<item><title>第\(place + 1)集</title><guid>\(file.name)</guid><itunes:episode>\(place + 1)</itunes:episode>"
                        + "<pubDate>Tue, 03 Mar 2020 10:00:00 GMT</pubDate>"
                        + "<enclosure url=\"\(host)/\(file.name)\" length=\"\(file.bytes.count)\" type=\"audio/mpeg\"/></item>"
                }
                return .text(
                    "<rss version=\"2.0\" xmlns:itunes=\"http://www.itunes.com/dtds/podcast-1.0.dtd\"><channel>"
                        + "<title>三体 第二部</title><language>zh</language><itunes:author>刘慈欣</itunes:author>"
                        + "<itunes:image href=\"\(host)/cover.jpg\"/>\(items.joined())</channel></rss>")
            }
            try await withServer(.paths(scripts)) { server in
                let source = "type: feed, url: \"http://127.0.0.1:\(server.port)/feed\", allow-private-addresses: true"
                try bench.configure("sources:\n  own: { \(source) }\n")
                let environment = bench.configured.merging(["BOOKSYNC_PROBE": "auto"]) { $1 }
                if fetching {
                    let run = try await bench.run("fetch", "own:feed", environment: environment)
                    #expect(run.exitCode == 0, "\(run.errors)")
                }
                try await body(server, environment)
            }
        }

        /// The audio files by their section.
        private func audio(in bench: Workbench) throws -> [URL] {
            try bench.files().filter { !$0.key.hasSuffix(".jpg") }.sorted { $0.key < $1.key }.map(\.value)
        }

        private func digests(in bench: Workbench) throws -> [String] {
            try audio(in: bench).map { sha256(try Data(contentsOf: $0)) }
        }

        private func streamHash(_ file: URL, in bench: Workbench) async throws -> String {
            try await ForeignProgram.run(
                "ffmpeg",
                [
                    "-v", "error", "-i", file.path, "-map", "0:a", "-c", "copy", "-f", "streamhash", "-hash", "sha256",
                    "-",
                ],
                in: bench
            ).output
        }

        private func python(_ script: String, _ arguments: [String], in bench: Workbench) async throws -> String {
            let python = try #require(await ForeignProgram.python(having: "mutagen"))
            let result = try await withProduct(
                ["-c", script] + arguments, environment: ForeignProgram.home, in: bench.folder, executable: python
            ) { try await $0.result() }
            #expect(result.exitCode == 0, "\(result.errors)")
            return result.output
        }

        @Test(.needs(python: "mutagen"), .firstInLine)
        func `all kinds of files get tags and a cover, keep their audio, and become again what was fetched`()
            async throws
        {
            try await withWorkbench { bench in
                let files = try await [
                    ("1.mp3", make("a.mp3", "-c:a libmp3lame -q:a 5", in: bench)),
                    ("2.m4a", make("b.m4a", "-c:a aac", in: bench)),
                    ("3.opus", make("c.opus", "-c:a libopus", in: bench)),
                    ("4.flac", make("d.flac", "-c:a flac", in: bench)),
                    ("5.ogg", make("e.ogg", "-c:a libvorbis", in: bench)),
                    ("6.wav", make("f.wav", "-c:a pcm_s16le", in: bench)),
                ]
                try await withBook(files, in: bench) { server, environment in
                    let before = try audio(in: bench)
                    var hashes: [String] = []
                    for file in before { hashes.append(try await streamHash(file, in: bench)) }
                    let planned = try await bench.run("tag", "own:feed", "--dry-run", environment: environment)
                    #expect(planned.output.contains("5 files to tag"), "\(planned.output)")
                    #expect(try digests(in: bench) == files.map { sha256($0.1) })

                    let run = try await bench.run("tag", "own:feed", environment: environment)
                    #expect(run.exitCode == 75 && run.output.contains("5 files tagged, 0 unchanged, 1 left"), "\(run)")
                    #expect(run.errors.contains("booksync does not write tags into files of its kind, wav"))
                    for (file, hash) in zip(try audio(in: bench), hashes) {
                        #expect(try await streamHash(file, in: bench) == hash, "\(file.lastPathComponent)")
                    }
                    let script = """
                        import sys, mutagen
                        for path in sys.argv[1:]:
                            f = mutagen.File(path); e = mutagen.File(path, easy=True)
                            covers = f.tags.getall("APIC") if hasattr(f.tags, "getall") else f.tags.get("covr") or \\
                                getattr(f, "pictures", None) or f.tags.get("metadata_block_picture")
                            track = e["tracknumber"][0].split("/")[0]
                            print(track, e["title"][0], e["album"][0], e["artist"][0], e["date"][0], len(covers), round(f.info.length))
                        """
                    let tagged = try audio(in: bench).dropLast().map(\.path)
                    let lines = try await python(script, tagged, in: bench).split(separator: "\n")
                    #expect(lines == (1...5).map { "\($0) 第\($0)集 三体 第二部 刘慈欣 2020-03-03 1 8" })
                    let played = try await ForeignProgram.run("mpg123", ["-q", "-t", tagged[0]], in: bench)
                    #expect(played.exitCode == 0 && played.errors == "", "\(played.errors)")
                    // Done is done, and nothing is asked for again.
                    let again = try await bench.run("tag", "own:feed", environment: environment)
                    #expect(again.output.contains("0 files tagged, 5 unchanged"), "\(again.output)")
                    #expect(try await bench.run("verify", environment: environment).exitCode == 0)
                    #expect(try await bench.run("fetch", "own:feed", environment: environment).exitCode == 0)
                    // Nor when the store is lost.
                    let own = bench.library.appending(path: ".booksync")
                    for name in try FileManager.default.contentsOfDirectory(atPath: own.path)
                    where name.hasPrefix("store") || name == "backup" {
                        try FileManager.default.removeItem(at: own.appending(path: name))
                    }
                    let adopted = try await bench.run("fetch", "own:feed", environment: environment)
                    #expect(adopted.errors.contains("6 adopted"), "\(adopted.errors)")
                    for (name, _) in files {
                        let requests = server.record.requests.filter { $0.path == "/\(name)" && $0.method == "GET" }
                        #expect(requests.count == 1, "\(name) \(requests)")
                    }
                    let restored = try await bench.run("tag", "own:feed", "--restore", environment: environment)
                    #expect(restored.exitCode == 0 && restored.output.contains("5 files restored"), "\(restored)")
                    #expect(try digests(in: bench) == files.map { sha256($0.1) })
                    #expect(try await bench.run("verify", environment: environment).exitCode == 0)
                    #expect(
                        try FileManager.default.contentsOfDirectory(atPath: own.appending(path: "originals").path) == []
                    )
                }
            }
        }

        @Test(.needs(python: "mutagen"))
        func `what an MP3 has of other frames, other pictures and bytes behind the audio stays`() async throws {
            try await withWorkbench { bench in
                let plain = try await make("a.mp3", "-c:a libmp3lame -write_id3v2 0 -id3v2_version 0", in: bench)
                _ = try await cover(in: bench)
                let script = """
                    import sys
                    from mutagen.id3 import APIC, COMM, GEOB, ID3, POPM, PRIV, TIT2, TXXX, UFID, USLT
                    path, version, picture = sys.argv[1], int(sys.argv[2]), open("cover.jpg", "rb").read()
                    t = ID3()
                    for frame in (TIT2(encoding=1, text="old"), COMM(encoding=1, lang="zho", desc="d", text="评论"),
                                  USLT(encoding=1, lang="zho", desc="", text="词"), POPM(email="a@b", rating=5, count=7),
                                  PRIV(owner="o", data=b"\\xff\\x00\\xff\\xe0"), UFID(owner="http://x", data=b"id"),
                                  GEOB(encoding=0, mime="a/b", filename="f", desc="d", data=b"\\xff\\x00z"),
                                  TXXX(encoding=1, desc="MINE", text="我的"), TXXX(encoding=1, desc="SERIES", text="alt"),
                                  APIC(encoding=0, mime="image/jpeg", type=4, desc="back", data=picture)):
                        t.add(frame)
                    t.save(path, v2_version=version)
                    """
                // With nothing in it that may be taken for audio, as old programs wrote it.
                let unsynchronise = """
                    import re, sys
                    b = open(sys.argv[1], "rb").read()
                    size = b[6] << 21 | b[7] << 14 | b[8] << 7 | b[9]
                    body = b[10:10 + size].rstrip(b"\\0").replace(b"\\xff\\0", b"\\xff\\0\\0")
                    body = re.sub(rb"\\xff(?=[\\xe0-\\xff])", b"\\xff\\0", body)
                    n = len(body)
                    head = b"ID3\\3\\0\\x80" + bytes([n >> 21 & 127, n >> 14 & 127, n >> 7 & 127, n & 127])
                    open(sys.argv[1], "wb").write(head + body + b[10 + size:])
                    """
                var files: [(String, [UInt8])] = []
                let tail = Array("TAG".utf8) + [UInt8](repeating: 0x20, count: 124) + [0xff]
                for (number, version) in [3, 4, 3].enumerated() {
                    let file = bench.folder.appending(path: "\(number).mp3")
                    try Data(plain + tail).write(to: file)
                    _ = try await python(script, [file.path, "\(version)"], in: bench)
                    if number == 2 { _ = try await python(unsynchronise, [file.path], in: bench) }
                    files.append(("\(number).mp3", Array(try Data(contentsOf: file))))
                }
                try await withBook(files, in: bench) { _, environment in
                    let run = try await bench.run("tag", "own:feed", environment: environment)
                    #expect(run.exitCode == 0 && run.output.contains("3 files tagged"), "\(run)")
                    let read = """
                        import sys
                        from mutagen.id3 import ID3
                        for path in sys.argv[1:]:
                            t = ID3(path)
                            print(t.version[1], t["TIT2"], t["COMM:d:zho"], t["USLT::zho"], t["POPM:a@b"].count, t["UFID:http://x"].data,
                                  t.getall("PRIV")[0].data, t["GEOB:d"].data, t["TXXX:MINE"], [f.text[0] for f in t.getall("TXXX")
                                  if f.desc.lower() == "series"], sorted(int(p.type) for p in t.getall("APIC")))
                        """
                    let frames =
                        #"评论 词 7 b'id' b'\xff\x00\xff\xe0' b'\xff\x00z' 我的 ['三体'] [3, 4]"#
                    let found = try await python(read, try audio(in: bench).map(\.path), in: bench)
                    let expected = [3, 4, 3].enumerated().map { "\($1) 第\($0 + 1)集 \(frames)" }
                    #expect(found.split(separator: "\n").map(String.init) == expected)
                    let behind = plain.count + tail.count
                    for (file, served) in zip(try audio(in: bench), files) {
                        #expect(Array(try Data(contentsOf: file).suffix(behind)) == served.1.suffix(behind))
                    }
                    #expect(
                        try await bench.run("tag", "own:feed", "--restore", environment: environment).exitCode == 0)
                    #expect(try digests(in: bench) == files.map { sha256($0.1) })
                }
            }
        }

        @Test func `a file with two names is left, or becomes one of its own`() async throws {
            try await withWorkbench { bench in
                let bytes = try await make("a.mp3", "-c:a libmp3lame", in: bench)
                try await withBook([("1.mp3", bytes)], in: bench) { _, environment in
                    let file = try #require(try audio(in: bench).first)
                    let twin = bench.folder.appending(path: "twin.mp3")
                    try FileManager.default.linkItem(at: file, to: twin)
                    let refused = try await bench.run("tag", "own:feed", environment: environment)
                    #expect(refused.exitCode == 75 && refused.errors.contains("another name elsewhere"), "\(refused)")
                    #expect(try digests(in: bench) == [sha256(bytes)])
                    #expect(try await bench.run("tag", "own:feed", "--copy", environment: environment).exitCode == 0)
                    #expect(try digests(in: bench) != [sha256(bytes)])
                    #expect(try Data(contentsOf: twin) == Data(bytes))
                    let originals = bench.library.appending(path: ".booksync/originals").path
                    #expect(try FileManager.default.contentsOfDirectory(atPath: originals).count == 1)
                    #expect(try await bench.run("tag", "own:feed/7", environment: environment).exitCode == 66)
                    // What was removed for good needs it no more.
                    #expect(try await bench.run("remove", "own:feed", "--yes", environment: environment).exitCode == 0)
                    #expect(try await bench.run("trash", "empty", "--yes", environment: environment).exitCode == 0)
                    #expect(try FileManager.default.contentsOfDirectory(atPath: originals) == [])
                }
            }
        }

        @Test func `what was edited is left as it is, and without ffmpeg nothing is begun`() async throws {
            try await withWorkbench { bench in
                let bytes = try await make("a.mp3", "-c:a libmp3lame", in: bench)
                try await withBook([("1.mp3", bytes)], in: bench) { _, environment in
                    let file = try #require(try audio(in: bench).first)
                    let blind = try await bench.run(
                        "tag", "own:feed", environment: environment.merging(["PATH": bench.folder.path]) { $1 })
                    #expect(blind.exitCode == 78 && blind.errors.contains("ffmpeg is not installed"), "\(blind)")
                    try Data(bytes + [0]).write(to: file)
                    let edited = try await bench.run("tag", "own:feed", environment: environment)
                    #expect(edited.exitCode == 75 && edited.errors.contains("verify --accept"), "\(edited)")
                    #expect(try Data(contentsOf: file) == Data(bytes + [0]))
                }
            }
        }

        @Test(arguments: ["verify", "fetch own:feed", "tag own:feed --restore"])
        func `an older copy of the store is brought up to date with the tags, and nothing is fetched again`(
            command: String
        ) async throws {
            try await withWorkbench { bench in
                let bytes = try await make("a.mp3", "-c:a libmp3lame", in: bench)
                try await withBook([("1.mp3", bytes)], in: bench) { server, environment in
                    let store = bench.library.appending(path: ".booksync/store.sqlite")
                    let older = try Data(contentsOf: store)
                    #expect(try await bench.run("tag", "own:feed", environment: environment).exitCode == 0)
                    #expect(try digests(in: bench) != [sha256(bytes)])
                    try older.write(to: store)
                    let arguments = command.split(separator: " ").map(String.init)
                    let first = try await bench.runBare(arguments + ["--library", "L"], environment: environment)
                    #expect(first.exitCode == 0 && !first.errors.contains("edited"), "\(first)")
                    #expect(first.errors.contains("the records of 1 file are updated") == (command == "verify"))
                    for later in [["verify"], ["fetch", "own:feed"], ["tag", "own:feed", "--restore"]] {
                        let result = try await bench.runBare(later + ["--library", "L"], environment: environment)
                        #expect(result.exitCode == 0, "\(result)")
                    }
                    #expect(try digests(in: bench) == [sha256(bytes)])
                    #expect(server.record.requests.count { $0.path == "/1.mp3" && $0.method == "GET" } == 1)
                }
            }
        }

        @Test func `what was edited and accepted gets tags and stays the user's, and what was only touched gets them`()
            async throws
        {
            try await withWorkbench { bench in
                let bytes = try await make("a.mp3", "-c:a libmp3lame", in: bench)
                let longer = try await make("b.mp3", "-c:a libmp3lame -b:a 96k", in: bench)
                var environment: [String: String] = [:]
                try await withBook([("1.mp3", bytes), ("2.mp3", bytes)], in: bench) { _, given in
                    environment = given
                    let files = try audio(in: bench)
                    try Data(bytes + [0, 0]).write(to: files[0])
                    try FileManager.default.setAttributes(
                        [.modificationDate: Date(timeIntervalSince1970: 1_600_000_000)], ofItemAtPath: files[1].path)
                    let accepted = try await bench.run("verify", "own:feed", "--accept", environment: environment)
                    #expect(accepted.exitCode == 0, "\(accepted)")
                    #expect(accepted.output.contains(": 1 intact, 1 accepted in "), "\(accepted.output)")
                    for (argument, word) in [("-q", "tagged"), ("--restore", "restored"), ("-v", "tagged")] {
                        let run = try await bench.run("tag", "own:feed", argument, environment: environment)
                        #expect(run.exitCode == 0, "\(word): \(run)")
                        let isRestored = try digests(in: bench) == [sha256(bytes + [0, 0]), sha256(bytes)]
                        #expect(isRestored == (word == "restored"))
                        #expect(try await bench.run("verify", environment: environment).exitCode == 0)
                    }
                }
                try await withBook([("1.mp3", longer), ("2.mp3", longer)], fetching: false, in: bench) { _, _ in
                    let replaced = try await bench.run("fetch", "own:feed", environment: environment)
                    #expect(replaced.errors.contains("2 replaced"), "\(replaced.errors)")
                    let trashed = try await bench.run("trash", "list", environment: environment)
                    #expect(trashed.outputLines.last?.hasPrefix("2 files") == true, "\(trashed.output)")
                }
            }
        }

        @Test func `a run embeds tags, once, and replaces such a file as any other`() async throws {
            try await withWorkbench { bench in
                let bytes = try await make("a.mp3", "-c:a libmp3lame", in: bench)
                let longer = try await make("b.mp3", "-c:a libmp3lame -b:a 96k", in: bench)
                var environment: [String: String] = [:]
                try await withBook([("1.mp3", bytes)], fetching: false, in: bench) { server, given in
                    environment = given.merging(["BOOKSYNC_TAGS": "embed"]) { $1 }
                    #expect(try await bench.run("fetch", "own:feed", environment: environment).exitCode == 0)
                    let tagged = try digests(in: bench)
                    #expect(tagged != [sha256(bytes)])
                    let again = try await bench.run("fetch", "own:feed", environment: environment)
                    #expect(again.errors.contains("1 kept"), "\(again.errors)")
                    #expect(try digests(in: bench) == tagged)
                    #expect(server.record.requests.count { $0.path == "/1.mp3" } == 1)
                }
                try await withBook([("1.mp3", longer)], fetching: false, in: bench) { _, _ in
                    let replaced = try await bench.run("fetch", "own:feed", environment: environment)
                    #expect(replaced.errors.contains("1 replaced"), "\(replaced.errors)")
                    #expect(try await bench.run("tag", "own:feed", "--restore", environment: environment).exitCode == 0)
                    #expect(try digests(in: bench) == [sha256(longer)])
                }
            }
        }

        /// Where it is killed: at a call on a path of the library.
        static let steps: [(call: String, path: String)] =
            (1...8).map { ("pwrite64:signal=KILL:when=\($0)", ".booksync/store.sqlite-wal") }
            + [("/rename:signal=KILL", "刘慈欣/三体 第二部"), ("fsync:signal=KILL", "刘慈欣/三体 第二部")]
            + [("fsync:signal=KILL", ".booksync/originals")]

        @Test(
            .needs("strace, and the right to trace") { await SystemCallTrace.isPossible() },
            arguments: Tier.choose(4, of: steps.indices))
        func `whoever is killed leaves the old file or the new one, and either becomes what was fetched`(
            step: Int
        ) async throws {
            try await withWorkbench { bench in
                let bytes = try await make("a.mp3", "-c:a libmp3lame", in: bench)
                try await withBook([("1.mp3", bytes)], in: bench) { server, environment in
                    let product = try #require(ProductRunner.executable)
                    let (call, place) = Self.steps[step]
                    let killed = try await withProduct(
                        [
                            "-f", "-o", "/dev/null", "-P", "\(bench.library.path)/\(place)", "-e", "inject=\(call)",
                            "-e",
                            "signal=none", product.path, "tag", "own:feed", "--library", "L",
                        ],
                        environment: environment, in: bench.folder, executable: SystemCallTrace.tool
                    ) { try await $0.result() }
                    #expect(killed.signal == SIGKILL, "\(killed)")
                    let left = try digests(in: bench)
                    #expect(left.count == 1)
                    let verified = try await bench.run("verify", environment: environment)
                    #expect(verified.exitCode == 0, "\(verified.output) \(verified.errors)")
                    #expect(try await bench.run("fetch", "own:feed", environment: environment).exitCode == 0)
                    #expect(server.record.requests.count { $0.path == "/1.mp3" } == 1)
                    #expect(try await bench.run("tag", "own:feed", environment: environment).exitCode == 0)
                    let tagged = try digests(in: bench)
                    #expect(left == [sha256(bytes)] || left == tagged)
                    #expect(tagged != [sha256(bytes)])
                    #expect(
                        try await bench.run("tag", "own:feed", "--restore", environment: environment).exitCode == 0)
                    #expect(try digests(in: bench) == [sha256(bytes)])
                }
            }
        }
    }
}
