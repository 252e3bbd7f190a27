import NIOCore

/// Closes the connection of a client that takes nothing of its answer any more; behind an `IdleStateHandler` that
/// watches the writes. One that goes on later asks for the rest by its range.
final class StalledAnswerHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard let idle = event as? IdleStateHandler.IdleStateEvent, case .write = idle else {
            context.fireUserInboundEventTriggered(event)
            return
        }
        context.close(promise: nil)
    }
}
