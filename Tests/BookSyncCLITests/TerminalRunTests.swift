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
                let text = screen.text.joined()
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
