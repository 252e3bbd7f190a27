/// Which transfers run and which wait, for which server or until when. Knows no clock and starts nothing: times come
/// in as seconds on whatever clock the caller counts on.
///
/// What waits is kept by server, so that what happens to one transfer costs the same whether ten wait or ten thousand.
struct TransferSchedule {
    /// What waits for one server.
    private struct Queue {
        /// Indices in the order in which they are to start, last first.
        var ready: [Int] = []
        /// Those that wait for their time, which they have by their indices.
        var postponed: [Int: Double] = [:]

        var isEmpty: Bool { ready.isEmpty && postponed.isEmpty }

        func contains(_ index: Int) -> Bool { postponed[index] != nil || ready.contains(index) }

        mutating func remove(_ index: Int) -> Bool {
            if postponed.removeValue(forKey: index) != nil { return true }
            guard let position = ready.lastIndex(of: index) else { return false }
            ready.remove(at: position)
            return true
        }
    }

    /// What comes before what, by the transfers' indices.
    private struct Order {
        var ranks: [Int] = []
        /// Of the transfers that come before all others: index → its rank among them.
        var preferences: [Int: Int] = [:]

        func comesBefore(_ one: Int, _ other: Int) -> Bool {
            (preferences[one] ?? .max, ranks[one], one) < (preferences[other] ?? .max, ranks[other], other)
        }

        func sort(_ queue: inout Queue) { queue.ready.sort { comesBefore($1, $0) } }
    }

    /// By the transfers' indices in the order in which they came, which are also their names.
    private var servers: [String] = []
    private var order = Order()
    private let jobs: Int
    private let jobsPerHost: Int
    /// By server; none is empty.
    private var queues: [String: Queue] = [:]
    /// By their indices.
    private(set) var running: Set<Int> = []
    /// Places that help a running transfer along.
    private var lent = 0
    private var runningOnServer: [String: Int] = [:]
    /// Servers that asked to be left alone, and until when.
    private var throttledServers: [String: Double] = [:]

    init(jobs: Int, jobsPerHost: Int) {
        self.jobs = jobs
        self.jobsPerHost = jobsPerHost
    }

    /// Has more transfers wait, each with its server. What has a lower rank starts before what has a higher one, and what
    /// came first before what came later.
    mutating func add(_ transfers: [(server: String, rank: Int)]) {
        var changed: Set<String> = []
        for (server, rank) in transfers {
            queues[server, default: Queue()].ready.append(servers.count)
            servers.append(server)
            order.ranks.append(rank)
            changed.insert(server)
        }
        let newOrder = order
        for server in changed { change(server) { newOrder.sort(&$0) } }
    }

    /// Has transfers that wait come no later than others of these ranks.
    mutating func raise(_ transfers: [(index: Int, rank: Int)]) {
        var changed: Set<String> = []
        for (index, rank) in transfers where rank < order.ranks[index] {
            order.ranks[index] = rank
            changed.insert(servers[index])
        }
        let newOrder = order
        for server in changed { change(server) { newOrder.sort(&$0) } }
    }

    var isEmpty: Bool { queues.isEmpty && running.isEmpty }

    /// Takes the first transfer that may start now.
    mutating func startNext(now: Double) -> Int? {
        guard running.count + lent < jobs else { return nil }
        var first: Int?
        for server in queues.keys where hasSlot(server) && throttledServers[server] ?? 0 <= now {
            endWaits(for: server, now: now)
            guard let next = queues[server]?.ready.last else { continue }
            if first.map({ order.comesBefore(next, $0) }) ?? true { first = next }
        }
        guard let first else { return nil }
        let server = servers[first]
        _ = change(server) { $0.ready.popLast() }
        running.insert(first)
        runningOnServer[server, default: 0] += 1
        return first
    }

    private func hasSlot(_ server: String) -> Bool { runningOnServer[server, default: 0] < jobsPerHost }

    /// Puts those whose time has come back into the order.
    private mutating func endWaits(for server: String, now: Double) {
        guard let due = queues[server]?.postponed.filter({ $0.value <= now }).keys, !due.isEmpty else { return }
        for index in due {
            queues[server]?.postponed[index] = nil
            let ready = queues[server]?.ready ?? []
            let position = ready.firstIndex { order.comesBefore($0, index) } ?? ready.endIndex
            queues[server]?.ready.insert(index, at: position)
        }
    }

    private mutating func change<Value>(_ server: String, _ change: (inout Queue) -> Value) -> Value {
        var queue = queues.removeValue(forKey: server) ?? Queue()
        let value = change(&queue)
        if !queue.isEmpty { queues[server] = queue }
        return value
    }

    /// The running transfers, first come first, that a slot could be lent to now. Call when nothing else can start.
    func mayBeHelped(now: Double) -> [Int] {
        guard running.count + lent < jobs else { return [] }
        return running.sorted().filter { index in
            runningOnServer[servers[index], default: 0] < jobsPerHost && !isServerThrottled(of: index, now: now)
        }
    }

    /// Has one more connection work on a running transfer.
    mutating func lend(to index: Int) {
        lent += 1
        runningOnServer[servers[index], default: 0] += 1
    }

    /// Ends that.
    mutating func giveBack(of index: Int) {
        lent -= 1
        runningOnServer[servers[index], default: 1] -= 1
    }

    /// When a transfer that only waits for its time could start; nil when time changes nothing.
    func nextWake(now: Double) -> Double? {
        guard running.count + lent < jobs else { return nil }
        return queues.lazy.filter { hasSlot($0.key) }.compactMap { server, queue in
            let free = throttledServers[server] ?? 0
            let own = queue.postponed.values.lazy.map { max($0, free) }.filter { $0 > now }.min()
            return queue.ready.isEmpty || free <= now ? own : free
        }.min()
    }

    /// Starts nothing from the transfer's server before `time`; what runs goes on.
    mutating func holdServer(of index: Int, until time: Double) {
        throttledServers[servers[index]] = max(time, throttledServers[servers[index]] ?? 0)
    }

    /// Whether nothing is to start from the transfer's server now.
    func isServerThrottled(of index: Int, now: Double) -> Bool {
        throttledServers[servers[index]] ?? 0 > now
    }

    /// Has these transfers, in this order, start before all others, and the others in the order that was asked for.
    /// - Returns: those that wait and did not come first before.
    @discardableResult
    mutating func prefer(_ indices: [Int]) -> [Int] {
        let wanted = Dictionary(indices.enumerated().map { ($0.element, $0.offset) }) { first, _ in first }
        guard wanted != order.preferences else { return [] }
        let moved = indices.filter { order.preferences[$0] == nil && queues[servers[$0]]?.contains($0) == true }
        order.preferences = wanted
        let newOrder = order
        for server in Array(queues.keys) { change(server) { newOrder.sort(&$0) } }
        return moved
    }

    /// Takes a transfer that waits out of the schedule.
    /// - Returns: whether it was waiting.
    mutating func drop(_ index: Int) -> Bool {
        change(servers[index]) { $0.remove(index) }
    }

    /// Takes what is meant of all that waits for a server out of the schedule.
    /// - Returns: what that is.
    mutating func dropWaiting(for server: String, where isMeant: (Int) -> Bool) -> [Int] {
        change(server) { queue in
            let dropped = (queue.ready + queue.postponed.keys).filter(isMeant)
            queue.ready.removeAll(where: isMeant)
            queue.postponed = queue.postponed.filter { !isMeant($0.key) }
            return dropped
        }
    }

    /// Takes everything that waits, save for these, out of the schedule.
    mutating func keepWaiting(only indices: Set<Int>) {
        for server in Array(queues.keys) {
            change(server) { queue in
                queue.ready.removeAll { !indices.contains($0) }
                queue.postponed = queue.postponed.filter { indices.contains($0.key) }
            }
        }
    }

    /// Frees the slot of a running transfer.
    mutating func end(_ index: Int) {
        guard running.remove(index) != nil else { return }
        runningOnServer[servers[index], default: 1] -= 1
    }

    /// Has a transfer that is no longer running wait for its next try, at its old index in the order.
    mutating func postpone(_ index: Int, until time: Double) {
        queues[servers[index], default: Queue()].postponed[index] = time
    }
}
