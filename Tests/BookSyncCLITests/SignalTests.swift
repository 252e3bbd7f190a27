import Foundation
import Support
import Testing

extension ProductTests {
    @Suite struct Signals {
        private static let jobs = 4
        /// Per connection: what a paced server may have handed to the kernel and the client never got to see.
        private static let inFlight = 64 << 10

        @Test(arguments: [(SIGINT, Int32(130)), (SIGTERM, Int32(143)), (SIGHUP, Int32(129))])
        func `case 39: a signal ends the run within 2 s, and the next run completes it`(
            _ signal: Int32, _ code: Int32
        ) async throws {
            let tap = Tap(allowing: 75_000)
            let catalog = ScriptedCatalog(
                episodes: 8, bytes: 100_000, pace: Pace(bytesPerSecond: 200_000), tap: tap)
            try await withCatalog(catalog.script) { bench, server in
                let environment = bench.configured
                try await bench.start("fetch", "1", "--json", environment: environment) { run in
                    try await server.waitUntil { $0.audioBytesSent > 250_000 }
                    let begin = ContinuousClock.now
                    run.send(signal: signal)
                    let result = try await run.result()
                    #expect(ContinuousClock.now - begin < .seconds(2))
                    #expect(result.exitCode == code)
                    #expect(try result.summary().number("exit_code") == Int(code))
                    #expect(try result.summary().number("failed") == 0)
                    #expect(result.errors.contains("interrupted"))
                }
                tap.open()
                let sentBefore = server.record.audioBytesSent
                let list = try await bench.run("list", "1", "--json", environment: environment)
                let held = try JSONObject.list(list.output).compactMap { $0.number("bytes_done") }.reduce(0, +)
                #expect(held >= sentBefore - Self.jobs * Self.inFlight)

                let next = try await bench.run("fetch", "1", "--json", environment: environment)
                #expect(next.exitCode == 0)
                #expect(try next.summary().number("resumed") ?? 0 > 0)
                #expect(try next.summary().number("bytes_reused") ?? 0 > 0)
                #expect(try bench.digests() == catalog.digests)
                #expect(try bench.partialFiles.isEmpty)
                #expect(server.record.audioBytesSent <= catalog.totalBytes + Self.jobs * Self.inFlight)
            }
        }

        @Test func `bytes received over an interrupted run and its continuation are the sizes of the files`()
            async throws
        {
            let tap = Tap(allowing: 50_000)
            let catalog = ScriptedCatalog(
                episodes: 6, bytes: 80_000, pace: Pace(bytesPerSecond: 200_000), tap: tap)
            try await withCatalog(catalog.script) { bench, server in
                let environment = bench.configured
                let first = try await bench.start("fetch", "1", "--json", environment: environment) { run in
                    try await server.waitUntil { $0.audioBytesSent > 150_000 }
                    run.send(signal: SIGINT)
                    return try await run.result()
                }
                tap.open()
                let second = try await bench.run("fetch", "1", "--json", environment: environment)
                let received = try [first, second].compactMap { try $0.summary().number("bytes_received") }
                #expect(received.reduce(0, +) == catalog.totalBytes, "\(received)")
            }
        }

        @Test func `case 39: a second signal quits at once, also while nobody reads the output`() async throws {
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
                    await #expect(throws: WaitedTooLong.self) { try await run.result(within: 0.5) }
                    run.send(signal: SIGINT)
                    #expect(try await run.result(within: 2).exitCode == 130)
                }
                let next = try await bench.run("fetch", "1", "-q", environment: bench.configured)
                #expect(next.exitCode == 0)
                #expect(try bench.files().count == 300)
                #expect(server.record.audioBytesSent <= catalog.totalBytes + Self.jobs * Self.inFlight)
            }
        }

        @Test func `case 39: a signal while the catalog is silent ends the run`() async throws {
            try await withCatalog(.always(.neverAnswer)) { bench, server in
                try await bench.start("fetch", "1", environment: bench.configured) { run in
                    try await server.waitUntil { !$0.requests.isEmpty }
                    run.send(signal: SIGTERM)
                    #expect(try await run.result(within: 2).exitCode == 143)
                }
            }
        }

        @Test func `case 39: a signal ends the waiting for a lock, and the demo server`() async throws {
            try await withWorkbench { bench in
                try await withProduct(["demo"], in: bench.folder) { demo in
                    try await demo.waitForErrors(containing: "Ctrl-C ends it")
                    demo.send(signal: SIGINT)
                    #expect(try await demo.result(within: 5).exitCode == 130)
                }
                try await bench.start("fetch", "30776", environment: ["BOOKSYNC_DEMO_PACE": "20000"]) { run in
                    try await run.waitForErrors(containing: "demo catalog")
                    try await bench.start("mirror", "--wait", "60s", "-v") { waiting in
                        // Whether it waits already or is about to: the signal must end it.
                        waiting.send(signal: SIGTERM)
                        let result = try await waiting.result(within: 5)
                        #expect(result.exitCode == 143 || result.signal == SIGTERM)
                    }
                }
            }
        }

        @Test
        func
            `case 34: killed at thirty moments and run to the end, every file is right and no byte was fetched in vain`()
            async throws
        {
            let catalog = ScriptedCatalog(episodes: 16, bytes: 300_000, pace: Pace(bytesPerSecond: 1_500_000))
            let kills = 30
            var random = SeededGenerator(seed: 20_261_120)
            let moments = (0..<kills).map { _ in Int.random(in: 0..<catalog.totalBytes, using: &random) }.sorted()
            try await withCatalog(catalog.script) { bench, server in
                let environment = bench.configured
                var killed = 0
                for moment in moments {
                    try await bench.start("fetch", "1", environment: environment) { run in
                        // From the server's own count, so that the kills are spread over the bytes and not over time.
                        let before = server.record.audioBytesSent
                        try await server.waitUntil { $0.audioBytesSent > max(before, moment) }
                        run.send(signal: SIGKILL)
                        if try await run.result().signal == SIGKILL { killed += 1 }
                    }
                }
                #expect(killed >= 20)
                let last = try await bench.run("fetch", "1", "--json", environment: environment)
                #expect(last.exitCode == 0)
                #expect(try bench.digests() == catalog.digests)
                #expect(try bench.partialFiles.isEmpty)
                #expect(try bench.files().keys.allSatisfy { $0.hasSuffix(".mp3") })
                let wasted = server.record.audioBytesSent - catalog.totalBytes
                #expect(wasted <= Self.inFlight * Self.jobs * killed)
                let again = try await bench.run("fetch", "1", "--json", environment: environment)
                #expect(try again.summary().number("kept") == 16)
                #expect(try again.summary().number("bytes_received") == 0)
            }
        }
    }
}
