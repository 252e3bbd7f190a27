import BookModel
import DownloadEngine
import Foundation
import Support
import Testing
import Transport

/// Cases 19, 20, 26 and 27 of the download cases: answers that are no audio, and servers that refuse or are not there.
@Suite(.limitedConcurrency) struct RefusalCaseTests {
    private let bytes = sampleMP3(bytes: 120_000)

    /// What a portal sends in the place of audio.
    struct Page: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var type: String?
        var text = page
        var framing = Reply.Framing.length

        var deed: Deed {
            var reply = Reply(body: Array(text.utf8), framing: framing)
            reply.setHeader("Content-Type", type)
            return .instead(reply)
        }
    }

    private static let page =
        "<!DOCTYPE html><html><head><title>登录</title></head><body>" + String(repeating: "请先登录 ", count: 80)
    private static let pages = [
        Page(testDescription: "a page that says so", type: "text/html; charset=utf-8"),
        Page(testDescription: "a page that says so, longer than told", type: "text/html", framing: .declared(100)),
        Page(
            testDescription: "a page that says so, as long as the file", type: "text/html", framing: .declared(120_000)),
        Page(testDescription: "a page that calls itself audio", type: "audio/mpeg"),
        Page(
            testDescription: "a page that calls itself audio, as long as the file", type: "audio/mpeg",
            framing: .declared(120_000)),
        Page(
            testDescription: "a page of any octets, in chunks", type: "application/octet-stream",
            framing: .chunked(size: 100)),
        Page(testDescription: "a page of no type", type: nil),
        Page(testDescription: "a short page that calls itself audio", type: "audio/mpeg", text: "<html>busy</html>"),
        Page(
            testDescription: "a JSON error that calls itself audio", type: "audio/mpeg",
            text: #"{"status":4,"msg":"非法请求"}"#),
        Page(testDescription: "a text that calls itself audio", type: "audio/mpeg", text: "系统繁忙\n"),
        Page(testDescription: "a plain text", type: "text/plain", text: "busy"),
        Page(testDescription: "a page that calls itself plain text", type: "text/plain"),
    ]

    @Test func `audio that is called plain text is audio, and a text in an old encoding is not`() async throws {
        let gbk: [UInt8] = Array(repeating: [0xCF, 0xB5, 0xCD, 0xB3, 0xB7, 0xB1, 0xC3, 0xA6, 0x0A], count: 100).flatMap(
            \.self)
        let script = ServerScript { [bytes] request in
            Reply(headers: ["Content-Type": "text/plain"], body: request.path == "/a.mp3" ? bytes : gbk)
        }
        try await withBench(script, retries: 0) { bench in
            let report = try await bench.fetch(bench.episode(), bench.episode(2, at: "/b.mp3"))
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            #expect(try bench.file() == bytes)
            #expect(report.failures.first?.failure.why.description.contains("text instead of audio") == true)
        }
    }

    @Test(arguments: pages)
    func `case 19: a page with 200 is refused before the partial is touched`(page: Page) async throws {
        try await withBench(.file(bytes, [page.deed, .wellBehaved])) { bench in
            let episode = bench.episode()
            try await bench.leave(bytes[..<50_000], of: episode)
            let report = try await bench.fetch(episode)
            #expect(report.sentences.first?.contains("instead of audio") == true, "\(report.sentences)")
            #expect(ranges(bench.server) == ["bytes=50000-"])
            #expect(try bench.partial(of: episode) == Array(bytes[..<50_000]))
            let record = try #require(try await bench.record(of: episode))
            #expect(record.validator == .served)
            #expect(record.total == 120_000)
            #expect(record.state == .failed)
            // The portal has let the user in.
            let second = try await bench.fetch(episode)
            #expect(second.outcomes == [.resumed])
            #expect(second.bytesReceived == 70_000)
            #expect(try bench.file() == bytes)
        }
    }

    @Test(arguments: pages)
    func `case 19: a page in the place of a new episode leaves nothing`(page: Page) async throws {
        try await withBench(.file(bytes, [page.deed])) { bench in
            let report = try await bench.fetch(bench.episode())
            #expect(report.failures.count == 1)
            #expect(ranges(bench.server) == [nil])
            #expect(try bench.file() == nil)
            #expect(try bench.partialNames() == [])
        }
    }

    @Test func `case 19: a short page that is cut is never kept`() async throws {
        let cut = Page(testDescription: "", type: "audio/mpeg", text: "<html>busy</html>", framing: .declared(120_000))
        try await withBench(.file(bytes, [cut.deed]), retries: 1) { bench in
            let episode = bench.episode()
            try await bench.leave(bytes[..<50_000], of: episode)
            #expect(try await bench.fetch(episode).failures.count == 1)
            #expect(try bench.partial(of: episode) == Array(bytes[..<50_000]))
        }
    }

    @Test(arguments: [400, 403, 404, 500, 503])
    func `case 20: the body of an error is never written`(status: Int) async throws {
        // The worst of them look like audio.
        let error = Deed.instead(.reply(status: status, headers: ["Content-Type": "audio/mpeg"], body: bytes))
        try await withBench(.file(bytes, [error, error, .wellBehaved]), retries: 1) { bench in
            let episode = bench.episode()
            try await bench.leave(bytes[..<50_000], of: episode)
            let retried = status >= 500
            #expect(try await bench.fetch(episode).failures.count == 1)
            #expect(ranges(bench.server).count == (retried ? 2 : 1))
            #expect(try bench.partial(of: episode) == Array(bytes[..<50_000]))
            #expect(try bench.file() == nil)
            if !retried { _ = try await bench.fetch(episode) }
            #expect(try await bench.fetch(episode).outcomes == [.resumed])
            #expect(try bench.file() == bytes)
        }
    }

    private static let passing: [(String, Deed)] =
        [408, 500, 502, 503, 504].map { ("\($0)", .instead(.text("busy", type: "text/plain", status: $0))) } + [
            ("a reset", .resetBeforeAnswer), ("an end without an answer", .closeBeforeAnswer),
            ("an answer that is no HTTP", .instead(.raw(Array("SSH-2.0-OpenSSH\r\n\r\n".utf8)))),
        ]

    @Test(arguments: passing.map(\.0))
    func `case 26: what may pass is tried again`(what: String) async throws {
        let deed = try #require(Self.passing.first { $0.0 == what }?.1)
        try await withBench(.file(bytes, [deed, deed, .wellBehaved])) { bench in
            let report = try await bench.fetch(bench.episode())
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            #expect(ranges(bench.server).count == 3)
            #expect(try bench.file() == bytes)
        }
    }

    @Test(arguments: passing.map(\.0))
    func `case 26: what does not pass is given up after the budget, with a sentence`(what: String) async throws {
        let deed = try #require(Self.passing.first { $0.0 == what }?.1)
        try await withBench(.file(bytes, [deed]), retries: 2) { bench in
            let episode = bench.episode()
            let report = try await bench.fetch(episode)
            #expect(ranges(bench.server).count == 3)
            let failure = try #require(report.failures.first)
            #expect(failure.failure.kind == .temporary)
            #expect(failure.failure.why.description.hasSuffix(", 3 times in a row"), "\(failure.failure)")
            #expect(failure.failure.what.description.hasPrefix("Book, episode 1 '"))
            #expect(report.stop == nil)
            let record = try #require(try await bench.record(of: episode))
            #expect(record.state == .failed)
            #expect(record.attempts == 1)
            #expect(record.error == failure.failure.explanation)
            #expect(record.nextTryAt == nil)
            #expect(try bench.partialNames() == [])
        }
    }

    @Test func `case 26: a host name that cannot be resolved is tried again as often as anything`() async throws {
        try await withBench(.always(.notFound), retries: 2) { bench in
            var episode = bench.episode()
            episode.address = ResourceAddress("http://audio.invalid:\(bench.server.port)/a.mp3")
            let failure = try #require(try await bench.fetch(episode).failures.first?.failure)
            #expect(failure.why.description == "the host name audio.invalid cannot be resolved, 3 times in a row")
            #expect(failure.kind == .temporary)
            #expect(bench.server.record.connectionsAccepted == 0)
        }
    }

    @Test func `case 26: by default there are five tries more, with waits between them`() async throws {
        let retries = RetryPolicy().retries
        #expect(retries == 5)
        // The waits are drawn from 0 to 0.1, 0.2, 0.4, 0.8 and 1.6 s. All of them together are shorter than this once in a
        // hundred thousand times.
        try await withBench(.always(.text("busy", status: 500)), retries: retries, firstWait: 0.1, longestWait: 2) {
            bench in
            let begin = ContinuousClock.now
            let report = try await bench.fetch(bench.episode())
            #expect(report.failures.count == 1)
            #expect(ContinuousClock.now - begin > .seconds(0.1))
            #expect(bench.server.record.requests.count == 6)
        }
    }

    @Test func `case 26: an episode whose server refuses connections waits longer with every run`() async throws {
        try await withBench(.always(.notFound), retries: 1) { bench in
            try await withRefusingPort { port in
                var episode = bench.episode()
                episode.address = ResourceAddress("http://127.0.0.1:\(port)/a.mp3")
                for attempts in 1...3 {
                    let report = try await bench.fetch(episode)
                    #expect(
                        report.failures.first?.failure.why.description
                            == "the server refuses the connection, 2 times in a row")
                    let record = try #require(try await bench.record(of: episode))
                    #expect(record.attempts == attempts)
                    #expect((record.nextTryAt != nil) == (attempts == 3))
                }
            }
        }
    }

    @Test func `progress makes a failing episode begin its count anew`() async throws {
        try await withBench(
            .file(bytes, [.closeAfterHead, .closeAfterHead, .cut(at: 50_000), .closeAfterHead]), retries: 0
        ) {
            bench in
            let episode = bench.episode()
            var attempts: [Int?] = []
            for _ in 1...4 {
                _ = try await bench.fetch(episode)
                attempts.append(try await bench.record(of: episode)?.attempts)
            }
            #expect(attempts == [1, 2, 1, 2])
        }
    }

    @Test(arguments: [401, 402, 403, 404, 407, 410, 416, 451])
    func `case 27: what will not pass is not tried again`(status: Int) async throws {
        try await withBench(.always(.text("no", type: "text/plain", status: status))) { bench in
            let episode = bench.episode()
            let report = try await bench.fetch(episode)
            #expect(bench.server.record.requests.count == 1)
            let failure = try #require(report.failures.first?.failure)
            #expect(failure.why.description.contains("\(status)"))
            if [401, 403, 404].contains(status) { #expect(failure.remedy != nil) }
            #expect(try await bench.record(of: episode)?.state == .failed)
            #expect(report.stop == nil)
        }
    }

    @Test func `one failure does not stop the others`() async throws {
        let script = ServerScript.paths(["/a.mp3": .file(bytes), "/c.mp3": .file(bytes)])
        try await withBench(script, jobs: 1) { bench in
            let report = try await bench.fetch(
                bench.episode(1), bench.episode(2, at: "/b.mp3"), bench.episode(3, at: "/c.mp3"))
            #expect(report.receipts.map(\.section).sorted() == [1, 3])
            #expect(report.failures.map(\.section) == [2])
        }
    }
}
