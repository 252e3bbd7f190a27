import BookModel
import Foundation
import Logging

/// Sends clients the transfers under way, of any process: it reads the store and the sizes of partial files.
///
/// While there is a client, it polls the store once a second, for all clients at once; while there is none, never. A client gets a
/// snapshot, and the next one when it differs: a client that reads slowly, or reconnects, has missed nothing. The version in it
/// tells pages when to reload.
package actor LiveShelf {
    package typealias Client = Int

    private struct Listener {
        /// The snapshot that it was sent last; nil before the first.
        var lastSent: JSONDocument?
        /// The episodes that ended since.
        var ended: [JSONDocument] = []
        var lastSentAt: ContinuousClock.Instant
        var waiter: CheckedContinuation<String?, Never>?
    }

    package static let heartbeat = ": heartbeat\n\n"
    private static let interval = Duration.seconds(1)
    private static let silence = Duration.seconds(15)
    /// One more disconnects the oldest.
    private static let maxClients = 128
    /// A client that reads slowly gets only the last of the episodes that ended.
    private static let maxEnded = 100

    private let logger: Logger
    private let now: @Sendable () -> ContinuousClock.Instant
    /// One for each library.
    private var watchers: [ShelfWatcher]
    private var states: [ShelfWatcher.State] = []
    /// Differs for each process, so its versions are never equal to those of an earlier process.
    private let epoch = String(UInt64.random(in: 0 ... .max), radix: 36)
    private var number = 0
    /// nil before the first poll.
    private var snapshot: JSONDocument?
    private var listeners: [Client: Listener] = [:]
    private var lastClient = 0
    private let joins = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    private var isOver = false

    /// - Parameter now: the clock.
    package init(
        libraries: [String], logger: Logger, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        watchers = libraries.map(ShelfWatcher.init)
        self.logger = logger
        self.now = now
    }

    // MARK: Clients

    /// Adds a client.
    /// - Returns: nil after the server has shut down.
    package func join() -> Client? {
        guard !isOver else { return nil }
        // A page that was closed keeps its slot until something is sent to it.
        if listeners.count >= Self.maxClients, let oldest = listeners.keys.min() { leave(oldest) }
        // Without clients there were no polls.
        if listeners.isEmpty { snapshot = nil }
        lastClient += 1
        listeners[lastClient] = Listener(lastSentAt: now())
        joins.continuation.yield()
        return lastClient
    }

    /// Waits for the client's next message: at most one for each poll.
    /// - Returns: nil when the client was removed.
    package func next(for client: Client) async -> String? {
        if let message = message(for: client) { return message }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard !Task.isCancelled, listeners[client] != nil else { return continuation.resume(returning: nil) }
                listeners[client]?.waiter = continuation
            }
        } onCancel: {
            Task { await self.leave(client) }
        }
    }

    /// Removes a client.
    package func leave(_ client: Client) { listeners.removeValue(forKey: client)?.waiter?.resume(returning: nil) }

    /// A server-sent event (HTML Standard, "Server-sent events"), or a comment after some silence; nil for nothing.
    private func message(for client: Client) -> String? {
        guard let snapshot, let listener = listeners[client] else { return nil }
        let now = now()
        let isChanged = listener.lastSent != snapshot || !listener.ended.isEmpty
        guard isChanged || now - listener.lastSentAt >= Self.silence else { return nil }
        listeners[client] = Listener(lastSent: snapshot, lastSentAt: now)
        guard isChanged else { return Self.heartbeat }
        return "event: shelf\ndata: \(snapshot.adding(["ended": .array(listener.ended)]).text())\n\n"
    }

    // MARK: Polling

    /// Polls until the task is cancelled.
    package func work() async {
        while !Task.isCancelled {
            if listeners.isEmpty {
                for await _ in joins.stream { break }
                continue
            }
            await poll()
            do {
                // Many libraries are polled less often, so that an idle server stays idle.
                try await Task.sleep(for: Self.interval * max(1, watchers.count / 32))
            } catch {
                break
            }
        }
        isOver = true
        for client in listeners.keys { leave(client) }
    }

    private func poll() async {
        // Copied out while they work: the actor is reentrant, and only this task uses them.
        var working = watchers
        var ended: [JSONDocument] = []
        for index in working.indices {
            do {
                ended += try await working[index].poll(now: now())
            } catch {
                // The store may be about to be made, or replaced.
                logger.debug("the library cannot be polled", metadata: ["error": "\(error)"])
            }
        }
        watchers = working
        let states = working.map(\.state)
        if states != self.states { number += 1 }
        self.states = states
        let now = now()
        snapshot = [
            "version": .string("\(epoch).\(number)"), "runs": .array(working.compactMap { $0.runDocument(at: now) }),
            "moving": .array(working.flatMap { $0.movingDocuments(at: now) }),
        ]
        for client in listeners.keys {
            // A new client needs only the snapshot.
            if var listener = listeners[client], listener.lastSent != nil {
                listener.ended = (listener.ended + ended).suffix(Self.maxEnded)
                listeners[client] = listener
            }
            guard let waiter = listeners[client]?.waiter, let message = message(for: client) else { continue }
            waiter.resume(returning: message)
        }
    }
}
