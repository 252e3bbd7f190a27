import Foundation
import Support
import Testing

extension ProductTests {
    /// What every command prints with `--json`, held against its schema.
    @Suite struct JSONOutput {
        /// Runs the product and remembers what it printed.
        private final class Reader {
            let bench: Workbench
            let schemas: RecordedSchemas
            var met: Set<String> = []
            var events: Set<String> = []
            var documents: [(command: String, text: String)] = []

            init(_ bench: Workbench) throws {
                self.bench = bench
                schemas = try RecordedSchemas()
            }

            /// The command, as the schemas are called.
            private func name(_ words: [String]) -> String {
                let names = RecordedSchemas.programsCommands
                return names.contains(words[0]) ? words[0] : "\(words[0])-\(words[1])"
            }

            /// Runs it to its end.
            /// - Parameters:
            ///   - line: the arguments, each a word.
            ///   - count: how many documents it prints; nil for any number but none.
            @discardableResult
            func run(
                _ line: String, exitCode: Int32 = 0, printing count: Int? = 1, library: String = "L",
                sourceLocation: SourceLocation = #_sourceLocation
            ) async throws -> [String] {
                let words = line.split(separator: " ").map(String.init)
                let result = try await bench.runBare(words + ["--json", "--library", library])
                #expect(result.exitCode == exitCode, "\(line): \(result.errors)", sourceLocation: sourceLocation)
                return try read(result.output, of: name(words), line, printing: count, sourceLocation)
            }

            @discardableResult
            func read(
                _ output: String, of command: String, _ line: String, printing count: Int? = nil,
                _ sourceLocation: SourceLocation = #_sourceLocation
            ) throws -> [String] {
                let printed = RecordedSchemas.documents(in: output, of: command)
                #expect(
                    count.map { $0 == printed.count } ?? !printed.isEmpty, "\(line)", sourceLocation: sourceLocation)
                for document in printed {
                    let faults = try schemas.faults(of: document, printedBy: command)
                    #expect(faults == [], "\(line): \(document)", sourceLocation: sourceLocation)
                    documents.append((command, document))
                    met.insert(command)
                    for match in document.matches(of: /"event": ?"(\w+)"/) { events.insert(String(match.output.1)) }
                }
                return printed
            }

            /// A line of shell in which the product is `$BOOKSYNC`.
            func shell(_ script: String, of command: String, exitCode: Int32 = 0) async throws {
                let result = try await bench.shell(script)
                #expect(result.exitCode == exitCode, "\(script): \(result.errors)")
                try read(result.output, of: command, script, printing: 1)
            }
        }

        @Test func `every command has a schema, and no other has one`() throws {
            #expect(try RecordedSchemas().commands == RecordedSchemas.programsCommands)
        }

        @Test(.firstInLine) func `every command prints what its schema says, whatever it finds`() async throws {
            try await withWorkbenchAndRefusingPort { bench, port in
                let reader = try Reader(bench)
                try await readEmpty(reader)
                try await readShelf(reader)
                try await readFound(reader, refusing: port)
                try await readRemovals(reader)
                try await readSubscriptions(reader)
                try await readFiles(reader, refusing: port)
                try await readSettings(reader)
                try await readServers(reader)
                try await readLiveRun(reader)
                try await readMove(reader)
                #expect(reader.met == RecordedSchemas.programsCommands)
                #expect(reader.events == (try reader.schemas.events()))
            }
        }

        @Test func `what a REF may name gives the shape, not what it finds`() async throws {
            try await withWorkbench { bench in
                #expect(try await bench.run("fetch", "40111/6", "-q").exitCode == 0)
                for command in ["show", "explain"] {
                    for reference in ["40111/6", "40111/latest:1"] {
                        _ = try JSONObject(try await bench.run(command, reference, "--json").output)
                    }
                    for reference in ["40111/6-9", "40111/6,7", "40111/5-6", "40111/latest:2"] {
                        let printed = try await bench.run(command, reference, "--json").output
                        #expect(try JSONObject.list(printed).contains { $0.number("section") == 6 }, "\(reference)")
                    }
                }
            }
        }

        private func readEmpty(_ reader: Reader) async throws {
            for line in ["list", "search 夜", "queue", "runs", "subscriptions", "config show", "config path"] {
                try await reader.run(line)
            }
            for line in [
                "show 1", "explain 1/1", "verify", "verify --repair", "pause --all", "trash list", "undo", "export csv",
                "unsubscribe 1",
            ] {
                try await reader.run(line, exitCode: 66, printing: 0)
            }
            #expect(!reader.bench.exists)
            try await reader.run("plan", printing: 0)
            try await reader.run("list --nosuch", exitCode: 64, printing: 0)
            try await reader.run("mirror", exitCode: 78, printing: 0)
        }

        /// Nothing of the network is asked: by default everything that needs no configuration is.
        private func readFound(_ reader: Reader, refusing port: Int) async throws {
            try reader.bench.configure("find: { sources: [] }")
            for line in ["find 兽医", "find hdgddsy", "find --author 演示 --language zh --limit 1", "find nosuch"] {
                try await reader.run(line + " --config booksync.yaml")
            }
            try await reader.run("find 兽医 --source nosuch --config booksync.yaml", exitCode: 64, printing: 0)
            try reader.bench.configure(
                """
                find: { sources: [itunes], itunes-url: "http://127.0.0.1:\(port)" }
                downloads: { retries: 0 }
                sources: { feeds: { type: feed } }
                """)
            try await reader.run("find nosuch --config booksync.yaml", exitCode: 69)
            let list =
                #"{"items":[{"identifier":"a","title":"A","item_size":7},{"identifier":"b","title":"B"}],"total":2}"#
            try await withServer(.always(.text(list))) { server in
                try reader.bench.configure(
                    "sources: { archive: { type: internet-archive, url: \"\(server.url(""))\" } }")
                try await reader.run("plan archive:collection:x --config booksync.yaml")
                let chosen = "--language zh --min-hours 2 --max-books 3"
                try await reader.run("subscribe archive:collection:x \(chosen) --config booksync.yaml")
                try await reader.run("subscriptions --config booksync.yaml")
                try await reader.run("plan --config booksync.yaml")
                try await reader.run("mirror --dry-run --config booksync.yaml")
                try await reader.run(
                    "subscribe archive:collection:x --latest 3 --config booksync.yaml", exitCode: 64, printing: 0)
                try await reader.run(
                    "subscribe archive:x --max-books 3 --config booksync.yaml", exitCode: 64, printing: 0)
                try await reader.run("fetch archive:collection:x --config booksync.yaml", exitCode: 64, printing: 0)
                try await reader.run("unsubscribe archive:collection:x --config booksync.yaml")
            }
        }

        private func readShelf(_ reader: Reader) async throws {
            try await reader.run("fetch 40111 30776/1 --dry-run", printing: 2)
            try await reader.run("fetch 99 --dry-run", exitCode: 66)
            try await reader.run("fetch 40111 30776/1", printing: nil)
            try await reader.run("fetch 40111/1", printing: nil)
            try await reader.run("fetch 99", exitCode: 66, printing: nil)
            for line in [
                "list", "list 40111", "list 40111/1", "list 40111/77", "list 40111 30776", "search 夜", "search 1",
            ] {
                try await reader.run(line)
            }
            for line in ["show 40111", "show 40111/1", "show 40111/1-2", "explain 40111/1", "explain 30776"] {
                try await reader.run(line.hasSuffix("30776") ? line + "/56-58" : line)
            }
            try await reader.run("show 40111/99", exitCode: 66, printing: 0)
            try await reader.run("plan 40111")
            try await reader.run("plan 40111 30776 --offline", printing: 2)
            try await reader.run("plan 40111 demo:99", exitCode: 66, printing: 2)
            try await reader.run("catalog 40111 30776", printing: 2)
            try await reader.run("catalog demo:99", exitCode: 66)
            try await reader.run("runs")
            try await reader.run("doctor")
            try await reader.run("doctor --quiet")
        }

        private func readRemovals(_ reader: Reader) async throws {
            for line in [
                "pause 30776/2", "queue", "resume 30776", "cancel --all", "remove 40111/1-2 --dry-run",
                "remove 40111/1-2 --yes", "trash list", "undo --dry-run", "undo", "undo", "remove 40111/1",
                "remove 40111/1 --forget",
            ] { try await reader.run(line) }
            try await reader.run("remove 40111/1-2", exitCode: 64, printing: 0)
            // What is in the way stays, and the file in the trash.
            try await reader.run("remove 40111/3")
            let file = try #require(try reader.bench.files().first { $0.key.contains("004") }?.value)
            let way = file.deletingLastPathComponent().appending(path: "003 第003集_夜航船.mp3")
            try Data("mine".utf8).write(to: way)
            let restored = try await reader.run("trash restore --all", exitCode: 75)
            let outcomes = try JSONObject.list(try #require(restored.first)).map { $0["event"] }
            #expect(outcomes == ["restored", "failed"], "\(restored)")
            try FileManager.default.removeItem(at: way)
            try await reader.run("trash empty", exitCode: 64, printing: 0)
            for line in ["trash empty --yes", "trash empty --yes", "trash restore --all"] { try await reader.run(line) }
            try reader.bench.configure("naming: \"x/{title}/{section}.{ext}\"")
            try await reader.run("fetch 40111 --config booksync.yaml", printing: nil)
            for line in ["undo --dry-run", "undo", "undo"] { try await reader.run(line) }
        }

        private func readSubscriptions(_ reader: Reader) async throws {
            try await reader.run("subscribe 40111 30776/latest:3", printing: 2)
            try await reader.run("subscribe 40111", printing: 1)
            try await reader.run(
                "subscribe 40111 --keep last5 --max-size 5G --order last --title T", exitCode: 64, printing: 0)
            try await reader.run("subscribe 40111 --keep unheard --max-size 5G --order last --title T --since 30d")
            try await reader.run("subscriptions")
            try await reader.run("mirror --dry-run", printing: 2)
            try await reader.run("mirror --max-episodes 1", exitCode: 75, printing: nil)
            try await reader.run("subscriptions --export o.opml")
            try await reader.run("unsubscribe 40111 demo:99", exitCode: 66, printing: 2)
            let more = "<outline xmlUrl='https://feeds.example/1' text='F'/><outline xmlUrl='ftp://x/1'/>"
            let outline = try String(contentsOf: reader.bench.folder.appending(path: "o.opml"), encoding: .utf8)
            try Data(outline.replacing("</body>", with: more + "</body>").utf8)
                .write(to: reader.bench.folder.appending(path: "in.opml"))
            try await reader.run("subscriptions --import in.opml", exitCode: 65)
            try await reader.run("subscriptions")
        }

        private func readMove(_ reader: Reader) async throws {
            let script = ServerScript { request in
                var feed = ServedFeed()
                feed.items = [ServedFeed.Item(1)]
                if request.path == "/new.xml" { feed.path = "/new.xml" }
                return feed.answer(request)
            }
            try await withServer(script) { server in
                try await reader.run("fetch \(server.url("/feed.xml"))", printing: nil)
                try await reader.run("subscriptions --moved \(server.url("/feed.xml")) \(server.url("/new.xml"))")
                try await reader.run("subscriptions")
            }
        }

        private func readFiles(_ reader: Reader, refusing port: Int) async throws {
            let bench = reader.bench
            for line in [
                "verify", "verify --quick", "export csv", "export csv", "export cover", "export csv --output c.csv",
                "export opml --output o.opml",
            ] { try await reader.run(line) }
            for line in ["join 40111 --format mp3 --dry-run", "join 40111 --format mp3", "join 40111 --format mp3"] {
                try await reader.run("\(line) --incomplete", printing: nil)
            }
            try await reader.run("join 30776 --format mp3", exitCode: 75)
            for line in ["tag 40111/1 --dry-run", "tag 40111/1", "tag 40111/1", "tag 40111/1 --restore"] {
                try await reader.run(line)
            }
            try FileManager.default.removeItem(at: bench.library.appending(path: "Joined"))
            // Of several libraries: see LibrariesTests.
            reader.met.insert("move")
            reader.events.formUnion(["library", "moved"])
            let files = try bench.files().filter { $0.key.hasSuffix(".mp3") }.sorted { $0.key < $1.key }
            let kept = try Data(contentsOf: files[0].value)
            try (kept + Data([1])).write(to: files[0].value)
            try FileManager.default.removeItem(at: files[1].value)
            try await reader.run("verify", exitCode: 75)
            try await reader.run("verify 40111 30776 --accept", exitCode: 75)
            try await reader.run("verify --repair")
            let folder = files[2].value.deletingLastPathComponent()
            try Data("mine".utf8).write(to: folder.appending(path: "metadata.opf"))
            try await reader.run("export opf", exitCode: 75)
            try FileManager.default.copyItem(at: folder, to: bench.folder.appending(path: "old"))
            try await reader.run("adopt old --book demo:40111", exitCode: 64, printing: 0, library: "M")
            try await reader.run("adopt old --book demo:40111 --copy --dry-run", library: "M")
            try await reader.run("adopt old --book demo:40111 --copy", library: "M")
            let feeds = "[gone]\nurl=http://127.0.0.1:\(port)/gone.xml\nspool=/nowhere\n"
            try Data(feeds.utf8).write(to: bench.folder.appending(path: "castgetrc"))
            try await reader.run("import castget castgetrc --copy", exitCode: 69, library: "O")
            try Data("generic 5000000006\n".utf8).write(to: bench.folder.appending(path: "archive"))
            try await reader.run("import yt-dlp archive --book demo:40111 --dry-run", library: "M")
            try await reader.run("import yt-dlp archive --book demo:40111 --files old --copy", library: "O")
        }

        private func readSettings(_ reader: Reader) async throws {
            try await reader.run("init --config new.yaml")
            try await reader.run("init --config new.yaml", exitCode: 64, printing: 0)
            try reader.bench.configure(
                """
                sources:
                  kting: { type: book-resource, url: "http://127.0.0.1:9/l?token=T", query: { token: hidden, nwt: 1 },
                    signature: { parameter: sc, algorithm: md5, secret: hidden }, headers: { X: y }, keep: last 5 }
                  f: { type: feed, url: "http://127.0.0.1:9/{id}", bearer: B, proxy: none }
                  a: { type: internet-archive, formats: ["VBR MP3"], user: u, password: p }
                subscriptions:
                  - { book: "kting:1", latest: 3, order: last, max-bytes: 2G, since: 30d, title: T }
                """)
            for line in ["config show", "config check", "config path", "subscriptions"] {
                let printed = try await reader.run("\(line) --config booksync.yaml")
                #expect(printed.first?.contains("hidden") == false, "\(line)")
            }
            try reader.bench.configure("nokey: 1\n")
            for line in ["config check", "doctor"] {
                try await reader.run("\(line) --config booksync.yaml", exitCode: 78)
            }
            for line in ["list", "config show"] {
                try await reader.run("\(line) --config booksync.yaml", exitCode: 78, printing: 0)
            }
        }

        private func readServers(_ reader: Reader) async throws {
            let bench = reader.bench
            try reader.bench.configure("serve: { listen: 8731 }\n")
            let serve = "$BOOKSYNC serve --json --config booksync.yaml --library L"
            try await reader.shell("echo 'one two three' | \(serve) --set-password", of: "serve", exitCode: 78)
            try await reader.shell("echo 'one two three' | \(serve) --add-user Kim --books 40111", of: "serve")
            try await reader.shell("echo 'three two one' | \(serve) --passwd Kim", of: "serve")
            for line in ["--list-users", "--books-of Kim", "--list-users", "--remove-user Kim --yes", "--rotate-apps"] {
                try await reader.run("serve \(line)")
            }
            for command in ["serve", "demo"] {
                try await bench.start(command, "--listen", "127.0.0.1:0", "--json") { server in
                    try await server.waitForErrors(containing: "Ctrl-C ends it")
                    server.send(signal: SIGTERM)
                    try reader.read(try await server.result().output, of: command, command, printing: 1)
                }
            }
            // A library that was mirrored a moment ago would wait.
            try await reader.run("subscribe demo:40111/1", library: "N")
            let mirroring = ["serve", "--listen", "127.0.0.1:0", "--json", "--mirror-every", "6h", "--library", "N"]
            try await withProduct(mirroring, in: bench.folder) { server in
                try await server.waitForOutput(containing: #""event":"summary""#)
                server.send(signal: SIGTERM)
                // Line by line, from the first on.
                for line in try await server.result().outputLines {
                    try reader.read(line, of: "serve", "serve", printing: 1)
                }
            }
        }

        /// With what other processes say to it.
        private func readLiveRun(_ reader: Reader) async throws {
            let paced = ["BOOKSYNC_DEMO_PACE": "2000"]
            try await reader.bench.start("fetch", "30776/3-9", "--json", "--jobs", "2", environment: paced) { run in
                for section in 3...4 {
                    try await run.waitForOutput(containing: #""event":"progress""#, #""section":\#(section),"#)
                }
                for line in ["queue", "runs", "pause 30776/3"] { try await reader.run(line) }
                try await run.waitForOutput(containing: #""event":"paused""#)
                try await reader.run("cancel 30776/4")
                try await run.waitForOutput(containing: #""event":"cancelled""#)
                try await reader.run("fetch 30776/9", exitCode: 75)
                run.send(signal: SIGINT)
                try reader.read(try await run.result().output, of: "fetch", "fetch")
            }
            // A file that booksync does not know of is recognised.
            let file = try #require(try reader.bench.files().first { $0.key.contains("005") && $0.key.contains("夜航船") })
            let bytes = try Data(contentsOf: file.value)
            _ = try await reader.bench.run("remove", "40111/5", "-q")
            _ = try await reader.bench.run("remove", "40111/5", "--forget", "-q")
            try bytes.write(to: file.value)
            try await reader.run("fetch 40111/5", printing: nil)
        }

        // MARK: The judges

        /// Documents of few lines that between them have every kind of value.
        private func samples(_ reader: Reader) async throws -> [(command: String, text: String)] {
            for line in [
                "list", "fetch 40111/1", "list", "list 40111/1", "show 40111", "explain 40111/1", "subscribe 40111",
                "subscriptions", "runs", "verify", "remove 40111/1", "trash list", "undo", "config check", "doctor",
            ] { try await reader.run(line, printing: line.hasPrefix("fetch") ? nil : 1) }
            return reader.documents
        }

        /// The document with one thing wrong, for everything that can be: a key more, a key less, another type.
        private func mutants(of text: String) throws -> [String] {
            func mutants(of value: Any) -> [Any] {
                var found: [Any] = value is NSNull ? [] : [["a type": "of its own"]]
                if let items = value as? [Any] {
                    for (index, item) in items.enumerated() {
                        found += mutants(of: item).map { items.replacing(at: index, with: $0) }
                    }
                } else if let members = value as? [String: Any] {
                    found.append(members.merging(["unheard_of": 1]) { $1 })
                    for (key, member) in members {
                        found.append(members.filter { $0.key != key })
                        found += mutants(of: member).map { mutant in members.merging([key: mutant]) { $1 } }
                    }
                }
                return found
            }
            let value = try JSONSerialization.jsonObject(with: Data(text.utf8))
            return try mutants(of: value).map {
                String(decoding: try JSONSerialization.data(withJSONObject: $0), as: UTF8.self)
            }
        }

        @Test func `a document with a key more, a key less or another type is refused`() async throws {
            try await withWorkbench { bench in
                let reader = try Reader(bench)
                for (command, text) in try await samples(reader) {
                    for mutant in try mutants(of: text) {
                        let faults = try reader.schemas.faults(of: mutant, printedBy: command)
                        #expect(faults != [], "\(command): \(mutant)")
                    }
                }
            }
        }

        private static let module = "jsonschema, referencing"
        private static let judge = """
            import json, sys, pathlib
            from jsonschema import Draft202012Validator, FormatChecker
            from referencing import Registry, Resource
            files = {path.name: json.loads(path.read_text()) for path in pathlib.Path(sys.argv[1]).iterdir()}
            for schema in files.values(): Draft202012Validator.check_schema(schema)
            registry = Registry().with_resources((name, Resource.from_contents(schema)) for name, schema in files.items())
            for command, text, is_good in json.load(open("cases")):
                validator = Draft202012Validator(files[command + ".json"], registry=registry, format_checker=FormatChecker())
                errors = [error.message for error in validator.iter_errors(json.loads(text))]
                if is_good != (not errors): print(command, text, errors)
            """

        @Test(
            .needs(python: module))
        func `Python's jsonschema reads the schemas, and takes and refuses the same documents`() async throws {
            let python = try #require(await ForeignProgram.python(having: Self.module))
            try await withWorkbench { bench in
                let documents = try await samples(try Reader(bench))
                let cases = try documents.flatMap { command, text in
                    [[command, text, true]] + (try mutants(of: text)).map { [command, $0, false] as [Any] }
                }
                try JSONSerialization.data(withJSONObject: cases).write(to: bench.folder.appending(path: "cases"))
                let judged = try await withProduct(
                    ["-c", Self.judge, Corpus.fixture("schemas").path], environment: ForeignProgram.home,
                    in: bench.folder, executable: python
                ) { try await $0.result() }
                #expect(judged.exitCode == 0 && judged.output == "", "\(judged.output.prefix(2000)) \(judged.errors)")
            }
        }

        /// What the API answers and what the commands print is the same: the description of the one has the keys of the
        /// other.
        @Test(arguments: [
            ("Book", "book"), ("BookInFull", "bookInFull"), ("Episode", "episode"), ("EpisodeInFull", "episodeInFull"),
            ("PreviewEpisode", "listedEpisode"), ("Subscription", "subscription"), ("Run", "runRecord"),
        ])
        func `the schemas have the keys of the API's description`(_ name: String, _ definition: String) throws {
            let file = Corpus.repository.appending(path: "Sources/BookSyncWeb/Api/Resources/openapi.json")
            let document = try JSONObject(try String(contentsOf: file, encoding: .utf8))
            let described = try #require(document.object("components")?.object("schemas")?.object(name))
            let recorded = try #require(try RecordedSchemas().definitions()[definition])
            let properties = try #require(recorded["properties"] as? [String: Any])
            #expect(described.object("properties")?.keys == Set(properties.keys))
            let (ours, theirs) = (recorded["required"] as? [String], described.members["required"] as? [String])
            #expect(ours.map(Set.init) == theirs.map(Set.init))
        }
    }
}

extension [Any] {
    fileprivate func replacing(at index: Int, with element: Any) -> [Any] {
        prefix(index) + [element] + suffix(from: index + 1)
    }
}
