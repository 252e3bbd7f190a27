import BookModel
import BookSync
import Hummingbird
import NIOCore
import ServiceLifecycle
import ShelfService

extension ShelfRoutes {
    /// What happens on the shelf, as it happens (HTML Standard, "Server-sent events").
    func liveAnswer(to request: Request) async -> Response {
        let fields: HTTPFields = [.contentType: "text/event-stream; charset=utf-8"]
        guard request.method == .get else { return Response(status: .ok, headers: fields) }
        let live = site.live
        let asked = HTTPFields.Element.Name("Last-Event-ID").flatMap { request.headers[$0] }
        guard let (client, first) = await live.join(lastEventID: asked) else {
            return .refusal(.serviceUnavailable, "the server is being shut down", kind: "temporary", to: request)
        }
        return Response(
            status: .ok, headers: fields,
            body: ResponseBody { writer in
                try await withGracefulShutdownHandler {
                    do {
                        try await writer.write(ByteBuffer(string: first))
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
