import BookModel
import Foundation
import Support
import Testing

@testable import BookSync

/// Runs that end by themselves before everything is fetched.
@Suite(.limitedConcurrency) struct LimitedRunTests {
    @Test func `so many episodes a run, until nothing is left`() async throws {
        try await withRunBench(.episodes(5)) { bench in
            var counts: [[Int]] = []
            for _ in 1...4 {
                let report = try await bench.run(limits: RunLimits(episodes: 2))
                #expect(report.failures.map(\.kind) == (report.summary.left > 0 ? [.temporary] : []))
                counts.append([report.summary.fetched, report.summary.kept, report.summary.left])
            }
            #expect(counts == [[2, 0, 3], [2, 2, 1], [1, 4, 0], [0, 5, 0]])
            #expect(bench.audioBytesSent == 200_000)
        }
    }

    @Test func `what joined a run and is left is not left on purpose`() {
        let episodes = (1...5).map { Episode.sample($0, book: RunBench.book) }
        let actions = episodes.enumerated().map { index, episode in
            SyncAction(kind: index == 0 ? .fetch : .skip(.limited), episode: episode, path: "\(index)", reason: "")
        }
        var report = RunReport()
        report.record(SyncPlan(book: Book(identity: RunBench.book, title: "Book"), actions: actions))
        for _ in 1...2 { report.uncount(.limited) }
        report.recordLeft()
        #expect(report.failures.isEmpty && report.summary.left == 2)
        // The time limit leaves one of the two.
        report.summary.left += 1
        report.recordLeft()
        #expect(report.failures.map(\.what.description) == ["1 episode left for the next run"])
    }

    @Test func `a book that is asked for twice is begun as far as either of the two allows`() throws {
        func limits(_ one: RunLimits, _ other: RunLimits) throws -> RunLimits? {
            try RunRequest(items: [one, other].map { .init(book: RunBench.book, limits: $0) }).items.first?.limits
        }
        #expect(try limits(RunLimits(episodes: 0), RunLimits()) == RunLimits())
        #expect(try limits(RunLimits(), RunLimits(episodes: 0)) == RunLimits())
        let both = try limits(RunLimits(episodes: 0, bytes: 5), RunLimits(episodes: 3, bytes: 4, seconds: 1))
        #expect(both == RunLimits(episodes: 3, bytes: 5))
    }

    @Test func `so many bytes a run`() async throws {
        try await withRunBench(.episodes(5)) { bench in
            let report = try await bench.run(limits: RunLimits(bytes: 130_000))
            #expect(report.failures.map(\.what.description) == ["2 episodes left for the next run"])
            #expect(report.summary.fetched == 3)
            #expect(report.summary.left == 2)
            #expect(report.summary.bytesReceived == 120_000)
            #expect(try await bench.run().summary.fetched == 2)
            #expect(bench.audioBytesSent == 200_000)
        }
    }

    @Test func `when the time is up everything is kept, and the next run goes on`() async throws {
        // Every answer stalls, so that the run ends because its time is up, on however busy a machine.
        let gate = Gate()
        try await withRunBench(.episodes(4, bytes: 100_000)) { bench in
            bench.catalog.update { catalog in
                for section in 1...4 {
                    let bytes = ScriptedCatalog.bytes(section, 100_000)
                    catalog.audio["/audio/\(section).mp3"] = .file(
                        bytes, [.stall(at: 25_000, until: gate), .wellBehaved])
                }
            }
            let first = try await bench.run(limits: RunLimits(seconds: 2))
            gate.open()
            #expect(first.failures.map(\.kind) == [.temporary], "\(first.failures)")
            #expect(first.summary.fetched == 0)
            #expect(first.summary.left == 4)
            #expect(first.summary.bytesUnfinished == first.summary.bytesReceived)
            #expect(first.summary.bytesReceived <= 100_000)
            let second = try await bench.run()
            #expect(second.failures.isEmpty)
            #expect(second.summary.left == 0)
            #expect(first.summary.bytesReceived + second.summary.bytesReceived == 400_000)
            for section in 1...4 {
                #expect(try await bench.bytes(section) == ScriptedCatalog.bytes(section, 100_000))
            }
        }
    }
}
