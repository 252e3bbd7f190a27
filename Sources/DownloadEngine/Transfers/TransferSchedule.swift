import HeapModule

/// Which transfers run and which wait, for which server or until when. Knows no clock and starts nothing: times come
/// in as seconds on whatever clock the caller counts on.
///
/// The first transfer of each server is among those that may be next, so that what happens to one transfer costs the same
/// whether ten wait or ten thousand, and for one server or for ten thousand. What is no longer as a heap has it is passed
/// over when it comes to the top: nothing is looked for in a heap.
struct TransferSchedule {
    /// What comes before what.
    private struct Place: Comparable {
        var rank: Int
        var index: Int

        static func < (one: Place, other: Place) -> Bool {
            (one.rank, one.index) < (other.rank, other.index)
        }
    }

    /// A time that is waited for by a transfer, or by all that wait for its server.
    private struct Wake: Comparable {
        var time: Double
        var index: Int

        static func < (one: Wake, other: Wake) -> Bool { one.time < other.time }
    }

    private struct Server {
        /// Indices of what waits, for its time as well.
        var waiting: Set<Int> = []
        /// What waits for nothing but a slot.
        var ready = Heap<Place>()
        var running = 0
        /// Until when the server asked to be left alone.
        var throttledUntil = 0.0
        /// Whether one transfer has to show first that the server answers again.
        var isProbed = false
        /// Seconds between two starts, of a server that was in trouble.
        var interval = 0.0
        var nextStart = 0.0
        /// The factor by which the interval shrinks with each response.
        var recovery = 0.5

        /// When the next transfer may start.
        var free: Double { max(throttledUntil, nextStart) }

        mutating func start(now: Double) {
            running += 1
            nextStart = now + interval
        }

        mutating func slowDown(to first: Double?, isRateLimit: Bool) {
            isProbed = true
            if isRateLimit { recovery = 0.99 }
            if let first { interval = min(max(2 * interval, first), 30) }
        }
    }

    /// By the transfers' indices in the order in which they came, which are also their names.
    private var names: [String] = []
    private var ranks: [Int] = []
    private let jobs: Int
    private let jobsPerHost: Int
    private var servers: [String: Server] = [:]
    /// The first of each server that may start a transfer, and what was the first before.
    private var heads = Heap<Place>()
    /// By the indices of those that wait for their time.
    private var postponed: [Int: Double] = [:]
    private var wakes = Heap<Wake>()
    private var waiting = 0
    /// By their indices.
    private(set) var running: Set<Int> = []
    /// Places that help a running transfer along.
    private var lent = 0

    init(jobs: Int, jobsPerHost: Int) {
        self.jobs = jobs
        self.jobsPerHost = jobsPerHost
    }

    /// Has one more transfer wait for its server. What has a lower rank starts before what has a higher one, and what came first
    /// before what came later.
    mutating func add(for server: String, rank: Int) {
        names.append(server)
        ranks.append(rank)
        wait(names.count - 1)
    }

    /// Has transfers that wait come no later than others of these ranks.
    mutating func raise(_ transfers: [(index: Int, rank: Int)]) {
        for (index, rank) in transfers where rank < ranks[index] {
            ranks[index] = rank
            makeReady(index)
        }
    }

    var isEmpty: Bool { waiting == 0 && running.isEmpty }

    /// Takes the first transfer that may start now.
    mutating func startNext(now: Double) -> Int? {
        guard running.count + lent < jobs else { return nil }
        endWaits(now: now)
        while let first = heads.popMin() {
            let server = names[first.index]
            // It is offered again when a slot is free, or when the server is no longer to be left alone.
            guard firstReady(of: server) == first, hasSlot(server) else { continue }
            if let free = servers[server]?.free, free > now {
                wakes.insert(Wake(time: free, index: first.index))
                continue
            }
            running.insert(first.index)
            servers[server]?.start(now: now)
            drop(first.index)
            return first.index
        }
        return nil
    }

    private func hasSlot(_ name: String) -> Bool {
        let server = servers[name, default: Server()]
        return server.running < (server.isProbed ? 1 : jobsPerHost)
    }

    private func place(of index: Int) -> Place {
        Place(rank: ranks[index], index: index)
    }

    private mutating func wait(_ index: Int) {
        guard servers[names[index], default: Server()].waiting.insert(index).inserted else { return }
        waiting += 1
        makeReady(index)
    }

    /// Puts a transfer that waits for nothing but a slot into the order, where it belongs by now.
    private mutating func makeReady(_ index: Int) {
        let server = names[index]
        guard servers[server]?.waiting.contains(index) == true, postponed[index] == nil else { return }
        let place = place(of: index)
        servers[server]?.ready.insert(place)
        offer(server)
    }

    /// Has the first transfer of a server be among those that may be next.
    private mutating func offer(_ server: String) {
        if let first = firstReady(of: server) { heads.insert(first) }
    }

    private mutating func firstReady(of server: String) -> Place? {
        while let first = servers[server]?.ready.min {
            let isThere = servers[server]?.waiting.contains(first.index) == true && postponed[first.index] == nil
            if isThere, first == place(of: first.index) { return first }
            servers[server]?.ready.removeMin()
        }
        return nil
    }

    /// Puts those whose time has come back into the order.
    private mutating func endWaits(now: Double) {
        while let wake = firstWake(), wake.time <= now {
            wakes.removeMin()
            if postponed[wake.index] == wake.time { postponed[wake.index] = nil }
            makeReady(wake.index)
            offer(names[wake.index])
        }
    }

    /// The first time that something still waits for.
    private mutating func firstWake() -> Wake? {
        while let wake = wakes.min {
            let free = servers[names[wake.index]]?.free ?? 0
            let isOfServer = wake.time == free && firstReady(of: names[wake.index]) != nil
            let isOwn = postponed[wake.index] == wake.time
            if isOfServer || isOwn && wake.time >= free { return wake }
            wakes.removeMin()
            if isOwn { postpone(wake.index, until: free) }
        }
        return nil
    }

    /// The running transfers, first come first, that a slot could be lent to now. Call when nothing else can start.
    func mayBeHelped(now: Double) -> [Int] {
        guard running.count + lent < jobs else { return [] }
        return running.sorted().filter { hasSlot(names[$0]) && !isServerThrottled(of: $0, now: now) }
    }

    /// Has one more connection work on a running transfer.
    mutating func lend(to index: Int) {
        lent += 1
        servers[names[index]]?.running += 1
    }

    /// Ends that.
    mutating func giveBack(of index: Int) {
        lent -= 1
        freeSlot(of: names[index])
    }

    private mutating func freeSlot(of server: String) {
        servers[server]?.running -= 1
        offer(server)
    }

    /// When something that only waits for its time could start, or earlier where its server has no slot; nil when time
    /// changes nothing.
    mutating func nextWake(now: Double) -> Double? {
        guard running.count + lent < jobs else { return nil }
        endWaits(now: now)
        return firstWake()?.time
    }

    /// Starts nothing from the transfer's server before `time`; what runs goes on.
    mutating func holdServer(of index: Int, until time: Double) {
        guard time > servers[names[index]]?.throttledUntil ?? 0 else { return }
        servers[names[index]]?.throttledUntil = time
        wakes.insert(Wake(time: time, index: index))
    }

    /// Starts one transfer from the transfer's server, and others once that was answered.
    /// - Parameters:
    ///   - interval: seconds between two starts, doubled with each further trouble, up to 30; nil to start the others as fast as
    ///     before.
    ///   - isRateLimit: true if the server says that there are too many: for the rest of the run it is asked faster again only
    ///     slowly.
    mutating func slowDown(serverOf index: Int, to interval: Double?, isRateLimit: Bool) {
        servers[names[index]]?.slowDown(to: interval, isRateLimit: isRateLimit)
    }

    /// Starts the selected transfers that wait for a server no earlier than at `time`.
    mutating func postponeWaiting(for server: String, until time: Double, where isSelected: (Int) -> Bool) {
        for index in servers[server]?.waiting ?? [] where isSelected(index) && postponed[index] ?? 0 < time {
            postpone(index, until: time)
        }
        offer(server)
    }

    /// The transfer's server answers. It is asked faster again.
    mutating func serverAnswered(_ index: Int) {
        guard let server = servers[names[index]], server.isProbed || server.interval > 0 else { return }
        servers[names[index]]?.isProbed = false
        servers[names[index]]?.interval = server.interval > 0.05 ? server.interval * server.recovery : 0
        offer(names[index])
    }

    /// Whether nothing is to start from the transfer's server now.
    func isServerThrottled(of index: Int, now: Double) -> Bool {
        servers[names[index]]?.throttledUntil ?? 0 > now
    }

    /// Takes a transfer that waits out of the schedule.
    /// - Returns: whether it was waiting.
    @discardableResult
    mutating func drop(_ index: Int) -> Bool {
        guard servers[names[index]]?.waiting.remove(index) != nil else { return false }
        postponed[index] = nil
        waiting -= 1
        offer(names[index])
        return true
    }

    /// Takes what is meant of all that waits, for one server or for any, out of the schedule.
    /// - Returns: what that is.
    @discardableResult
    mutating func dropWaiting(for server: String? = nil, where isMeant: (Int) -> Bool) -> [Int] {
        let names = server.map { [$0] } ?? Array(servers.keys)
        let dropped = names.flatMap { servers[$0]?.waiting.filter(isMeant) ?? [] }
        for index in dropped { drop(index) }
        return dropped
    }

    /// Frees the slot of a running transfer.
    mutating func end(_ index: Int) {
        guard running.remove(index) != nil else { return }
        freeSlot(of: names[index])
    }

    /// Has a transfer that is no longer running wait for its next try, at its old index in the order.
    mutating func postpone(_ index: Int, until time: Double) {
        postponed[index] = time
        wakes.insert(Wake(time: time, index: index))
        wait(index)
    }
}
