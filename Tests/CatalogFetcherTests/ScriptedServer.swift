import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// What a client asked for.
struct RecordedRequest: Sendable {
    let method: String
    let path: String
    let query: [String: String]
    let headers: HTTPHeaders

    var page: Int { query["pageNum"].flatMap { Int($0) } ?? 0 }

    init(_ head: HTTPRequestHead) {
        method = head.method.rawValue
        headers = head.headers
        let components = URLComponents(string: head.uri)
        path = components?.path ?? ""
        query = Dictionary(
            (components?.queryItems ?? []).map { ($0.name, $0.value ?? "") }, uniquingKeysWith: { $1 })
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
}

/// A real HTTP server on a random loopback port that answers from a script and records what it was asked.
final class ScriptedServer: Sendable {
    private let recorded = Mutex<[RecordedRequest]>([])
    private let script: @Sendable (RecordedRequest, _ count: Int) -> ScriptedAnswer

    private init(script: @escaping @Sendable (RecordedRequest, Int) -> ScriptedAnswer) {
        self.script = script
    }

    var requests: [RecordedRequest] { recorded.withLock { $0 } }

    /// - Parameter script: the answer to a request, given how many requests there have been, this one included.
    static func run<Result>(
        _ script: @escaping @Sendable (RecordedRequest, _ count: Int) -> ScriptedAnswer,
        _ body: (ScriptedServer, _ address: String) async throws -> Result
    ) async throws -> Result {
        let server = ScriptedServer(script: script)
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Handler(server: server))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let outcome: Swift.Result<Result, any Error>
        do {
            outcome = .success(try await body(server, "http://127.0.0.1:\(channel.localAddress?.port ?? 0)"))
        } catch {
            outcome = .failure(error)
        }
        try await channel.close().get()
        return try outcome.get()
    }

    private func answer(_ request: RecordedRequest) -> ScriptedAnswer {
        let count = recorded.withLock {
            $0.append(request)
            return $0.count
        }
        return script(request, count)
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart
        private let server: ScriptedServer

        init(server: ScriptedServer) {
            self.server = server
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard case .head(let head) = unwrapInboundIn(data) else { return }
            let answer = server.answer(RecordedRequest(head))
            var headers = answer.headers
            if !answer.endsWithConnection {
                headers.replaceOrAdd(name: "Content-Length", value: String(answer.body.count))
            }
            let version: HTTPVersion = answer.endsWithConnection ? .http1_0 : .http1_1
            let status = HTTPResponseStatus(statusCode: answer.status)
            context.write(
                wrapOutboundOut(.head(.init(version: version, status: status, headers: headers))), promise: nil)
            let bytes = ByteBuffer(bytes: answer.body.prefix(answer.cutAfter ?? .max))
            context.write(wrapOutboundOut(.body(.byteBuffer(bytes))), promise: nil)
            guard answer.cutAfter == nil else {
                context.flush()
                return context.close(promise: nil)
            }
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            if answer.endsWithConnection { context.close(promise: nil) }
        }
    }
}
