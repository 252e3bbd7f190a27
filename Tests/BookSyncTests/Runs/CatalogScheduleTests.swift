import Support
import Testing

@testable import BookSync

@Suite struct CatalogScheduleTests {
    private func schedule(
        _ servers: [String], jobs: Int = 16, jobsPerServer: Int = 2, runsInVain: [String: Int] = [:]
    ) -> CatalogSchedule {
        var schedule = CatalogSchedule(jobs: jobs, jobsPerServer: jobsPerServer, runsInVain: runsInVain)
        schedule.add(servers.map { .init(server: $0, source: "source of \($0)") }, doubts: servers.map { _ in 0 })
        return schedule
    }

    private func started(_ schedule: inout CatalogSchedule) -> [Int] {
        var started: [Int] = []
        while let place = schedule.startNext() { started.append(place) }
        return started
    }

    @Test func `of each server a few are asked at once, of several servers at the same time`() {
        var schedule = schedule(["a", "a", "a", "b", "b", "b", "a"])
        #expect(started(&schedule) == [0, 1, 3, 4])
        #expect(schedule.end(1, .listed) == [])
        #expect(started(&schedule) == [2])
        #expect(schedule.end(4, .listed) == [])
        #expect(started(&schedule) == [5])
    }

    @Test func `a book that could not be had last time is asked for behind the others of its server`() {
        var schedule = CatalogSchedule(jobs: 1, jobsPerServer: 1)
        schedule.add(Array(repeating: .init(server: "a", source: "feed"), count: 4), doubts: [2, 0, 1, 0])
        for index in [1, 3, 2, 0] {
            #expect(started(&schedule) == [index])
            #expect(schedule.end(index, .listed) == [])
        }
    }

    @Test func `in all no more are asked than are allowed`() {
        var schedule = schedule(["a", "b", "c", "d"], jobs: 3)
        #expect(started(&schedule) == [0, 1, 2])
    }

    @Test func `what joins comes before what waits`() {
        var schedule = schedule(["a", "a", "b", "b"], jobs: 2)
        #expect(started(&schedule) == [0, 1])
        schedule.add([.init(server: "b", source: "b"), .init(server: "c", source: "c")], doubts: [0, 0])
        _ = schedule.end(0, .listed)
        _ = schedule.end(1, .listed)
        #expect(started(&schedule) == [4, 5])
        #expect(schedule.giveUp() == [2, 3])
        #expect(schedule.giveUp() == [])
    }

    @Test(arguments: [
        (CatalogSchedule.Outcome.unreachable, 3), (.rejected, 3), (.refused, Int.max), (.elsewhere, Int.max),
        (.listed, Int.max),
    ])
    func `after three books in vain the others of the server are given up`(
        _ outcome: CatalogSchedule.Outcome, _ vain: Int
    ) {
        var schedule = schedule(["a", "a", "a", "a", "b", "a"], jobsPerServer: 1)
        var asked = 0
        var givenUp: [Int] = []
        while let place = schedule.startNext() {
            guard place != 4 else { continue }
            asked += 1
            givenUp += schedule.end(place, outcome)
        }
        #expect(asked == min(vain, 5))
        #expect(givenUp == (vain == 3 ? [3, 5] : []))
    }

    @Test func `credentials that one server rejects are no reason to leave the source's other servers unasked`() {
        var schedule = CatalogSchedule(jobs: 1, jobsPerServer: 1)
        let servers = ["a", "a", "a", "a", "b", "c"]
        schedule.add(servers.map { .init(server: $0, source: "feed") }, doubts: servers.map { _ in 0 })
        var asked: [Int] = []
        var givenUp: [Int] = []
        while let place = schedule.startNext() {
            asked.append(place)
            givenUp += schedule.end(place, place < 4 ? .rejected : .listed)
        }
        #expect(asked == [0, 1, 2, 4, 5])
        #expect(givenUp == [3])
    }

    @Test(arguments: [(1, 0, [1, 2]), (2, 1, [0, 2]), (3, 2, [0, 1]), (4, 0, [1, 2])])
    func `a server that was down last time is tried with one book, each night with another`(
        _ runs: Int, _ tried: Int, _ others: [Int]
    ) {
        var schedule = schedule(["a", "a", "a", "b"], runsInVain: ["a": runs])
        #expect(started(&schedule) == [tried, 3])
        #expect(schedule.end(tried, .unreachable) == others)
        #expect(started(&schedule) == [])
    }

    @Test(arguments: [(1, [1, 3, 2, 0]), (2, [3, 2, 0, 1]), (3, [2, 0, 1, 3])])
    func `of a server that was down last time the books that could be had come first, and each comes first one night`(
        _ runs: Int, _ order: [Int]
    ) {
        var schedule = CatalogSchedule(jobs: 1, jobsPerServer: 1, runsInVain: ["a": runs])
        schedule.add(Array(repeating: .init(server: "a", source: "feed"), count: 4), doubts: [2, 0, 1, 0])
        for index in order {
            #expect(started(&schedule) == [index])
            #expect(schedule.end(index, .listed) == [])
        }
    }

    @Test func `a server that is well again is asked as any other`() {
        var schedule = schedule(["a", "a", "a"], runsInVain: ["a": 1])
        #expect(started(&schedule) == [0])
        #expect(schedule.end(0, .listed) == [])
        #expect(started(&schedule) == [1, 2])
    }

    @Test(arguments: [1, 2, 1000])
    func `the work grows with the books, whatever servers they are on`(booksOfServer: Int) {
        let growth = OwnThread.growth(from: 2000) { count in
            // Half of the books are on one server, which is always busy.
            let servers = (0..<count).map { $0.isMultiple(of: 2) ? "busy" : "\($0 / booksOfServer)" }
            let runsInVain = Dictionary(servers.dropFirst(count / 2).map { ($0, 1) }) { $1 }
            var schedule = schedule(servers, jobs: 4, jobsPerServer: 1, runsInVain: runsInVain)
            var ended = 0
            while let index = schedule.startNext() {
                ended += 1 + schedule.end(index, servers[index] == "busy" ? .listed : .unreachable).count
                ended += schedule.startNext().map { 1 + schedule.end($0, .listed).count } ?? 0
            }
            #expect(ended == count)
        }
        // 4, and 16 where each book looks at every server, or at all that waits for its own.
        #expect(growth < 9)
    }

    @Test func `one that answers in between is not given up for some books that it cannot give`() {
        var schedule = schedule(Array(repeating: "a", count: 12), jobsPerServer: 1)
        for round in 0..<12 {
            guard let place = schedule.startNext() else { break }
            #expect(schedule.end(place, round % 4 == 0 ? .listed : .unreachable) == [])
        }
        #expect(started(&schedule) == [])
    }
}
