import BookModel
import Logging
import NIOCore
import NIOHTTP1
import Support
import Testing

@testable import Transport

/// Documents that come compressed, labelled or not. What of audio does is in `CodedBodyTests`.
@Suite(.limitedConcurrency) struct DocumentCodingTests {
    private static let document = Array(
        ("<rss><channel>" + (1...60).map { "<item><title>第\($0)集</title></item>" }.joined() + "</channel></rss>").utf8)

    private func read(_ reply: Reply, upTo limit: Int = 1 << 20) async throws -> Result<[UInt8], TransportError> {
        try await withServer(.always(reply)) { server in
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            return try await withHTTPTransport(options: TransportOptions(), logger: logger) { transport in
                let answer = try await transport.send(HTTPRequest(.get, server.address("/feed")))
                #expect(server.record.requests.first?.header("Accept-Encoding") == "gzip, deflate")
                do {
                    return .success(try await answer.bytes(upTo: limit))
                } catch let failure as TransportError {
                    return .failure(failure)
                }
            }
        }
    }

    private func coded(
        _ body: [UInt8], _ coding: String?, framing: Reply.Framing = .length, then ending: Reply.Ending = .keepAlive
    ) -> Reply {
        var reply = Reply(body: body, framing: framing, then: ending)
        reply.setHeader("Content-Encoding", coding)
        return reply
    }

    @Test(
        arguments: [
            ("gzip", .gzip), ("x-gzip", .gzip), (nil, .gzip), ("none", .gzip), ("deflate", .gzip), ("gzip", .zlib),
            ("deflate", .zlib), (nil, .zlib), ("deflate", .bare), ("br", .gzip), ("gzip, gzip", .gzip), ("gzip", nil),
            ("deflate", nil), ("br", nil), ("UTF-8", nil), (nil, nil),
        ] as [(String?, DeflateFormat?)],
        [Reply.Framing.length, .chunked(size: 1), .untilClose])
    func `the bytes tell how a document is coded, whatever the label says`(
        coding: (String?, DeflateFormat?), framing: Reply.Framing
    ) async throws {
        let body = coding.1.map { deflated(Self.document, $0) } ?? Self.document
        let bytes = try await read(coded(body, coding.0, framing: framing)).get()
        #expect(bytes == Self.document)
    }

    @Test func `several members, padding and what else follows are no hindrance`() async throws {
        let members = deflated(Array(Self.document[..<500])) + deflated(Array(Self.document[500...]))
        for following in [[], [0, 0, 0], Array("<!-- cached -->".utf8)] {
            #expect(try await read(coded(members + following, "gzip")).get() == Self.document)
        }
        #expect(try await read(coded([], "gzip")).get() == [])
    }

    @Test func `a document that is cut or damaged is none`() async throws {
        let body = deflated(Self.document)
        for framing in [Reply.Framing.length, .untilClose] {
            let cut = try await read(coded(body, "gzip", framing: framing, then: .cutAfter(bytes: body.count - 9)))
            #expect(throws: TransportError.self) { _ = try cut.get() }
            if case .failure(let failure) = cut { #expect(failure.kind == .cut) }
        }
        var damaged = body
        damaged[body.count / 2] ^= 0x55
        guard case .failure(let failure) = try await read(coded(damaged, "gzip")) else {
            Issue.record("it was read")
            return
        }
        #expect(failure.why.description.contains("damaged"))
    }

    @Test(arguments: ["br", "zstd", "compress"])
    func `a coding that is not read is named`(coding: String) async throws {
        guard case .failure(let failure) = try await read(coded(deflated(Self.document, .bare), coding)) else {
            Issue.record("it was read")
            return
        }
        #expect(failure.why.description == "the answer is compressed (\(coding)), which was not asked for")
        #expect(failure.disposition == .skip)
    }

    @Test func `what comes out is bounded`() async throws {
        let bomb = deflated([UInt8](repeating: 0x20, count: 30 << 20))
        #expect(bomb.count < 1 << 20)
        guard case .failure(let failure) = try await read(coded(bomb, nil), upTo: 1 << 20) else {
            Issue.record("it was read")
            return
        }
        #expect(failure.kind == .oversized(limit: 1 << 20))
    }

    @Test func `a response that was read is the next one for its address, once, and for those who asked`() async throws
    {
        try await withServer(.always(coded(deflated(Self.document), "gzip"))) { server in
            var options = TransportOptions()
            options.readResponses = ReadResponses()
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            try await withHTTPTransport(options: options, logger: logger) { transport in
                let request = HTTPRequest(.get, server.address("/feed"))
                func keep() async throws {
                    let answer = try await transport.send(request)
                    transport.keep(answer, body: try await answer.collect(upTo: 1 << 20), to: request)
                }
                try await keep()
                for count in [1, 2] {
                    #expect(try await transport.send(request).bytes(upTo: 1 << 20) == Self.document)
                    #expect(server.record.requests.count == count)
                }
                try await keep()
                var other = request
                other.credentials.add(name: "X-Key", value: "k")
                #expect(try await transport.send(other).bytes(upTo: 1 << 20) == Self.document)
                #expect(server.record.requests.count == 4)
            }
        }
    }
}
