import BookModel
import Foundation
import Support
import Testing

@testable import BookSync

/// What the user pauses, resumes, cancels and removes, over several runs.
@Suite(.limitedConcurrency) struct ControlledRunTests {
    private let gate = Gate()

    /// Three episodes, the first of which stops in the middle until the gate opens.
    private var catalog: ScriptedCatalog {
        var catalog = ScriptedCatalog.episodes(3)
        catalog.audio["/audio/1.mp3"] = .file(
            ScriptedCatalog.bytes(1), [.stall(at: 25_000, until: gate), .wellBehaved])
        return catalog
    }

    /// Runs until the first episode has stopped in its middle and the others are done, says the words, and returns what
    /// the run came to.
    private func run(
        _ bench: RunBench, saying words: @escaping @Sendable (TransferControl) async throws -> Int
    ) async throws -> RunReport {
        let run = Task { try await bench.run() }
        try await bench.events.waitUntil { events in
            events.count { if case .finished = $0 { true } else { false } } == 2
        }
        try await bench.server.waitUntil { $0.bodyBytesSent(path: "/audio/1.mp3") == 25_000 }
        #expect(try await bench.control(words) == 1)
        return try await run.value
    }

    @Test func `a paused episode stays paused until it is resumed, and then goes on from its bytes`() async throws {
        try await withRunBench(catalog) { bench in
            let first = try await run(bench) { try await $0.pause(bench.sections(1...1)) }
            #expect(first.failures.isEmpty && first.summary.fetched == 2 && first.summary.left == 0)
            let held = try bench.read(bench.partialFile(1)).count
            #expect(held > 0)
            for _ in 1...2 {
                let report = try await bench.run()
                #expect(report.failures.isEmpty && report.summary.kept == 2 && report.summary.resumed == 0)
                #expect(bench.lastPlan[1]?.kind == .skip(.paused))
                #expect(try await bench.shelved(1)?.state == .paused)
            }
            #expect(bench.audioRequests.count == 3)
            #expect(try await bench.control { try await $0.resume(.everything) } == 1)
            let last = try await bench.run()
            #expect(last.summary.resumed == 1)
            #expect(bench.audioRequests.last?.header("Range") == "bytes=\(held)-")
            #expect(first.summary.bytesReceived + last.summary.bytesReceived == 120_000)
            #expect(try await bench.bytes(1) == ScriptedCatalog.bytes(1))
        }
    }

    @Test func `force resumes what is paused`() async throws {
        try await withRunBench(catalog) { bench in
            _ = try await run(bench) { try await $0.pause(bench.sections(1...1)) }
            let forced = try await bench.run(force: true)
            #expect(forced.summary.resumed == 1)
            #expect(forced.summary.bytesReused > 0)
            #expect(try await bench.bytes(1) == ScriptedCatalog.bytes(1))
        }
    }

    @Test func `a cancelled episode is fetched anew by the next run`() async throws {
        try await withRunBench(catalog) { bench in
            let first = try await run(bench) { _ in
                try await TransferControl.cancel(bench.sections(1...1), in: bench.library)
            }
            #expect(first.failures.isEmpty && first.summary.left == 1)
            #expect(try bench.partialNames() == [])
            let next = try await bench.run()
            #expect(next.summary.fetched == 1)
            #expect(bench.audioRequests.last?.header("Range") == nil)
            #expect(try await bench.bytes(1) == ScriptedCatalog.bytes(1))
        }
    }

    @Test func `an episode that is removed while it is fetched does not come back`() async throws {
        try await withRunBench(catalog) { bench in
            let first = try await run(bench) { try await $0.remove(bench.sections(1...1)).episodes }
            #expect(first.failures.isEmpty)
            #expect(try bench.partialNames() == [])
            let asked = bench.audioRequests.count
            let next = try await bench.run()
            #expect(next.summary.fetched == 0 && next.failures.isEmpty)
            #expect(bench.audioRequests.count == asked)
            #expect(try await bench.shelved(1)?.state == .removed)
        }
    }

    @Test func `what is paused before it begins is left alone`() async throws {
        try await withRunBench(.episodes(4)) { bench in
            try await bench.run(limits: RunLimits(episodes: 1))
            #expect(try await bench.control { try await $0.pause(bench.sections(1...3)) } == 2)
            let report = try await bench.run()
            #expect(report.summary.fetched == 1)
            #expect(try await bench.bytes(4) != nil)
            #expect(bench.lastPlan[2]?.kind == .skip(.paused))
            #expect(try await bench.control { try await $0.resume(bench.sections(2...2)) } == 1)
            #expect(try await bench.run().summary.fetched == 1)
            #expect(bench.audioRequests.count == 3)
        }
    }

    @Test func `to resume a book that was paused ahead asks for what a run would have fetched`() async throws {
        try await withRunBench(.episodes(4)) { bench in
            try await bench.run(only: "1")
            #expect(try await bench.control { try await $0.pause(bench.wholeBook) } == 3)
            // One of them is asked for while it is paused.
            #expect(try await bench.run(only: "3").summary.paused == 1)
            #expect(try await bench.control { try await $0.resume(bench.wholeBook) } == 3)
            #expect(try await bench.requests().map(\.filter.only?.description) == ["3"])
            #expect(try await bench.shelved(2)?.transfer == nil)
        }
    }

    @Test func `to resume a book asks for what was paused in a run, and for an episode that is named`() async throws {
        try await withRunBench(catalog) { bench in
            let first = try await run(bench) { try await $0.pause(bench.wholeBook) }
            #expect(first.summary.left == 0)
            #expect(try await bench.control { try await $0.resume(bench.wholeBook) } == 1)
            #expect(try await bench.requests().map(\.filter.only?.description) == ["1"])
        }
        try await withRunBench(.episodes(4)) { bench in
            try await bench.run(only: "1")
            #expect(try await bench.control { try await $0.pause(bench.wholeBook) } == 3)
            #expect(try await bench.control { try await $0.resume(bench.sections(3...3)) } == 1)
            #expect(try await bench.requests().map(\.filter.only?.description) == ["3"])
        }
    }

    @Test func `a removal is remembered, until it is forgotten`() async throws {
        try await withRunBench(.episodes(2)) { bench in
            try await bench.run()
            let path = try #require(try await bench.recordedPath(2))
            #expect(try await bench.control { try await $0.remove(bench.sections(2...2)).episodes } == 1)
            #expect(!FileManager.default.fileExists(atPath: path))
            #expect(try await bench.run().summary.fetched == 0)
            #expect(bench.lastPlan[2]?.kind == .skip(.tombstone))
            #expect(try await bench.control { try await $0.forgetRemovals(.everything) } == 1)
            #expect(try await bench.run().summary.fetched == 0)
            #expect(try await bench.control { try await $0.forgetRemovals(.everything) } == 0)
            #expect(try await bench.run().summary.kept == 2)
            #expect(try await bench.bytes(2) == ScriptedCatalog.bytes(2))
        }
    }
}
