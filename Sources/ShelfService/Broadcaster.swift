/// Those who are told what happens on the shelf, and what each of them is to be sent. Pure: instants are given.
///
/// Each client is told of a look's differences in one message. One that reads slowly is told of several looks at once, and
/// one that was away for longer than is kept is told to ask for everything anew.
struct Broadcaster: Sendable {
    typealias Client = Int
    /// Takes what a client is sent next; nil where nothing comes any more.
    typealias Waiter = @Sendable (String?) -> Void

    private struct ClientState: Sendable {
        /// The last message that it was given.
        var cursor: Int
        /// Whether it has yet to be told what is under way at all.
        var wantsWhole = false
        /// Whether it has to ask for everything anew.
        var wantsReset = false
        var heardAt: ContinuousClock.Instant
        var waiter: Waiter?
    }

    static let heartbeat = ": heartbeat\n\n"
    private static let silence = Duration.seconds(15)
    /// Clients at a time; beyond that the oldest makes room.
    private static let maxClients = 128

    private var buffer = Self.newBuffer()
    private var states: [Client: ClientState] = [:]
    private var lastClient = 0

    var isEmpty: Bool { states.isEmpty }

    /// Of another epoch for each process, so that nobody takes its messages for those of the one before.
    private static func newBuffer() -> ReplayBuffer {
        ReplayBuffer(epoch: String(UInt64.random(in: 0 ... .max), radix: 36))
    }

    /// Begins to tell a client.
    /// - Parameter lastEventID: of the last message that it had, as it says; nil for one that comes for the first time.
    /// - Returns: and what it is sent first.
    mutating func join(lastEventID: String?, at now: ContinuousClock.Instant) -> (client: Client, first: String) {
        // Pages that were left hold a slot until they are sent something.
        if states.count >= Self.maxClients, let oldest = states.keys.min() { leave(oldest) }
        lastClient += 1
        var state = ClientState(cursor: buffer.last, heardAt: now)
        var first = "retry: 2000\n"
        if let known = lastEventID.flatMap(buffer.number(ofID:)) {
            state.cursor = known
        } else if lastEventID != nil {
            // After a look: what happens once the client has asked anew is news then, even if this is the first look of all.
            state.wantsReset = true
        } else {
            state.wantsWhole = true
            first += "id: \(buffer.lastID)\n"
        }
        states[lastClient] = state
        return (lastClient, first + "\n")
    }

    /// Ends telling a client.
    mutating func leave(_ client: Client) {
        states.removeValue(forKey: client)?.waiter?(nil)
    }

    mutating func leaveAll() {
        for client in states.keys { leave(client) }
    }

    /// What the client is to be sent at once, from what is kept.
    mutating func kept(for client: Client, at now: ContinuousClock.Instant) -> String? {
        guard let state = states[client], !state.wantsWhole, !state.wantsReset,
            let wire = buffer.wire(after: state.cursor)
        else { return nil }
        states[client] = ClientState(cursor: buffer.last, heardAt: now)
        return wire
    }

    /// Has a client be sent what comes next.
    mutating func wait(_ client: Client, _ waiter: @escaping Waiter) {
        guard states[client] != nil else { return waiter(nil) }
        states[client]?.waiter = waiter
    }

    /// Forgets what was kept, which is too much to tell: everybody has to ask anew.
    mutating func reset() {
        buffer = Self.newBuffer()
        for (client, state) in states {
            states[client]?.cursor = 0
            states[client]?.wantsReset = !state.wantsWhole
        }
    }

    /// Tells those who wait, and keeps it for the others.
    /// - Parameters:
    ///   - events: of the last look.
    ///   - whole: what is under way, for those who know nothing of it.
    mutating func publish(_ events: [LiveEvent], whole: @autoclosure () -> [LiveEvent], at now: ContinuousClock.Instant)
    {
        buffer.append(events)
        for (client, state) in states {
            guard let waiter = state.waiter else { continue }
            var wire: String?
            if state.wantsReset {
                wire = ReplayBuffer.reset(id: buffer.lastID)
            } else if state.wantsWhole {
                // What it missed meanwhile is in it.
                wire = ReplayBuffer.wire(whole(), id: buffer.lastID)
            } else {
                wire = buffer.wire(after: state.cursor)
            }
            if wire == nil, now - state.heardAt >= Self.silence { wire = Self.heartbeat }
            guard let wire else { continue }
            states[client] = ClientState(cursor: buffer.last, heardAt: now)
            waiter(wire)
        }
    }
}
