import Support
import Testing

@testable import BookSync

@Suite struct CatalogScheduleTests {
    private func schedule(
        _ servers: [String], jobs: Int = 16, jobsPerServer: Int = 2, doubted: Set<String> = []
    ) -> CatalogSchedule {
        var schedule = CatalogSchedule(jobs: jobs, jobsPerServer: jobsPerServer, doubted: doubted)
        schedule.add(servers.map { .init(server: $0, source: "source of \($0)") })
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
        schedule.add([2, 0, 1, 0].map { .init(server: "a", source: "feed", doubt: $0) })
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
        schedule.add([.init(server: "b", source: "b"), .init(server: "c", source: "c")])
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
        schedule.add(["a", "a", "a", "a", "b", "c"].map { .init(server: $0, source: "feed") })
        var asked: [Int] = []
        var givenUp: [Int] = []
        while let place = schedule.startNext() {
            asked.append(place)
            givenUp += schedule.end(place, place < 4 ? .rejected : .listed)
        }
        #expect(asked == [0, 1, 2, 4, 5])
        #expect(givenUp == [3])
    }

    @Test func `a server that was down last time is tried with one book`() {
        var schedule = schedule(["a", "a", "a", "b"], doubted: ["a"])
        #expect(started(&schedule) == [0, 3])
        #expect(schedule.end(0, .unreachable) == [1, 2])
        #expect(started(&schedule) == [])
    }

    @Test func `a server that is well again is asked as any other`() {
        var schedule = schedule(["a", "a", "a"], doubted: ["a"])
        #expect(started(&schedule) == [0])
        #expect(schedule.end(0, .listed) == [])
        #expect(started(&schedule) == [1, 2])
    }

    @Test(arguments: [1, 2, 1000])
    func `the work grows with the books, whatever servers they are on`(booksOfServer: Int) {
        let growth = OwnThread.growth(from: 2000) { count in
            // Half of the books are on one server, which is always busy.
            let servers = (0..<count).map { $0.isMultiple(of: 2) ? "busy" : "\($0 / booksOfServer)" }
            var schedule = schedule(servers, jobs: 4, jobsPerServer: 1, doubted: Set(servers.dropFirst(count / 2)))
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
