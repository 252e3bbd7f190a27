/// Which transfers run and which wait, for which server or until when. Knows no clock and starts nothing: times come
/// in as seconds on whatever clock the caller counts on.
struct TransferSchedule {
    struct Entry: Equatable {
        /// The transfer's index in the order that was asked for; also its name.
        let index: Int
        let server: String
        var notBefore: Double = 0
    }

    private let servers: [String]
    private let jobs: Int
    private let jobsPerHost: Int
    /// Of the transfers that come before all others: index → its rank among them.
    private var ranks: [Int: Int] = [:]
    /// In order, last first, since the next one is nearly always taken from the front of the order.
    private var waiting: [Entry]
    /// By their indices.
    private(set) var running: Set<Int> = []
    /// Places that help a running transfer along.
    private var lent = 0
    private var runningOnServer: [String: Int] = [:]
    /// Servers that asked to be left alone, and until when.
    private var throttledServers: [String: Double] = [:]

    /// - Parameter servers: of the transfers, in the order in which they are to start.
    init(servers: [String], jobs: Int, jobsPerHost: Int) {
        self.servers = servers
        self.jobs = jobs
        self.jobsPerHost = jobsPerHost
        waiting = servers.enumerated().map { Entry(index: $0.offset, server: $0.element) }.reversed()
    }

    var isEmpty: Bool { waiting.isEmpty && running.isEmpty }
    var isRunning: Bool { !running.isEmpty }

    /// Takes the first transfer that may start now.
    mutating func startNext(now: Double) -> Int? {
        guard running.count + lent < jobs else { return nil }
        let next = waiting.lastIndex { start(of: $0) <= now && runningOnServer[$0.server, default: 0] < jobsPerHost }
        guard let next else { return nil }
        let entry = waiting.remove(at: next)
        running.insert(entry.index)
        runningOnServer[entry.server, default: 0] += 1
        return entry.index
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
        return waiting.lazy
            .filter { runningOnServer[$0.server, default: 0] < jobsPerHost }
            .map(start(of:)).filter { $0 > now }.min()
    }

    private func start(of entry: Entry) -> Double {
        max(entry.notBefore, throttledServers[entry.server] ?? 0)
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
        guard wanted != ranks else { return [] }
        let moved = waiting.map(\.index).filter { wanted[$0] != nil && ranks[$0] == nil }
        ranks = wanted
        waiting = waiting.sorted { comesBefore($1.index, $0.index) }
        return moved
    }

    private func comesBefore(_ one: Int, _ other: Int) -> Bool {
        (ranks[one] ?? .max, one) < (ranks[other] ?? .max, other)
    }

    /// Takes a transfer that waits out of the schedule.
    /// - Returns: whether it was waiting.
    mutating func drop(_ index: Int) -> Bool {
        guard let position = waiting.firstIndex(where: { $0.index == index }) else { return false }
        waiting.remove(at: position)
        return true
    }

    /// Takes everything that waits, save for these, out of the schedule.
    mutating func keepWaiting(only indices: Set<Int>) {
        waiting.removeAll { !indices.contains($0.index) }
    }

    /// Frees the slot of a running transfer.
    mutating func end(_ index: Int) {
        guard running.remove(index) != nil else { return }
        runningOnServer[servers[index], default: 1] -= 1
    }

    /// Has a transfer that is no longer running wait for its next try, at its old index in the order.
    mutating func postpone(_ index: Int, until time: Double) {
        let position = waiting.firstIndex { comesBefore($0.index, index) } ?? waiting.endIndex
        waiting.insert(Entry(index: index, server: servers[index], notBefore: time), at: position)
    }
}
