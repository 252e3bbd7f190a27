import Foundation
import NIOHTTP1
import Support
import Synchronization

/// What a client asked for.
struct RecordedRequest: Sendable {
    let method: String
    let path: String
    let query: [String: String]
    let headers: HTTPHeaders

    var page: Int { query["pageNum"].flatMap { Int($0) } ?? 0 }

    init(_ request: ServerRequest) {
        method = request.method
        headers = HTTPHeaders(request.headers)
        path = request.path.removingPercentEncoding ?? request.path
        query = request.query
    }
}

struct ScriptedAnswer: Sendable {
    var status = 200
    var headers: HTTPHeaders = [:]
    var body: [UInt8]
    /// Close the connection after so many bytes of the body.
    var cutAfter: Int?
    /// Leave the length out, so that the body ends with the connection.
    var endsWithConnection = false

    init(
        status: Int = 200, headers: HTTPHeaders = [:], body: [UInt8], cutAfter: Int? = nil,
        endsWithConnection: Bool = false
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.cutAfter = cutAfter
        self.endsWithConnection = endsWithConnection
    }

    init(status: Int = 200, headers: HTTPHeaders = [:], _ text: String) {
        self.init(status: status, headers: headers, body: Array(text.utf8))
    }

    fileprivate var reply: Reply {
        var reply = Reply(
            status: status, body: body, framing: endsWithConnection ? .untilClose : .length,
            then: cutAfter.map { .cutAfter(bytes: $0) } ?? (endsWithConnection ? .close : .keepAlive))
        if endsWithConnection { reply.version = "HTTP/1.0" }
        reply.headers = headers.map { ($0.name, $0.value) }
        return reply
    }
}

/// A server that answers from a script and records what it was asked.
struct ScriptedServer: Sendable {
    private let server: MisbehavingServer

    var requests: [RecordedRequest] { server.record.requests.map(RecordedRequest.init) }

    /// - Parameter script: the answer to a request, given how many requests there have been, this one included.
    static func run<Result>(
        _ script: @escaping @Sendable (RecordedRequest, _ count: Int) -> ScriptedAnswer,
        _ body: (ScriptedServer, _ address: String) async throws -> Result
    ) async throws -> Result {
        let count = Atomic(0)
        let answers = ServerScript { request in
            script(RecordedRequest(request), count.add(1, ordering: .relaxed).newValue).reply
        }
        return try await withServer(answers) { server in
            try await body(ScriptedServer(server: server), server.url(""))
        }
    }
}
