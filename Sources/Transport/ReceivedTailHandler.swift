import NIOCore
import NIOHTTP1

/// A server announces an answer again and again and gives none.
struct TooManyInformationalResponses: Error {}

/// What had arrived of a body when its connection failed, and was not handed on.
struct InterruptedBody: Error {
    let parts: [ByteBuffer]
    /// Body bytes of this answer that came off the wire, handed on or not.
    let bytesReceived: Int
    let underlying: any Error
}

/// Keeps the body parts that the client has been given and has not handed on yet, so that a failing connection does
/// not take them along.
///
/// AsyncHTTPClient collects the parts of one read and hands them on at `channelReadComplete`, provided that it asked
/// for that read; when an error arrives in between it drops them. This handler stands right behind the response
/// decoder, sees the same events, keeps the same parts, and puts them into the error that passes through.
///
/// It also counts the answers that only announce one (1xx), which the client reads over for as long as they come.
///
/// Not guaranteed: bytes that the kernel holds when the connection is reset are gone; nobody can read them any more.
final class ReceivedTailHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    private var buffered: [ByteBuffer] = []
    private var bytesReceived = 0
    private var isInBody = false
    private var announcements = 0
    private static let maxInformationalResponses = 50
    /// Whether the client asked for the bytes that are now arriving.
    private var wasReadAsked = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            buffered.removeAll(keepingCapacity: true)
            bytesReceived = 0
            isInBody = head.status.code >= 200
            announcements = isInBody ? 0 : announcements + 1
            if announcements > Self.maxInformationalResponses {
                context.fireErrorCaught(TooManyInformationalResponses())
                return context.close(promise: nil)
            }
            // The client counts the read that brought the head as asked for.
            wasReadAsked = true
        case .body(let part):
            buffered.append(part)
            bytesReceived += part.readableBytes
        case .end:
            buffered.removeAll(keepingCapacity: true)
            isInBody = false
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if wasReadAsked, !buffered.isEmpty {
            buffered.removeAll(keepingCapacity: true)
            wasReadAsked = false
        }
        context.fireChannelReadComplete()
    }

    func read(context: ChannelHandlerContext) {
        wasReadAsked = true
        context.read()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard isInBody else { return context.fireErrorCaught(error) }
        isInBody = false
        let carried = InterruptedBody(parts: buffered, bytesReceived: bytesReceived, underlying: error)
        buffered.removeAll()
        context.fireErrorCaught(carried)
    }
}
