import BookModel
import CatalogStore
import DownloadEngine
import Foundation
import Support
import Testing

/// Runs that stop by themselves, and runs that take their time.
@Suite(.limitedConcurrency) struct LimitTests {
    private let bytes = sampleMP3(bytes: 120_000)

    private func episodes(_ count: Int, size: Int64?, in bench: EngineBench) -> [Episode] {
        (1...count).map { bench.episode($0, at: "/\($0).mp3", size: size) }
    }

    private func fetch(_ episodes: [Episode], in bench: EngineBench) async throws -> EngineReport {
        var requests: [TransferRequest] = []
        for episode in episodes { requests.append(try await bench.request(episode)) }
        return await bench.run(requests)
    }

    private var server: ServerScript {
        let bytes = bytes
        return ServerScript { ServedFile(bytes).answer(to: $0) }
    }

    @Test(arguments: [1, 4])
    func `no more episodes begin than allowed`(jobs: Int) async throws {
        try await withBench(server, jobs: jobs, limits: RunLimits(episodes: 2)) { bench in
            let report = try await fetch(episodes(5, size: 120_000, in: bench), in: bench)
            #expect(report.receipts.map(\.section).sorted() == [1, 2])
            #expect(report.left == 3)
            #expect(report.failures.isEmpty)
            #expect(report.stop == nil)
            #expect(bench.server.record.requests.count == 2)
        }
    }

    @Test(
        arguments: [
            (119_999, 120_000, []), (250_000, 120_000, [1, 2]), (360_000, 120_000, [1, 2, 3]),
            // Where nobody knows a length there is nothing to hold against the limit.
            (1, nil, [1, 2, 3, 4, 5]), (0, nil, []),
        ] as [(Int64, Int64?, [Int])])
    func `no episode begins that goes beyond the bytes allowed`(
        limit: Int64, size: Int64?, fetched: [Int]
    ) async throws {
        try await withBench(server, limits: RunLimits(bytes: limit)) { bench in
            let report = try await fetch(episodes(5, size: size, in: bench), in: bench)
            #expect(report.receipts.map(\.section).sorted() == fetched)
            #expect(report.left == 5 - fetched.count)
            #expect(bench.server.record.requests.count == fetched.count)
        }
    }

    @Test func `an episode that no run may begin keeps none of the others from being begun`() async throws {
        try await withBench(server, limits: RunLimits(bytes: 240_000)) { bench in
            var episodes = episodes(4, size: 120_000, in: bench)
            episodes[0].size = 1 << 40
            let report = try await fetch(episodes, in: bench)
            #expect(report.receipts.map(\.section).sorted() == [2, 3])
            #expect(report.left == 2)
        }
    }

    @Test func `bytes that are here already are not counted against the limit`() async throws {
        try await withBench(server, limits: RunLimits(bytes: 30_000)) { bench in
            let episode = bench.episode()
            try await bench.leave(bytes[..<100_000], of: episode, committed: 100_000)
            #expect(try await bench.fetch(episode).outcomes == [.resumed])
        }
    }

    @Test func `what has begun is brought to its end, tries included`() async throws {
        let script = ServerScript.paths([
            "/1.mp3": .file(bytes, [.cut(at: 50_000), .closeAfterHead, .wellBehaved]), "/2.mp3": .file(bytes),
        ])
        try await withBench(script, jobs: 1, limits: RunLimits(episodes: 1)) { bench in
            let report = try await fetch(episodes(2, size: nil, in: bench), in: bench)
            #expect(report.receipts.map(\.section) == [1], "\(report.sentences)")
            #expect(report.left == 1)
            #expect(bench.server.requests(path: "/2.mp3").isEmpty)
            #expect(bench.server.bodyBytesSent(path: "/1.mp3") == 120_000)
        }
    }

    @Test func `when the time is up everything is kept, and nothing has failed`() async throws {
        let stalled = ServerScript.file(bytes, [.stall(at: 60_000, until: Gate()), .wellBehaved])
        try await withBench(
            .paths(["/1.mp3": stalled, "/2.mp3": stalled, "/3.mp3": .file(bytes)]), jobs: 2,
            limits: RunLimits(seconds: 5)
        ) { bench in
            let three = episodes(3, size: nil, in: bench)
            // Two answers stall for ever: that the run ends without a failure is the limit's doing.
            let report = try await fetch(three, in: bench)
            #expect(report.receipts.isEmpty && report.failures.isEmpty && report.stop == nil)
            #expect(report.left == 3)
            for episode in three[..<2] {
                #expect(try bench.partial(of: episode) == Array(bytes[..<60_000]))
                #expect(try await bench.record(of: episode)?.committedLength == 60_000)
            }
        }
    }

    @Test func `the rate of one source holds back no other`() async throws {
        let script = ServerScript { [bytes] in ServedFile(bytes).answer(to: $0) }
        try await withBench(script, sourceRates: [EngineBench.book.source: 40_000]) { bench in
            let slow = try await bench.request(bench.episode(1, at: "/1.mp3"))
            let other = BookIdentity(source: "another", id: "1")
            let fast = TransferRequest(
                episode: .sample(2, book: other, address: bench.server.url("/2.mp3")), path: "Other/2.mp3")
            _ = try await bench.store.merge([fast.episode], startingAt: 0, of: other)
            let report = await bench.run([slow, fast])
            #expect(report.receipts.map(\.file.path) == ["Other/2.mp3", "Book/1.mp3"])
            // A quarter of a second's worth comes at once.
            #expect((report.receipts.last?.seconds ?? 0) > 0.95 * (120_000 / 40_000 - 0.25))
        }
    }
}
