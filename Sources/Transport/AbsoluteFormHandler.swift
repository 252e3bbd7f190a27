import NIOCore
import NIOHTTP1

/// Sends requests in absolute form (RFC 9112 §3.2.2), which is what an HTTP proxy takes for plain HTTP: the connection
/// leads to the proxy, so nothing but the request line tells whom it is for. `Host` is set by whoever sends the request.
final class AbsoluteFormHandler: ChannelOutboundHandler {
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .head(var head) = unwrapOutboundIn(data), let host = head.headers.first(name: "Host") else {
            return context.write(data, promise: promise)
        }
        head.uri = "http://\(host)\(head.uri)"
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }
}
