import BookModel
import Support
import Testing

@testable import DownloadEngine

@Suite struct TransferScheduleTests {
    /// Starts whatever may start now.
    private func startAll(_ schedule: inout TransferSchedule, now: Double = 0) -> [Int] {
        var started: [Int] = []
        while let place = schedule.startNext(now: now) { started.append(place) }
        return started
    }

    @Test func `transfers start in order, so many at once`() {
        var schedule = TransferSchedule(servers: ["a", "a", "a", "a", "a"], jobs: 2, jobsPerHost: 4)
        #expect(startAll(&schedule) == [0, 1])
        schedule.end(1)
        #expect(startAll(&schedule) == [2])
        schedule.end(0)
        schedule.end(2)
        #expect(startAll(&schedule) == [3, 4])
        #expect(!schedule.isEmpty)
        schedule.end(3)
        schedule.end(4)
        #expect(schedule.isEmpty)
        #expect(startAll(&schedule).isEmpty)
    }

    @Test func `no time is waited for while every place is taken`() {
        var schedule = TransferSchedule(servers: ["a", "b"], jobs: 1, jobsPerHost: 1)
        schedule.holdServer(of: 1, until: 5)
        #expect(startAll(&schedule) == [0])
        #expect(schedule.nextWake(now: 0) == nil)
        schedule.end(0)
        #expect(schedule.nextWake(now: 0) == 5)
    }

    @Test func `a server is held for less than a second too`() {
        var schedule = TransferSchedule(servers: ["a"], jobs: 1, jobsPerHost: 1)
        schedule.holdServer(of: 0, until: 0.5)
        #expect(schedule.isServerThrottled(of: 0, now: 0.4))
        #expect(schedule.nextWake(now: 0.4) == 0.5)
        #expect(!schedule.isServerThrottled(of: 0, now: 0.5))
        #expect(startAll(&schedule, now: 0.5) == [0])
    }

    @Test func `what waits for one server can be left, postponed transfers included`() {
        var schedule = TransferSchedule(servers: ["a", "a", "a", "b"], jobs: 1, jobsPerHost: 1)
        #expect(schedule.startNext(now: 0) == 0)
        schedule.end(0)
        schedule.postpone(0, until: 5)
        #expect(schedule.dropWaiting(for: "a") { $0 != 1 }.sorted() == [0, 2])
        #expect(schedule.dropWaiting(for: "c") { _ in true } == [])
        #expect(startAll(&schedule, now: 9) == [1])
        schedule.end(1)
        #expect(startAll(&schedule, now: 9) == [3])
        schedule.end(3)
        #expect(schedule.isEmpty)
    }

    @Test func `a place that nothing else can take is lent, and counts`() {
        var schedule = TransferSchedule(servers: ["a", "b"], jobs: 4, jobsPerHost: 2)
        #expect(startAll(&schedule) == [0, 1])
        #expect(schedule.mayBeHelped(now: 0) == [0, 1])
        schedule.lend(to: 0)
        // Its server has as many connections as it may get.
        #expect(schedule.mayBeHelped(now: 0) == [1])
        schedule.holdServer(of: 1, until: 5)
        #expect(schedule.mayBeHelped(now: 0).isEmpty)
        schedule.lend(to: 1)
        schedule.giveBack(of: 0)
        #expect(schedule.mayBeHelped(now: 5) == [0])
        schedule.end(0)
        schedule.postpone(0, until: 0)
        schedule.giveBack(of: 1)
        #expect(startAll(&schedule, now: 5) == [0])
    }

    @Test(arguments: [2, 4])
    func `a lent place is not there for a transfer that comes to wait`(jobsPerHost: Int) {
        var schedule = TransferSchedule(servers: ["a", "a"], jobs: 2, jobsPerHost: jobsPerHost)
        #expect(schedule.startNext(now: 0) == 0)
        schedule.lend(to: 0)
        #expect(schedule.startNext(now: 0) == nil)
        #expect(schedule.nextWake(now: 0) == nil)
        #expect(schedule.mayBeHelped(now: 0).isEmpty)
        schedule.giveBack(of: 0)
        #expect(schedule.startNext(now: 0) == 1)
    }

    @Test func `a server that is busy does not hold the others back`() {
        var schedule = TransferSchedule(servers: ["a", "a", "a", "b", "b"], jobs: 4, jobsPerHost: 1)
        #expect(startAll(&schedule) == [0, 3])
        schedule.end(3)
        #expect(startAll(&schedule) == [4])
        schedule.end(0)
        #expect(startAll(&schedule) == [1])
    }

    @Test func `a postponed transfer waits for its time and keeps its place in the order`() {
        var schedule = TransferSchedule(servers: ["a", "a", "a", "a"], jobs: 1, jobsPerHost: 1)
        #expect(startAll(&schedule) == [0])
        schedule.end(0)
        schedule.postpone(0, until: 5)
        #expect(schedule.nextWake(now: 0) == 5)
        #expect(startAll(&schedule, now: 4.9) == [1])
        // While every place is taken, time changes nothing.
        #expect(schedule.nextWake(now: 4.9) == nil)
        schedule.end(1)
        #expect(startAll(&schedule, now: 5) == [0])
        schedule.end(0)
        #expect(startAll(&schedule, now: 5) == [2])
        schedule.end(2)
        schedule.postpone(2, until: 5)
        #expect(startAll(&schedule, now: 5) == [2])
    }

    @Test func `the next wake is the earliest that a free place could use`() {
        var schedule = TransferSchedule(servers: ["a", "b", "c", "a"], jobs: 3, jobsPerHost: 1)
        #expect(startAll(&schedule) == [0, 1, 2])
        schedule.end(1)
        schedule.postpone(1, until: 9)
        schedule.end(2)
        schedule.postpone(2, until: 7)
        // 3 could start by the clock, and waits for its server: that is no matter of time.
        #expect(startAll(&schedule).isEmpty)
        #expect(schedule.nextWake(now: 0) == 7)
        #expect(schedule.nextWake(now: 8) == 9)
        #expect(schedule.nextWake(now: 9) == nil)
        #expect(!schedule.isEmpty)
    }

    @Test func `a held server starts nothing before its time, and the others go on`() {
        var schedule = TransferSchedule(servers: ["a", "a", "b", "a", "b"], jobs: 2, jobsPerHost: 2)
        #expect(startAll(&schedule) == [0, 1])
        // What runs goes on.
        schedule.end(0)
        schedule.holdServer(of: 0, until: 5)
        schedule.postpone(0, until: 1)
        #expect(schedule.isServerThrottled(of: 3, now: 4.9))
        #expect(!schedule.isServerThrottled(of: 2, now: 0))
        #expect(startAll(&schedule, now: 2) == [2])
        schedule.end(2)
        schedule.end(1)
        #expect(startAll(&schedule, now: 4.9) == [4])
        #expect(schedule.nextWake(now: 4.9) == 5)
        #expect(!schedule.isServerThrottled(of: 0, now: 5))
        #expect(startAll(&schedule, now: 5) == [0])
    }

    @Test func `of two times for a held server the later one counts`() {
        var schedule = TransferSchedule(servers: ["a", "b"], jobs: 2, jobsPerHost: 1)
        schedule.holdServer(of: 0, until: 5)
        schedule.holdServer(of: 0, until: 3)
        #expect(startAll(&schedule, now: 4) == [1])
        #expect(schedule.nextWake(now: 4) == 5)
        #expect(startAll(&schedule, now: 5) == [0])
    }

    @Test func `a transfer's own time counts also when its server is free again`() {
        var schedule = TransferSchedule(servers: ["a"], jobs: 1, jobsPerHost: 1)
        #expect(startAll(&schedule) == [0])
        schedule.end(0)
        schedule.holdServer(of: 0, until: 3)
        schedule.postpone(0, until: 7)
        #expect(schedule.nextWake(now: 0) == 7)
        #expect(startAll(&schedule, now: 3).isEmpty)
    }

    @Test func `selected transfers of one server are postponed, and none to an earlier time than its own`() {
        var schedule = TransferSchedule(servers: ["a", "a", "a", "b"], jobs: 4, jobsPerHost: 4)
        #expect(schedule.startNext(now: 0) == 0)
        schedule.end(0)
        schedule.postpone(0, until: 9)
        schedule.postponeWaiting(for: "a", until: 5) { $0 != 2 }
        #expect(startAll(&schedule, now: 4) == [2, 3])
        #expect(schedule.nextWake(now: 4) == 5)
        #expect(startAll(&schedule, now: 5) == [1])
        #expect(schedule.nextWake(now: 5) == 9)
        #expect(startAll(&schedule, now: 9) == [0])
    }

    @Test func `a server in trouble gets one transfer at a time, and all others once it responds`() {
        var schedule = TransferSchedule(servers: ["a", "a", "a", "a", "b"], jobs: 5, jobsPerHost: 4)
        #expect(schedule.startNext(now: 0) == 0)
        schedule.slowDown(serverOf: 0, to: nil, isRateLimit: false)
        schedule.end(0)
        #expect(startAll(&schedule, now: 1) == [1, 4])
        // One that ends without a response makes room for another attempt only.
        schedule.end(1)
        #expect(startAll(&schedule, now: 2) == [2])
        schedule.serverAnswered(2)
        for (server, rank) in [("a", 0), ("a", 0)] { schedule.add(for: server, rank: rank) }
        // Without an interval they start together.
        #expect(startAll(&schedule, now: 2) == [3, 5, 6])
    }

    /// Starts a transfer every 100 seconds and has its server respond.
    /// - Returns: the seconds after each start in which its server gets no other transfer; nil where none could start.
    private func intervals(afterStarts count: Int, of schedule: inout TransferSchedule) -> [Double?] {
        (1...count).map { number in
            let now = Double(number) * 100
            guard let started = schedule.startNext(now: now) else { return nil }
            schedule.serverAnswered(started)
            guard schedule.startNext(now: now) == nil else { return 0 }
            return schedule.nextWake(now: now).map { $0 - now }
        }
    }

    @Test func `after trouble there is an interval between starts, which each response halves until it is gone`() {
        var schedule = TransferSchedule(servers: Array(repeating: "a", count: 10), jobs: 10, jobsPerHost: 10)
        schedule.slowDown(serverOf: 0, to: 2, isRateLimit: false)
        #expect(intervals(afterStarts: 6, of: &schedule) == [2, 1, 0.5, 0.25, 0.125, 0.0625])
        schedule.serverAnswered(5)
        #expect(startAll(&schedule, now: 1000) == [6, 7, 8, 9])
    }

    @Test func `a response ends an interval of 50 ms`() {
        var schedule = TransferSchedule(servers: ["a", "a", "a"], jobs: 4, jobsPerHost: 4)
        schedule.slowDown(serverOf: 0, to: 0.05, isRateLimit: false)
        #expect(startAll(&schedule, now: 1) == [0])
        schedule.serverAnswered(0)
        #expect(startAll(&schedule, now: 2) == [1, 2])
    }

    @Test func `after a rate limit each response shortens the interval by a hundredth only`() {
        var schedule = TransferSchedule(servers: Array(repeating: "a", count: 4), jobs: 4, jobsPerHost: 4)
        schedule.slowDown(serverOf: 0, to: 2, isRateLimit: true)
        let milliseconds = intervals(afterStarts: 3, of: &schedule).map { (($0 ?? 0) * 1000).rounded() }
        #expect(milliseconds == [2000, 1980, 1960])
    }

    @Test(arguments: zip(1...4, [4.0, 8, 16, 30]))
    func `each further trouble doubles the interval, up to 30 seconds`(troubles: Int, interval: Double) {
        var schedule = TransferSchedule(servers: ["a", "a"], jobs: 2, jobsPerHost: 2)
        for _ in 1...troubles { schedule.slowDown(serverOf: 0, to: 4, isRateLimit: false) }
        #expect(intervals(afterStarts: 1, of: &schedule) == [interval])
    }

    @Test func `what is dropped does not start, and what runs cannot be dropped`() {
        var schedule = TransferSchedule(servers: ["a", "a", "a", "a"], jobs: 1, jobsPerHost: 1)
        #expect(startAll(&schedule) == [0])
        let dropped = [0, 2, 2].map { schedule.drop($0) }
        #expect(dropped == [false, true, false])
        schedule.dropWaiting { $0 != 3 }
        schedule.end(0)
        #expect(startAll(&schedule) == [3])
        schedule.end(3)
        #expect(schedule.isEmpty)
    }

    @Test func `ending what does not run changes nothing`() {
        var schedule = TransferSchedule(servers: ["a", "a"], jobs: 2, jobsPerHost: 1)
        schedule.end(0)
        #expect(startAll(&schedule) == [0])
        schedule.end(1)
        #expect(startAll(&schedule).isEmpty)
        schedule.end(0)
        schedule.end(0)
        #expect(startAll(&schedule) == [1])
    }

    /// What a schedule is by its description, in the plainest way.
    private struct PlainSchedule {
        let servers: [String]
        var waiting: [Int: Double]
        /// Of those that were raised.
        var ranks: [Int: Int] = [:]
        var held: [String: Double] = [:]
        var running: Set<Int> = []

        init(_ servers: [String]) {
            self.servers = servers
            waiting = Dictionary(uniqueKeysWithValues: servers.indices.map { ($0, 0) })
        }

        mutating func startNext(now: Double) -> Int? {
            guard running.count < 3 else { return nil }
            let order = servers.indices.sorted { (ranks[$0] ?? 0, $0) < (ranks[$1] ?? 0, $1) }
            let next = order.first { index in
                guard let time = waiting[index], time <= now, held[servers[index]] ?? 0 <= now else { return false }
                return running.filter { servers[$0] == servers[index] }.count < 2
            }
            if let next {
                waiting[next] = nil
                running.insert(next)
            }
            return next
        }
    }

    @Test func `what comes later waits by its rank, and may be raised`() {
        var schedule = TransferSchedule(servers: ["a", "a"], jobs: 1, jobsPerHost: 1)
        #expect(startAll(&schedule) == [0])
        for (server, rank) in [("a", 5), ("b", 5), ("a", -1), ("b", 0)] { schedule.add(for: server, rank: rank) }
        #expect(schedule.running == [0])
        var order: [Int] = []
        for next in 0..<5 {
            schedule.end(order.last ?? 0)
            if next == 3 { schedule.raise([(index: 3, rank: 1)]) }
            order += startAll(&schedule)
        }
        #expect(order == [4, 1, 5, 3, 2])
    }

    @Test func `a rank that is not lower than a transfer's own leaves it where it is`() {
        var schedule = TransferSchedule(jobs: 1, jobsPerHost: 1)
        for (server, rank) in [("a", 1), ("a", 1), ("b", 2)] { schedule.add(for: server, rank: rank) }
        schedule.raise([(index: 0, rank: 3), (index: 1, rank: 1), (index: 2, rank: 2)])
        var order: [Int] = []
        while let next = schedule.startNext(now: 0) {
            order.append(next)
            schedule.end(next)
        }
        #expect(order == [0, 1, 2])
        #expect(schedule.isEmpty)
    }

    @Test(arguments: 1...20)
    func `whatever happens, what starts is what comes first of those that may`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let servers = (0..<40).map { _ in ["a", "b", "c"].randomElement(using: &random) ?? "a" }
        var schedule = TransferSchedule(servers: servers, jobs: 3, jobsPerHost: 2)
        var plain = PlainSchedule(servers)
        for step in 0..<400 {
            let now = Double(step)
            let index = Int.random(in: servers.indices, using: &random)
            let later = now + Double(Int.random(in: 0...9, using: &random))
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                let rank = Int.random(in: -5...0, using: &random)
                schedule.raise([(index, rank)])
                plain.ranks[index] = min(rank, plain.ranks[index] ?? 0)
            case 1:
                schedule.holdServer(of: index, until: later)
                plain.held[servers[index]] = max(later, plain.held[servers[index]] ?? 0)
            case 2:
                #expect(schedule.drop(index) == (plain.waiting.removeValue(forKey: index) != nil))
            case 3, 4:
                guard let ended = plain.running.sorted().randomElement(using: &random) else { continue }
                schedule.end(ended)
                plain.running.remove(ended)
                schedule.postpone(ended, until: later)
                plain.waiting[ended] = later
            default:
                #expect(schedule.startNext(now: now) == plain.startNext(now: now))
                #expect(schedule.running == plain.running)
            }
        }
    }

    @Test func `the work grows with the transfers, however many servers they are on`() {
        let growth = OwnThread.growth(from: 1000) { count in
            var schedule = TransferSchedule(servers: (0..<count).map(String.init), jobs: 4, jobsPerHost: 1)
            var failed: Set<Int> = []
            var ended = 0
            for now in 0... where !schedule.isEmpty {
                let started = startAll(&schedule, now: Double(now))
                for index in started {
                    schedule.end(index)
                    // Each fails once, on a server that then asks to be left alone.
                    if failed.insert(index).inserted {
                        schedule.holdServer(of: index, until: Double(now + 20))
                        schedule.postpone(index, until: Double(now + 10))
                    } else {
                        ended += 1
                    }
                }
                if ended == count { break }
                _ = schedule.nextWake(now: Double(now))
            }
            #expect(ended == count)
        }
        // 4, and 16 where each start looks at every server.
        #expect(growth < 9)
    }

    @Test func `a server that was left alone while nothing waited for it wakes what comes to wait`() {
        var schedule = TransferSchedule(servers: ["a"], jobs: 2, jobsPerHost: 2)
        #expect(startAll(&schedule) == [0])
        schedule.holdServer(of: 0, until: 5)
        #expect(schedule.nextWake(now: 0) == nil)
        schedule.add(for: "a", rank: 0)
        #expect(startAll(&schedule, now: 1).isEmpty)
        #expect(schedule.nextWake(now: 1) == 5)
        #expect(startAll(&schedule, now: 5) == [1])
    }

    @Test(
        arguments: [(0, nil), (1, nil), (2, nil), (3, 1), (4, 4), (5, 16), (6, 64), (7, 168), (8, 168), (5000, 168)]
            as [(Int, Double?)])
    func `an episode that keeps failing waits longer between runs`(attempts: Int, hours: Double?) {
        #expect(EngineSettings.waitBetweenRuns(attempts: attempts) == hours.map { $0 * 3600 })
    }

    @Test(
        arguments: [
            ("http://kting.info:81/a.mp3", "http://kting.info:81"), ("HTTP://Kting.INFO/a.mp3", "http://kting.info"),
            ("https://kting.info/a.mp3?b=http://c", "https://kting.info"),
            ("http://kting.info?x=1", "http://kting.info"),
        ])
    func `a server is its scheme, host and port`(address: String, server: String) {
        #expect(TransferRequest(episode: .sample(1, address: address), path: "a.mp3").server == server)
    }
}

extension TransferSchedule {
    /// Of transfers to start in this order.
    fileprivate init(servers: [String], jobs: Int, jobsPerHost: Int) {
        self.init(jobs: jobs, jobsPerHost: jobsPerHost)
        for server in servers { add(for: server, rank: 0) }
    }
}
