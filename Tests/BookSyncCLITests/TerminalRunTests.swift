@testable import BookSyncCLI

#if os(Linux)
    import Foundation
    import Support
    import Testing

    @testable import BookSyncCLI

    extension ProductTests {
        /// What a run shows on a real terminal while it is under way, and what it leaves there.
        @Suite struct TerminalRuns {
            private static let fetch = "exec \"$BOOKSYNC\" fetch 1 --jobs 3 --library L"

            private static func catalog(_ tap: Tap) -> ScriptedCatalog {
                var catalog = ScriptedCatalog(episodes: 3, bytes: 200_000, tap: tap)
                for index in catalog.items.indices { catalog.items[index].name = "第\(index + 1)集 山村里的兽医和他的三头老黄牛" }
                return catalog
            }

            /// Whether every transfer has its line, with bytes that have come, and the run has the last one.
            private static func isUnderWay(_ rows: [String]) -> Bool {
                rows.count == 4 && rows[3].hasPrefix("0/3")
                    && rows.prefix(3).allSatisfy { $0.hasPrefix("第") && !$0.contains(" 0%") && $0.contains("%") }
            }

            @Test func `at 80 columns each transfer has a line with bar, bytes and speed, and the summary stays`()
                async throws
            {
                let tap = Tap(allowing: 80_000)
                let catalog = Self.catalog(tap)
                try await withCatalog(catalog.script) { bench, _ in
                    try await bench.onTerminal(Self.fetch + " 2>\"$TERMINAL\"", environment: bench.configured) {
                        run, terminal in
                        let rows = try await terminal.waitForScreen {
                            Self.isUnderWay($0) && $0.allSatisfy { $0.contains("B/s") }
                        }
                        #expect(Set(rows.prefix(3).map { $0.prefix(3) }) == ["第1集", "第2集", "第3集"])
                        for row in rows {
                            #expect(DisplayWidth.columns(of: row) < 80, "\(row)")
                            #expect(row.contains(/\[=*>? *\] +\d+% +[\d.]+ k?B\/[\d.]+ kB +[\d.]+ k?B\/s/), "\(row)")
                        }
                        for row in rows.prefix(3) { #expect(row.contains("/200.0 kB") && row.contains("…"), "\(row)") }
                        tap.open()
                        #expect(try await run.result().exitCode == 0)
                        try expectSummary(on: terminal)
                    }
                    #expect(try bench.digests() == catalog.digests)
                }
            }

            @Test func `at 40 columns the lines fit as well`() async throws {
                let tap = Tap(allowing: 80_000)
                try await withCatalog(Self.catalog(tap).script) { bench, _ in
                    try await bench.onTerminal(
                        columns: 40, Self.fetch + " 2>\"$TERMINAL\"", environment: bench.configured
                    ) { run, terminal in
                        let rows = try await terminal.waitForScreen(Self.isUnderWay)
                        for row in rows { #expect(DisplayWidth.columns(of: row) < 40 && !row.contains("["), "\(row)") }
                        tap.open()
                        #expect(try await run.result().exitCode == 0)
                        try expectSummary(on: terminal)
                    }
                }
            }

            /// A line for each episode and the summary: no bar is left.
            private func expectSummary(on terminal: RecordedTerminal) throws {
                let screen = terminal.screen
                #expect(screen.oddities == [])
                // Sentences are broken between words.
                let text = screen.text.joined(separator: " ")
                #expect(text.ranges(of: "fetched ").count == 4, "\(screen.text)")
                #expect(text.contains(": 3 fetched (600.0 kB)"), "\(screen.text)")
                #expect(screen.text.last?.contains("%") == false && !text.contains("B/s"), "\(screen.text)")
            }

            @Test(arguments: [("--no-color", [:]), ("", ["NO_COLOR": "1"])])
            func `without colours there are bars still, and no colour`(
                flag: String, environment: [String: String]
            ) async throws {
                let tap = Tap(allowing: 80_000)
                try await withCatalog(Self.catalog(tap).script) { bench, _ in
                    try await bench.onTerminal(
                        Self.fetch + " \(flag) 2>\"$TERMINAL\"",
                        environment: bench.configured.merging(environment) { $1 }
                    ) { run, terminal in
                        try await terminal.waitForScreen(Self.isUnderWay)
                        tap.open()
                        #expect(try await run.result().exitCode == 0)
                        #expect(!terminal.text.contains(/\u{1B}\[[0-9;:]*m/))
                        try expectSummary(on: terminal)
                    }
                }
            }

            @Test(arguments: [("", true), ("--no-color", false)])
            func `what failed is red on a terminal that may have colours`(flag: String, isRed: Bool) async throws {
                let catalog = ScriptedCatalog(episodes: 1)
                let script = ServerScript { $0.path.hasPrefix("/audio/") ? .notFound : catalog.script.answer($0) }
                try await withCatalog(script, more: "downloads: { retries: 0 }") { bench, _ in
                    try await bench.onTerminal(
                        Self.fetch + " \(flag) 2>\"$TERMINAL\"", environment: bench.configured
                    ) { run, terminal in
                        #expect(try await run.result().exitCode == 75)
                        try await terminal.waitForScreen { $0.contains { $0.hasPrefix("failed: ") } }
                        #expect(terminal.text.contains("\u{1B}[31mfailed:\u{1B}[0m ") == isRed)
                        #expect(terminal.screen.oddities == [])
                    }
                    let piped = try await bench.run("fetch", "1", "--force", environment: bench.configured)
                    #expect(piped.errors.contains("failed: ") && piped.controlCharacters.isEmpty)
                }
            }

            @Test(arguments: [([:], true), (["NO_COLOR": "1"], false)])
            func `what doctor finds right is green on a terminal`(
                environment: [String: String], isGreen: Bool
            ) async throws {
                try await withWorkbench { bench in
                    try await bench.onTerminal(
                        "exec \"$BOOKSYNC\" doctor --library L >\"$TERMINAL\"", environment: environment
                    ) { run, terminal in
                        _ = try await run.result()
                        try await terminal.waitForScreen { $0.contains { $0.hasPrefix("ok ") } }
                        #expect(terminal.text.contains("\u{1B}[32mok\u{1B}[0m ") == isGreen)
                    }
                    let piped = try await bench.run("doctor")
                    #expect(piped.output.contains("ok ") && piped.controlCharacters.isEmpty)
                }
            }

            @Test(arguments: [80, 40])
            func `runs are listed with their whole reasons`(columns: Int) async throws {
                try await withCatalog(ScriptedCatalog(episodes: 1).script) { bench, _ in
                    // One that a run made for no book would not stay.
                    try FileManager.default.createDirectory(at: bench.library, withIntermediateDirectories: false)
                    let failed = try await bench.run("fetch", "nosource:1", environment: bench.configured)
                    #expect(failed.exitCode == 78)
                    try await bench.onTerminal(
                        columns: columns, "exec \"$BOOKSYNC\" runs --library L >\"$TERMINAL\"",
                        environment: bench.configured
                    ) { run, terminal in
                        #expect(try await run.result().exitCode == 0)
                        let rows = try await terminal.waitForScreen { $0.last?.hasSuffix("configuration") == true }
                        let reason = rows.filter { $0.hasPrefix("    ") }.map { $0.dropFirst(4) }.joined(separator: " ")
                        #expect(reason.contains("no source is called 'nosource'"), "\(rows)")
                        #expect(!rows.contains { $0.contains("…") })
                        #expect(rows.allSatisfy { DisplayWidth.columns(of: $0) <= columns })
                    }
                }
            }

            /// Answers for book 1 and leaves those who ask for others without an answer.
            private static let slowCatalogs = ServerScript { request in
                request.query["bookId"] == "1" ? ScriptedCatalog(episodes: 1).script.answer(request) : .neverAnswer
            }

            private static let books = """
                subscriptions: [{ book: "cat:1" }, { book: "cat:2" }, { book: "cat:3" }]
                """

            @Test(arguments: [
                ("en_GB.UTF-8", "asking 2 of 3 catalogs, 1 answered"), ("zh_CN.UTF-8", "正在查询 2/3 个目录，1 个已应答"),
            ])
            func `while slow catalogs are asked it is told how many, in a plan below what is known already`(
                locale: String, sentence: String
            ) async throws {
                try await withCatalog(Self.slowCatalogs, more: Self.books) { bench, _ in
                    try await bench.onTerminal(
                        "exec \"$BOOKSYNC\" plan --library L >\"$TERMINAL\" 2>\"$TERMINAL\"",
                        environment: bench.configured.merging(["LANG": locale]) { $1 }
                    ) { run, terminal in
                        // The catalog has answered before what it answered is planned and printed.
                        let rows = try await terminal.waitForScreen {
                            $0.contains(sentence) && $0.first?.contains(/^(action|操作)/) == true
                        }
                        #expect(rows.last == sentence, "\(rows)")
                        run.send(signal: SIGINT)
                        _ = try await run.result()
                        // What the run wrote last may not have been read yet.
                        try await terminal.waitForScreen { !$0.contains(sentence) }
                        #expect(terminal.screen.oddities == [])
                    }
                }
            }

            @Test(arguments: [80, 40])
            func `a catalog that wants to be asked later is told with the time`(columns: Int) async throws {
                try await withCatalog(.always(.text("", status: 429, headers: ["Retry-After": "300"]))) { bench, _ in
                    try await bench.onTerminal(
                        columns: columns, Self.fetch + " 2>\"$TERMINAL\"", environment: bench.configured
                    ) { run, terminal in
                        let rows = try await terminal.waitForScreen { $0.joined(separator: " ").hasSuffix("min") }
                        #expect(
                            rows.joined(separator: " ").contains(
                                /^1: it answers with HTTP status 429; next try in \d+ min$/), "\(rows)")
                        run.send(signal: SIGINT)
                        #expect(try await run.result().exitCode == 130)
                    }
                }
            }

            @Test func `a server that lets transfers wait has one line for all, with the time`() async throws {
                let catalog = Self.catalog(Tap(allowing: 0))
                let script = ServerScript { request in
                    request.path.hasPrefix("/audio/")
                        ? .text("", status: 503, headers: ["Retry-After": "30"]) : catalog.script.answer(request)
                }
                try await withCatalog(script) { bench, server in
                    try await bench.onTerminal(Self.fetch + " 2>\"$TERMINAL\"", environment: bench.configured) {
                        run, terminal in
                        let name = "http://127.0.0.1:\(server.port): "
                        let rows = try await terminal.waitForScreen {
                            $0.contains { $0.contains("3 waiting; next try in ") }
                        }
                        #expect(rows.first?.hasPrefix(name) == true && rows.count == 2, "\(rows)")
                        run.send(signal: SIGINT)
                        #expect(try await run.result().exitCode == 130)
                    }
                }
            }

            @Test func `after a run it is told what was renamed and what failed, and what to do`() async throws {
                let catalog = ScriptedCatalog(episodes: 4)
                let script = ServerScript { request in
                    ["/audio/3.mp3", "/audio/4.mp3"].contains(request.path) ? .notFound : catalog.script.answer(request)
                }
                try await withCatalog(script, more: "downloads: { retries: 0 }") { bench, server in
                    #expect(try await bench.run("fetch", "1/1-2", environment: bench.configured).exitCode == 0)
                    try bench.configure(
                        ScriptedCatalog.configuration(
                            port: server.port, more: "downloads: { retries: 0 }\nnaming: \"new/{section}.{ext}\""))
                    try await bench.onTerminal(
                        columns: 60, Self.fetch + " 2>\"$TERMINAL\"", environment: bench.configured
                    ) { run, terminal in
                        #expect(try await run.result().exitCode == 75)
                        let rows = try await terminal.waitForScreen { $0.last?.contains("2 failed in") == true }
                        let recap = try #require(rows.firstIndex(of: "2 files renamed:"))
                        #expect(rows[recap + 1].contains(" → new/") && rows[recap + 2].contains(" → new/"), "\(rows)")
                        #expect(
                            rows[recap + 3] == "    booksync undo takes this back" && rows[recap + 4] == "2 failed:")
                        let rest = rows[(recap + 5)...].joined(separator: " ")
                        #expect(rest.contains("cat:1/3: ") && rest.contains("episode 4 '"), "\(rows)")
                        #expect(rest.ranges(of: "run again later").count == 2, "\(rows)")
                        #expect(terminal.text.contains("\u{1B}[31m2 failed:\u{1B}[0m"))
                    }
                    let piped = try await bench.run("fetch", "1", "--force", environment: bench.configured)
                    #expect(!piped.errors.contains("2 failed:") && piped.errors.contains("2 failed in"))
                }
            }

            @Test func `states, failures and what is new have their colours on a terminal, and on a pipe none`()
                async throws
            {
                let catalog = ScriptedCatalog(episodes: 3)
                let script = ServerScript { $0.path == "/audio/2.mp3" ? .notFound : catalog.script.answer($0) }
                try await withCatalog(script, more: "downloads: { retries: 0 }") { bench, _ in
                    #expect(try await bench.run("fetch", "1/1-2", environment: bench.configured).exitCode == 75)
                    #expect(try await bench.run("pause", "1/3", environment: bench.configured).exitCode == 0)
                    for (command, colored) in [
                        ("list 1", ["\u{1B}[31mfailed\u{1B}[0m", "\u{1B}[33mpaused\u{1B}[0m"]),
                        ("plan 1 --force", ["\u{1B}[32mfetch\u{1B}[0m"]),
                        ("queue", ["\u{1B}[31mfailed\u{1B}[0m"]), ("runs", ["\u{1B}[31m75\u{1B}[0m"]),
                        ("show 9", ["\u{1B}[31mbooksync:\u{1B}[0m"]),
                    ] {
                        let line = "exec \"$BOOKSYNC\" \(command) --library L >\"$TERMINAL\" 2>\"$TERMINAL\""
                        try await bench.onTerminal(line, environment: bench.configured) { run, terminal in
                            _ = try await run.result()
                            try await terminal.waitForScreen { screen in
                                colored.allSatisfy { part in
                                    screen.contains { $0.contains(part.dropFirst(5).dropLast(4)) }
                                }
                            }
                            for part in colored { #expect(terminal.text.contains(part), "\(terminal.text)") }
                            #expect(terminal.screen.oddities == [])
                        }
                        let words = command.split(separator: " ").map(String.init) + ["--library", "L"]
                        let piped = try await bench.runBare(words, environment: bench.configured)
                        #expect(piped.controlCharacters.isEmpty)
                    }
                }
            }

            @Test func `a dumb terminal gets lines and nothing that steers it`() async throws {
                let tap = Tap(allowing: .max)
                try await withCatalog(Self.catalog(tap).script) { bench, _ in
                    try await bench.onTerminal(
                        Self.fetch + " 2>\"$TERMINAL\"", environment: bench.configured.merging(["TERM": "dumb"]) { $1 }
                    ) { run, terminal in
                        #expect(try await run.result().exitCode == 0)
                        #expect(!terminal.text.contains("\u{1B}"))
                        try expectSummary(on: terminal)
                    }
                }
            }
        }
    }
#endif
