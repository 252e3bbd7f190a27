import Foundation
import Support
import Testing

/// The server itself: every claim about lost and repeated bytes rests on its counts.
@Suite(.limitedConcurrency) struct MisbehavingServerTests {
    private func get(_ path: String = "/a.mp3", method: String = "GET", _ fields: String...) -> String {
        "\(method) \(path) HTTP/1.1\r\nHost: test\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n"
    }

    /// A request after which a good server ends the connection.
    private func last(_ path: String = "/a.mp3", method: String = "GET", _ fields: String...) -> String {
        "\(method) \(path) HTTP/1.1\r\nConnection: close\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n"
    }

    @Test(arguments: [0, 1, 4095, 16384, 30_543, 119_999])
    func `a cut connection ends after exactly so many bytes`(bytes: Int) async throws {
        let file = sampleMP3(bytes: 120_000)
        try await withServer(.file(file, [.cut(at: bytes), .wellBehaved])) { server in
            let cut = try await rawExchange(port: server.port, sending: get())
            #expect(cut.head.hasPrefix("HTTP/1.1 200"))
            #expect(cut.head.contains("Content-Length: 120000"))
            #expect(cut.body == Array(file[..<bytes]))
            #expect(!cut.wasReset)
            #expect(server.bodyBytesSent(path: "/a.mp3") == bytes)
            let rest = try await rawExchange(
                port: server.port, sending: last("/a.mp3", method: "GET", "Range: bytes=\(bytes)-"))
            #expect(rest.head.hasPrefix("HTTP/1.1 206"))
            #expect(cut.body + rest.body == file)
            #expect(server.bodyBytesSent(path: "/a.mp3") == 120_000)
        }
    }

    @Test(arguments: [0, 1, 70_000])
    func `a reset comes after exactly so many bytes`(bytes: Int) async throws {
        let file = sampleMP3(bytes: 120_000)
        try await withServer(.file(file, [.reset(at: bytes)])) { server in
            let answer = try await rawExchange(port: server.port, sending: get())
            #expect(answer.wasReset)
            #expect(answer.body == Array(file[..<bytes]))
            #expect(server.bodyBytesSent(path: "/a.mp3") == bytes)
        }
    }

    @Test func `closing before the answer sends nothing`() async throws {
        try await withServer(.always(.closeBeforeAnswer)) { server in
            let answer = try await rawExchange(port: server.port, sending: get())
            #expect(answer.head.isEmpty && answer.body.isEmpty && !answer.wasReset)
            #expect(server.record.exchanges.count == 1)
        }
        try await withServer(.always(.resetBeforeAnswer)) { server in
            let answer = try await rawExchange(port: server.port, sending: get())
            #expect(answer.wasReset)
        }
    }

    @Test func `a stalled answer goes on when the gate opens`() async throws {
        let file = sampleMP3(bytes: 50_000)
        let gate = Gate()
        try await withServer(.file(file, [.stall(at: 20_000, until: gate)])) { server in
            async let answer = rawExchange(port: server.port, sending: last())
            let stalled = try await server.waitUntil { $0.bodyBytesSent == 20_000 }
            #expect(stalled.exchanges[0].isFinished == false)
            #expect(stalled.connectionsOpen == 1)
            gate.open()
            let received = try await answer.body
            #expect(received == file)
            let done = try await server.waitUntil { $0.connectionsOpen == 0 }
            #expect(done.exchanges[0].isFinished)
        }
    }

    @Test func `the server stops while answers hang and clients do not read`() async throws {
        let file = [UInt8](repeating: 7, count: 40_000_000)
        let script = ServerScript.paths([
            "/never": .always(.neverAnswer), "/stall": .file(file, [.stall(at: 0, until: Gate())]),
            "/unread": .file(file), "/drip": .file(file, pace: .drip()),
        ])
        let answers = try await withServer(script) { server in
            let port = server.port
            let clients = ["/never", "/stall", "/drip"].map { path in
                Task { try await rawExchange(port: port, sending: get(path)) }
            }
            // This one takes a byte and leaves.
            _ = try await rawExchange(port: port, sending: get("/unread"), bodyBytes: 1)
            try await server.waitUntil { record in
                record.exchanges.count == 4 && record.exchanges(path: "/unread").allSatisfy(\.isFinished)
            }
            #expect(server.bodyBytesSent(path: "/unread") < 40_000_000)
            #expect(server.record.maximumConcurrentRequests >= 3)
            return clients
        }
        for answer in answers {
            let received = try await answer.value.body.count
            #expect(received < 1000)
        }
    }

    @Test func `a paced connection gives small pieces and keeps little in flight`() async throws {
        let file = sampleMP3(bytes: 60_000)
        let pace = Pace(bytesPerSecond: 200_000, piece: 2048)
        try await withServer(.file(file, pace: pace)) { server in
            let start = ContinuousClock.now
            let some = try await rawExchange(port: server.port, sending: get(), bodyBytes: 20_000)
            let gone = try await server.waitUntil { $0.exchanges.allSatisfy(\.isFinished) }
            // The client left: what was counted and not received is a few pieces, not a socket buffer.
            #expect(gone.bodyBytesSent - some.body.count <= 16_384)
            #expect(start.duration(to: .now) >= .milliseconds(80))
        }
    }

    @Test func `chunks come with and without the last one`() async throws {
        let file = sampleMP3(bytes: 1000)
        let whole = Reply(body: file, framing: .chunked(size: 600), then: .close)
        let torn = Reply(body: file, framing: .chunked(size: 600, finished: false))
        try await withServer(.replies([whole, torn])) { server in
            let expected =
                Array("258\r\n".utf8) + file[..<600] + Array("\r\n190\r\n".utf8) + file[600...] + Array("\r\n".utf8)
            let first = try await rawExchange(port: server.port, sending: get())
            #expect(first.head.contains("Transfer-Encoding: chunked"))
            #expect(!first.head.contains("Content-Length"))
            #expect(first.body == expected + Array("0\r\n\r\n".utf8))
            let second = try await rawExchange(port: server.port, sending: get())
            #expect(second.body == expected)
            #expect(server.record.exchanges.map(\.bodyBytesSent) == [1000, 1000])
        }
    }

    @Test func `lengths are lied about as told`() async throws {
        let body = sampleMP3(bytes: 100)
        let replies = [
            Reply(body: body, framing: .declared(50)), Reply(body: body, framing: .declared(500)),
            Reply(body: body, framing: .untilClose),
            Reply(headers: ["Content-Length": "7, 8"], body: body, then: .close),
            Reply.raw(Array("HTTP/1.0 200 OK\nX\n\r\n\r\n".utf8), body: body),
        ]
        try await withServer(.replies(replies)) { server in
            var heads: [String] = []
            for _ in replies {
                let answer = try await rawExchange(port: server.port, sending: get())
                #expect(answer.body == body)
                heads.append(answer.head)
            }
            #expect(heads[0].contains("Content-Length: 50"))
            #expect(heads[1].contains("Content-Length: 500"))
            #expect(!heads[2].contains("Content-Length"))
            #expect(heads[3].components(separatedBy: "Content-Length").count == 2)
            #expect(heads[4] == "HTTP/1.0 200 OK\nX\n")
        }
    }

    @Test func `a connection is kept alive and requests are numbered`() async throws {
        let script = ServerScript.paths([
            "/a": ServerScript { .text("\($0.connection).\($0.numberOnConnection).\($0.number)") },
            "/b": ServerScript { .text($0.query["name"] ?? "") },
        ])
        try await withServer(script) { server in
            let first = try await rawExchange(
                port: server.port, sending: get("/a") + get("/b?name=%E5%85%BD+1") + last("/a"))
            #expect(String(decoding: first.body, as: UTF8.self).hasPrefix("0.0.0HTTP/1.1 200"))
            #expect(String(decoding: first.body, as: UTF8.self).contains("兽+1"))
            #expect(String(decoding: first.body, as: UTF8.self).hasSuffix("0.2.1"))
            let second = try await rawExchange(port: server.port, sending: last("/a"))
            #expect(second.body == Array("1.0.2".utf8))
            #expect(server.record.connectionsAccepted == 2)
            #expect(server.requests(path: "/a").count == 3)
        }
    }

    @Test(
        arguments: [
            ("Range: bytes=0-", 206, "0-999"), ("Range: bytes=10-19", 206, "10-19"),
            ("Range: bytes=-10", 206, "990-999"),
            ("Range: bytes=990-5000", 206, "990-999"), ("Range: bytes=1000-", 416, "*"), ("Range: bytes=5-2", 200, nil),
            ("Range: bytes=0-1,5-6", 200, nil), ("Range: bytes=10-\r\nIf-Range: \"v1\"", 206, "10-999"),
            ("Range: bytes=10-\r\nIf-Range: \"v2\"", 200, nil), ("Range: bytes=10-\r\nIf-Range: W/\"v1\"", 200, nil),
            ("Range: bytes=10-\r\nIf-Range: Tue, 03 Mar 2020 10:00:00 GMT", 206, "10-999"),
            ("If-None-Match: \"v1\"", 304, nil), ("If-None-Match: \"v2\"", 200, nil),
        ] as [(String, Int, String?)])
    func `a good file server honours ranges and conditions`(field: String, status: Int, range: String?) async throws {
        let file = sampleMP3(bytes: 1000)
        try await withServer(.file(file)) { server in
            let answer = try await rawExchange(port: server.port, sending: last("/a.mp3", method: "GET", field))
            #expect(answer.head.hasPrefix("HTTP/1.1 \(status)"))
            #expect(answer.head.contains("Content-Range") == (range != nil))
            if let range { #expect(answer.head.contains("Content-Range: bytes \(range)/1000")) }
            let head = try await rawExchange(port: server.port, sending: last("/a.mp3", method: "HEAD"))
            #expect(head.head.contains("Content-Length: 1000"))
            #expect(head.body.isEmpty)
        }
    }
}
