import Testing

@testable import BookSync

@Suite struct CatalogScheduleTests {
    private func schedule(
        _ servers: [String], jobs: Int = 16, jobsPerServer: Int = 2, doubted: Set<String> = []
    ) -> CatalogSchedule {
        CatalogSchedule(
            servers.map { .init(server: $0, source: "source of \($0)") }, jobs: jobs, jobsPerServer: jobsPerServer,
            doubted: doubted)
    }

    private func started(_ schedule: inout CatalogSchedule, turn: Int = 0, ahead: Bool = true) -> [Int] {
        var started: [Int] = []
        while let place = schedule.startNext(turn: turn, mayRunAhead: ahead) { started.append(place) }
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

    @Test func `in all no more are asked than are allowed`() {
        var schedule = schedule(["a", "b", "c", "d"], jobs: 3)
        #expect(started(&schedule) == [0, 1, 2])
    }

    @Test func `with enough ahead only the book whose turn it is begins`() {
        var schedule = schedule(["a", "b", "c"])
        #expect(started(&schedule, turn: 1, ahead: false) == [1])
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
        while let place = schedule.startNext(turn: 0, mayRunAhead: true) {
            guard place != 4 else { continue }
            asked += 1
            givenUp += schedule.end(place, outcome)
        }
        #expect(asked == min(vain, 5))
        #expect(givenUp == (vain == 3 ? [3, 5] : []))
    }

    @Test func `credentials that one server rejects are no reason to leave the source's other servers unasked`() {
        var schedule = CatalogSchedule(
            ["a", "a", "a", "a", "b", "c"].map { .init(server: $0, source: "feed") }, jobs: 1, jobsPerServer: 1)
        var asked: [Int] = []
        var givenUp: [Int] = []
        while let place = schedule.startNext(turn: 0, mayRunAhead: true) {
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

    @Test func `one that answers in between is not given up for some books that it cannot give`() {
        var schedule = schedule(Array(repeating: "a", count: 12), jobsPerServer: 1)
        for round in 0..<12 {
            guard let place = schedule.startNext(turn: 0, mayRunAhead: true) else { break }
            #expect(schedule.end(place, round % 4 == 0 ? .listed : .unreachable) == [])
        }
        #expect(started(&schedule) == [])
    }
}
