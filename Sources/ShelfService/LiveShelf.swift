import BookModel
import Foundation
import Logging

/// Shows clients what moves on the shelf, whichever process does it: through the store and the sizes of partial files.
///
/// While there is a client, the store is looked at once a second, once for all of them; while there is none, never. A client is
/// sent what is under way as a whole, and again when it is not the same any more: one that reads slowly, or comes back, needs
/// nothing of what it missed. What pages show has a version, by which they know that they are to be asked for anew.
package actor LiveShelf {
    package typealias Client = Int

    private struct Listener {
        /// What it was told last; nil before.
        var told: String?
        /// Of what ended since.
        var ended: [JSONDocument] = []
        var heardAt: ContinuousClock.Instant
        var waiter: CheckedContinuation<String?, Never>?
    }

    package static let heartbeat = ": heartbeat\n\n"
    private static let interval = Duration.seconds(1)
    private static let silence = Duration.seconds(15)
    /// Clients at a time; beyond that the oldest makes room.
    private static let maxClients = 128
    /// Of more that ended, a client that reads slowly is told of the last.
    private static let maxEnded = 100

    private let libraries: [String]
    private let logger: Logger
    private let now: @Sendable () -> ContinuousClock.Instant
    /// One for each library.
    private var watchers: [ShelfWatcher]
    private var states: [ShelfWatcher.State] = []
    /// Of another beginning for each process, so that nobody takes its versions for those of the one before.
    private let epoch = String(UInt64.random(in: 0 ... .max), radix: 36)
    private var number = 0
    /// What was seen last; nil before the first look.
    private var seen: JSONDocument?
    private var listeners: [Client: Listener] = [:]
    private var lastClient = 0
    private var wakeUp: CheckedContinuation<Void, Never>?
    private var isOver = false

    /// - Parameter now: the clock.
    package init(
        libraries: [String], logger: Logger, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.libraries = libraries
        watchers = libraries.map { _ in ShelfWatcher() }
        self.logger = logger
        self.now = now
    }

    // MARK: Clients

    /// Begins to tell a client.
    /// - Returns: nil when nothing is told any more.
    package func join() -> Client? {
        guard !isOver else { return nil }
        // Pages that were left hold a slot until they are sent something.
        if listeners.count >= Self.maxClients, let oldest = listeners.keys.min() { leave(oldest) }
        // Nobody looked meanwhile.
        if listeners.isEmpty { seen = nil }
        lastClient += 1
        listeners[lastClient] = Listener(heardAt: now())
        awake()
        return lastClient
    }

    /// Waits for what the client is to be sent next; never more often than looks are made, however quickly it reads.
    /// - Returns: nil when nothing is told any more.
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

    /// Ends telling a client.
    package func leave(_ client: Client) { listeners.removeValue(forKey: client)?.waiter?.resume(returning: nil) }

    /// An event of the stream (HTML Standard, "Server-sent events"), or a comment after some silence.
    private func message(for client: Client) -> String? {
        guard let seen, let listener = listeners[client] else { return nil }
        let (text, now) = (seen.text(), now())
        let isNews = listener.told != text || !listener.ended.isEmpty
        guard isNews || now - listener.heardAt >= Self.silence else { return nil }
        listeners[client] = Listener(told: text, heardAt: now)
        guard isNews else { return Self.heartbeat }
        return "event: shelf\ndata: \(seen.adding(["ended": .array(listener.ended)]).text())\n\n"
    }

    // MARK: Looking

    /// Looks and tells until the task is cancelled.
    package func work() async {
        while !Task.isCancelled {
            if listeners.isEmpty {
                await closeWatchers()
                await sleepUntilJoined()
                continue
            }
            await look()
            do {
                // Many libraries are looked at less often, so that an idle server stays idle.
                try await Task.sleep(for: Self.interval * max(1, libraries.count / 32))
            } catch {
                break
            }
        }
        isOver = true
        await closeWatchers()
        for client in listeners.keys { leave(client) }
    }

    private func sleepUntilJoined() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled || !listeners.isEmpty { continuation.resume() } else { wakeUp = continuation }
            }
        } onCancel: {
            Task { await self.awake() }
        }
    }

    private func awake() {
        wakeUp?.resume()
        wakeUp = nil
    }

    // The watchers are taken out while they work: others may come in meanwhile, and they are this task's alone.

    private func closeWatchers() async {
        var working = watchers
        for index in working.indices { await working[index].close() }
        watchers = working
    }

    private func look() async {
        var working = watchers
        var ended: [JSONDocument] = []
        for (index, library) in libraries.enumerated() {
            do {
                ended += try await working[index].look(at: library, now: now())
            } catch {
                // The store may be about to be made, or replaced.
                logger.debug("the shelf cannot be looked at", metadata: ["error": "\(error)"])
                await working[index].close()
            }
        }
        watchers = working
        let states = working.map(\.state)
        if states != self.states { number += 1 }
        self.states = states
        let now = now()
        seen = [
            "version": .string("\(epoch).\(number)"), "runs": .array(working.compactMap { $0.runDocument(at: now) }),
            "moving": .array(working.flatMap { $0.movingDocuments(at: now) }),
        ]
        for client in listeners.keys {
            // One that was told nothing yet has nothing to hear of.
            if var listener = listeners[client], listener.told != nil {
                listener.ended = (listener.ended + ended).suffix(Self.maxEnded)
                listeners[client] = listener
            }
            guard let waiter = listeners[client]?.waiter, let message = message(for: client) else { continue }
            waiter.resume(returning: message)
        }
    }
}
