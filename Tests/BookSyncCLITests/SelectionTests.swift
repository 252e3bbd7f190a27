import Foundation
import Support
import Testing

extension ProductTests {
    /// Which episodes a run fetches, in which order, and how fast.
    @Suite struct Selection {
        /// Listed in an order of its own.
        private static let shuffled: ScriptedCatalog = {
            var catalog = ScriptedCatalog(episodes: 5)
            catalog.items = [3, 1, 5, 2, 4].map { catalog.items[$0 - 1] }
            return catalog
        }()

        private static func sections(_ server: MisbehavingServer) -> [Int] {
            server.record.requests.compactMap { request in
                request.path.hasPrefix("/audio/") ? Int(request.path.dropFirst(7).prefix { $0.isNumber }) : nil
            }
        }

        @Test(arguments: [
            ([], "first", [1, 2, 3, 4, 5]), (["--order", "first"], "last", [1, 2, 3, 4, 5]),
            (["--order", "last"], "first", [5, 4, 3, 2, 1]), (["--order", "listed"], "first", [3, 1, 5, 2, 4]),
            ([], "last", [5, 4, 3, 2, 1]),
        ])
        func `audio is asked for in the order that the flag says, or else the configuration`(
            _ flag: [String], _ configured: String, _ order: [Int]
        ) async throws {
            try await withCatalog(Self.shuffled.script, more: "downloads: { order: \(configured) }") { bench, server in
                let result = try await bench.runBare(
                    ["fetch", "1", "--jobs", "1", "--library", "L"] + flag, environment: bench.configured)
                #expect(result.exitCode == 0, "\(result.errors)")
                #expect(Self.sections(server) == order)
            }
        }

        @Test(arguments: [
            (["--exclude", "预告"], [1, 4]), (["--match", "番外", "--exclude", "预告"], [4]),
            (["--match", "^第[1-3]集", "--exclude", "^第2"], [1, 3]), (["--only", "2-4", "--exclude", "番外$"], [2, 3]),
            (["--exclude", "第.集"], []),
        ])
        func `what --exclude matches is not fetched, whatever else selects it`(
            _ flags: [String], _ fetched: [Int]
        ) async throws {
            var catalog = ScriptedCatalog(episodes: 4)
            for (index, name) in ["正文", "预告", "番外预告", "番外"].enumerated() {
                catalog.items[index].name = "第\(index + 1)集 \(name)"
            }
            try await withCatalog(catalog.script) { bench, server in
                let arguments = ["fetch", "1", "--json", "--library", "L"]
                let result = try await bench.runBare(arguments + flags, environment: bench.configured)
                #expect(result.exitCode == 0, "\(result.errors)")
                #expect(try result.finishedSections() == fetched)
                #expect(Self.sections(server).sorted() == fetched)
                // They are known all the same, and fetched by a run that does not exclude them.
                let rest = try await bench.runBare(arguments, environment: bench.configured)
                #expect(try rest.finishedSections() == Set(1...4).subtracting(fetched).sorted())
                #expect(try bench.digests() == catalog.digests)
            }
        }

        @Test func `--limit-rate is kept to over all transfers together, and wins over the configuration`() async throws
        {
            let catalog = ScriptedCatalog(episodes: 3, bytes: 100_000)
            // At the configuration's rate it would take days.
            try await withCatalog(catalog.script, more: "downloads: { limit-rate: 1, jobs: 3 }") { bench, server in
                let begin = ContinuousClock.now
                let result = try await bench.run(
                    "fetch", "1", "--limit-rate", "100k", "--json", environment: bench.configured)
                let seconds = (ContinuousClock.now - begin) / .seconds(1)
                #expect(result.exitCode == 0, "\(result.errors)")
                let sent = Double(server.record.audioBytesSent)
                #expect(sent == Double(catalog.totalBytes))
                // A quarter of a second's worth may come at once.
                let least = 0.99 * (sent / 100_000 - 0.25)
                #expect(seconds >= least, "\(sent) bytes in \(seconds) s")
                #expect(try result.summary().double("seconds") ?? 0 >= least)
                #expect(try bench.digests() == catalog.digests)
            }
        }
    }
}
