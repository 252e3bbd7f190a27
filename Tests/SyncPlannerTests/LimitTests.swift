import BookModel
import Foundation
import Testing

@testable import SyncPlanner

@Suite struct LimitTests {
    private func outline(
        _ situations: [Situation], limits: RunLimits, order: TransferOrder = .first
    ) throws -> [String] {
        var input = try input(situations, order: order)
        input.rules.limits = limits
        return makePlan(for: input).outline
    }

    @Test func `what goes beyond so many episodes is left, in the order asked for`() throws {
        let book = [Situation(1).fetched(), Situation(2), Situation(3).partial(400), Situation(4)]
        #expect(
            try outline(book, limits: RunLimits(episodes: 2)) == [
                "fetch 2 Book/2.mp3", "resume 3 Book/3.mp3", "keep 1 Book/1.mp3", "skip limited 4 Book/4.mp3",
            ])
        #expect(
            try outline(book, limits: RunLimits(episodes: 2), order: .last) == [
                "fetch 4 Book/4.mp3", "resume 3 Book/3.mp3", "keep 1 Book/1.mp3", "skip limited 2 Book/2.mp3",
            ])
    }

    @Test(arguments: [(2000, 2), (1999, 1), (2600, 3), (5000, 4), (1, 0)] as [(Int64, Int)])
    func `bytes count as far as they are still to come, and from the first that does not fit on nothing begins`(
        bytes: Int64, begun: Int
    ) throws {
        let book = [Situation(1), Situation(2), Situation(3).partial(400), Situation(4).size(nil)]
        let plan = try outline(book, limits: RunLimits(bytes: bytes))
        #expect(plan.filter { !$0.hasPrefix("skip") }.count == begun, "\(plan)")
    }

    @Test func `what is left says why, and that it would have been fetched`() throws {
        var input = try input([Situation(1), Situation(2)])
        input.rules.limits = RunLimits(episodes: 1)
        #expect(
            makePlan(for: input).actions.last?.reason.description
                == "left for the next run, which the max-episodes of its subscription asks for; not on disk")
        input.rules.limits = RunLimits(bytes: 1500)
        #expect(makePlan(for: input).actions.last?.reason.description.contains("max-bytes") == true)
    }

    @Test func `a transfer of unknown length takes nothing from the bytes of those after it`() throws {
        let book = [Situation(1).size(nil), Situation(2)]
        #expect(try outline(book, limits: RunLimits(bytes: 1000)) == ["fetch 1 Book/1.mp3", "fetch 2 Book/2.mp3"])
        #expect(try outline(book, limits: RunLimits(bytes: 0)).allSatisfy { $0.hasPrefix("skip limited") })
    }

    @Test func `a replacement that is left replaces nothing`() throws {
        var input = try input([Situation().fetched().size(1200)])
        input.rules.limits = RunLimits(bytes: 1199)
        let action = try #require(makePlan(for: input).actions.first)
        #expect(action.kind == .skip(.limited))
        #expect(action.replacing == nil)
    }

    @Test func `rules that nothing was said of force nothing and limit nothing`() {
        let rules = PlanRules(now: noon)
        #expect(!rules.force)
        #expect(rules.onMissingFile == .fetch)
        #expect(rules.limits == RunLimits())
    }

    @Test func `no limit leaves nothing`() throws {
        #expect(try outline([Situation(1)], limits: RunLimits()) == ["fetch 1 Book/1.mp3"])
    }
}

@Suite struct SinceTests {
    private func wanted(_ since: String, _ dates: [Date?]) throws -> [Int] {
        let book = dates.enumerated().map { index, date in
            var situation = Situation(index + 1)
            situation.shelved.episode.publishedAt = date
            return situation
        }
        let filter = EpisodeFilter(since: try PublicationStart(parsing: since))
        return makePlan(for: try input(book, filter: filter)).actions.filter(\.kind.isTransfer).map(\.episode.section)
    }

    @Test func `what was published before is not asked for, and what has no date is`() throws {
        let day = 86_400.0
        let dates = [noon - 31 * day, noon - 30 * day, noon - 30 * day - 1, nil, noon, noon + day]
        #expect(try wanted("30d", dates) == [2, 4, 5, 6])
        #expect(try wanted("2026-11-21", [noon - day / 2, noon - day / 2 - 1]) == [1])
    }

    @Test func `it holds together with the other conditions`() throws {
        let since = try PublicationStart(parsing: "1d")
        #expect(EpisodeFilter(since: since).united(with: EpisodeFilter()) == nil)
        #expect(
            EpisodeFilter(latest: 1, since: since).united(with: EpisodeFilter(latest: 2, since: since))?.latest == 2)
    }
}
