import BookModel
import Foundation
import Synchronization

/// A raw TCP server on a random loopback port that speaks HTTP/1.1 as badly as its script wants, and keeps exact
/// account of what it was asked and what it gave away.
///
/// Plain blocking sockets on threads of their own, and not an event loop: `send` says how many bytes the kernel took, even
/// of a write that failed midway, and "no byte twice" is proved by such counts. A count says what was handed to the
/// kernel; with a ``Pace`` the send buffer is made small, so that it is nearly what the client received.
package final class MisbehavingServer: Sendable {
    package let port: Int
    private let watched = Watched(ServerRecord())
    private let listener: Socket
    private let script: ServerScript
    /// The sockets in use; one is closed by its thread only after it was taken out of here, so that no stranger's
    /// descriptor is ever shut down.
    private let open = Mutex<[Int: Socket]>([:])

    private init(_ script: ServerScript) throws {
        (self.listener, self.port) = try Socket.listening()
        self.script = script
    }

    /// Starts a server that runs until ``stop()``. Prefer ``withServer(_:isolation:_:)``.
    package static func start(_ script: ServerScript) throws -> MisbehavingServer {
        ConcurrencyLimit.requireSlot(for: "a server")
        let server = try MisbehavingServer(script)
        Thread.detachNewThread { server.acceptUntilStopped() }
        return server
    }

    package static func start(_ answer: @escaping @Sendable (ServerRequest) -> Reply) throws -> MisbehavingServer {
        try start(ServerScript(answer))
    }

    /// Ends every connection and returns when the last thread is done.
    package func stop() async throws {
        watched.update { $0.isAccepting = false }
        // Wakes `accept`, at least on Linux.
        listener.shutDown()
        open.withLock { for socket in $0.values { socket.shutDown() } }
        try await watched.waitUntil { $0.connectionsOpen == 0 && $0.listenerIsClosed }
    }

    // MARK: Addresses

    package func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    package func address(_ path: String) -> ResourceAddress { ResourceAddress(url(path)) }

    // MARK: What it saw and did

    /// Everything up to now.
    package var record: ServerRecord { watched.value }

    package func requests(path: String) -> [ServerRequest] { record.requests(path: path) }

    /// Body bytes given away for the path, over all requests.
    package func bodyBytesSent(path: String) -> Int { record.bodyBytesSent(path: path) }

    /// Waits for something that the server sees or does: a request, so many bytes sent, a connection closed.
    @discardableResult
    package func waitUntil(_ condition: @escaping @Sendable (ServerRecord) -> Bool) async throws -> ServerRecord {
        try await watched.waitUntil(condition)
    }

    // MARK: Threads

    private func acceptUntilStopped() {
        while let socket = listener.accepted() {
            let number = watched.update { record -> Int? in
                guard record.isAccepting else { return nil }
                record.connectionsAccepted += 1
                record.connectionsOpen += 1
                return record.connectionsAccepted - 1
            }
            guard let number else {
                socket.close()
                break
            }
            open.withLock { $0[number] = socket }
            // The server may have been stopped just before the socket could be found.
            if !watched.value.isAccepting { socket.shutDown() }
            Thread.detachNewThread { self.serve(socket, number) }
        }
        listener.close()
        watched.update { $0.listenerIsClosed = true }
    }

    private func serve(_ socket: Socket, _ number: Int) {
        ServerConnection(socket: socket, number: number, record: watched, script: script).serve()
        open.withLock { $0[number] = nil }
        socket.close()
        watched.update { $0.connectionsOpen -= 1 }
    }
}

/// Runs a server for as long as the body takes, and closes everything after it.
package func withServer<Answer>(
    _ script: ServerScript, isolation: isolated (any Actor)? = #isolation,
    _ body: (MisbehavingServer) async throws -> Answer
) async throws -> Answer {
    let server = try MisbehavingServer.start(script)
    do {
        let answer = try await body(server)
        try await server.stop()
        return answer
    } catch {
        // What the body threw says more than a server that stops badly.
        await server.stopQuietly()
        throw error
    }
}

/// As ``withServer(_:isolation:_:)``, with one closure that answers every request.
package func withServer<Answer>(
    answering answer: @escaping @Sendable (ServerRequest) -> Reply, isolation: isolated (any Actor)? = #isolation,
    _ body: (MisbehavingServer) async throws -> Answer
) async throws -> Answer {
    try await withServer(ServerScript(answer), body)
}

extension MisbehavingServer {
    /// Stops it, also when the task was cancelled and can wait for nothing.
    fileprivate func stopQuietly() async {
        _ = await Task { try await self.stop() }.result
    }
}
