import BookModel
import Foundation
import Support
import Testing

@testable import SyncPlanner

@Suite struct ExpiryTests {
    private static let day = 86400.0

    /// Eight episodes of 1,000 bytes, the last of them published today and each other a day before the next; of them, those
    /// of the sections are on disk.
    private func shelf(_ present: ClosedRange<Int> = 1...8) -> [Situation] {
        (1...8).map { section in
            var situation = present.contains(section) ? Situation(section).fetched() : Situation(section)
            let published = noon.addingTimeInterval(Double(section - 8) * Self.day)
            situation.shelved.episode.publishedAt = published
            situation.shelved.file?.fetchedAt = published
            return situation
        }
    }

    private func plan(
        _ situations: [Situation], _ rule: KeepRule, heard: Set<Int> = [], isComplete: Bool = true, force: Bool = false,
        filter: EpisodeFilter = .init()
    ) throws -> (expired: [Int], fetched: [Int]) {
        var input = try input(situations, filter: filter, force: force)
        input.rules.keep = rule
        input.heard = Set(heard.map { "id\($0)" })
        input.isListingComplete = isComplete
        let actions = makePlan(for: input).actions
        #expect(actions.count == situations.count)
        return (
            actions.filter { $0.kind == .expire }.map(\.episode.section),
            actions.filter { $0.kind.isTransfer }.map(\.episode.section)
        )
    }

    @Test(
        arguments: [
            ("last 5", nil, [1, 2, 3]), ("last 1", nil, [1, 2, 3, 4, 5]), ("last 8", nil, []), ("4d", nil, [1, 2, 3]),
            ("unheard", nil, [1, 3]), ("last 2, 4d", nil, [1, 2, 3]), ("last 7, unheard", nil, [1]),
            // By bytes alone, and among what the other rules keep.
            (nil, 4500, [1, 2, 3, 4]), (nil, 1, [1, 2, 3, 4, 5]), ("last 6", 4500, [1, 2, 3, 4]),
            // What is unheard stays, however large.
            ("unheard", 1, [1, 3]),
        ] as [(String?, Int64?, [Int])])
    func `what expires by a rule`(text: String?, bytes: Int64?, expired: [Int]) throws {
        let rule = try #require(try KeepRule(storedText: text, maxBytes: bytes))
        #expect(try plan(shelf(), rule, heard: [1, 3, 8]).expired == expired)
    }

    @Test func `what would expire at once is not fetched, and everything else is`() throws {
        #expect(try plan(shelf(4...5), try KeepRule(parsing: "last 3")).fetched == [6, 7, 8])
        #expect(try plan(shelf(4...5), try KeepRule(parsing: "unheard"), heard: [1, 7]).fetched == [2, 3, 6, 8])
        #expect(try plan(shelf(4...5), KeepRule(maxBytes: 2500)).fetched == [7, 8])
    }

    @Test func `the newest files stay whatever the rule says, and from a listing that may be cut nothing expires`()
        throws
    {
        #expect(try plan(shelf(1...4), try KeepRule(parsing: "last 1")).expired == [1])
        #expect(try plan(shelf(1...3), try KeepRule(parsing: "last 1")).expired == [])
        #expect(try plan(shelf(), try KeepRule(parsing: "last 1"), isComplete: false).expired == [])
        #expect(try plan(shelf(), try KeepRule(parsing: "last 1"), force: true).expired == [])
    }

    @Test func `what the user edited, renamed or removed, and what the catalog dropped, does not expire`() throws {
        var situations = shelf()
        situations[0] = situations[0].standing(at: "Book/1.mp3", facts(size: 900, inode: 1))
        situations[1].shelved.file?.isNamedByUser = true
        situations[2] = situations[2].gone()
        situations[3] = situations[3].removed()
        // As long as it was, or accepted by the user since.
        situations[4] = situations[4].standing(at: "Book/5.mp3", facts(size: 1000, time: 99, inode: 5))
        #expect(try plan(situations, try KeepRule(parsing: "last 1")).expired == [])
    }

    @Test func `what the subscription does not follow takes no room`() throws {
        let followed = EpisodeFilter(only: SectionRanges([1...5]))
        #expect(try plan(shelf(1...5), KeepRule(maxBytes: 5000), filter: followed).expired == [])
        #expect(try plan(shelf(1...5), try KeepRule(parsing: "last 5"), filter: followed).expired == [])
    }

    @Test func `an archive that is opened, and a season that begins with 1 again, empty no shelf`() throws {
        // Numbers that came late, of episodes that are older than all.
        var archive = shelf()
        for section in 9...16 {
            var old = Situation(section)
            old.shelved.episode.publishedAt = noon.addingTimeInterval(-1000 * Self.day)
            archive.append(old)
        }
        let (expired, fetched) = try plan(archive, try KeepRule(parsing: "last 4"))
        #expect(expired == [1, 2, 3, 4] && fetched == [])
        // The newest of all have the lowest numbers.
        var season = shelf(4...8)
        for index in 0..<2 { season[index].shelved.episode.publishedAt = noon.addingTimeInterval(Self.day) }
        #expect(try plan(season, try KeepRule(parsing: "last 3")).fetched == [1, 2])
    }

    @Test func `nothing takes the turn of what was removed, or is locked for a while`() throws {
        var situations = shelf(6...8)
        situations[7] = situations[7].removed()
        #expect(try plan(situations, try KeepRule(parsing: "last 3")).fetched == [])
        situations[7] = Situation(8).locked()
        situations[7].shelved.episode.publishedAt = noon
        #expect(try plan(situations, try KeepRule(parsing: "last 3")).fetched == [])
    }

    @Test func `of what nobody knows the size of no more is fetched than fits by what is known`() throws {
        let unknown = shelf(8...8).map { $0.size(nil) }
        #expect(try plan(unknown, KeepRule(maxBytes: 2500)).fetched == [7])
        let nothing = shelf(8...8).map { situation in
            var situation = situation.size(nil)
            situation.shelved.file = nil
            situation.disk = [:]
            return situation
        }
        #expect(try plan(nothing, KeepRule(maxBytes: 2500)).fetched == [6, 7, 8])
    }

    @Test func `what came to disk of late is young, however old it is, and what has no date stays`() throws {
        var situations = shelf()
        situations[0].shelved.file?.fetchedAt = noon
        situations[1].shelved.episode.publishedAt = nil
        #expect(try plan(situations, try KeepRule(parsing: "2d")).expired == [2, 3, 4, 5])
        situations[1] = Situation(2)
        #expect(try plan(situations, try KeepRule(parsing: "2d")).fetched == [2])
    }

    @Test func `whatever the rule and the shelf, the floor and the unheard stay`() throws {
        var random = SeededGenerator(seed: 21)
        for _ in 0..<500 {
            var situations: [Situation] = []
            for section in 1...Int.random(in: 1...30, using: &random) {
                var situation = Bool.random(using: &random) ? Situation(section).fetched() : Situation(section)
                situation.shelved.episode.publishedAt =
                    Bool.random(using: &random)
                    ? noon.addingTimeInterval(-Double.random(in: 0...60, using: &random) * Self.day) : nil
                if Int.random(in: 0..<8, using: &random) == 0 { situation = situation.gone() }
                if Int.random(in: 0..<8, using: &random) == 0 { situation = situation.locked() }
                situations.append(situation)
            }
            let heard = Set((1...situations.count).filter { _ in Bool.random(using: &random) })
            let texts: [String?] = ["last 1", "last 5", "10d", "unheard", "last 2, unheard", nil]
            let bytes: Int64? = Bool.random(using: &random) ? Int64.random(in: 1...20_000, using: &random) : nil
            guard let rule = try KeepRule(storedText: texts.randomElement(using: &random) ?? nil, maxBytes: bytes)
            else {
                continue
            }
            let expired = try plan(situations, rule, heard: heard).expired
            let present = situations.filter { $0.shelved.file != nil && !$0.shelved.isGone }
            #expect(present.count - expired.count >= min(present.count, KeepRule.minFiles))
            if rule.isUnheard { #expect(expired.allSatisfy(heard.contains), "\(rule) \(expired) \(heard)") }
            #expect(Set(expired).isDisjoint(with: situations.filter(\.shelved.isGone).map(\.shelved.episode.section)))
        }
    }

    @Test(arguments: ["", "last", "last 0", "last x", "5", "30m", "-3d", "unheard 3", "last 5,", "everything"])
    func `what is no rule is refused`(text: String) {
        #expect { try KeepRule(parsing: text) } throws: { ($0 as? Failure)?.kind == .usage }
    }

    @Test(arguments: ["last 20", "30d", "unheard", "last 20, 4w, unheard"])
    func `a rule is written as it was read`(text: String) throws {
        #expect(try KeepRule(parsing: text).text == text)
    }
}
