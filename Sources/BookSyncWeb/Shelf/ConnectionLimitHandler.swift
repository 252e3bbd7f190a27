import NIOCore
import Synchronization

/// How many clients are let in at once.
final class ConnectionLimit: Sendable {
    private let free: Mutex<Int>

    init(_ greatest: Int) {
        free = Mutex(greatest)
    }

    /// - Returns: whether one more may come in; then it has to leave.
    fileprivate func enter() -> Bool {
        free.withLock { free in
            guard free > 0 else { return false }
            free -= 1
            return true
        }
    }

    fileprivate func leave() {
        free.withLock { $0 += 1 }
    }
}

/// Closes a connection for which there is no room.
final class ConnectionLimitHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    private let limit: ConnectionLimit
    private var isIn = false

    init(_ limit: ConnectionLimit) {
        self.limit = limit
    }

    func channelActive(context: ChannelHandlerContext) {
        isIn = limit.enter()
        context.fireChannelActive()
        if !isIn { context.close(promise: nil) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        if isIn { limit.leave() }
        isIn = false
    }
}
