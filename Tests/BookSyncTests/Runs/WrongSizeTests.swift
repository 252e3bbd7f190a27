import BookModel
import Settings
import Support
import Testing

@testable import BookSync

/// Catalogs that claim what is not so of a file's length.
@Suite(.limitedConcurrency) struct WrongSizeTests {
    @Test func `a file whose length nobody declares has a maximum one`() async throws {
        var catalog = ScriptedCatalog.episodes(2, bytes: 300_000)
        catalog.elements[0].size = nil
        catalog.audio["/audio/1.mp3"] = .file(ScriptedCatalog.bytes(1, 300_000), [.framing(.untilClose)])
        try await withRunBench(catalog) { bench in
            var bench = bench
            bench.configuration.downloads.maxUndeclaredSize = 250_000
            let first = try await bench.run()
            #expect(first.summary.fetched == 1 && first.summary.failed == 1)
            let sentence = try #require(first.failures.first).description
            #expect(sentence.contains("downloads.max-undeclared-size"), "\(sentence)")
            #expect(try bench.partialNames() == [])
            bench.configuration.downloads.maxUndeclaredSize = 300_000
            #expect(try await bench.run().summary.fetched == 1)
            #expect(try await bench.bytes(1) == ScriptedCatalog.bytes(1, 300_000))
        }
    }

    @Test(arguments: [1, 4])
    func `a size beyond any disk is checked against the server's, and stops nothing`(jobs: Int) async throws {
        var catalog = ScriptedCatalog.episodes(5)
        for index in [0, 2, 4] { catalog.elements[index].size = 1 << 40 }
        try await withRunBench(catalog, jobs: jobs, minFreeSpace: 1) { bench in
            let report = try await bench.run()
            #expect(report.failures.isEmpty, "\(report.failures)")
            #expect(report.summary.fetched == 5)
            for section in 1...5 { #expect(try await bench.bytes(section) == ScriptedCatalog.bytes(section)) }
            #expect(bench.audioDownloads == 5)
            // The wrong claim stands there still, and nothing is fetched for it again.
            #expect(try await bench.run().summary.kept == 5)
            #expect(bench.audioDownloads == 5)
        }
    }
}
