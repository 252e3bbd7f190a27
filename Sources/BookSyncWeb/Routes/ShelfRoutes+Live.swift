import BookModel
import BookSync
import Hummingbird
import NIOCore
import ServiceLifecycle

extension ShelfRoutes {
    /// What moves on the shelf, as it moves (HTML Standard, "Server-sent events").
    func liveAnswer(to request: Request) async -> Response {
        let fields: HTTPFields = [.contentType: "text/event-stream; charset=utf-8"]
        guard request.method == .get else { return Response(status: .ok, headers: fields) }
        let live = site.live
        guard let client = await live.join() else {
            return .refusal(.serviceUnavailable, "the server is being shut down", kind: "temporary", to: request)
        }
        return Response(
            status: .ok, headers: fields,
            body: ResponseBody { writer in
                try await withGracefulShutdownHandler {
                    do {
                        try await writer.write(ByteBuffer(string: "retry: 2000\n\n"))
                        while let wire = await live.next(for: client) {
                            try await writer.write(ByteBuffer(string: wire))
                        }
                    } catch {
                        await live.leave(client)
                        throw error
                    }
                    await live.leave(client)
                    try await writer.finish(nil)
                } onGracefulShutdown: {
                    Task { await live.leave(client) }
                }
            })
    }
}
