import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL

/// Puts handlers before those that the server adds, which adds others only further on: TLS before all that a connection has, and
/// ``AbsoluteFormHandler`` behind the decoder, where requests are still as they came.
///
/// And has no more of an answer held for a client than it is about to receive. Of itself the kernel takes megabytes for each client,
/// also for one that listens as slowly as a book is read: hundreds of them would fill the memory of a small machine with what was
/// read long before it is wanted.
final class ConnectionSetup: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    /// Bytes that the kernel holds; what is under way to the client does not count.
    private static let unsent: SocketOptionValue = 256 << 10
    /// Bytes before the kernel, with which a connection counts as full, and as free again.
    private static let (full, free) = (32 << 10, 16 << 10)

    private let certificate: ServerCertificate?

    /// - Parameter certificate: nil for none, and no TLS.
    init(_ certificate: ServerCertificate?) {
        self.certificate = certificate
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let pipeline = context.pipeline.syncOperations
        do {
            if let certificate {
                try pipeline.addHandler(NIOSSLServerHandler(context: certificate.context), position: .first)
            }
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(AbsoluteFormHandler(), position: .after(decoder))
        } catch {
            context.close(promise: nil)
        }
    }

    func channelActive(context: ChannelHandlerContext) {
        // A Unix socket knows no such option, and holds little anyway.
        _ = Result {
            try context.channel.syncOptions?.setOption(
                .writeBufferWaterMark, value: ChannelOptions.Types.WriteBufferWaterMark(low: Self.free, high: Self.full)
            )
            try context.channel.syncOptions?.setOption(
                .tcpOption(NIOBSDSocket.Option(rawValue: TCP_NOTSENT_LOWAT)), value: Self.unsent)
        }
        context.fireChannelActive()
    }
}
