import BookModel
import Foundation
import Support
import Testing

@testable import CatalogStore

@Suite(.limitedConcurrency) struct ShelfTests {
    @Test func `a book comes back as it was listed`() async throws {
        try await withStore { store async throws in
            #expect(try await store.book(veterinary) == nil)
            var book = Book(
                identity: veterinary, title: "回到古代当兽医", author: "甲", narrator: "乙", summary: "一\n二",
                cover: ResourceAddress("http://h/c.jpg"), declaredEpisodes: 500, isComplete: true)
            _ = try await store.finishListing(of: book, proof: complete(500), seen: [])
            #expect(try await store.book(veterinary) == book)
            book = Book(identity: veterinary, title: "T", isComplete: true)
            let proof = ListingProof(declared: nil, collected: 0, isComplete: true)
            _ = try await store.finishListing(of: book, proof: proof, seen: [])
            #expect(try await store.book(veterinary) == book)
        }
    }

    @Test func `a book has its id for a title until one is known`() async throws {
        try await withStore { store async throws in
            _ = try await store.merge(samples(1...1), startingAt: 0, of: veterinary)
            #expect(try await store.book(veterinary)?.title == "Book 30776")
        }
    }

    @Test func `episodes come back with all that is known of them, in order`() async throws {
        try await withStore { store async throws in
            let listed: [Episode] = [.sample(3), .bare(2), .sample(1), .sample(4)]
            _ = try await store.merge(listed, startingAt: 0, of: veterinary)
            try await store.finish([.sample(3), .sample(4)])
            try await store.save([.sample(1), .sample(4)])
            try await store.remove([.sample(2)], at: time(milliseconds: 1_700_000_000_777))
            let shelved = try await store.episodes(of: veterinary)
            var expected = [
                EpisodeRecord(episode: .sample(1), transfer: .sample(1)),
                EpisodeRecord(episode: .bare(2), removedAt: time(milliseconds: 1_700_000_000_777)),
                EpisodeRecord(episode: .sample(3), file: .sample(3)),
                EpisodeRecord(episode: .sample(4), file: .sample(4), transfer: .sample(4)),
            ]
            for index in expected.indices {
                (expected[index].episode.chapters, expected[index].episode.chaptersAddress) = (nil, nil)
            }
            #expect(shelved == expected)
            let one = EpisodeRecord(episode: .sample(4), file: .sample(4), transfer: .sample(4))
            #expect(try await store.episode(.sample(4)) == one)
            #expect(try await store.episode(section: 4, of: veterinary) == one)
            #expect(try await store.episode(section: 9, of: veterinary) == nil)
            #expect(try await store.episodes(of: BookIdentity(source: "x", id: "y")).isEmpty)
        }
    }

    @Test func `a section that two episodes claim is the one still listed`() async throws {
        try await withStore { store async throws in
            var successor = Episode.sample(1)
            successor.identity = .sample(2)
            _ = try await store.merge([.sample(1), successor], startingAt: 0, of: veterinary)
            #expect(try await store.episode(section: 1, of: veterinary)?.episode.identity == .sample(1))
            let book = Book(identity: veterinary, title: "T")
            _ = try await store.finishListing(of: book, proof: complete(1), seen: ["id2"])
            #expect(try await store.episode(section: 1, of: veterinary)?.episode.identity == .sample(2))
        }
    }

    @Test func `a tombstone can be taken away`() async throws {
        try await withStore { store async throws in
            _ = try await store.merge(samples(1...1), startingAt: 0, of: veterinary)
            try await store.remove([.sample(1)], at: time(milliseconds: 5))
            try await store.forgetRemovals(of: [.sample(1)])
            #expect(try await store.episode(.sample(1))?.removedAt == nil)
        }
    }

    @Test func `the shelf counts what is listed, missing, locked and present`() async throws {
        try await withStore { store async throws in
            var page = samples(1...9)
            page[0].address = nil  // locked
            page[1].address = nil  // locked, and on disk from before
            _ = try await store.merge(page, startingAt: 0, of: veterinary)
            let book = Book(identity: veterinary, title: "T")
            try await store.finish([
                .sample(2, path: "B/2.mp3"), .sample(3, path: "A/x/3.mp3"), .sample(4, path: "B/4.mp3"),
                .sample(5, path: "5.mp3"),
            ])
            try await store.remove([.sample(6)], at: time(milliseconds: 5))
            // 4 is gone with its file, 9 without one.
            _ = try await store.finishListing(
                of: book, proof: complete(7), seen: ["id1", "id2", "id3", "id5", "id6", "id7", "id8"],
                at: time(milliseconds: 99))
            let shelf = try #require(try await store.books().first)
            var stored = book
            stored.declaredEpisodes = 7
            stored.isComplete = true
            #expect(
                shelf
                    == BookSummary(
                        book: stored, episodes: 8, missing: 2, locked: 1, present: 4, bytes: 4000, path: "B",
                        updatedAt: time(milliseconds: 99)))
        }
    }

    @Test func `the shelf holds all books by identity, or those asked for as asked`() async throws {
        try await withStore { store async throws in
            let books = [("b", "2"), ("b", "1"), ("a", "3")].map(BookIdentity.init(source:id:))
            for book in books {
                _ = try await store.finishListing(of: Book(identity: book, title: "T"), proof: complete(0), seen: [])
            }
            _ = try await store.merge(samples(1...2, of: books[0]), startingAt: 0, of: books[0])
            try await store.finish([.sample(1, of: books[0], path: "root.mp3")])
            #expect(try await store.books().map(\.book.identity) == [books[2], books[1], books[0]])
            let wanted = try await store.books([books[0], veterinary, books[2]])
            #expect(wanted.map(\.book.identity) == [books[0], books[2]])
            #expect(wanted.map(\.episodes) == [2, 0])
            #expect(wanted.map(\.path) == [".", nil])
        }
    }

    @Test(arguments: [nil, Double.nan, .infinity, -0.0, 1e300])
    func `an absurd number does no harm`(duration: Double?) async throws {
        try await withStore { store async throws in
            var episode = Episode.sample(1)
            episode.duration = duration
            episode.publishedAt = duration.map(Date.init(timeIntervalSince1970:))
            episode.size = .min
            episode.number = .max
            episode.section = -1
            for expected in [MergeCounts(added: 1), MergeCounts(unchanged: 1)] {
                let counts = try await store.merge([episode], startingAt: 0, of: veterinary)
                #expect(counts == expected)
            }
            #expect(try await store.episodes(of: veterinary).first?.episode.number == .max)
        }
    }
}
