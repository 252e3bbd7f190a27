import Foundation
import Support
import Testing

extension ProductTests {
    @Suite struct Signals {
        private static let jobs = 4

        /// No transfer goes on by itself and none is given up: what ends a run is the signal.
        private static let patience = "downloads: { jobs: \(jobs), stall-timeout: 1h }"

        @Test(arguments: [(SIGINT, Int32(130)), (SIGTERM, Int32(143)), (SIGHUP, Int32(129))])
        func `case 39: a signal ends a run whose server is silent, and the next run completes it`(
            _ signal: Int32, _ code: Int32
        ) async throws {
            let tap = Tap(allowing: 75_000)
            let catalog = ScriptedCatalog(episodes: 8, bytes: 100_000, tap: tap)
            let held = Self.jobs * 75_000
            try await withCatalog(catalog.script, more: Self.patience) { bench, server in
                let environment = bench.configured
                try await bench.start("fetch", "1", "--json", environment: environment) { run in
                    try await bench.waitUntilHeld(held)
                    run.send(signal: signal)
                    let result = try await run.result()
                    #expect(result.exitCode == code)
                    #expect(try result.summary().number("exit_code") == Int(code))
                    #expect(try result.summary().number("failed") == 0)
                    #expect(try result.summary().number("bytes_received") == held)
                    #expect(result.errors.contains("interrupted"))
                }
                tap.open()
                let list = try await bench.run("list", "1", "--json", environment: environment)
                #expect(try JSONObject.list(list.output).compactMap { $0.number("bytes_done") }.reduce(0, +) == held)

                let next = try await bench.run("fetch", "1", "--json", environment: environment)
                #expect(next.exitCode == 0)
                #expect(try next.summary().number("resumed") == Self.jobs)
                #expect(try next.summary().number("bytes_reused") == held)
                #expect(try next.summary().number("bytes_received") == catalog.totalBytes - held)
                #expect(try bench.digests() == catalog.digests)
                #expect(try bench.partialFiles.isEmpty)
                #expect(server.record.audioBytesSent == catalog.totalBytes)
            }
        }

        @Test(arguments: [(SIGKILL, true), (SIGTERM, true), (SIGINT, false)])
        func `what a fetch was asked for is done by the next run, unless the user interrupted it`(
            _ signal: Int32, isDone: Bool
        ) async throws {
            let tap = Tap(allowing: 75_000)
            let catalog = ScriptedCatalog(episodes: 2, bytes: 100_000, tap: tap)
            try await withCatalog(catalog.script, more: Self.patience) { bench, server in
                try await bench.start("fetch", "1", environment: bench.configured) { run in
                    try await bench.waitUntilHeld(150_000)
                    run.send(signal: signal)
                    _ = try await run.result()
                }
                tap.open()
                let next = try await bench.run("fetch", "demo:40111/1", environment: bench.configured)
                #expect(next.exitCode == 0, "\(next.errors)")
                #expect(server.record.audioBytesSent == (isDone ? catalog.totalBytes : 150_000))
                #expect(try bench.partialFiles.isEmpty == isDone)
            }
        }

        @Test func `case 39: a second signal quits, also while nobody reads the output`() async throws {
            // More events than the pipe holds: the run cannot end by itself.
            let catalog = ScriptedCatalog(episodes: 300, bytes: 2000)
            try await withCatalog(catalog.script) { bench, server in
                let product = try #require(ProductRunner.executable)
                // The shell becomes the product; descriptor 3 keeps the pipe open and is never read.
                let script = "mkfifo pipe; exec 3<>pipe; exec \"$BOOKSYNC\" fetch 1 --json --library L >pipe"
                let environment = bench.configured.merging(["BOOKSYNC": product.path]) { $1 }
                try await withProduct(
                    ["-c", script], environment: environment, in: bench.folder, executable: URL(filePath: "/bin/sh")
                ) { run in
                    try await server.waitUntil { $0.audioBytesSent == catalog.totalBytes }
                    run.send(signal: SIGINT)
                    // A slow machine makes this looser, and never fails it.
                    await #expect(throws: WaitedTooLong.self) { try await run.result(within: 0.5) }
                    run.send(signal: SIGINT)
                    #expect(try await run.result().exitCode == 130)
                }
                let held = try partialContent(of: catalog, in: bench)
                let next = try await bench.run("fetch", "1", "--json", environment: bench.configured)
                #expect(next.exitCode == 0)
                #expect(try bench.files().count == 300)
                let missing = catalog.totalBytes - held.values.reduce(0, +)
                #expect(try next.summary().number("bytes_received") == missing)
                // The server counts what it has sent a moment after the client has it.
                try await server.waitUntil { $0.audioBytesSent >= catalog.totalBytes + missing }
                #expect(server.record.audioBytesSent == catalog.totalBytes + missing)
            }
        }

        @Test func `case 39: a signal ends the demo server`() async throws {
            try await withWorkbench { bench in
                try await withProduct(["demo"], in: bench.folder) { demo in
                    try await demo.waitForErrors(containing: "Ctrl-C ends it")
                    demo.send(signal: SIGINT)
                    #expect(try await demo.result().exitCode == 130)
                }
            }
        }

        #if os(Linux)
            @Test func `case 39: a signal ends the waiting for a lock`() async throws {
                let tap = Tap(allowing: 1000)
                try await withCatalog(ScriptedCatalog(episodes: 1, tap: tap).script, more: Self.patience) {
                    bench, server in
                    try await bench.start("fetch", "1", environment: bench.configured) { _ in
                        try await server.waitUntil { $0.audioBytesSent > 0 }
                        try await bench.start("mirror", "--wait", "1h", environment: bench.configured) { waiting in
                            try await waitForOpenLock(of: waiting, in: bench)
                            waiting.send(signal: SIGTERM)
                            #expect(try await waiting.result().exitCode == 143)
                        }
                    }
                }
            }

            /// Returns when the process has the lock's file open: from then on it waits.
            private func waitForOpenLock(of process: RunningProduct, in bench: Workbench) async throws {
                let folder = "/proc/\(process.processIdentifier)/fd"
                let files = FileManager.default
                try await waitUntil("the lock is open") {
                    let targets = try files.contentsOfDirectory(atPath: folder).map { name in
                        // Some are closed again before they can be looked at.
                        (try? files.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")) ?? ""
                    }
                    return targets.contains { $0.hasSuffix("/L/.booksync/lock") }
                }
            }
        #endif

        @Test func `case 34: killed at thirty moments and run to the end, no byte on disk is asked for again`()
            async throws
        {
            // So little of each answer goes out in a run that none of the thirty comes to its end.
            let tap = Tap(allowing: 32_000)
            let catalog = ScriptedCatalog(
                episodes: 16, bytes: 300_000, pace: Pace(bytesPerSecond: 1_500_000), tap: tap)
            var random = SeededGenerator(seed: 20_261_120)
            try await withCatalog(catalog.script, more: Self.patience) { bench, server in
                let environment = bench.configured
                for kill in 1...30 {
                    let held = try partialContent(of: catalog, in: bench)
                    let before = server.record
                    // Counted in bytes, so that a slow machine is killed at the same moments as a quick one.
                    let moment = before.audioBytesSent + Int.random(in: 1...100_000, using: &random)
                    try await bench.start("fetch", "1", environment: environment) { run in
                        try await server.waitUntil { $0.audioBytesSent >= moment }
                        run.send(signal: SIGKILL)
                        #expect(try await run.result().signal == SIGKILL, "kill \(kill)")
                    }
                    // What the killed run still has in the user's queue is accepted before this is.
                    let last = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
                    _ = try await rawExchange(port: server.port, sending: last, bodyBytes: 0)
                    let after = try await server.waitUntil { $0.connectionsOpen == 0 }
                    expectRest(of: catalog, held, after.requests.dropFirst(before.requests.count), "run \(kill)")
                }
                tap.open()
                let held = try partialContent(of: catalog, in: bench)
                let before = server.record
                let last = try await bench.run("fetch", "1", "--json", environment: environment)
                #expect(last.exitCode == 0)
                expectRest(of: catalog, held, server.record.requests.dropFirst(before.requests.count), "the last run")
                let missing = catalog.totalBytes - held.values.reduce(0, +)
                #expect(try last.summary().number("bytes_received") == missing)
                #expect(server.record.audioBytesSent - before.audioBytesSent == missing)
                #expect(try bench.digests() == catalog.digests)
                #expect(try bench.partialFiles.isEmpty)
                #expect(try bench.files().keys.allSatisfy { $0.hasSuffix(".mp3") })
                let again = try await bench.run("fetch", "1", "--json", environment: environment)
                #expect(try again.summary().number("kept") == 16)
                #expect(try again.summary().number("bytes_received") == 0)
            }
        }

        /// Every request of a run is for what was not on disk when it began, and for all of that; no file is asked for twice.
        private func expectRest(
            of catalog: ScriptedCatalog, _ held: [String: Int], _ requests: ArraySlice<ServerRequest>, _ run: Comment
        ) {
            let audio = requests.filter { $0.path.hasPrefix("/audio/") }
            #expect(!audio.isEmpty, run)
            #expect(Set(audio.map(\.path)).count == audio.count, run)
            for request in audio {
                let range = held[request.path].map { "bytes=\($0)-" }
                #expect(request.header("Range") == range, "\(run): \(request.path)")
            }
        }
    }
}

/// How many bytes of each episode are on disk, by its path at the server. Whose a file is, its bytes tell.
private func partialContent(of catalog: ScriptedCatalog, in bench: Workbench) throws -> [String: Int] {
    var held: [String: Int] = [:]
    let folder = bench.library.appending(path: ".booksync/partial")
    let files = try bench.exists ? Array(bench.files().values) : []
    for file in try files + bench.partialFiles.map({ folder.appending(path: $0) }) {
        let data = try Data(contentsOf: file)
        if data.isEmpty { continue }
        let item = try #require(
            catalog.items.first { $0.bytes.count >= data.count && Data($0.bytes.prefix(data.count)) == data },
            "\(file.lastPathComponent) holds what no episode begins with")
        #expect(held.updateValue(data.count, forKey: item.path) == nil, "\(item.path) is on disk twice")
    }
    return held
}
