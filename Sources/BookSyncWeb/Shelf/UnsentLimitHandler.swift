import Foundation
import NIOCore

/// Has no more of an answer held for a client than it is about to receive.
///
/// Of itself the kernel takes megabytes for each client, also for one that listens as slowly as a book is read: hundreds of
/// them would fill the memory of a small machine with what was read long before it is wanted.
final class UnsentLimitHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    /// Bytes that the kernel holds; what is under way to the client does not count.
    private static let unsent: SocketOptionValue = 256 << 10
    /// Bytes before the kernel, with which a connection counts as full, and as free again.
    private static let full = 32 << 10
    private static let free = 16 << 10

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
