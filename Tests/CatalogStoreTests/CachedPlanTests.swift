import BookModel
import CatalogStore
import Foundation
import Support
import Testing

/// That what is remembered of a plan is forgotten as soon as the store says anything else of the book.
@Suite(.limitedConcurrency) struct CachedPlanTests {
    struct Change: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var change: @Sendable (CatalogStore) async throws -> Void

        init(_ what: String, _ change: @escaping @Sendable (CatalogStore) async throws -> Void) {
            testDescription = what
            self.change = change
        }
    }

    private static let plan: CachedPlan = {
        var totals = PlanTotals()
        totals.keep = 2
        totals.skipped = [.locked: 1, .tombstone: 2, .gone: 3, .filtered: 4]
        return CachedPlan(fingerprint: "abc", folders: ["作者/书", "作者/书/\"2\""], totals: totals)
    }()

    static let changes = [
        Change("a new episode") { _ = try await $0.merge(samples(9...9), startingAt: 8, of: veterinary) },
        Change("another name") {
            var episode = Episode.sample(1)
            episode.name = "corrected"
            _ = try await $0.merge([episode], startingAt: 0, of: veterinary)
        },
        Change("another size") {
            var episode = Episode.sample(1)
            episode.size = 1
            _ = try await $0.merge([episode], startingAt: 0, of: veterinary)
        },
        Change("an episode that is locked now") { _ = try await $0.merge([.bare(3)], startingAt: 2, of: veterinary) },
        Change("episodes that are gone") {
            _ = try await $0.finishListing(
                of: Book(identity: veterinary, title: "X"), proof: complete(6), seen: ["id1"])
        },
        Change("another title") {
            _ = try await $0.finishListing(
                of: Book(identity: veterinary, title: "Y"), proof: complete(6), seen: Set((1...6).map { "id\($0)" }))
        },
        Change("another author") {
            _ = try await $0.finishListing(
                of: Book(identity: veterinary, title: "X", author: "A"), proof: complete(6),
                seen: Set((1...6).map { "id\($0)" }))
        },
        Change("a tombstone") { try await $0.remove([.sample(4)], at: Date()) },
        Change("a file") { try await $0.finish([.sample(4)]) },
        Change("a file that is gone") { try await $0.forgetFile(of: .sample(1)) },
        Change("a file that the catalog said something else about") {
            var file = LocalFile.sample(1)
            file.catalogSize = 77
            try await $0.finish([file])
        },
        Change("a name of the listener's") {
            var file = LocalFile.sample(1)
            file.isNamedByUser = true
            try await $0.updateFiles([file])
        },
        Change("a rename that is begun") {
            _ = try await $0.begin(.rename, [(.sample(1), to: "new/1.mp3")], batch: Date())
        },
        Change("a transfer") { try await $0.save([.sample(5)]) },
    ]

    private func list(_ store: CatalogStore) async throws {
        _ = try await store.merge(samples(1...6), startingAt: 0, of: veterinary)
        _ = try await store.finishListing(
            of: Book(identity: veterinary, title: "X"), proof: complete(6), seen: Set((1...6).map { "id\($0)" }))
    }

    private func fill(_ store: CatalogStore) async throws {
        try await list(store)
        try await store.finish([.sample(1), .sample(2)])
    }

    @Test(arguments: changes)
    func `what changes the book takes away what is remembered of its plan`(_ change: Change) async throws {
        try await withStore { store in
            try await fill(store)
            try await store.watchPlan(of: veterinary)
            #expect(try await store.cachedPlan(of: veterinary) == nil)
            try await store.saveCachedPlan(Self.plan, of: veterinary)
            #expect(try await store.cachedPlan(of: veterinary) == Self.plan)
            try await change.change(store)
            #expect(try await store.cachedPlan(of: veterinary) == nil)
        }
    }

    @Test(arguments: changes)
    func `what changes while the plan is made keeps it from being remembered`(_ change: Change) async throws {
        try await withStore { store in
            try await fill(store)
            try await store.watchPlan(of: veterinary)
            try await change.change(store)
            try await store.saveCachedPlan(Self.plan, of: veterinary)
            #expect(try await store.cachedPlan(of: veterinary) == nil)
        }
    }

    @Test func `a listing that changes nothing, and another book, leave it remembered`() async throws {
        try await withStore { store in
            try await fill(store)
            try await store.watchPlan(of: veterinary)
            try await store.saveCachedPlan(Self.plan, of: veterinary)
            try await list(store)
            let other = BookIdentity(source: "a", id: "b")
            _ = try await store.merge(samples(1...2, of: other), startingAt: 0, of: other)
            try await store.updateShelfCounts()
            try await store.watchPlan(of: veterinary)
            #expect(try await store.cachedPlan(of: veterinary) == Self.plan)
        }
    }

    @Test func `what is told of a transfer counts it alone, also where a plan is forgotten for it`() async throws {
        try await withStore { store in
            try await fill(store)
            try await store.watchPlan(of: veterinary)
            try await store.saveCachedPlan(Self.plan, of: veterinary)
            let episode = EpisodeIdentity(book: veterinary, key: "id4")
            #expect(try await store.pause([episode]) == 1)
            #expect(try await store.pause([episode]) == 0)
        }
    }

    @Test func `nothing is remembered of a book with a transfer, or of an unknown one`() async throws {
        try await withStore { store in
            try await fill(store)
            try await store.save([.sample(5)])
            for book in [veterinary, BookIdentity(source: "a", id: "b")] {
                try await store.watchPlan(of: book)
                try await store.saveCachedPlan(Self.plan, of: book)
                #expect(try await store.cachedPlan(of: book) == nil)
            }
        }
    }
}
