import Foundation
import Support
import Testing

extension ProductTests {
    /// Attacks on the served shelf that send more, or slower, than anybody should.
    @Suite struct Flood {
        /// Sends a beginning, and then the same part for as long as the server takes it.
        /// - Returns: how many bytes it took, and what it answered.
        private static func pour(
            _ port: Int, _ beginning: String, _ part: [UInt8], atMost limit: Int
        ) async throws -> (taken: Int, answer: String) {
            try await onThread {
                let socket = try Socket.connected(port: port)
                defer { socket.close() }
                var taken = socket.send(Array(beginning.utf8)[...])
                while taken < limit {
                    let count = socket.send(part[...])
                    taken += count
                    if count < part.count { break }
                }
                return (taken, String(decoding: socket.receive(), as: UTF8.self))
            }
        }

        @Test func `100 MB of header is cut off early`() async throws {
            try await withWorkbench { bench in
                try await bench.serveShortBook { shelf in
                    let start = "GET /api/v1/books HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                    let field = Array("X-Padding: \(String(repeating: "a", count: 1000))\r\n".utf8)
                    let endless = Array(repeating: UInt8(ascii: "a"), count: 1 << 16)
                    let port = shelf.port
                    let floods = [
                        (start, field), (start + "X-Long: ", endless), ("GET /", endless), ("", endless),
                        (start + "Cookie: booksync-x=", endless), (start, Array("a: b\r\n".utf8)),
                    ]
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for (beginning, part) in floods {
                            group.addTask {
                                let (taken, _) = try await Self.pour(port, beginning, part, atMost: 100 << 20)
                                // What the sockets hold on both sides comes on top of what was read.
                                #expect(taken < 20 << 20, "\(beginning)")
                            }
                        }
                        try await group.waitForAll()
                    }
                    try await shelf.expectWell("/api/v1/books")
                }
            }
        }

        @Test(arguments: ["Content-Length: 104857600", "Transfer-Encoding: chunked"])
        func `100 MB of body are not read, wherever they are sent`(_ framing: String) async throws {
            try await withWorkbench { bench in
                try await bench.serveShortBook { shelf in
                    let chunk = "10000\r\n" + String(repeating: "a", count: 1 << 16) + "\r\n"
                    let part = Array((framing.hasPrefix("T") ? chunk : String(repeating: "a", count: 1 << 16)).utf8)
                    let names = [
                        "fetch", "pause", "resume", "cancel", "remove", "subscribe", "unsubscribe", "position",
                        "mirror",
                    ]
                    let paths = names.flatMap { ["/api/v1/\($0)", "/actions/\($0)"] }
                    for path in paths + [
                        "/actions/login", "/actions/logout", "/actions/rotate-apps", "/", "/login", "/api/v1/books",
                    ] {
                        let type = path.hasPrefix("/api") ? "application/json" : "application/x-www-form-urlencoded"
                        let beginning = """
                            POST \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(shelf.port)\r\nOrigin: \(shelf.address)\r
                            Content-Type: \(type)\r\n\(framing)\r\n\r\n
                            """
                        let (taken, answer) = try await Self.pour(shelf.port, beginning, part, atMost: 100 << 20)
                        #expect(taken < 20 << 20, "\(path)")
                        #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 4"), "\(path): \(answer.prefix(80))")
                    }
                    try await shelf.expectWell("/api/v1/books")
                }
            }
        }

        /// How many files a process may have open.
        private static let maxOpenFiles: UInt = {
            var limit = rlimit()
            #if canImport(Glibc)
                getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            #else
                getrlimit(RLIMIT_NOFILE, &limit)
            #endif
            return UInt(limit.rlim_cur)
        }()

        @Test(.enabled(if: maxOpenFiles >= 1024, "500 connections take more open files than a process may have here"))
        func `500 connections that ask slowly, or nothing, are in nobody's way`() async throws {
            try await withWorkbench { bench in
                try await bench.serveShortBook { shelf in
                    let port = shelf.port
                    let sockets = try await onThread {
                        try (0..<500).map { number in
                            let socket = try Socket.connected(port: port)
                            let beginnings = [
                                "", "G", "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ", "POST /actions/login HTTP/1.1\r\n",
                            ]
                            _ = socket.send(Array(beginnings[number % 4].utf8)[...])
                            return socket
                        }
                    }
                    for _ in 0..<20 { try await shelf.expectWell("/api/v1/books") }
                    // They go on as slowly as they can.
                    _ = try await onThread { sockets.map { $0.send(Array("a".utf8)[...]) } }
                    let audio = try await shelf.send("/media/demo/40111/5000000001.mp3", ["Range: bytes=0-99"])
                    #expect(audio.status == 206 && audio.body.count == 100)
                    try await shelf.expectWell("/api/v1/books")
                    for socket in sockets { socket.close() }
                }
            }
        }

        @Test func `thousands of ranges are one answer, and no more than the file`() async throws {
            try await withWorkbench { bench in
                try await bench.serveShortBook { shelf in
                    let path = "/media/demo/40111/5000000001.mp3"
                    let size = try await shelf.send(path).body.count
                    for unit in ["0-", "0-0", "-1", "1-2", "0-\(size)", "-\(size)"] {
                        let ranges = Array(repeating: unit, count: 1500).joined(separator: ",")
                        let answer = try await shelf.send(path, ["Range: bytes=\(ranges)"])
                        // The whole file, or a header too long to be read.
                        let isRead = ranges.utf8.count < 8000
                        #expect(answer.status == (isRead ? 200 : 400), "\(unit)")
                        #expect(answer.body.count == (isRead ? size : 0), "\(unit)")
                    }
                    let many = Array(repeating: "Range: bytes=0-", count: 90)
                    #expect(try await shelf.send(path, many).body.count == size)
                    for odd in [
                        "bytes=0-99999999999999999999", "bytes=99999999999999999999-", "bytes=-0", "bytes=--1",
                        "bytes=1--2",
                        "bytes=0-\u{FF11}", "bytes=\(String(repeating: "9", count: 7000))-",
                    ] {
                        let answer = try await shelf.send(path, ["Range: \(odd)"])
                        #expect(answer.status < 500 && answer.body.count <= size, "\(odd.prefix(40))")
                    }
                    try await shelf.expectWell("/api/v1/books")
                }
            }
        }

        @Test func `a request with two ends is refused, or the connection ends with it`() async throws {
            try await withWorkbench { bench in
                try await bench.serveShortBook { shelf in
                    let hidden =
                        "GET /api/v1/books HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Hidden: 1\r\nConnection: close\r\n\r\n"
                    for framing in [
                        "Content-Length: 4\r\nTransfer-Encoding: chunked",
                        "Transfer-Encoding: chunked\r\nContent-Length: 4",
                        "Content-Length: 4\r\nContent-Length: 99", "Content-Length: 4, 99", "Content-Length: +4",
                        "Content-Length: 0x4", "Content-Length: -1", "Content-Length: 99999999999999999999",
                        "Transfer-Encoding: chunked, identity", "Transfer-Encoding: xchunked",
                        "Transfer-Encoding : chunked",
                        "Transfer-Encoding: identity, chunked\r\nContent-Length: 4",
                        "Content-Length: 4\r\n Content-Length: 9",
                        "Transfer-Encoding:\u{B}chunked\r\nContent-Length: 4",
                        "X: y\nTransfer-Encoding: chunked\r\nContent-Length: 4",
                    ] {
                        for method in ["GET", "POST"] {
                            let path = method == "GET" ? "/api/v1/runs" : "/api/v1/fetch"
                            let request = """
                                \(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r
                                \(framing)\r\n\r\n0\r\n\r\n\(hidden)
                                """
                            let raw = try await rawExchange(port: shelf.port, sending: request)
                            let text = raw.head + String(decoding: raw.body, as: UTF8.self)
                            let answers = text.matches(of: /HTTP\/1\.1 (\d+)/).map(\.output.1)
                            // The second request may be answered only where the first had one end alone.
                            #expect(answers.count <= 1 || !framing.contains("Content-Length"), "\(framing): \(answers)")
                            #expect(answers.first.map { $0 != "200" } ?? true, "\(framing): \(answers)")
                        }
                    }
                    try await shelf.expectWell("/api/v1/books")
                }
            }
        }
    }
}
