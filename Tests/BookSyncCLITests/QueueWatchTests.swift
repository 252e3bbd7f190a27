import Foundation
import Support
import Testing

@testable import BookSyncCLI

extension ProductTests {
    /// `queue --watch` beside a run of another process.
    @Suite struct QueueWatching {
        /// Runs the body beside a run that has begun the first of two episodes and gets no further until the tap opens.
        private func withRunUnderWay(
            _ body: (Workbench, RunningProduct, Tap) async throws -> Void
        ) async throws {
            let tap = Tap(allowing: 50_000)
            let catalog = ScriptedCatalog(episodes: 2, bytes: 100_000, tap: tap)
            try await withCatalog(catalog.script) { bench, server in
                try await bench.start("fetch", "1", "--jobs", "1", "--json", environment: bench.configured) { run in
                    try await bench.waitUntilHeld(50_000)
                    try await body(bench, run, tap)
                }
                #expect(try bench.digests() == catalog.digests)
            }
        }

        @Test func `on a pipe each look is a JSON document, and a transfer is seen to come and go`() async throws {
            try await withRunUnderWay { bench, run, tap in
                try await bench.start("queue", "--watch", "--json", environment: bench.configured) { watch in
                    try await watch.waitForOutput(containing: "\"state\": \"downloading\"")
                    try await watch.waitForOutput(containing: "\"state\": \"waiting\"")
                    tap.open()
                    #expect(try await run.result().exitCode == 0)
                    try await watch.waitForOutput(containing: "[]")
                    watch.send(signal: SIGINT)
                    let result = try await watch.result()
                    #expect(result.exitCode == 130)
                    #expect(result.errors == "" && result.controlCharacters.isEmpty)
                    // The first document is that of one look, the last that of an empty queue.
                    let end = try #require(result.output.range(of: "\n]\n")).upperBound
                    let first = try JSONObject.list(String(result.output[..<end]))
                    #expect(first.compactMap { $0.number("section") } == [1, 2])
                    #expect(first.compactMap { $0["state"] } == ["downloading", "waiting"])
                    #expect(first.first?.number("bytes_done") ?? 0 > 0)
                    #expect(result.outputLines.last == "[]")
                }
            }
        }

        @Test func `on a pipe there are lines without control characters, and a reader that has enough ends it`()
            async throws
        {
            try await withRunUnderWay { bench, run, tap in
                let result = try await bench.shell(
                    "(\"$BOOKSYNC\" queue --watch --library L --config booksync.yaml; echo $? >&2) | head -3")
                #expect(result.errors == "0\n")
                #expect(result.outputLines.count == 3 && result.controlCharacters.isEmpty)
                #expect(result.output.contains("第1集") && result.output.contains("downloading"), "\(result.output)")
                tap.open()
                #expect(try await run.result().exitCode == 0)
            }
        }

        #if os(Linux)
            @Test func `on a terminal the screen is drawn anew, and a transfer is seen to come and go`() async throws {
                try await withRunUnderWay { bench, run, tap in
                    try await bench.onTerminal(
                        "exec \"$BOOKSYNC\" queue --watch --library L >\"$TERMINAL\"", environment: bench.configured
                    ) { watch, terminal in
                        let rows = try await terminal.waitForScreen {
                            $0.contains { $0.contains("第2集") && $0.contains("waiting") }
                        }
                        let counts = try #require(rows.first)
                        #expect(counts.contains("1 downloading") && counts.contains("1 waiting"), "\(rows)")
                        #expect(rows.contains { $0.contains("第1集") && $0.contains("downloading") }, "\(rows)")
                        try await terminal.waitForScreen { $0.contains { $0.contains("第1集") && $0.contains("B/s") } }
                        tap.open()
                        #expect(try await run.result().exitCode == 0)
                        let after = try await terminal.waitForScreen { $0.first?.contains("nothing") == true }
                        #expect(after == ["nothing is being transferred"])
                        watch.send(signal: SIGINT)
                        #expect(try await watch.result().exitCode == 130)
                        #expect(terminal.screen.oddities == [])
                    }
                }
            }

            @Test(arguments: [80, 40])
            func `a queue that is longer than the screen keeps to it, and says how much more there is`(
                columns: Int
            ) async throws {
                try await withCatalog(ScriptedCatalog(episodes: 40).script) { bench, _ in
                    #expect(try await bench.run("fetch", "1/1", environment: bench.configured).exitCode == 0)
                    #expect(try await bench.run("pause", "1/2-40", environment: bench.configured).exitCode == 0)
                    try await bench.onTerminal(
                        columns: columns, rows: 12, "exec \"$BOOKSYNC\" queue --watch --library L >\"$TERMINAL\"",
                        environment: bench.configured
                    ) { watch, terminal in
                        // More than one look, so that one is drawn over another.
                        try await terminal.waitForText { $0.ranges(of: "39 paused").count > 2 }
                        let rows = terminal.screen.text
                        #expect(rows.count <= 11 && rows.first == "39 paused", "\(rows)")
                        let shown = rows.count { $0.contains("paused") } - 1
                        #expect(rows.last == "… and \(39 - shown) more" && shown > 2, "\(rows)")
                        #expect(rows.allSatisfy { DisplayWidth.columns(of: $0) <= columns })
                        #expect(terminal.screen.rows.count <= 12 && terminal.screen.oddities == [])
                        watch.send(signal: SIGINT)
                        #expect(try await watch.result().exitCode == 130)
                    }
                }
            }
        #endif
    }
}
