import BookModel
import Foundation
import Testing

@testable import SyncPlanner

@Suite struct OrderTests {
    private let shelf = [
        Situation(3), Situation(1).fetched(), Situation(5), Situation(4).fetched(at: "old"), Situation(2).locked(),
        Situation(6).partial(10),
    ]

    @Test(arguments: [
        (TransferOrder.first, ["fetch 3", "fetch 5", "resume 6"]),
        (.last, ["resume 6", "fetch 5", "fetch 3"]),
        (.listed, ["fetch 3", "fetch 5", "resume 6"]),
    ])
    func `renames come first, then transfers as asked, then what stays`(
        order: TransferOrder, transfers: [String]
    ) throws {
        let plan = makePlan(for: try input(shelf, order: order))
        let words = plan.actions.map { "\($0.kind.keyword) \($0.episode.section)" }
        #expect(words == ["rename 4"] + transfers + ["keep 1", "skip 2"])
    }

    @Test func `the catalog's order is the order of the input`() throws {
        let plan = makePlan(for: try input(shelf.reversed(), order: .listed))
        #expect(plan.actions.filter(\.kind.isTransfer).map(\.episode.section) == [6, 5, 3])
    }

    @Test func `a chain of renames begins at its free end`() throws {
        let book = (1...4).map { Situation($0).fetched().wanting("Book/\($0 + 1).mp3") }
        let plan = makePlan(for: try input(book))
        #expect(plan.outline == (1...4).reversed().map { "rename \($0) Book/\($0 + 1).mp3" })
        #expect(plan.actions.first?.fromPath == "Book/4.mp3")
    }

    @Test func `a chain whose end is blocked stays as it is and says why`() throws {
        let book =
            (1...2).map { Situation($0).fetched().wanting("Book/\($0 + 1).mp3") }
            + [Situation(3).fetched().wanting("taken").standing(at: "taken", facts(inode: 99))]
        let plan = makePlan(for: try input(book))
        #expect(plan.outline == ["keep 1 Book/1.mp3", "keep 2 Book/2.mp3", "keep 3 Book/3.mp3"])
        #expect(
            plan.actions.map(\.reason.description) == [
                "on disk; keeps its old name for now: the file of episode 2 stands at Book/2.mp3",
                "on disk; keeps its old name for now: the file of episode 3 stands at Book/3.mp3",
                "on disk; keeps its old name for now: a file that booksync did not fetch stands at taken",
            ])
    }

    @Test func `names that go round in a circle are changed, the first one stepping aside`() throws {
        let book = [
            Situation(1).fetched().wanting("Book/2.mp3"), Situation(2).fetched().wanting("Book/3.mp3"),
            Situation(3).fetched().wanting("Book/1.mp3"), Situation(4).fetched().wanting("Book/2.mp3"),
        ]
        let plan = makePlan(for: try input(book))
        #expect(
            plan.outline == [
                "rename 1 Book/2.mp3", "rename 3 Book/1.mp3", "rename 2 Book/3.mp3", "keep 4 Book/4.mp3",
            ])
        #expect(plan.actions.first?.reason.description == "its name changed, and it swaps names with others")
        #expect(
            plan.actions.last?.reason.description
                == "on disk; keeps its old name for now: episode 1 will be at Book/2.mp3")
    }

    @Test func `two episodes that swapped their numbers swap their names`() throws {
        let book = [
            Situation(1).fetched(at: "Book/2.mp3", inode: 1), Situation(2).fetched(at: "Book/1.mp3", inode: 2),
        ]
        #expect(makePlan(for: try input(book)).outline == ["rename 1 Book/1.mp3", "rename 2 Book/2.mp3"])
    }

    @Test func `an episode is fetched to the place that a rename frees`() throws {
        let plan = makePlan(
            for: try input([
                Situation(1).wanting("Book/2.mp3"), Situation(2).fetched().wanting("Book/2 new.mp3"),
            ]))
        #expect(plan.outline == ["rename 2 Book/2 new.mp3", "fetch 1 Book/2.mp3"])
    }

    @Test func `nothing is fetched to where another episode's file stays`() throws {
        let plan = makePlan(for: try input([Situation(1).wanting("Book/2.mp3"), Situation(2).fetched()]))
        #expect(plan.outline == ["keep 2 Book/2.mp3", "skip obstructed 1 Book/2.mp3"])
        #expect(plan.actions.last?.reason.description == "the file of episode 2 stands at Book/2.mp3; it is left alone")
    }

    @Test func `of two episodes with one name the lower section gets it`() throws {
        let plan = makePlan(for: try input([Situation(2).wanting("one"), Situation(1).wanting("one")]))
        #expect(plan.outline == ["fetch 1 one", "skip obstructed 2 one"])
        #expect(plan.actions.last?.reason.description == "episode 1 will be at one")
    }

    @Test func `of two episodes with one section the key decides, whatever the catalog's order`() throws {
        var twin = Situation(2)
        twin.shelved.episode.section = 1
        for book in [[Situation(1), twin], [twin, Situation(1)]] {
            #expect(makePlan(for: try input(book)).actions.map(\.episode.identity.key) == ["id1", "id2"])
        }
    }

    @Test func `of two records with one path the file is that one's whose inode it has`() throws {
        let deleted = Situation(1).fetched(at: "one").standing(at: "one", nil)
        let plan = makePlan(for: try input([deleted, Situation(2).fetched(at: "one").wanting("one")]))
        #expect(plan.outline == ["fetch 1 Book/1.mp3", "keep 2 one"])
        #expect(plan.actions.first?.reason.description == "deleted from disk since it was fetched")
    }

    @Test(.timeLimit(.minutes(1)))
    func `a book of ten thousand episodes that are all renumbered is planned in no time`() throws {
        let book = (1...10_000).map { Situation($0).fetched().wanting("Book/\($0 + 1).mp3") }
        let plan = makePlan(for: try input(book))
        #expect(plan.totals.rename == 10_000)
    }
}

@Suite struct FilterTests {
    private let book = (1...9).map { Situation($0, name: $0 % 2 == 0 ? "第\($0)集 序(上)" : "第\($0)集 Ending") }

    private func wanted(_ filter: EpisodeFilter, _ situations: [Situation]? = nil) throws -> [Int] {
        makePlan(for: try input(situations ?? book, filter: filter)).actions.filter(\.kind.isTransfer)
            .map(\.episode.section)
    }

    @Test func `sections, names and the latest are all heeded`() throws {
        #expect(try wanted(EpisodeFilter(only: SectionRanges([2...3, 8...20]))) == [2, 3, 8, 9])
        #expect(try wanted(EpisodeFilter(latest: 3)) == [7, 8, 9])
        #expect(try wanted(EpisodeFilter(latest: 300)) == Array(1...9))
        #expect(try wanted(EpisodeFilter(latest: 0)) == [])
        #expect(try wanted(EpisodeFilter(match: "序")) == [2, 4, 6, 8])
        #expect(try wanted(EpisodeFilter(match: "(?i)ending$", exclude: "第[13]集")) == [5, 7, 9])
        #expect(try wanted(EpisodeFilter(latest: 4, match: "序")) == [6, 8])
    }

    @Test func `the latest are counted without those that are gone, and with those that are there`() throws {
        var book = book
        book[8] = book[8].gone()
        book[7] = book[7].fetched()
        #expect(try wanted(EpisodeFilter(latest: 3), book) == [6, 7])
    }

    @Test(arguments: ["(", "[a", "*"])
    func `an expression that cannot be read is a usage failure that quotes it`(pattern: String) throws {
        let failure = try #require(throws: Failure.self) { try CompiledFilter(EpisodeFilter(match: pattern)) }
        #expect(failure.kind == .usage)
        #expect(failure.what.description.contains("'\(pattern)' of match"))
        #expect(!failure.why.description.isEmpty)
    }
}
