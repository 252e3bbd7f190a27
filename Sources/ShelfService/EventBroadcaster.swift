import Foundation
import Logging

/// Shows clients what happens on the shelf, whichever process does it: through the store and the sizes of partial files.
///
/// While there is a client, the store is looked at four times a second, once for all of them; while there is none, never.
package actor EventBroadcaster {
    package typealias Client = Int

    package static let heartbeat = Broadcaster.heartbeat
    private static let interval = Duration.milliseconds(250)
    /// For so long without clients what was seen is remembered.
    private static let memory = Duration.seconds(60)

    private let library: String
    private let logger: Logger
    private let now: @Sendable () -> ContinuousClock.Instant
    private var broadcaster = Broadcaster()
    private var watcher = ShelfWatcher()
    private var wakeUp: CheckedContinuation<Void, Never>?
    private var isOver = false
    private var lastLook: ContinuousClock.Instant?

    /// - Parameter now: the clock.
    package init(
        library: String, logger: Logger, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.library = library
        self.logger = logger
        self.now = now
    }

    // MARK: Clients

    /// Begins to tell a client; see ``Broadcaster``.
    /// - Parameter lastEventID: of the last message that it had, as it says; nil for one that comes for the first time.
    /// - Returns: nil when nothing is told any more; else what it is sent first.
    package func join(lastEventID: String?) -> (client: Client, first: String)? {
        guard !isOver else { return nil }
        defer { awake() }
        return broadcaster.join(lastEventID: lastEventID, at: now())
    }

    /// Waits for what the client is to be sent next; never more often than looks are made, however quickly it reads.
    /// - Returns: nil when nothing is told any more.
    package func next(for client: Client) async -> String? {
        if let wire = broadcaster.kept(for: client, at: now()) { return wire }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard !Task.isCancelled, !isOver else { return continuation.resume(returning: nil) }
                broadcaster.wait(client) { continuation.resume(returning: $0) }
            }
        } onCancel: {
            Task { await self.leave(client) }
        }
    }

    /// Ends telling a client.
    package func leave(_ client: Client) { broadcaster.leave(client) }

    // MARK: Looking

    /// Looks and tells until the task is cancelled.
    package func work() async {
        while !Task.isCancelled {
            if broadcaster.isEmpty {
                await closeWatcher()
                await sleepUntilJoined()
                continue
            }
            if let lastLook, now() - lastLook > Self.memory {
                // What happened meanwhile is too much to tell.
                await closeWatcher()
                watcher = ShelfWatcher()
                broadcaster.reset()
            }
            lastLook = now()
            await look()
            do {
                try await Task.sleep(for: Self.interval)
            } catch {
                break
            }
        }
        isOver = true
        await closeWatcher()
        broadcaster.leaveAll()
    }

    private func sleepUntilJoined() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled || !broadcaster.isEmpty { continuation.resume() } else { wakeUp = continuation }
            }
        } onCancel: {
            Task { await self.awake() }
        }
    }

    private func awake() {
        wakeUp?.resume()
        wakeUp = nil
    }

    // The watcher is taken out while it works: others may come in meanwhile, and it is this task's alone.

    private func closeWatcher() async {
        var working = watcher
        await working.close()
        watcher = working
    }

    private func look() async {
        var working = watcher
        var events: [LiveEvent] = []
        do {
            events = try await working.look(at: library, now: now())
        } catch {
            // The store may be about to be made, or replaced.
            logger.debug("the shelf cannot be looked at", metadata: ["error": "\(error)"])
            await working.close()
        }
        watcher = working
        if working.sawOtherStore { broadcaster.reset() }
        let now = now()
        broadcaster.publish(events, whole: working.whole(at: now), at: now)
    }
}
