import BookModel
import CatalogStore
import Foundation
import Support
import Testing

/// That what is noted of a book's counts is never what was true before.
@Suite(.limitedConcurrency) struct ShelfCountTests {
    struct Change: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var change: @Sendable (CatalogStore) async throws -> Void

        init(_ what: String, _ change: @escaping @Sendable (CatalogStore) async throws -> Void) {
            testDescription = what
            self.change = change
        }
    }

    static let changes = [
        Change("nothing") { _ in },
        Change("a new episode") { _ = try await $0.merge(samples(9...9), startingAt: 8, of: veterinary) },
        Change("an episode that is locked now") {
            _ = try await $0.merge([.bare(3)], startingAt: 2, of: veterinary)
        },
        Change("episodes that are gone") {
            _ = try await $0.finishListing(
                of: Book(identity: veterinary, title: "X"), proof: complete(1), seen: ["id1"])
        },
        Change("a tombstone") { try await $0.remove([.sample(4)], at: Date()) },
        Change("a file") { try await $0.finish([.sample(4)]) },
        Change("a file that is gone") { try await $0.forgetFile(of: .sample(1)) },
        Change("a file of another size") {
            var file = LocalFile.sample(1)
            file.size = 77
            try await $0.finish([file])
        },
        Change("files in another folder") {
            try await $0.updateFiles([.sample(1, path: "other/1.mp3"), .sample(2, path: "other/2.mp3")])
        },
        Change("a rename") { store async throws in
            let renames = [(EpisodeIdentity.sample(1), "new/1.mp3"), (.sample(2), "new/2.mp3")]
            try await store.complete(try await store.begin(.rename, renames, batch: Date()))
        },
        Change("another book") {
            let other = BookIdentity(source: "a", id: "b")
            _ = try await $0.merge(samples(1...2, of: other), startingAt: 0, of: other)
        },
    ]

    @Test(arguments: changes)
    func `what is listed is what is there`(_ change: Change) async throws {
        func build(_ store: CatalogStore, notes: Bool) async throws -> [BookSummary] {
            let then = Date(timeIntervalSince1970: 1)
            _ = try await store.merge(samples(1...6) + [.bare(7)], startingAt: 0, of: veterinary, at: then)
            try await store.finish([.sample(1), .sample(2)])
            if notes { try await store.updateShelfCounts() }
            try await change.change(store)
            let before = try await store.books()
            #expect(try await store.booksWithMissingEpisodes() == before.filter { $0.missing > 0 })
            if notes { try await store.updateShelfCounts() }
            #expect(try await store.books() == before)
            return before.map {
                var book = $0
                book.updatedAt = then
                return book
            }
        }
        let counted = try await withStore { try await build($0, notes: false) }
        #expect(try await withStore { try await build($0, notes: true) } == counted)
    }
}
