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

    private let libraries: [String]
    private let logger: Logger
    private let now: @Sendable () -> ContinuousClock.Instant
    private var broadcaster = Broadcaster()
    /// One for each library.
    private var watchers: [ShelfWatcher]
    private var wakeUp: CheckedContinuation<Void, Never>?
    private var isOver = false
    private var lastLook: ContinuousClock.Instant?

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
                await closeWatchers()
                await sleepUntilJoined()
                continue
            }
            if let lastLook, now() - lastLook > Self.memory {
                // What happened meanwhile is too much to tell.
                await closeWatchers()
                watchers = libraries.map { _ in ShelfWatcher() }
                broadcaster.reset()
            }
            lastLook = now()
            await look()
            do {
                // Many libraries are looked at less often, so that an idle server stays idle.
                try await Task.sleep(for: Self.interval * max(1, libraries.count / 8))
            } catch {
                break
            }
        }
        isOver = true
        await closeWatchers()
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

    // The watchers are taken out while they work: others may come in meanwhile, and they are this task's alone.

    private func closeWatchers() async {
        var working = watchers
        for index in working.indices { await working[index].close() }
        watchers = working
    }

    private func look() async {
        var working = watchers
        var events: [LiveEvent] = []
        for (index, library) in libraries.enumerated() {
            do {
                events += try await working[index].look(at: library, now: now())
            } catch {
                // The store may be about to be made, or replaced.
                logger.debug("the shelf cannot be looked at", metadata: ["error": "\(error)"])
                await working[index].close()
            }
        }
        watchers = working
        if working.contains(where: \.sawOtherStore) { broadcaster.reset() }
        let now = now()
        broadcaster.publish(events, whole: working.flatMap { $0.whole(at: now) }, at: now)
    }
}
