import BookModel
import CatalogStore
import Foundation
import Support
import Testing

@testable import BookSync

/// Whole runs, from the catalog over HTTP to files on disk and what the store says of them.
@Suite(.limitedConcurrency) struct SyncRunTests {
    private let files = FileManager.default

    @Test func `a run fetches what the catalog lists, and the next one does nothing`() async throws {
        var catalog = ScriptedCatalog.episodes(5)
        catalog.elements[4].path = nil
        // Stale: the server's length is the truth, and the difference is no reason to fetch again.
        catalog.elements[1].size = 39_000
        try await withRunBench(catalog) { bench in
            let first = try await bench.run()
            #expect(first.failures.isEmpty, "\(first.failures)")
            #expect(first.summary.fetched == 4)
            #expect(first.summary.locked == 1)
            #expect(first.summary.bytesReceived == 160_000)
            for section in 1...4 { #expect(try await bench.bytes(section) == ScriptedCatalog.bytes(section)) }
            #expect(try bench.partialNames() == [])
            let remarks = bench.events.value.compactMap { event -> [String]? in
                if case .finished(let receipt) = event {
                    receipt.remarks.isEmpty ? nil : receipt.remarks.map(\.description)
                } else {
                    nil
                }
            }
            #expect(remarks == [["the catalog says 39000 bytes, the server sent 40000"]])

            let asked = bench.audioRequests.count
            let second = try await bench.run()
            #expect(second.summary.fetched == 0)
            #expect(second.summary.kept == 4)
            #expect(second.summary.locked == 1)
            #expect(second.summary.bytesReceived == 0)
            #expect(second.failures.isEmpty)
            #expect(bench.audioRequests.count == asked)
        }
    }

    @Test func `a corrected title renames files and fetches nothing`() async throws {
        try await withRunBench(.episodes(3)) { bench in
            try await bench.run(title: "Bok")
            let old = try #require(try await bench.recordedPath(2))
            bench.catalog.update { $0.elements[1].name = "第2集 (corrected)" }
            let report = try await bench.run(title: "Book")
            #expect(report.summary.renamed == 3)
            #expect(!FileManager.default.fileExists(atPath: bench.library + "/Bok"))
            #expect(report.summary.fetched == 0)
            #expect(report.failures.isEmpty)
            #expect(bench.audioRequests.count == 3)
            let new = try #require(try await bench.recordedPath(2))
            #expect(new != old && new.contains("corrected") && new.contains("/Book/"))
            #expect(!files.fileExists(atPath: old))
            for section in 1...3 { #expect(try await bench.bytes(section) == ScriptedCatalog.bytes(section)) }
            #expect(try await bench.run().summary.kept == 3)
        }
    }

    @Test func `a changed size in the catalog asks the server once, and 304 keeps the file`() async throws {
        try await withRunBench(.episodes(2)) { bench in
            try await bench.run()
            bench.catalog.update { $0.elements[0].size = 41_000 }
            let report = try await bench.run()
            #expect(report.failures.isEmpty, "\(report.failures)")
            #expect(report.summary.kept == 2)
            #expect(report.summary.replaced == 0)
            #expect(report.summary.bytesReceived == 0)
            #expect(bench.audioRequests.count == 3)
            #expect(bench.audioRequests.last?.header("If-None-Match") == "\"v1\"")
            #expect(try bench.partialNames() == [])
            let quiet = try await bench.run()
            #expect(quiet.summary.kept == 2)
            #expect(bench.audioRequests.count == 3)
        }
    }

    @Test func `a changed size in the catalog replaces what the server has changed`() async throws {
        try await withRunBench(.episodes(2)) { bench in
            try await bench.run()
            let corrected = sampleMP3(bytes: 45_000, seed: 77)
            bench.catalog.update {
                $0.elements[0].size = 45_000
                $0.audio["/audio/1.mp3"] = .file(corrected, etag: "\"v2\"")
            }
            let report = try await bench.run()
            #expect(report.summary.replaced == 1)
            #expect(report.summary.kept == 1)
            #expect(try await bench.bytes(1) == corrected)
            #expect(try await bench.run().summary.kept == 2)
            #expect(bench.audioDownloads == 3)
        }
    }

    @Test func `one audio host that is down holds nobody back`() async throws {
        try await withRunBench(.episodes(4)) { bench in
            let report = try await withRefusingPort { port in
                bench.catalog.update { $0.elements[1].path = "http://127.0.0.1:\(port)/audio/2.mp3" }
                return try await bench.run()
            }
            #expect(report.summary.fetched == 3)
            #expect(report.summary.failed == 1)
            #expect(report.failures.map(\.kind) == [.temporary])
            #expect(report.failures.first?.why.description.contains("refuses the connection") == true)
            bench.catalog.update { $0.elements[1].path = "/audio/2.mp3" }
            let second = try await bench.run()
            #expect(second.summary.fetched == 1)
            #expect(second.summary.kept == 3)
            #expect(bench.audioRequests.count == 4)
        }
    }

    @Test func `an episode that a complete catalog no longer lists is gone, and its file is kept`() async throws {
        try await withRunBench(.episodes(4)) { bench in
            try await bench.run()
            bench.catalog.update {
                $0.elements.removeLast(2)
                $0.sections = 4
            }
            let incomplete = try await bench.run()
            #expect(incomplete.failures.map(\.what.description) == ["Book: episodes may be missing"])
            #expect(try await bench.shelved(4)?.isGone == false)
            #expect(incomplete.summary.kept == 4)
            bench.catalog.update { $0.sections = nil }
            let complete = try await bench.run()
            #expect(complete.summary.kept == 4)
            #expect(try await bench.shelved(4)?.isGone == true)
            #expect(try await bench.bytes(4) == ScriptedCatalog.bytes(4))
            #expect(bench.audioRequests.count == 4)
        }
    }

    @Test func `a file that the user deleted is fetched again`() async throws {
        try await withRunBench(.episodes(3)) { bench in
            try await bench.run()
            try files.removeItem(atPath: try #require(try await bench.recordedPath(2)))
            let report = try await bench.run()
            #expect(report.summary.fetched == 1)
            #expect(report.summary.kept == 2)
            #expect(try await bench.bytes(2) == ScriptedCatalog.bytes(2))
            #expect(bench.audioRequests.count == 4)
        }
    }

    @Test func `a file of the user's own is left alone`() async throws {
        try await withRunBench(.episodes(3)) { bench in
            let plan = try #require(try await bench.plan())
            let path = try #require(plan.actions.first { $0.episode.section == 2 }?.path)
            try write("mine", to: bench.library + "/" + path)
            for run in 1...2 {
                let report = try await bench.run()
                #expect(report.summary.fetched == (run == 1 ? 2 : 0))
                #expect(try bench.read(bench.library + "/" + path) == Array("mine".utf8))
                #expect(bench.lastPlan[2]?.kind == .skip(.obstructed))
                #expect(bench.audioRequests.count == 2)
            }
        }
    }

    @Test func `a dry plan changes nothing and sends no request for audio`() async throws {
        try await withRunBench(.episodes(3)) { bench in
            let plan = try #require(try await bench.plan())
            #expect(plan.totals.fetch == 3)
            #expect(plan.totals.bytes == 120_000)
            #expect(bench.audioRequests.isEmpty)
            #expect(!files.fileExists(atPath: bench.library))
        }
    }

    @Test func `a catalog that is down fails its book and leaves the shelf`() async throws {
        try await withRunBench(.episodes(2)) { bench in
            try await bench.run()
            bench.catalog.update { $0.elements[0].name = "}broken\"" }
            let report = try await bench.run()
            #expect(report.failures.map(\.kind) == [.unreadableCatalog])
            #expect(report.summary.failed == 1)
            #expect(try await bench.shelved(1)?.file != nil)
            #expect(try await bench.shelved(1)?.isGone == false)
        }
    }

    @Test(arguments: [1, 3])
    func `a cancelled run keeps everything received, and the next one goes on from there`(jobs: Int) async throws {
        let catalog = ScriptedCatalog.episodes(4, bytes: 100_000, pace: Pace(bytesPerSecond: 100_000, piece: 2048))
        try await withRunBench(catalog, jobs: jobs) { bench in
            var received: Int64 = 0
            var resumed = 0
            for _ in 1...3 {
                let sentBefore = bench.audioBytesSent
                // On a busy machine the cancellation may come late, and leave little for another round.
                guard sentBefore + 40_000 < 400_000 else { break }
                let run = Task { try await bench.run() }
                try await bench.server.waitUntil { $0.bodyBytesSent(prefix: "/audio/") >= sentBefore + 40_000 }
                run.cancel()
                let report = try await run.value
                #expect(report.failures.isEmpty, "\(report.failures)")
                received += report.summary.bytesReceived
                resumed += report.summary.resumed
            }
            let last = try await bench.run()
            #expect(last.failures.isEmpty)
            #expect(received + last.summary.bytesReceived == 400_000)
            #expect(resumed + last.summary.resumed >= 1)
            for section in 1...4 {
                #expect(try await bench.bytes(section) == ScriptedCatalog.bytes(section, 100_000))
            }
        }
    }
}

extension ServerRecord {
    /// Body bytes given away for all paths that begin so.
    func bodyBytesSent(prefix: String) -> Int {
        exchanges.reduce(0) { $0 + ($1.request.path.hasPrefix(prefix) ? $1.bodyBytesSent : 0) }
    }
}
