import NIOCore
import Synchronization

/// How many clients are let in at once.
///
/// Where there is no room for one more, a connection that was opened and has asked nothing makes room, the oldest first; then
/// the idlest of the network that has most of them, where that is another than the newcomer's; then one on which nothing has
/// moved for a while. So whoever opens many connections, or sends requests slowly or never, is in the way of nobody but
/// others who do the same.
final class ConnectionLimit: Sendable {
    /// A client that was let in.
    fileprivate final class Connection: Sendable {
        let channel: any Channel
        /// Of the client; behind a proxy, and at a Unix socket, all clients are one network.
        let network: String
        let opened = NIODeadline.now()
        /// Nanoseconds of the clock when a part of a request or of an answer last passed; 0 before there was one.
        let moved = Atomic<UInt64>(0)

        init(_ channel: any Channel) {
            self.channel = channel
            network = NumericAddress(channel.remoteAddress?.ipAddress ?? "")?.network ?? "socket"
        }
    }

    /// After which a connection may be taken for left alone. Longer than events are silent.
    private static let patience = TimeAmount.seconds(20)

    private let maximum: Int
    fileprivate let connections: Mutex<[ObjectIdentifier: Connection]>

    init(_ maximum: Int) {
        self.maximum = maximum
        connections = Mutex([:])
    }

    /// - Returns: nil where there is no room; else the slot, which has to be freed.
    fileprivate func enter(_ channel: any Channel) -> Connection? {
        let connection = Connection(channel)
        let (isIn, leaving) = connections.withLock { connections -> (Bool, Connection?) in
            var leaving: Connection?
            if connections.count >= maximum {
                leaving = Self.leaving(for: connection, among: connections.values)
                guard let leaving else { return (false, nil) }
                connections[ObjectIdentifier(leaving)] = nil
            }
            connections[ObjectIdentifier(connection)] = connection
            return (true, leaving)
        }
        leaving?.channel.close(promise: nil)
        return isIn ? connection : nil
    }

    private static func leaving(for newcomer: Connection, among connections: some Collection<Connection>) -> Connection?
    {
        let silent = connections.filter { $0.moved.load(ordering: .relaxed) == 0 }
        if let oldest = silent.min(by: { $0.opened < $1.opened }) { return oldest }
        let networks = Dictionary(grouping: connections, by: \.network)
        let own = networks[newcomer.network]?.count ?? 0
        if let crowd = networks.values.max(by: { $0.count < $1.count }), crowd.count > own + 1 { return idlest(crowd) }
        let longest = idlest(connections)
        guard let longest, NIODeadline.uptimeNanoseconds(longest.moved.load(ordering: .relaxed)) + patience < .now()
        else { return nil }
        return longest
    }

    private static func idlest(_ connections: some Collection<Connection>) -> Connection? {
        connections.min { $0.moved.load(ordering: .relaxed) < $1.moved.load(ordering: .relaxed) }
    }
}

/// Closes a connection for which there is no room. Behind the decoder, so that half a request is none.
final class ConnectionLimitHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny
    typealias OutboundIn = NIOAny

    private let limit: ConnectionLimit
    private var connection: ConnectionLimit.Connection?
    /// Whether what came was no request.
    private var isOver = false

    init(_ limit: ConnectionLimit) {
        self.limit = limit
    }

    func channelActive(context: ChannelHandlerContext) {
        connection = limit.enter(context.channel)
        context.fireChannelActive()
        if connection == nil { context.close(promise: nil) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        recordMove()
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        recordMove()
        context.write(data, promise: promise)
    }

    /// What is no request is answered and ends the connection, and no more of it is read; Hummingbird waits for the client
    /// to end it.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        isOver = true
        let channel = context.channel
        context.eventLoop.scheduleTask(in: .seconds(1)) { channel.close(promise: nil) }
        context.fireErrorCaught(error)
    }

    func read(context: ChannelHandlerContext) {
        if !isOver { context.read() }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        if let connection { limit.connections.withLock { $0[ObjectIdentifier(connection)] = nil } }
        connection = nil
    }

    private func recordMove() {
        connection?.moved.store(NIODeadline.now().uptimeNanoseconds, ordering: .relaxed)
    }
}
