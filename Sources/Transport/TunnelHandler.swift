import NIOCore

/// A proxy made no tunnel, or none that lasts.
struct TunnelFailure: Error {
    let refusal: TunnelRefusal
}

/// Makes a tunnel through a proxy on a connection that has just been opened to it.
///
/// Stands between the socket and everything else, and holds back what the others write until the tunnel is open. To
/// them a proxy that refuses is a connection that fails under its first request.
final class TunnelHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var negotiation: any TunnelNegotiation
    private let timeout: TimeAmount
    private var isOpen = false
    private var isOver = false
    private var received = ByteBuffer()
    private var buffered: [(data: NIOAny, promise: EventLoopPromise<Void>?)] = []
    private var timer: Scheduled<Void>?

    /// - Parameter timeout: for the whole talk.
    init(_ negotiation: any TunnelNegotiation, timeout: TimeAmount) {
        self.negotiation = negotiation
        self.timeout = timeout
    }

    /// The connection is there already when the handler comes in.
    func handlerAdded(context: ChannelHandlerContext) {
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: timeout) { self.fail(.silent, context: context) }
        context.writeAndFlush(wrapOutboundOut(negotiation.opening()), promise: nil)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        failBuffered(with: ChannelError.ioOnClosedChannel)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isOpen { return context.fireChannelRead(data) }
        if isOver { return }
        var part = unwrapInboundIn(data)
        received.writeBuffer(&part)
        while true {
            switch negotiation.advance(&received) {
            case .needsMore: return
            case .send(let bytes): context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
            case .fail(let refusal): return fail(refusal, context: context)
            case .open: return open(context: context)
            }
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        if !isOpen, !isOver { fail(.closed, context: context) }
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if !isOpen, !isOver { return fail(.closed, context: context) }
        context.fireErrorCaught(error)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if isOpen { return context.write(data, promise: promise) }
        if isOver {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        buffered.append((data, promise))
    }

    func flush(context: ChannelHandlerContext) {
        if isOpen { context.flush() }
    }

    private func open(context: ChannelHandlerContext) {
        isOpen = true
        timer?.cancel()
        let waiting = buffered
        buffered = []
        for write in waiting { context.write(write.data, promise: write.promise) }
        context.flush()
        if received.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(received)) }
        received = ByteBuffer()
    }

    private func fail(_ refusal: TunnelRefusal, context: ChannelHandlerContext) {
        isOver = true
        timer?.cancel()
        context.fireErrorCaught(TunnelFailure(refusal: refusal))
        failBuffered(with: TunnelFailure(refusal: refusal))
        context.close(promise: nil)
    }

    private func failBuffered(with error: any Error) {
        let waiting = buffered
        buffered = []
        for write in waiting { write.promise?.fail(error) }
    }
}
