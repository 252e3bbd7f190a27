import NIOCore
import NIOHTTP1
import NIOSSL
import NIOTLS

/// Why an exchange, or a connection, is given up.
enum ExchangeFailure: Error {
    /// A server announces an answer again and again, and gives none.
    case endlessAnnouncements
    /// Nothing came for longer than the stall timeout.
    case stalled
    /// The connection leads to an address of another scope than it must.
    case scopeChange
    /// A name that was looked up for a proxy.
    case unresolvable(host: String)
    /// A proxy made no tunnel.
    case tunnel(TunnelRefusal)
    /// A server without a name, whose certificate cannot be checked behind a proxy.
    case numericHostInTunnel
}

/// A request as it goes out.
struct OutgoingRequest: Sendable {
    /// Its target goes out byte for byte.
    var head: HTTPRequestHead
    var body: [UInt8]
}

extension HTTPRequestHead {
    /// Whether nothing in it ends a line, or a name, before its time (RFC 9112 §11.1).
    var holdsNoControlCharacters: Bool {
        func isName(_ text: String) -> Bool { text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F } }
        return isName(uri)
            && headers.allSatisfy { name, value in
                isName(name) && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\t") }
            }
    }
}

/// An open connection.
struct HTTPConnection: Sendable {
    let channel: any Channel
    let handler: NIOLoopBound<ExchangeHandler>

    /// No other exchange may be under way on it.
    func send(_ request: OutgoingRequest, answerTo stream: ResponseStream) {
        onLoop { handler.value.send(request, answerTo: stream, on: self) }
    }

    /// Ends the exchange whose answer nobody wants any more, and with it the connection.
    func drop(_ stream: ResponseStream) {
        onLoop { handler.value.drop(stream) }
    }

    func resume() {
        onLoop { handler.value.resume() }
    }

    private func onLoop(_ work: @escaping @Sendable () -> Void) {
        if channel.eventLoop.inEventLoop { work() } else { channel.eventLoop.execute(work) }
    }
}

/// The end of a connection's pipeline: one exchange at a time, whose answer it hands to a ``ResponseStream`` part by part.
final class ExchangeHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private static let maxInformationalResponses = 50
    /// A connection that was not used for so long is closed.
    private static let maxIdle = TimeAmount.seconds(60)

    private let stallTimeout: TimeAmount
    private let handshakeTimeout: TimeAmount?
    private var ready: EventLoopPromise<Void>?
    private let onFree: (HTTPConnection) -> Void
    private let onClose: (any Channel) -> Void

    private var context: ChannelHandlerContext?
    /// The exchange under way.
    private var exchange: (stream: ResponseStream, connection: HTTPConnection)?
    private var announcements = 0
    private var isInBody = false
    private var staysOpen = false
    /// When bytes came, or an exchange began or ended, last.
    private var lastProgress = NIODeadline.now()
    private var timer: Scheduled<Void>?

    /// - Parameters:
    ///   - handshakeTimeout: for the handshake of TLS; nil where there is none.
    ///   - ready: succeeds after the handshake.
    ///   - onFree: takes the connection after an exchange that it outlives.
    ///   - onClose: hears that the connection ended.
    init(
        stallTimeout: TimeAmount, handshakeTimeout: TimeAmount?, ready: EventLoopPromise<Void>,
        onFree: @escaping (HTTPConnection) -> Void, onClose: @escaping (any Channel) -> Void
    ) {
        self.stallTimeout = stallTimeout
        self.handshakeTimeout = handshakeTimeout
        self.ready = ready
        self.onFree = onFree
        self.onClose = onClose
    }

    func send(_ request: OutgoingRequest, answerTo stream: ResponseStream, on connection: HTTPConnection) {
        guard let context, context.channel.isActive else {
            return stream.end(with: .failure(ChannelError.ioOnClosedChannel))
        }
        guard stream.attach(to: connection) else {
            if timer == nil { watch(for: Self.maxIdle) }
            return onFree(connection)
        }
        exchange = (stream, connection)
        (announcements, isInBody) = (0, false)
        noteProgress()
        timer?.cancel()
        watch(for: stallTimeout)
        context.write(wrapOutboundOut(.head(request.head)), promise: nil)
        if !request.body.isEmpty {
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: request.body)))), promise: nil)
        }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        guard let handshakeTimeout else { return becomeReady() }
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: handshakeTimeout) {
            self.fail(ChannelError.connectTimeout(handshakeTimeout))
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        fail(ChannelError.ioOnClosedChannel)
        self.context = nil
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted = event { becomeReady() }
        context.fireUserInboundEventTriggered(event)
    }

    private func becomeReady() {
        timer?.cancel()
        timer = nil
        ready?.succeed()
        ready = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Nobody asked, so it answers nothing.
        guard let (stream, connection) = exchange else { return context.close(promise: nil) }
        switch unwrapInboundIn(data) {
        case .head(let head) where head.status.code < 100: fail(HTTPParserError.invalidStatus)
        case .head(let head) where head.status.code < 200:
            announcements += 1
            let isSwitch = head.status == .switchingProtocols
            if isSwitch || announcements > Self.maxInformationalResponses { fail(ExchangeFailure.endlessAnnouncements) }
        case .head(let head):
            (isInBody, staysOpen) = (true, head.isKeepAlive)
            stream.receive(head)
        case .body(let part):
            if stream.receive(part) { setReading(false) }
        case .end:
            exchange = nil
            setReading(true)
            if staysOpen, context.channel.isActive {
                onFree(connection)
            } else {
                context.close(promise: nil)
            }
            stream.end(with: .success(nil))
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        noteProgress()
        context.fireChannelReadComplete()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard isInBody, error is BoringSSLError else { return fail(error) }
        // What was decrypted is handed on at the end of a read, to which it does not come any more.
        context.pipeline.fireChannelReadComplete()
        fail(ChannelError.eof)
    }

    func channelInactive(context: ChannelHandlerContext) {
        fail(ChannelError.eof)
        context.fireChannelInactive()
    }

    func drop(_ stream: ResponseStream) {
        guard exchange?.stream === stream else { return }
        // TLS takes its time to end.
        setReading(false)
        fail(CancellationError())
    }

    /// The reader has room again.
    func resume() {
        noteProgress()
        setReading(true)
    }

    private func noteProgress() { lastProgress = .now() }

    private func fail(_ error: any Error) {
        timer?.cancel()
        ready?.fail(error)
        ready = nil
        let stream = exchange?.stream
        exchange = nil
        if let channel = context?.channel {
            onClose(channel)
            channel.close(promise: nil)
        }
        stream?.end(with: .failure(error))
    }

    private func setReading(_ reads: Bool) {
        try? context?.channel.syncOptions?.setOption(.autoRead, value: reads)
    }

    /// Looks, after some time, whether anything has come since; time in which the reader is busy does not count.
    private func watch(for time: TimeAmount) {
        let due = NIODeadline.now() + time
        timer = context?.eventLoop.assumeIsolated().scheduleTask(deadline: due) { [self] in
            if exchange?.stream.isPaused == true { noteProgress() }
            let left = lastProgress + (exchange == nil ? Self.maxIdle : stallTimeout) - .now()
            if left > .zero { return watch(for: left) }
            // The loop was held up: what has come meanwhile is read first.
            if .now() - due > .milliseconds(50) { return watch(for: .milliseconds(100)) }
            fail(ExchangeFailure.stalled)
        }
    }
}
