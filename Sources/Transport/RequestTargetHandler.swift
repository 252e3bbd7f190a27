import NIOCore
import NIOHTTP1

/// Puts the request target on the wire byte for byte as the address has it.
///
/// The HTTP client takes its target from Foundation's URL, which decodes the path and loses what is not UTF-8. So the
/// client gets `/`, and the target in a field of its own, which never leaves this process.
final class RequestTargetHandler: ChannelOutboundHandler {
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    /// The field that carries the target as far as this handler.
    static let field = "booksync-request-target"

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .head(var head) = unwrapOutboundIn(data), let target = head.headers.first(name: Self.field) else {
            return context.write(data, promise: promise)
        }
        head.uri = target
        head.headers.remove(name: Self.field)
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }
}
