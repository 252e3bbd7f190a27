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
                rows.count == 4 && rows[3].hasPrefix("0 of 3")
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
