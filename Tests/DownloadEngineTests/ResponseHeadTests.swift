import BookModel
import Logging
import Support
import Testing
import Transport

@testable import DownloadEngine

/// What is taken from the fields of a response (RFC 9110 §8, RFC 9112 §6.3).
@Suite(.limitedConcurrency) struct ResponseHeadTests {
    private static let modified = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let date = "Sun, 06 Nov 1994 08:49:47 GMT"

    private func head(_ reply: Reply) async throws -> ResponseHead {
        try await withServer(.always(reply)) { server in
            try await withHTTPTransport(options: TransportOptions(), logger: .silent) { transport in
                ResponseHead(try await transport.send(HTTPRequest(.get, ResourceAddress(server.url("/a")))))
            }
        }
    }

    @Test func `a part's range, length, type and validator are read`() async throws {
        let reply = Reply.reply(
            status: 206,
            headers: [
                "Content-Range": "bytes 400-404/1000", "Content-Type": "Audio/MPEG ; charset=x", "ETag": "\"v1\"",
                "Last-Modified": Self.modified, "Date": Self.date,
            ], body: [1, 2, 3, 4, 5])
        let validator = ContentValidator(entityTag: "\"v1\"", lastModified: Self.modified, age: 10)
        #expect(
            try await head(reply)
                == ResponseHead(
                    status: 206, contentRange: .bytes(first: 400, last: 404, total: 1000), contentLength: 5,
                    contentType: "audio/mpeg", validator: validator))
    }

    @Test func `what a response does not say is not known`() async throws {
        #expect(try await head(.reply(body: [1, 2])) == ResponseHead(status: 200, contentLength: 2))
        let undated = try await head(.reply(headers: ["Last-Modified": Self.modified, "Date": "today"]))
        #expect(undated.validator == ContentValidator(lastModified: Self.modified))
    }

    @Test func `a transfer coding makes any length meaningless`() async throws {
        let chunked = try await head(.reply(body: [1, 2], framing: .chunked()))
        #expect(chunked == ResponseHead(status: 200))
    }

    @Test func `a content coding is read, several fields of it as one list`() async throws {
        #expect(try await head(.reply(headers: ["Content-Encoding": "gzip"], body: [1])).coding == .gzip)
        let twice = try await head(
            .reply(headers: ["Content-Encoding": "identity", "Content-Encoding": "gzip"], body: [1]))
        #expect(twice.coding == .gzip)
    }
}
