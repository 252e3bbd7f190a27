import BookModel
import DownloadEngine
import Foundation
import Support
import Testing

/// Case 30 of the download cases: answers in old, odd and broken forms.
@Suite(.limitedConcurrency) struct WireFormCaseTests {
    private let bytes = sampleMP3(bytes: 120_000)

    /// The head verbatim, with the body behind it.
    private func raw(_ head: String, then ending: Reply.Ending = .keepAlive) -> Reply {
        .raw(Array(head.utf8), body: bytes, then: ending)
    }

    private func expectFetched(
        _ replies: [Reply], requests: Int, connections: Int, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await withBench(.replies(replies), jobs: 1, retries: 0) { bench in
            let report = try await bench.fetch(bench.episode())
            #expect(report.outcomes == [.fetched], "\(report.sentences)", sourceLocation: sourceLocation)
            #expect(try bench.file() == bytes, sourceLocation: sourceLocation)
            #expect(bench.server.record.requests.count == requests, sourceLocation: sourceLocation)
            #expect(bench.server.record.connectionsAccepted == connections, sourceLocation: sourceLocation)
        }
    }

    @Test(
        arguments: [
            "HTTP/1.0 200 OK\r\nContent-Length: 120000\r\n\r\n",
            "HTTP/1.0 200 OK\r\nContent-Type: audio/mpeg\r\n\r\n",
            "HTTP/1.0 200\r\nContent-Length: 120000\r\nConnection: close\r\n\r\n",
        ])
    func `case 30: an answer of HTTP 1.0 ends with its connection`(head: String) async throws {
        try await expectFetched([raw(head, then: .close)], requests: 1, connections: 1)
    }

    @Test(arguments: ["", "Connection: keep-alive\r\n", "Connection: close\r\n"])
    func `case 30: a connection is kept only as HTTP 1.0 keeps it`(field: String) async throws {
        let bytes = bytes
        let script = ServerScript { _ in
            // The server's side stays open: it is the client that must know.
            .raw(
                Array("HTTP/1.0 200 OK\r\nContent-Length: \(bytes.count)\r\n\(field)\r\n".utf8), body: bytes,
                then: .stallAfter(bytes: bytes.count + 1, until: Gate()))
        }
        try await withBench(script, jobs: 1, retries: 0) { bench in
            let report = try await bench.fetch(bench.episode(), bench.episode(2, at: "/b.mp3"))
            #expect(report.receipts.count == 2, "\(report.sentences)")
            #expect(bench.server.record.requests.map(\.numberOnConnection).max() == 0)
        }
    }

    @Test(
        arguments: [
            "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n",
            "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 x\r\nA: b\r\n\r\n",
            "HTTP/1.1 199 What\r\nContent-Length: 5\r\n\r\n",
        ])
    func `case 30: what comes before the answer is read over`(interim: String) async throws {
        let reply = raw(interim + "HTTP/1.1 200 OK\r\nContent-Length: 120000\r\n\r\n")
        try await expectFetched([reply], requests: 1, connections: 1)
    }

    @Test func `case 30: answers that only announce an answer are not read for ever`() async throws {
        let flood = String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 5000)
        try await withBench(.always(raw(flood, then: .close)), retries: 1, stallTimeout: 5) { bench in
            let failure = try #require(try await bench.fetch(bench.episode()).failures.first?.failure)
            #expect(failure.why.description.contains("not proper HTTP"), "\(failure)")
        }
        try await withBench(
            .always(raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", then: .close)), retries: 1
        ) { bench in
            let report = try await bench.fetch(bench.episode())
            #expect(report.receipts.isEmpty && report.failures.count == 1)
        }
    }

    /// Readers may refuse both (RFC 9112 §2.2, §5.2), and the parser does.
    @Test(
        arguments: [
            "HTTP/1.1 200 OK\nContent-Length: 120000\n\n",
            "HTTP/1.1 200 OK\r\nX-Long: one\r\n two\r\nContent-Length: 120000\r\n\r\n",
        ])
    func `case 30: folded lines and bare line feeds are refused in words`(head: String) async throws {
        try await withBench(.always(raw(head)), retries: 1) { bench in
            let failure = try #require(try await bench.fetch(bench.episode()).failures.first?.failure)
            #expect(failure.why.description.contains("not proper HTTP ("), "\(failure)")
            #expect(!failure.why.description.contains("unknown"), "\(failure)")
        }
    }

    @Test func `case 30: 64 KB of headers are read`() async throws {
        let length = "Content-Length: 120000\r\n\r\n"
        let one = "X-Long: \(String(repeating: "a", count: 65_536))\r\n"
        try await expectFetched([raw("HTTP/1.1 200 OK\r\n" + one + length)], requests: 1, connections: 1)
        let many = (0..<130).map { "X-\($0): \(String(repeating: "a", count: 512))\r\n" }.joined()
        try await expectFetched([raw("HTTP/1.1 200 OK\r\n" + many + length)], requests: 1, connections: 1)
    }

    @Test(arguments: [(1, 1 << 20), (100_000, 40), (400, 10_000)])
    func `case 30: headers without end are refused in words`(fields: Int, size: Int) async throws {
        let field = "X: \(String(repeating: "a", count: size))\r\n"
        let head = "HTTP/1.1 200 OK\r\n" + String(repeating: field, count: fields) + "Content-Length: 120000\r\n\r\n"
        try await withBench(.always(raw(head)), retries: 1) { bench in
            let failure = try #require(try await bench.fetch(bench.episode()).failures.first?.failure)
            #expect(failure.why.description.contains("not proper HTTP (too many header bytes"), "\(failure)")
        }
    }

    @Test(
        arguments: [
            "\u{0}\u{1}\u{2}\u{3}\r\n\r\n", "SSH-2.0-OpenSSH_9.6\r\n", "<html>hello</html>", "HTTP/2.0 200 OK\r\n\r\n",
            "HTTP/1.1 OK 200\r\n\r\n", "HTTP/1.1 99999 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\n",
            "HTTP/1.1 200 OK\r\nno colon here\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nXYZ\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n", "\r\n\r\n\r\n", "H",
            "HTTP/1.1 200",
            "HTTP/1.1 200 OK\r\nContent-Length: 120000\r\nContent-Length: 5\r\n\r\n",
            "HTTP/1.1 200 OK\r\nX: \u{0}\r\nContent-Length: 5\r\n\r\n",
        ])
    func `case 30: garbage is tried again, and then a failure, never a hang or a file`(garbage: String) async throws {
        let reply = Reply.raw(Array(garbage.utf8), then: .close)
        try await withBench(.always(reply), retries: 1, stallTimeout: 10) { bench in
            let report = try await bench.fetch(bench.episode())
            #expect(report.receipts.isEmpty && report.failures.count == 1, "\(report)")
            #expect(try bench.file() == nil)
            #expect(bench.server.record.requests.count == 2)
        }
        try await withBench(.file(bytes, [.instead(reply), .wellBehaved]), retries: 1) { bench in
            let report = try await bench.fetch(bench.episode())
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            #expect(try bench.file() == bytes)
        }
    }

    @Test(arguments: [Reply.Ending.keepAlive, .close])
    func `case 30: an answer that nobody asked for is no answer to the next request`(
        ending: Reply.Ending
    ) async throws {
        let bytes = bytes
        let other = sampleMP3(bytes: 3000, seed: 9)
        let script = ServerScript { request in
            guard request.number == 0, request.path == "/a.mp3" else { return ServedFile(bytes).answer(to: request) }
            let surplus = Array("HTTP/1.1 200 OK\r\nContent-Length: \(other.count)\r\n\r\n".utf8) + other
            return .raw(
                Array("HTTP/1.1 200 OK\r\nContent-Length: \(bytes.count)\r\n\r\n".utf8), body: bytes + surplus,
                then: ending)
        }
        try await withBench(script, jobs: 1, retries: 2) { bench in
            let report = try await bench.fetch(bench.episode(), bench.episode(2, at: "/b.mp3"))
            #expect(report.receipts.count == 2, "\(report.sentences)")
            #expect(try bench.file() == bytes)
            #expect(try bench.file("Book/2.mp3") == bytes)
        }
    }
}
