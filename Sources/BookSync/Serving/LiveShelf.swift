import BookModel
import CatalogStore
import Foundation
import Logging

/// Shows clients what happens on the shelf, whichever process does it: through the store and the sizes of partial files.
///
/// While there is a client, the store is looked at four times a second, once for all of them; while there is none, never.
/// Each client is told of a look's differences in one message. One that reads slowly is told of several looks at once, and
/// one that was away for longer than is kept is told to ask for everything anew.
package actor LiveShelf {
    /// A client that is told what happens.
    package struct Listener: Sendable, Hashable {
        fileprivate let number: Int
    }

    private struct Place {
        /// The last message that it was given.
        var cursor: Int
        /// Whether it has yet to be told what is under way at all.
        var wantsWhole: Bool
        /// Whether it has to ask for everything anew.
        var wantsReset = false
        var heardAt: ContinuousClock.Instant
        var waiter: CheckedContinuation<String?, Never>?
    }

    package static let heartbeat = ": heartbeat\n\n"
    private static let interval = Duration.milliseconds(250)
    private static let silence = Duration.seconds(15)
    /// For so long without clients what was seen is remembered.
    private static let memory = Duration.seconds(60)

    /// Clients at a time; beyond that the oldest makes room.
    private static let greatestCount = 128

    private let library: String
    private let logger: Logger
    private let now: @Sendable () -> ContinuousClock.Instant
    private var places: [Int: Place] = [:]
    private var lastListener = 0
    private var wakeUp: CheckedContinuation<Void, Never>?
    private var isOver = false
    private var ring = LiveRing(epoch: LiveShelf.newEpoch())
    private var sight = LiveSight()
    private var lastTick: ContinuousClock.Instant?

    /// - Parameter now: the clock.
    package init(
        library: String, logger: Logger, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.library = library
        self.logger = logger
        self.now = now
    }

    /// Another one for each process, so that nobody takes its messages for those of the one before.
    private static func newEpoch() -> String {
        String(UInt64.random(in: 0 ... .max), radix: 36)
    }

    // MARK: Clients

    /// Begins to tell a client.
    /// - Parameter lastEventID: of the last message that it had, as it says; nil for one that comes for the first time.
    /// - Returns: nil when nothing is told any more; else what it is sent first.
    package func join(lastEventID: String?) -> (listener: Listener, first: String)? {
        guard !isOver else { return nil }
        // Pages that were left hold a place until they are sent something.
        if places.count >= Self.greatestCount, let oldest = places.keys.min() { leave(Listener(number: oldest)) }
        lastListener += 1
        var place = Place(cursor: ring.last, wantsWhole: false, heardAt: now())
        var first = "retry: 2000\n"
        if let known = lastEventID.flatMap(ring.number(ofID:)) {
            place.cursor = known
            first += "\n"
        } else if lastEventID != nil {
            // After a look: what happens once the client has asked anew is news then, even if this is the first look of all.
            place.wantsReset = true
            first += "\n"
        } else {
            place.wantsWhole = true
            first += "id: \(ring.lastID)\n\n"
        }
        places[lastListener] = place
        awake()
        return (Listener(number: lastListener), first)
    }

    /// Waits for what the client is to be sent next.
    /// - Returns: nil when nothing is told any more.
    package func next(for listener: Listener) async -> String? {
        let number = listener.number
        guard !isOver, let place = places[number] else { return nil }
        if !place.wantsWhole, !place.wantsReset, let wire = ring.wire(after: place.cursor) {
            places[number]?.cursor = ring.last
            // Never more often than looks are made, however quickly it reads.
            places[number]?.heardAt = now()
            return wire
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled || isOver || places[number] == nil {
                    continuation.resume(returning: nil)
                } else {
                    places[number]?.waiter = continuation
                }
            }
        } onCancel: {
            Task { await self.leave(listener) }
        }
    }

    /// Ends telling a client.
    package func leave(_ listener: Listener) {
        places.removeValue(forKey: listener.number)?.waiter?.resume(returning: nil)
    }

    // MARK: Looking

    /// Looks and tells until the task is cancelled.
    package func work() async {
        while !Task.isCancelled {
            if places.isEmpty {
                await closeSight()
                await sleepUntilJoined()
                continue
            }
            if let lastTick, now() - lastTick > Self.memory {
                // What happened meanwhile is too much to tell.
                ring = LiveRing(epoch: Self.newEpoch())
                await closeSight()
                sight = LiveSight()
                places = places.mapValues { place in
                    var place = place
                    place.cursor = 0
                    place.wantsReset = !place.wantsWhole
                    return place
                }
            }
            lastTick = now()
            await tick()
            do {
                try await Task.sleep(for: Self.interval)
            } catch {
                break
            }
        }
        isOver = true
        await closeSight()
        for place in places.values { place.waiter?.resume(returning: nil) }
        places = [:]
    }

    private func sleepUntilJoined() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled || !places.isEmpty { continuation.resume() } else { wakeUp = continuation }
            }
        } onCancel: {
            Task { await self.awake() }
        }
    }

    private func awake() {
        wakeUp?.resume()
        wakeUp = nil
    }

    private func closeSight() async {
        var looking = sight
        await looking.close()
        sight = looking
    }

    private func tick() async {
        var looking = sight
        do {
            ring.append(try await looking.look(at: library, now: now()))
        } catch {
            // The store may be about to be made, or replaced.
            logger.debug("the shelf cannot be looked at", metadata: ["error": "\(error)"])
            await looking.close()
        }
        sight = looking
        let now = now()
        for (number, place) in places {
            guard let waiter = place.waiter else { continue }
            var wire: String?
            if place.wantsReset {
                wire = LiveRing.reset(id: ring.lastID)
            } else if place.wantsWhole {
                // What it missed meanwhile is in it.
                wire = LiveRing.wire(sight.whole(at: now), id: ring.lastID)
            } else {
                wire = ring.wire(after: place.cursor)
            }
            if wire == nil, now - place.heardAt >= Self.silence { wire = Self.heartbeat }
            guard let wire else { continue }
            places[number] = Place(cursor: ring.last, wantsWhole: false, heardAt: now)
            waiter.resume(returning: wire)
        }
    }
}
