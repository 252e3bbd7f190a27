#if os(Linux)
    import Foundation
    import Support
    import Testing

    extension ProductTests {
        /// Case 43 of the download cases, for real: the built program under a clock that jumps by years.
        @Suite(.needsCompiler)
        struct Clock {
            private static let year = Calendar(identifier: .gregorian).component(.year, from: Date())

            @Test func `case 43: waits, limits and speeds do not care for a clock that jumps at every look`()
                async throws
            {
                var catalog = ScriptedCatalog(episodes: 4, bytes: 60_000)
                var busy = Reply.text("busy", status: 503)
                busy.setHeader("Retry-After", "1")
                catalog.items[0].deeds = [.instead(busy), .wellBehaved]
                catalog.items[1].deeds = [.stall(at: 20_000, until: Gate()), .wellBehaved]
                catalog.items[2].deeds = [.cut(at: 30_000), .wellBehaved]
                let settings = """
                    downloads: { stall-timeout: 1s, limit-rate: 200k }
                    subscriptions: [{ book: "cat:1" }]
                    """
                try await withCatalog(catalog.script, more: settings) { bench, _ in
                    let clock = try await WrongClock.make(in: bench.folder)
                    let environment = bench.configured.merging(clock.showing(years: [10, -10, 40, -40])) { $1 }
                    let result = try await bench.run(
                        "mirror", "--json", "--wait", "5s", "--time-limit", "10m", environment: environment)
                    #expect(result.exitCode == 0, "\(result.errors)")
                    #expect(try bench.digests() == catalog.digests)
                    let summary = try result.summary()
                    #expect(summary.number("fetched") == 4)
                    #expect(summary.number("bytes_received") == catalog.totalBytes)
                    let seconds = try #require(summary.double("seconds"))
                    #expect(seconds >= 1 && seconds < 600)
                    // The program did look at the wrong clock.
                    let notes = bench.folder.appending(path: ".local/state/booksync/libraries")
                    let note = try #require(
                        try FileManager.default.contentsOfDirectory(at: notes, includingPropertiesForKeys: nil).first)
                    #expect(try !String(contentsOf: note, encoding: .utf8).contains("seen \(Self.year)"))
                }
            }

            // The years 1, 1969, 2263, 2446, 10000, and far beyond.
            @Test(arguments: [-2025, -57, 237, 420, 7974, 1_000_000])
            func `case 43: no year that the clock shows ends a process`(years: Int) async throws {
                try await withWorkbench { bench in
                    let environment = try await WrongClock.make(in: bench.folder).showing(years: [years])
                    for arguments in [
                        ["fetch", "40111"], ["list", "--json"], ["remove", "40111/1", "--yes"], ["trash", "list"],
                        ["runs"], ["explain", "40111/1"], ["verify"], ["export", "rss", "40111"],
                    ] {
                        let result = try await bench.runBare(arguments + ["--library", "L"], environment: environment)
                        #expect(result.exitCode == 0, "\(arguments): \(result.errors)")
                    }
                }
            }

            @Test(arguments: [40, -40])
            func `case 43: what failed while the clock was wrong is tried again once it is right`(years: Int)
                async throws
            {
                let isThere = Watched(false)
                let catalog = ScriptedCatalog(episodes: 2)
                let script = ServerScript { request in
                    request.path == "/audio/2.mp3" && !isThere.value ? .notFound : catalog.script.answer(request)
                }
                try await withCatalog(script, more: "downloads: { retries: 0 }") { bench, server in
                    let clock = try await WrongClock.make(in: bench.folder)
                    let wrong = bench.configured.merging(clock.showing(years: [years])) { $1 }
                    for _ in 1...3 {
                        #expect(try await bench.run("fetch", "1", environment: wrong).exitCode == 75)
                    }
                    let asked = server.requests(path: "/audio/2.mp3").count
                    // By the clock that it failed by, it waits.
                    _ = try await bench.run("fetch", "1", environment: wrong)
                    #expect(server.requests(path: "/audio/2.mp3").count == asked)
                    isThere.update { $0 = true }
                    let result = try await bench.run("fetch", "1", environment: bench.configured)
                    #expect(result.exitCode == 0, "\(result.errors)")
                    #expect(try bench.digests() == catalog.digests)
                }
            }

            @Test func `case 43: files from the future are neither fetched again nor taken for edited`() async throws {
                let catalog = ScriptedCatalog(episodes: 2)
                try await withCatalog(catalog.script) { bench, server in
                    _ = try await bench.run("fetch", "1", environment: bench.configured)
                    let sent = server.record.audioBytesSent
                    let clock = try await WrongClock.make(in: bench.folder)
                    for years in [-40, 40] {
                        let wrong = bench.configured.merging(clock.showing(years: [years])) { $1 }
                        let result = try await bench.run("fetch", "1", "--json", environment: wrong)
                        #expect(result.exitCode == 0)
                        #expect(try result.summary().number("kept") == 2)
                    }
                    #expect(server.record.audioBytesSent == sent)
                }
            }
        }
    }

    /// A library to load before a program's own, so that it reads another time of day than the right one. Clocks that only
    /// run forward are left alone.
    private struct WrongClock {
        private let library: URL

        static func make(in folder: URL) async throws -> WrongClock {
            WrongClock(library: try await PreloadedLibrary.make("wrong-clock", in: folder))
        }

        /// - Parameter years: how wrong the clock is, another one at each look.
        func showing(years: [Int]) -> [String: String] {
            ["LD_PRELOAD": library.path, "YEARS": years.map(String.init).joined(separator: ",")]
        }
    }
#endif
