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
            #expect(late == (false, other.position))
            #expect(try await store.position(in: .sample(1)) == other.position)
            // Back on purpose, by a clock that goes after the other one's.
            let back = try await store.setPosition(position(1, 23, at: 6000), after: 7000)
            #expect(back == (true, position(1, 23, at: 7001, duration: 90)))
            // Who does not say what he knew replaces whatever is there.
            #expect(try await store.setPosition(position(1, 1, at: 1)).position.revision == 7002)
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
            let recorded = position(1, 77.25, at: 1_700_000_000_001)
            try await store.setPosition(recorded)
            var renamed = Episode.sample(1)
            renamed.name = "another"
            renamed.section = 9
            renamed.size = 5
            _ = try await store.merge([renamed], startingAt: 4, of: veterinary)
            try await store.complete(try await store.begin(.rename, [(.sample(1), to: "new/1.mp3")], batch: Date()))
            var replaced = LocalFile.sample(1, path: "new/1.mp3")
            replaced.size = 5
            try await store.finish([replaced])
            try await store.forgetFile(of: .sample(1))
            try await store.remove([.sample(1)], at: Date())
            _ = try await store.finishListing(
                of: Book(identity: veterinary, title: "Y"), proof: complete(1), seen: ["id2"])
            #expect(try await store.positions(of: veterinary) == [.sample(1): recorded])
        }
    }

    @Test func `a position unsettles no plan`() async throws {
        try await withStore { store in
            _ = try await store.merge(samples(1...2), startingAt: 0, of: veterinary)
            try await store.watchPlan(of: veterinary)
            let plan = CachedPlan(fingerprint: "abc", folders: [], totals: PlanTotals())
            try await store.saveCachedPlan(plan, of: veterinary)
            try await store.setPosition(position(1, 1, at: 1))
            try await store.setPosition(position(1, 2, at: 2))
            #expect(try await store.cachedPlan(of: veterinary) == plan)
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

    // MARK: Users

    @Test func `what a user listens to is theirs, and goes with them`() async throws {
        try await withStore { store in
            _ = try await store.merge(samples(1...3), startingAt: 0, of: veterinary)
            try await store.setPosition(position(1, 10, at: 1000))
            try await store.setSpeed(1.5, of: veterinary, for: User.owner.id)
            let lin = try await store.addUser(named: "小林", inherits: true)
            let kim = try await store.addUser(named: "Kim")
            #expect(try await store.addUser(named: "小林") == lin && lin != kim)
            #expect(try await store.userID(named: "Kim") == kim)
            // Where nobody knows what they may see, they see nothing.
            #expect(try await store.storedUsers().map(\.books) == [[], []])
            #expect(try await store.positions(of: veterinary).isEmpty)
            #expect(try await store.position(in: .sample(1), of: lin) == position(1, 10, at: 1000))
            #expect(try await store.speed(of: veterinary, for: lin) == 1.5)
            #expect(try await store.speed(of: veterinary, for: kim) == nil)
            var mine = position(1, 20, at: 500)
            mine.device = "Firefox, Android"
            #expect(try await store.setPosition(mine, of: kim, after: 0) == (true, mine))
            #expect(try await store.position(in: .sample(1), of: lin)?.seconds == 10)
            #expect(try await store.latestPositions(limit: 5, of: kim) == [mine])
            try await store.removeUser(named: "Kim")
            #expect(try await store.userID(named: "Kim") == nil)
            #expect(try await store.positions(of: veterinary, for: kim).isEmpty)
            // Nobody gets what another one left behind.
            #expect(try await store.addUser(named: "New") != kim)
        }
    }

    @Test func `bookmarks stand in the order of the book, and are their user's`() async throws {
        try await withStore { store in
            _ = try await store.merge(samples(1...2), startingAt: 0, of: veterinary)
            func mark(_ number: Int, _ seconds: Double, _ note: String) -> Bookmark {
                Bookmark(
                    id: 0, episode: .sample(number), seconds: seconds, note: note, createdAt: time(milliseconds: 5))
            }
            let late = try #require(try await store.add(mark(2, 5, "b"), for: 0))
            let early = try #require(try await store.add(mark(1, 90, ""), for: 0))
            let first = try #require(try await store.add(mark(1, 7, "a"), for: 0))
            #expect(try await store.bookmarks(of: veterinary, for: 0).map(\.id) == [first, early, late])
            #expect(try await store.bookmarks(of: veterinary, for: 0).map(\.note) == ["a", "", "b"])
            let kim = try await store.addUser(named: "Kim")
            #expect(try await store.bookmarks(of: veterinary, for: kim).isEmpty)
            #expect(try await !store.removeBookmark(late, of: kim))
            #expect(try await store.removeBookmark(late, of: 0))
            #expect(try await !store.removeBookmark(late, of: 0))
            for _ in 2..<Bookmark.maxCount { _ = try await store.add(mark(1, 1, ""), for: 0) }
            #expect(try await store.add(mark(1, 1, ""), for: 0) == nil)
        }
    }

    // MARK: Marks

    @Test func `episodes are marked one by one, up to one, and all of a book`() async throws {
        try await withStore { store in
            let other = BookIdentity(source: "a", id: "b")
            for book in [veterinary, other] {
                _ = try await store.merge(samples(1...5, of: book), startingAt: 0, of: book)
            }
            func played() async throws -> [Int] {
                let positions = try await store.positions(of: veterinary)
                return (1...5).filter { positions[.sample($0)]?.isFinished == true }
            }
            func mark(_ part: MarkedPart, _ isPlayed: Bool, of book: BookIdentity = veterinary) async throws -> Int {
                try await store.mark(part, of: book, asPlayed: isPlayed, for: 0, at: time(milliseconds: 9000))
            }
            try await store.setPosition(position(2, 30, at: 20_000, duration: 60))
            #expect(try await mark(.upTo(.sample(3)), true) == 3)
            #expect(try await played() == [1, 2, 3])
            // What a player knew is older now, by whatever clock.
            #expect(try await store.position(in: .sample(2))?.revision == 20_001)
            #expect(try await store.position(in: .sample(2))?.duration == 60)
            #expect(try await mark(.upTo(.sample(3)), true) == 0)
            #expect(try await mark(.episode(.sample(5)), true) == 1)
            #expect(try await played() == [1, 2, 3, 5])
            #expect(try await mark(.episode(.sample(2)), false) == 1)
            #expect(try await store.position(in: .sample(2)) == nil)
            #expect(try await mark(.whole, true) == 2)
            #expect(try await played() == [1, 2, 3, 4, 5])
            #expect(try await store.positions(of: other).isEmpty)
            #expect(try await mark(.whole, false) == 5)
            #expect(try await store.positions(of: veterinary).isEmpty)
        }
    }

    @Test func `a dismissed book is offered again when it is listened to again`() async throws {
        try await withStore { store in
            _ = try await store.merge(samples(1...2), startingAt: 0, of: veterinary)
            try await store.setPosition(position(1, 5, at: 1000))
            try await store.dismiss(veterinary, for: 0, at: time(milliseconds: 1000))
            #expect(try await store.latestPositions(limit: 5).isEmpty)
            try await store.setPosition(position(1, 6, at: 900))
            #expect(try await store.latestPositions(limit: 5).map(\.seconds) == [6])
        }
    }

    @Test func `how far a book was listened to is told by time where it is known`() async throws {
        try await withStore { store in
            _ = try await store.merge(samples(1...4), startingAt: 0, of: veterinary)
            #expect(try await store.listeningProgress(of: [veterinary], for: 0).isEmpty)
            for number in 1...4 {
                try await store.setPosition(position(number, 0, at: 1, duration: 100))
            }
            try await store.setPosition(position(1, 0, at: 2, duration: 100, isFinished: true))
            try await store.setPosition(position(2, 50, at: 2, duration: 100))
            let progress = try #require(try await store.listeningProgress(of: [veterinary], for: 0)[veterinary])
            #expect((progress.episodes, progress.played) == (4, 1))
            #expect(progress.seconds == 400 && progress.secondsHeard == 150 && progress.secondsLeft == 250)
            #expect(progress.share == 0.375)
        }
        let unknown = ListeningProgress(
            episodes: 10, played: 4, knownSeconds: 100, withKnownLength: 1, secondsHeard: 100)
        #expect(unknown.seconds == nil && unknown.share == 0.4 && unknown.secondsLeft == nil)
        let all = ListeningProgress(
            episodes: 10, played: 10, knownSeconds: 0, withKnownLength: 0, secondsHeard: 0)
        #expect(all.share == 1 && all.secondsLeft == 0)
        let half = ListeningProgress(
            episodes: 10, played: 5, knownSeconds: 500, withKnownLength: 5, secondsHeard: 500)
        #expect(half.seconds == 1000 && half.share == 0.5)
    }
}
