import BookModel
import Foundation
import Support
import Testing

@testable import DownloadEngine

/// Case 24 of the download cases: addresses that expire, before the first byte or in the middle.
@Suite(.limitedConcurrency) struct RenewalCaseTests {
    private let bytes = sampleMP3(bytes: 120_000)

    private func refused(_ status: Int) -> Deed { .instead(Reply(status: status)) }

    /// A request whose address can be asked for again; the paths are given out one after the other, the last one for
    /// ever. What was asked is counted.
    private func request(
        _ episode: Episode, renewedAt paths: [String?], asked: Watched<[String]>, in bench: EngineBench
    ) async throws -> TransferRequest {
        var request = try await bench.request(episode)
        request.renewAddress = { stale in
            let number = asked.update { asked in
                asked.append(stale.description)
                return asked.count
            }
            return paths[min(number, paths.count) - 1].map { bench.server.address($0) }
        }
        return request
    }

    @Test(arguments: [403, 410])
    func `case 24: an address that has expired before the first byte is asked for again`(status: Int) async throws {
        let script = ServerScript.paths(["/a.mp3": .file(bytes, [refused(status)]), "/new.mp3": .file(bytes)])
        try await withBench(script) { bench in
            let asked = Watched<[String]>([])
            let episode = bench.episode()
            let report = await bench.run([try await request(episode, renewedAt: ["/new.mp3"], asked: asked, in: bench)])
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            #expect(ranges(bench.server) == [nil])
            #expect(ranges(bench.server, "/new.mp3") == [nil])
            #expect(asked.value == [bench.server.url("/a.mp3")])
            #expect(try bench.file() == bytes)
        }
    }

    @Test(arguments: [400, 401, 404])
    func `case 24: other refusals of an address with a query, or midway, may be expiry as well`(status: Int)
        async throws
    {
        let script = ServerScript.paths([
            "/signed": .always(Reply(status: status)), "/plain": .always(Reply(status: status)),
            "/begun": .file(bytes, [.cut(at: 50_000), refused(status)]), "/new.mp3": .file(bytes),
        ])
        try await withBench(script) { bench in
            let asked = Watched<[String]>([])
            var requests: [TransferRequest] = []
            for (section, path) in [(1, "/signed?expires=1"), (2, "/plain"), (3, "/begun")] {
                requests.append(
                    try await request(
                        bench.episode(section, at: path), renewedAt: ["/new.mp3"], asked: asked, in: bench))
            }
            let report = await bench.run(requests)
            #expect(report.receipts.map(\.section).sorted() == [1, 3], "\(report.sentences)")
            #expect(report.failures.map(\.section) == [2])
            #expect(asked.value.count == 2)
            let resumed = bench.server.requests(path: "/new.mp3").first { $0.header("Range") != nil }
            #expect(resumed?.header("Range") == "bytes=50000-" && resumed?.header("If-Range") == "\"v1\"")
            #expect(report.bytesReceived == 240_000)
        }
    }

    @Test func `case 24: a server that asks for credentials is not asked through the catalog`() async throws {
        let challenge = Reply(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"x\""])
        try await withBench(.always(challenge)) { bench in
            let asked = Watched<[String]>([])
            let episode = bench.episode(at: "/a.mp3?expires=1")
            let report = await bench.run([try await request(episode, renewedAt: ["/2"], asked: asked, in: bench)])
            #expect(report.failures.first?.failure.kind == .credentialsRejected)
            #expect(asked.value.isEmpty)
        }
    }

    @Test
    func `case 24: an address that expires midway is asked for again, and the partial goes on under its validator`()
        async throws
    {
        let script = ServerScript.paths([
            "/a.mp3": .file(bytes, [.cut(at: 50_000), refused(403)]), "/new.mp3": .file(bytes),
        ])
        try await withBench(script) { bench in
            let asked = Watched<[String]>([])
            let request = try await request(bench.episode(), renewedAt: ["/new.mp3"], asked: asked, in: bench)
            let report = await bench.run([request])
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            let resumed = try #require(bench.server.requests(path: "/new.mp3").first)
            #expect(resumed.header("Range") == "bytes=50000-")
            #expect(resumed.header("If-Range") == "\"v1\"")
            #expect(report.bytesReceived == 120_000)
            #expect(bench.server.record.bodyBytesSent(audio: "/a.mp3", "/new.mp3") == 120_000)
            #expect(try bench.file() == bytes)
        }
    }

    @Test func `case 24: another file behind the new address takes the place of what was begun`() async throws {
        let other = sampleMP3(bytes: 120_000, seed: 2)
        let script = ServerScript.paths([
            "/a.mp3": .file(bytes, [.cut(at: 50_000), refused(403)]), "/new.mp3": .file(other, etag: "\"v2\""),
        ])
        try await withBench(script) { bench in
            let asked = Watched<[String]>([])
            let request = try await request(bench.episode(), renewedAt: ["/new.mp3"], asked: asked, in: bench)
            #expect(await bench.run([request]).outcomes == [.fetched])
            #expect(try bench.file() == other)
        }
    }

    @Test func `case 24: as long as every address brings something the next one is asked for`() async throws {
        let brief = ServerScript.file(bytes, [.cut(at: 30_000), refused(403)])
        let script = ServerScript.paths(["/a.mp3": brief, "/2": brief, "/3": brief, "/4": .file(bytes)])
        try await withBench(script) { bench in
            let asked = Watched<[String]>([])
            let request = try await request(bench.episode(), renewedAt: ["/2", "/3", "/4"], asked: asked, in: bench)
            let report = await bench.run([request])
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            #expect(asked.value.count == 3)
            #expect(report.bytesReceived == 120_000)
            #expect(try bench.file() == bytes)
        }
    }

    @Test func `case 24: new addresses that are all refused are not asked for without end`() async throws {
        try await withBench(.always(.text("no", type: "text/plain", status: 403))) { bench in
            let asked = Watched<[String]>([])
            let request = try await request(bench.episode(), renewedAt: ["/2", "/3", "/4"], asked: asked, in: bench)
            let report = await bench.run([request])
            #expect(report.failures.count == 1)
            #expect(report.sentences.first?.contains("refuses access (403)") == true)
            #expect(asked.value.count == 1)
            #expect(bench.server.record.requests.count == 2)
        }
    }

    @Test(arguments: ["/a.mp3", nil])
    func `case 24: where the catalog has no other address the transfer fails, with a sentence`(path: String?)
        async throws
    {
        try await withBench(.file(bytes, [.cut(at: 50_000), refused(410)])) { bench in
            let asked = Watched<[String]>([])
            let episode = bench.episode()
            let report = await bench.run([try await request(episode, renewedAt: [path], asked: asked, in: bench)])
            #expect(report.sentences.first?.contains("the server does not have the file (410)") == true)
            #expect(asked.value.count == 1)
            #expect(ranges(bench.server) == [nil, "bytes=50000-"])
            #expect(try bench.partial(of: episode) == Array(bytes[..<50_000]))
            #expect(try await bench.record(of: episode)?.state == .failed)
        }
    }

    @Test func `case 24: a catalog that cannot be asked is told of`() async throws {
        try await withBench(.always(.text("no", type: "text/plain", status: 403))) { bench in
            var request = try await bench.request(bench.episode())
            request.renewAddress = { _ in
                throw Failure(.catalogUnavailable, what: "the catalog", why: "the server refuses the connection")
            }
            let report = await bench.run([request])
            let why = try #require(report.failures.first?.failure.why)
            #expect(why.description.contains("403"))
            #expect(why.description.hasSuffix("a new address could not be had: the server refuses the connection"))
        }
    }

    @Test func `case 24: a run that is interrupted while the catalog is asked fails nothing`() async throws {
        try await withBench(.always(.text("no", type: "text/plain", status: 403))) { bench in
            let asked = Watched(false)
            var request = try await bench.request(bench.episode())
            request.renewAddress = { _ in
                asked.update { $0 = true }
                try await Task.sleep(for: .seconds(3600))
                return nil
            }
            let run = Task { [request] in await bench.run([request]) }
            try await asked.waitUntil { $0 }
            run.cancel()
            let report = await run.value
            #expect(report.failures.isEmpty)
            #expect(report.left == 1)
        }
    }
}

extension ServerRecord {
    fileprivate func bodyBytesSent(audio paths: String...) -> Int {
        paths.reduce(0) { $0 + bodyBytesSent(path: $1) }
    }
}
