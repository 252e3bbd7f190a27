import NIOCore

/// Makes a tunnel through a proxy on a connection that has just been opened to it. What the connection needs beyond that is added
/// behind it when the tunnel is open.
final class TunnelHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var negotiation: any TunnelNegotiation
    private let timeout: TimeAmount
    /// Nil when the tunnel is open, or will not be.
    private var opened: EventLoopPromise<Void>?
    private var received = ByteBuffer()
    private var timer: Scheduled<Void>?

    /// - Parameter timeout: for the whole talk.
    init(_ negotiation: any TunnelNegotiation, timeout: TimeAmount, opened: EventLoopPromise<Void>) {
        self.negotiation = negotiation
        self.timeout = timeout
        self.opened = opened
    }

    /// The connection is there already when the handler comes in.
    func handlerAdded(context: ChannelHandlerContext) {
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: timeout) { self.end(.silent) }
        context.writeAndFlush(wrapOutboundOut(negotiation.opening()), promise: nil)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        end(.closed)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if opened == nil { return context.fireChannelRead(data) }
        var part = unwrapInboundIn(data)
        received.writeBuffer(&part)
        while opened != nil {
            switch negotiation.advance(&received) {
            case .needsMore: return
            case .send(let bytes): context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
            case .fail(let refusal): end(refusal)
            case .open:
                end(nil)
                if received.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(received)) }
            }
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        end(.closed)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        end(.closed)
        context.fireErrorCaught(error)
    }

    /// - Parameter refusal: nil if the tunnel is open. Whoever waits for it closes the connection otherwise.
    private func end(_ refusal: TunnelRefusal?) {
        timer?.cancel()
        guard let opened else { return }
        self.opened = nil
        if let refusal { opened.fail(ExchangeFailure.tunnel(refusal)) } else { opened.succeed() }
    }
}
