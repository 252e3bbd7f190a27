import Foundation
import Support
import Synchronization

/// Passes TCP connections on to a server on this machine, and makes of a loopback a far, or a slow, way to it.
///
/// What it cannot imitate: a lost packet, and the window that a real way's round trip would slow down.
final class Relay: Sendable {
    enum Manner: Sendable {
        /// Every byte comes so many milliseconds later, in either direction, and a new connection's first bytes later
        /// by one round trip more: the handshake itself, which the kernel answers before the relay hears of it.
        case far(milliseconds: Int)
        /// Each connection gets its answers' bodies in small parts at a steady rate, whichever requests they are for, and the
        /// kernel is given no more than a few KiB that the client has not received.
        case slow(Pace)
    }

    /// What went through.
    struct Counts: Sendable {
        var connections = 0
        var open = 0
        /// Of the answers, as handed to the kernel for the client. Only a slow relay counts.
        var bodyBytes = 0
        /// Answers whose last byte was sent.
        var wholeBodies = 0
    }

    let port: Int
    private let server: Int
    private let manner: Manner
    private let listener: Socket
    private let noteConnection: @Sendable () -> Void
    private let state = Mutex(Counts())

    /// Starts a relay that runs until ``stop()``.
    /// - Parameters:
    ///   - server: the port to pass everything on to.
    ///   - noteConnection: called with each connection, on a thread of the relay's.
    static func start(
        to server: Int, _ manner: Manner, noteConnection: @escaping @Sendable () -> Void = {}
    ) throws -> Relay {
        let (listener, port) = try Socket.listening()
        let relay = Relay(listener, port, to: server, manner, noteConnection)
        Thread.detachNewThread { relay.accept() }
        return relay
    }

    private init(
        _ listener: Socket, _ port: Int, to server: Int, _ manner: Manner,
        _ noteConnection: @escaping @Sendable () -> Void
    ) {
        self.listener = listener
        self.port = port
        self.server = server
        self.manner = manner
        self.noteConnection = noteConnection
    }

    /// No connection is accepted any more; those there are go on to their ends.
    func stop() { listener.shutDown() }

    var counts: Counts { state.withLock { $0 } }

    var address: String { "http://127.0.0.1:\(port)" }

    /// Returns when every connection has ended, so that the counts stand still.
    func waitUntilIdle() throws {
        for _ in 0..<10_000 {
            if counts.open == 0 { return }
            usleep(1000)
        }
        throw MeasuredProcess.Failed(description: "a connection of the relay does not end")
    }

    // MARK: Threads

    private func accept() {
        while let client = listener.accepted() {
            state.withLock {
                $0.connections += 1
                $0.open += 1
            }
            noteConnection()
            guard case .success(let server) = Result(catching: { try Socket.connected(port: server) }) else {
                client.close()
                state.withLock { $0.open -= 1 }
                continue
            }
            let way = Way(client: client, server: server) { self.state.withLock { $0.open -= 1 } }
            switch manner {
            case .far(let milliseconds):
                let delay = Duration.milliseconds(milliseconds)
                way.carry(from: client, to: server, later: delay, notBefore: .now + delay * 2)
                way.carry(from: server, to: client, later: delay, notBefore: .now)
            case .slow(let pace):
                way.carry(from: client, to: server, later: .zero, notBefore: .now)
                client.useSmallSendBuffer()
                Thread.detachNewThread {
                    self.give(from: server, to: client, at: pace)
                    way.ended()
                }
            }
        }
        listener.close()
    }

    /// Gives answers away at the pace, and counts their bodies.
    private func give(from server: Socket, to client: Socket, at pace: Pace) {
        var meter = BodyMeter()
        var due = ContinuousClock.now
        while true {
            let bytes = server.receive(atMost: pace.piece)
            if bytes.isEmpty { break }
            // A thread that woke late may catch up with that much, but what a connection did not use it has not saved.
            due = max(due, .now - .milliseconds(8))
            let taken = client.send(bytes[...])
            let (body, ends) = meter.take(bytes.prefix(taken))
            state.withLock {
                $0.bodyBytes += body
                $0.wholeBodies += ends
            }
            if taken < bytes.count { break }
            due += .seconds(Double(body) / Double(pace.bytesPerSecond))
            if !wait(until: due, while: client) { break }
        }
        client.shutDown()
        server.shutDown()
    }

    /// - Returns: whether the client is still there.
    private func wait(until due: ContinuousClock.Instant, while client: Socket) -> Bool {
        while true {
            let left = (due - .now) / .seconds(1)
            if left <= 0 { return true }
            if left < 0.005 {
                usleep(UInt32(left * 1e6) + 1)
            } else if client.hasEnded(within: Int(left * 1000)) {
                return false
            }
        }
    }
}

/// The two sockets of one connection through the relay; closed when both directions are done.
private final class Way: Sendable {
    private let client: Socket
    private let server: Socket
    private let atEnd: @Sendable () -> Void
    private let directions = Mutex(2)

    init(client: Socket, server: Socket, atEnd: @escaping @Sendable () -> Void) {
        self.client = client
        self.server = server
        self.atEnd = atEnd
    }

    /// One direction is done.
    func ended() {
        let isLast = directions.withLock { left in
            left -= 1
            return left == 0
        }
        guard isLast else { return }
        client.close()
        server.close()
        atEnd()
    }

    /// Carries one direction's bytes on two threads: one takes them at once, however many, the other gives them away
    /// when they are due.
    func carry(
        from source: Socket, to target: Socket, later delay: Duration, notBefore: ContinuousClock.Instant
    ) {
        let queue = TimedQueue()
        Thread.detachNewThread {
            while true {
                let bytes = source.receive()
                queue.put(bytes, due: max(.now, notBefore) + delay)
                if bytes.isEmpty { return }
            }
        }
        Thread.detachNewThread {
            while true {
                let chunk = queue.take()
                let left = (chunk.due - .now) / .seconds(1)
                if left > 0 { usleep(UInt32(left * 1e6)) }
                if chunk.bytes.isEmpty || target.send(chunk.bytes[...]) < chunk.bytes.count { break }
            }
            // Both, so that the other direction ends as well; HTTP has no use for half a connection.
            source.shutDown()
            target.shutDown()
            self.ended()
        }
    }
}

/// Bytes under way, each chunk with the moment at which it arrives. No bytes are the end.
private final class TimedQueue: Sendable {
    typealias Chunk = (bytes: [UInt8], due: ContinuousClock.Instant)

    private let chunks = Mutex<[Chunk]>([])
    private let filled = DispatchSemaphore(value: 0)

    func put(_ bytes: [UInt8], due: ContinuousClock.Instant) {
        chunks.withLock { $0.append((bytes, due)) }
        filled.signal()
    }

    func take() -> Chunk {
        filled.wait()
        return chunks.withLock { $0.removeFirst() }
    }
}

/// Tells heads from bodies in a connection's answers, one after the other, each with a `Content-Length` or no body.
struct BodyMeter {
    private var head: [UInt8] = []
    private var left = 0

    /// - Returns: how many of the bytes are of bodies, and how many bodies end within them.
    mutating func take(_ bytes: ArraySlice<UInt8>) -> (body: Int, ends: Int) {
        var rest = bytes
        var body = 0
        var ends = 0
        while !rest.isEmpty {
            guard left > 0 else {
                if let byte = rest.popFirst() { head.append(byte) }
                if head.suffix(4) == [13, 10, 13, 10] { left = Self.length(of: &head) }
                continue
            }
            let part = min(left, rest.count)
            rest = rest.dropFirst(part)
            body += part
            left -= part
            if left == 0 { ends += 1 }
        }
        return (body, ends)
    }

    private static func length(of head: inout [UInt8]) -> Int {
        defer { head = [] }
        let fields = String(decoding: head, as: UTF8.self).lowercased().split(separator: "\r\n")
        let field = fields.first { $0.hasPrefix("content-length:") }
        return field.flatMap { Int($0.dropFirst(15).filter { $0 != " " }) } ?? 0
    }
}
