import BookModel
import DownloadEngine
import Foundation
import Support
import Testing
import Transport

/// Cases 28, 29 and 33 of the download cases: silent servers, kept connections, and addresses that are nobody's business.
@Suite(.limitedConcurrency) struct ConnectionCaseTests {
    private let bytes = sampleMP3(bytes: 120_000)

    @Test func `case 28: a server that never answers is given up after the stall timeout`() async throws {
        try await withBench(.file(bytes, [.neverAnswer, .wellBehaved]), retries: 1, stallTimeout: 3) { bench in
            let report = try await bench.fetch(bench.episode())
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            #expect(ranges(bench.server) == [nil, nil])
        }
        try await withBench(.always(.neverAnswer), retries: 1, stallTimeout: 3) { bench in
            let report = try await bench.fetch(bench.episode())
            #expect(report.failures.first?.failure.why.description == "the server stopped sending, 2 times in a row")
        }
    }

    @Test func `case 28: a stall in the middle keeps what came, and the next try goes on`() async throws {
        try await withBench(
            .file(bytes, [.stall(at: 50_000, until: Gate()), .wellBehaved]), retries: 1, stallTimeout: 3
        ) { bench in
            let report = try await bench.fetch(bench.episode())
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            #expect(ranges(bench.server) == [nil, "bytes=50000-"])
            #expect(report.bytesReceived == 120_000)
            #expect(try bench.file() == bytes)
        }
    }

    @Test func `case 28: slow but steady is fine`() async throws {
        let small = sampleMP3(bytes: 20_000)
        try await withBench(
            .file(small, pace: Pace(bytesPerSecond: 4000, piece: 50)), retries: 0, stallTimeout: 3
        ) { bench in
            let begin = ContinuousClock.now
            let report = try await bench.fetch(bench.episode())
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            // Longer than the stall timeout, without a stall.
            #expect(ContinuousClock.now - begin > .seconds(4))
        }
    }

    @Test(arguments: [Reply.closeBeforeAnswer, .resetBeforeAnswer])
    func `case 29: a kept connection that ends under the next request is no failure`(ending: Reply) async throws {
        let bytes = bytes
        let script = ServerScript { request in
            request.numberOnConnection == 0 ? ServedFile(bytes).answer(to: request) : ending
        }
        try await withBench(script, jobs: 1, retries: 0) { bench in
            let report = try await bench.fetch(
                bench.episode(), bench.episode(2, at: "/b.mp3"), bench.episode(3, at: "/c.mp3"))
            #expect(report.receipts.count == 3, "\(report.sentences)")
            let exchanges = bench.server.record.exchanges.map(\.request)
            #expect(exchanges.map(\.path) == ["/a.mp3", "/b.mp3", "/b.mp3", "/c.mp3", "/c.mp3"])
            #expect(exchanges.map(\.connection) == [0, 0, 1, 1, 2])
        }
    }

    @Test func `case 29: a new connection that ends under its request is one`() async throws {
        try await withBench(.always(.closeBeforeAnswer), retries: 0) { bench in
            let report = try await bench.fetch(bench.episode())
            #expect(report.failures.count == 1)
            #expect(bench.server.record.requests.count == 1)
        }
    }

    @Test(arguments: ["127.0.0.1", "localhost", "[::1]", "169.254.169.254", "192.168.1.1", "10.0.0.1", "2130706433"])
    func `case 33: a local address is not asked where the source is public`(host: String) async throws {
        try await withBench(.file(bytes)) { bench in
            var episode = bench.episode()
            episode.address = ResourceAddress("http://\(host):\(bench.server.port)/a.mp3")
            var request = try await bench.request(episode)
            request.access = .publicOnly
            let report = await bench.run([request])
            #expect(report.receipts.isEmpty)
            let failure = try #require(report.failures.first?.failure)
            #expect(failure.disposition == .skip)
            #expect(failure.why.description.contains("network"), "\(failure)")
            #expect(bench.server.record.connectionsAccepted == 0)
        }
    }

    @Test(arguments: [
        "127.0.0.1", "localhost", "[::1]", "169.254.169.254", "192.168.1.1", "2130706433", "[::ffff:127.0.0.1]",
    ])
    func `case 33: a public address leads to no local one, and to another public one it does`(host: String) async throws
    {
        let bytes = bytes
        try await withProxy(.http) { proxy in
            let script = ServerScript { request in
                let port = request.header("Host")?.split(separator: ":").last ?? ""
                switch request.path {
                case "/a.mp3": return .reply(status: 302, headers: ["Location": "http://\(host):\(port)/c.mp3"])
                case "/b.mp3": return .reply(status: 302, headers: ["Location": "http://other.example:\(port)/d.mp3"])
                default: return ServedFile(bytes).answer(to: request)
                }
            }
            // The proxy plays the world, and goes to loopback wherever it is sent.
            try await withBench(script, jobs: 1, proxies: ["http_proxy": "http://127.0.0.1:\(proxy.port)"]) { bench in
                var requests: [TransferRequest] = []
                for (index, path) in ["/a.mp3", "/b.mp3"].enumerated() {
                    var episode = bench.episode(index + 1)
                    episode.address = ResourceAddress("http://audio.example:\(bench.server.port)\(path)")
                    var request = try await bench.request(episode)
                    request.access = .publicOnly
                    requests.append(request)
                }
                let report = await bench.run(requests)
                #expect(report.failures.map(\.section) == [1])
                let failure = try #require(report.failures.first?.failure)
                #expect(failure.why.description.contains("private network"), "\(failure)")
                #expect(report.receipts.map(\.section) == [2])
                #expect(try bench.file("Book/2.mp3") == bytes)
                // Asked once, and nothing behind it.
                #expect(bench.server.record.requests.map(\.path) == ["/a.mp3", "/b.mp3", "/d.mp3"])
            }
        }
    }
}
