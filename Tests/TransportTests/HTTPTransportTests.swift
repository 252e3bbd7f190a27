import BookModel
import Logging
import NIOCore
import NIOHTTP1
import Support
import Testing

@testable import Transport

@Suite(.limitedConcurrency) struct HTTPTransportTests {
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func withTransport<Result: Sendable>(
        stallTimeout: Double = 30, _ body: (HTTPTransport) async throws -> Result
    ) async throws -> Result {
        try await withHTTPTransport(options: TransportOptions(stallTimeout: stallTimeout), logger: logger, body)
    }

    /// Reads the body to its end, however that comes.
    private func read(_ body: HTTPResponseBody) async -> (bytes: [UInt8], failure: TransportError?) {
        var bytes: [UInt8] = []
        do {
            for try await part in body { bytes += part.readableBytesView }
            return (bytes, nil)
        } catch {
            return (bytes, error as? TransportError)
        }
    }

    @Test(arguments: [1, 511, 30_543, 65_536, 119_999])
    func `every byte before a cut is delivered, then the cut is told`(cut: Int) async throws {
        let bytes = sampleMP3(bytes: 120_000)
        try await withServer(.file(ServedFile(bytes), [.cut(at: cut)])) { server in
            try await withTransport { transport in
                let answer = try await transport.send(HTTPRequest(.get, server.address("/a.mp3")))
                let (received, failure) = await read(answer.body)
                #expect(received == Array(bytes[..<cut]))
                #expect(failure?.kind == .cut)
                #expect(failure?.disposition == .retry)
            }
        }
    }

    @Test(arguments: [
        // A name in GBK, which is no UTF-8.
        "/%B5%DA1%BC%AF.mp3", "/%b5%DA%E4%b8%80.mp3?q=%FF&amp=%26", "/a%2Fb%2e%2E/c;d=1/.?x=1&page=2&id=3",
        "/%E7%AC%AC1%E9%9B%86.mp3", "/a//b/../c.mp3?", "/a.mp3?x=?&y=/&z=%", "/?a", "/%00/%7E~'()*!$,:@",
    ])
    func `the request target goes out as the address has it`(target: String) async throws {
        let script = ServerScript { _ in Reply.text("x", type: "text/plain", status: 200) }
        try await withServer(script) { server in
            try await withTransport { transport in
                let answer = try await transport.send(HTTPRequest(.get, server.address(target)))
                #expect(await read(answer.body).bytes == Array("x".utf8))
            }
            // A lone percent sign is encoded: as it stands it is no target (RFC 3986 §2.1).
            #expect(server.record.requests.map(\.target) == [target.hasSuffix("%") ? target + "25" : target])
            #expect(server.record.requests.first?.header("Host") == "127.0.0.1:\(server.port)")
            #expect(server.record.requests.first?.headers.contains { $0.name.contains("booksync-") } == false)
        }
    }

    @Test func `chunks without the last one are a cut`() async throws {
        let bytes = sampleMP3(bytes: 50_000)
        try await withServer(.file(ServedFile(bytes), [.framing(.chunked(finished: false))])) { server in
            try await withTransport { transport in
                let answer = try await transport.send(HTTPRequest(.get, server.address("/a.mp3")))
                let (received, failure) = await read(answer.body)
                #expect(received == bytes)
                #expect(failure?.kind == .cut)
            }
        }
    }

    @Test(arguments: ["099 Low", "101 Switching Protocols"])
    func `a status that is none, or switches the protocol, is told and hangs nobody`(status: String) async throws {
        let head = Array("HTTP/1.1 \(status)\r\nContent-Length: 0\r\n\r\n".utf8)
        try await withServer(.always(.raw(head, then: .keepAlive))) { server in
            try await withTransport { transport in
                let failure = try await #require(throws: TransportError.self) {
                    _ = try await transport.send(HTTPRequest(.get, server.address("/a.mp3")))
                }
                guard case .malformed = failure.kind else {
                    Issue.record("\(failure)")
                    return
                }
            }
        }
    }

    @Test func `a server that falls silent is given up after the stall timeout`() async throws {
        let gate = Gate()
        try await withServer(.file(ServedFile(sampleMP3(bytes: 50_000)), [.stall(at: 1000, until: gate)])) { server in
            try await withTransport(stallTimeout: 3) { transport in
                let answer = try await transport.send(HTTPRequest(.get, server.address("/a.mp3")))
                let (received, failure) = await read(answer.body)
                #expect(received.count == 1000)
                #expect(failure?.kind == .stalled)
            }
            gate.open()
        }
    }

    @Test func `a server that sends too slowly is given up, and what it sent is delivered`() async throws {
        let bytes = sampleMP3(bytes: 50_000)
        try await withServer(.file(bytes, pace: .drip(bytesPerSecond: 100))) { server in
            // Twice this time goes by; a pause as long as this would be a stall, also on a busy machine.
            let options = TransportOptions(stallTimeout: 6, minRate: 1000)
            try await withHTTPTransport(options: options, logger: logger) { transport in
                let answer = try await transport.send(HTTPRequest(.get, server.address("/a.mp3")))
                let (received, failure) = await read(answer.body)
                #expect(failure?.kind == .tooSlow(bytesPerSecond: 1000))
                #expect(!received.isEmpty && received == Array(bytes[..<received.count]))
            }
        }
    }

    @Test func `a document has to be whole by the answer timeout, audio has not`() async throws {
        let bytes = sampleMP3(bytes: 300)
        let gate = Gate()
        let script = ServerScript.paths([
            "/document": .file(sampleMP3(bytes: 5000), pace: .drip(bytesPerSecond: 50)),
            "/audio": .file(bytes, [.stall(at: 100, until: gate)]),
        ])
        try await withServer(script) { server in
            let options = TransportOptions(stallTimeout: 600, minRate: 0, answerTimeout: 6)
            try await withHTTPTransport(options: options, logger: logger) { transport in
                let document = HTTPRequest(.get, server.address("/document"))
                var audio = HTTPRequest(.get, server.address("/audio"))
                audio.isForDocument = false
                let answerWithAudio = try await transport.send(audio)
                let (part, failure) = await read(try await transport.send(document).body)
                #expect(failure?.kind == .overtime(seconds: 6))
                #expect(part.count < 5000)
                // The audio has waited for longer than the document was allowed to.
                gate.open()
                let (received, failureOfAudio) = await read(answerWithAudio.body)
                #expect(received == bytes)
                #expect(failureOfAudio == nil)
            }
        }
    }

    @Test func `case 23: credentials go to the first origin only, other headers everywhere`() async throws {
        try await withServer(.always(.text("there"))) { target in
            try await withServer(.always(.reply(status: 302, headers: ["Location": target.url("/t")]))) { origin in
                try await withTransport { transport in
                    var request = HTTPRequest(.get, origin.address("/o"))
                    request.headers.add(name: "Range", value: "bytes=5-")
                    request.credentials.add(name: "Authorization", value: "Bearer S3CRET")
                    let answer = try await transport.send(request)
                    #expect(answer.address == target.address("/t"))
                }
                #expect(origin.record.requests.first?.header("Authorization") == "Bearer S3CRET")
                #expect(target.record.requests.first?.header("Authorization") == nil)
                #expect(target.record.requests.first?.header("Range") == "bytes=5-")
            }
        }
    }

    @Test func `a redirect is followed whatever the case of its scheme, and addresses lose the marks around them`()
        async throws
    {
        let script = ServerScript { request in
            request.path == "/old"
                ? Reply(status: 302, headers: ["Location": "HTTP://\(request.header("Host") ?? "")/new"])
                : .text("new", type: "text/plain")
        }
        try await withServer(script) { server in
            try await withTransport { transport in
                let address = ResourceAddress("\u{FEFF} \(server.address("/old").secretText)\u{FEFF} \n")
                let answer = try await transport.send(HTTPRequest(.get, address))
                #expect(await read(answer.body).bytes == Array("new".utf8))
            }
            #expect(server.record.requests.map(\.target) == ["/old", "/new"])
        }
    }

    @Test func `a refused connection and an unknown host are told apart`() async throws {
        try await withTransport { transport in
            let refused = try await withRefusingPort { port in
                await #expect(throws: TransportError.self) {
                    try await transport.send(HTTPRequest(.get, ResourceAddress("http://127.0.0.1:\(port)/a")))
                }
            }
            #expect(refused?.kind == .refused)
            let unknown = await #expect(throws: TransportError.self) {
                try await transport.send(HTTPRequest(.get, ResourceAddress("http://nowhere.invalid/a")))
            }
            #expect(unknown?.kind == .unresolvable(host: "nowhere.invalid"))
        }
    }

    @Test(arguments: ["file:///etc/passwd", "nonsense", "http://"])
    func `an address that is none fails for good`(text: String) async throws {
        try await withTransport { transport in
            do {
                _ = try await transport.send(HTTPRequest(.get, ResourceAddress(text)))
                Issue.record("\(text) was fetched")
            } catch let failure as TransportError {
                #expect(failure.disposition == .skip)
            }
        }
    }

    @Test func `a body that is too long is refused`() async throws {
        try await withServer(.always(.text(String(repeating: "x", count: 5000)))) { server in
            try await withTransport { transport in
                let answer = try await transport.send(HTTPRequest(.get, server.address("/a")))
                await #expect(throws: TransportError.self) { try await answer.collect(upTo: 4999) }
            }
        }
    }
}
