import BookModel
import Testing

@testable import BookSync
@testable import ShelfService

@Suite struct PendingRunsTests {
    private static let one = BookIdentity(source: "a", id: "1")
    private static let other = BookIdentity(source: "a", id: "2")

    private func item(_ book: BookIdentity, _ only: String? = nil, latest: Int? = nil) throws -> RunRequest.Item {
        RunRequest.Item(
            book: book, filter: EpisodeFilter(only: try only.map(SectionRanges.init(parsing:)), latest: latest))
    }

    @Test func `what is asked for meanwhile becomes one run`() throws {
        var errands = PendingRuns()
        errands.add(.fetch([try item(Self.one, "3")], force: false))
        errands.add(.fetch([try item(Self.other)], force: false))
        errands.add(.fetch([try item(Self.one, "5")], force: false))
        #expect(errands.waiting == [.fetch([try item(Self.one, "3,5"), try item(Self.other)], force: false)])
        #expect(errands.next() != nil)
        #expect(errands.next() == nil)
    }

    @Test func `a whole book, or everything, is taken out again`() throws {
        var errands = PendingRuns()
        errands.add(.fetch([try item(Self.one), try item(Self.other, "3")], force: false))
        errands.add(.mirror)
        #expect(errands.drop(allOf: [Self.one]) == 1)
        #expect(errands.waiting == [.fetch([try item(Self.other, "3")], force: false), .mirror])
        #expect(errands.drop(allOf: nil) == 1)
        #expect(errands.waiting.isEmpty)
    }

    @Test func `the whole book contains what is asked for of it`() throws {
        var errands = PendingRuns()
        errands.add(.fetch([try item(Self.one, "3")], force: false))
        errands.add(.fetch([try item(Self.one)], force: false))
        #expect(errands.waiting == [.fetch([try item(Self.one)], force: false)])
    }

    @Test func `what one run cannot do, and what is forced, are runs of their own`() throws {
        var errands = PendingRuns()
        errands.add(.fetch([try item(Self.one, "3")], force: false))
        errands.add(.fetch([try item(Self.one, latest: 2)], force: false))
        errands.add(.fetch([try item(Self.one, "4")], force: true))
        errands.add(.fetch([try item(Self.one, "5")], force: true))
        #expect(
            errands.waiting == [
                .fetch([try item(Self.one, "3")], force: false),
                .fetch([try item(Self.one, latest: 2)], force: false),
                .fetch([try item(Self.one, "4,5")], force: true),
            ])
    }

    @Test func `a mirror is one, and comes after what a user asked for`() throws {
        var errands = PendingRuns()
        errands.add(.mirror)
        errands.add(.fetch([try item(Self.one)], force: false))
        errands.add(.mirror)
        #expect(errands.waiting == [.fetch([try item(Self.one)], force: false), .mirror])
    }

    @Test func `what is cancelled before it began is not begun`() throws {
        var errands = PendingRuns()
        errands.add(.mirror)
        errands.add(.fetch([try item(Self.one, "3-7,9"), try item(Self.other)], force: false))
        errands.drop([Self.one: [5, 9], Self.other: [1]])
        #expect(
            errands.waiting == [
                .fetch([try item(Self.one, "3-4,6-7"), try item(Self.other)], force: false), .mirror,
            ])
        errands.drop([Self.one: Set(0...9)])
        #expect(errands.waiting == [.fetch([try item(Self.other)], force: false), .mirror])
        errands = PendingRuns()
        errands.add(.fetch([try item(Self.one, "3")], force: false))
        errands.drop([Self.one: [3]])
        #expect(errands.waiting.isEmpty)
    }

    @Test func `episodes of several books are fetched by their numbers`() throws {
        func episode(_ section: Int, of book: BookIdentity) -> EpisodeRecord {
            let identity = EpisodeIdentity(book: book, key: "k\(section)")
            return EpisodeRecord(episode: Episode(identity: identity, section: section, name: "x"))
        }
        let episodes = [episode(7, of: Self.other), episode(2, of: Self.one), episode(1, of: Self.one)]
        #expect(
            RunRequest.Item.items(of: episodes) == [try item(Self.one, "1-2"), try item(Self.other, "7")])
    }
}
