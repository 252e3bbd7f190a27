import BookModel
import Foundation
import Support
import Testing

@testable import CatalogStore

@Suite(.limitedConcurrency) struct ListeningTests {
    private func position(
        _ number: Int, of book: BookIdentity = veterinary, _ seconds: Double, at milliseconds: Int64,
        duration: Double? = nil, isFinished: Bool = false
    ) -> ListeningPosition {
        ListeningPosition(
            episode: .sample(number, of: book), seconds: seconds, duration: duration, isFinished: isFinished,
            updatedAt: time(milliseconds: milliseconds))
    }

    @Test func `the last position counts, and what was said of the length stays known`() async throws {
        try await withStore { store in
            _ = try await store.merge(samples(1...3), startingAt: 0, of: veterinary)
            #expect(try await store.positions(of: veterinary).isEmpty)
            try await store.setPosition(position(1, 12.5, at: 1_700_000_000_001, duration: 1234.5))
            try await store.setPosition(position(2, 0, at: 1_700_000_000_002))
            try await store.setPosition(position(1, 1234.5, at: 1_700_000_000_003, isFinished: true))
            #expect(
                try await store.positions(of: veterinary) == [
                    .sample(1): position(1, 1234.5, at: 1_700_000_000_003, duration: 1234.5, isFinished: true),
                    .sample(2): position(2, 0, at: 1_700_000_000_002),
                ])
        }
    }

    @Test func `a position that the player did not know of stays, and each change has a greater revision`() async throws
    {
        try await withStore { store in
            _ = try await store.merge(samples(1...1), startingAt: 0, of: veterinary)
            #expect(try await store.position(in: .sample(1)) == nil)
            let first = try await store.setPosition(position(1, 20, at: 5000), after: 0)
            #expect(first == (true, position(1, 20, at: 5000)))
            let other = try await store.setPosition(position(1, 61, at: 7000, duration: 90), after: 5000)
            #expect(other == (true, position(1, 61, at: 7000, duration: 90)))
            let late = try await store.setPosition(position(1, 23, at: 9000), after: 5000)
            #expect(late == (false, other.standing))
            #expect(try await store.position(in: .sample(1)) == other.standing)
            // Back on purpose, by a clock that goes after the other one's.
            let back = try await store.setPosition(position(1, 23, at: 6000), after: 7000)
            #expect(back == (true, position(1, 23, at: 7001, duration: 90)))
            // Who does not say what he knew replaces whatever is there.
            #expect(try await store.setPosition(position(1, 1, at: 1)).standing.revision == 7002)
        }
    }

    @Test func `of each book its last position is told, the last book first`() async throws {
        try await withStore { store in
            let other = BookIdentity(source: "a", id: "b")
            for book in [veterinary, other] {
                _ = try await store.merge(samples(1...3, of: book), startingAt: 0, of: book)
            }
            #expect(try await store.latestPositions(limit: 5).isEmpty)
            try await store.setPosition(position(2, 5, at: 3))
            try await store.setPosition(position(3, of: other, 6, at: 4))
            try await store.setPosition(position(1, 7, at: 1))
            #expect(
                try await store.latestPositions(limit: 5) == [
                    position(3, of: other, 6, at: 4), position(2, 5, at: 3),
                ])
            #expect(try await store.latestPositions(limit: 1) == [position(3, of: other, 6, at: 4)])
            // At the same millisecond.
            try await store.setPosition(position(3, 8, at: 3))
            #expect(try await store.latestPositions(limit: 5).count == 2)
        }
    }

    @Test func `a position stays with its episode when the catalog, the file and its name change`() async throws {
        try await withStore { store in
            _ = try await store.merge(samples(1...2), startingAt: 0, of: veterinary)
            try await store.finish([.sample(1)])
            let noted = position(1, 77.25, at: 1_700_000_000_001)
            try await store.setPosition(noted)
            var renamed = Episode.sample(1)
            renamed.name = "another"
            renamed.section = 9
            renamed.size = 5
            _ = try await store.merge([renamed], startingAt: 4, of: veterinary)
            try await store.intendRenames([(episode: .sample(1), to: "new/1.mp3")])
            try await store.completeRenames([.sample(1)])
            var replaced = LocalFile.sample(1, path: "new/1.mp3")
            replaced.size = 5
            try await store.finish([replaced])
            try await store.forgetFile(of: .sample(1))
            try await store.remove([.sample(1)], at: Date())
            _ = try await store.finishListing(
                of: Book(identity: veterinary, title: "Y"), proof: complete(1), seen: ["id2"])
            #expect(try await store.positions(of: veterinary) == [.sample(1): noted])
        }
    }

    @Test func `a position unsettles no plan`() async throws {
        try await withStore { store in
            _ = try await store.merge(samples(1...2), startingAt: 0, of: veterinary)
            try await store.watchPlan(of: veterinary)
            let plan = SettledPlan(fingerprint: "abc", folders: [], totals: PlanTotals())
            try await store.settle(plan, of: veterinary)
            try await store.setPosition(position(1, 1, at: 1))
            try await store.setPosition(position(1, 2, at: 2))
            #expect(try await store.settledPlan(of: veterinary) == plan)
        }
    }

    @Test(arguments: [-1, .nan, .infinity, 2e9])
    func `what is no position is refused`(seconds: Double) async throws {
        try await withStore { store in
            _ = try await store.merge(samples(1...1), startingAt: 0, of: veterinary)
            for wrong in [position(1, seconds, at: 1), position(1, 1, at: 1, duration: seconds)] {
                #expect(try await failure { try await store.setPosition(wrong) }?.kind == .defect)
            }
            #expect(try await failure { try await store.setPosition(position(9, 1, at: 1)) }?.kind == .defect)
            #expect(try await store.positions(of: veterinary).isEmpty)
        }
    }
}
