import BookModel
import DownloadEngine
import Foundation
import Support
import Testing

/// Case 31 of the download cases: addresses that swallow packets.
@Suite(.limitedConcurrency) struct UnreachableCaseTests {
    private let bytes = sampleMP3(bytes: 120_000)

    private static let hasBothLoopbacks =
        SwallowingListener.isPossible && SwallowingListener.isBothLoopbacks("localhost")

    @Test(
        .enabled(
            if: hasBothLoopbacks, "'localhost' has no IPv6 address here, or this is no Linux"))
    func `case 31: a good IPv4 address is used where the IPv6 one beside it swallows packets`() async throws {
        try await withBench(.file(bytes), retries: 0) { bench in
            let swallowing = try SwallowingListener(isIPv6: true, port: bench.server.port)
            var episode = bench.episode()
            episode.address = ResourceAddress("http://localhost:\(bench.server.port)/a.mp3")
            // Who waits for the first address alone is given up after the time for connecting, without a retry.
            let report = try await bench.fetch(episode)
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            #expect(try bench.file() == bytes)
            #expect(bench.server.record.requests.count == 1)
            #expect(swallowing.port == bench.server.port)
        }
    }

    @Test(.enabled(if: SwallowingListener.isPossible, "only Linux drops what a full queue cannot take"))
    func `case 31: an address that swallows packets is given up after the time for connecting`() async throws {
        let swallowing = try SwallowingListener()
        try await withBench(.file(bytes), retries: 2, connectTimeout: 0.3) { bench in
            var episode = bench.episode()
            episode.address = ResourceAddress("http://127.0.0.1:\(swallowing.port)/a.mp3")
            let begin = ContinuousClock.now
            let failure = try #require(try await bench.fetch(episode).failures.first?.failure)
            #expect(failure.why.description == "the server cannot be reached, 3 times in a row")
            // Three times 0.3 s, but for what starting a connection took off them, which on a busy machine is much. The
            // system's own time, after which it fails with other words, would be minutes.
            #expect(ContinuousClock.now - begin > .seconds(0.3))
            #expect(bench.server.record.connectionsAccepted == 0)
            #expect(swallowing.port > 0)
        }
    }

    @Test(.enabled(if: SwallowingListener.isPossible, "only Linux drops what a full queue cannot take"))
    func `case 31: a proxy that swallows packets is given up and named`() async throws {
        let swallowing = try SwallowingListener()
        let proxy = "http://127.0.0.1:\(swallowing.port)"
        try await withBench(
            .file(bytes), retries: 1, connectTimeout: 0.3, proxies: ["http_proxy": proxy]
        ) { bench in
            let failure = try #require(try await bench.fetch(bench.episode()).failures.first?.failure)
            #expect(failure.why.description == "the proxy \(proxy) cannot be reached, 2 times in a row")
        }
    }
}
