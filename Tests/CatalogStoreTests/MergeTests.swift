import BookModel
import Foundation
import Support
import Testing

@testable import CatalogStore

@Suite(.limitedConcurrency) struct MergeTests {
    /// What a change would leave in the database's files.
    private func bytes(of store: CatalogStore) throws -> [Data] {
        try ["", "-wal"].map { try Data(contentsOf: URL(filePath: store.path + $0)) }
    }

    private let book = Book(identity: veterinary, title: "回到古代当兽医", author: "甲", isComplete: true)

    @Test func `new episodes are added, changed ones changed, and the rest left`() async throws {
        try await withStore { store async throws in
            let first = try await store.merge(samples(1...3), startingAt: 0, of: veterinary)
            #expect(first == MergeCounts(added: 3))
            var page = samples(1...4)
            page[1].name = "第2集"
            let second = try await store.merge(page, startingAt: 0, of: veterinary)
            #expect(second == MergeCounts(added: 1, changed: 1, unchanged: 2))
            let names = try await store.episodes(of: veterinary).map(\.episode.name)
            #expect(names == page.map(\.name))
        }
    }

    @Test func `an unchanged listing writes nothing`() async throws {
        try await withStore { store async throws in
            let keys = Set(samples(1...120).map(\.identity.key))
            for round in 1...2 {
                let before = try bytes(of: store)
                for page in 0..<3 {
                    let counts = try await store.merge(
                        samples((page * 40 + 1)...(page * 40 + 40)), startingAt: page * 40, of: veterinary)
                    #expect(counts == (round == 1 ? MergeCounts(added: 40) : MergeCounts(unchanged: 40)))
                }
                let outcome = try await store.finishListing(of: book, proof: complete(120), seen: keys)
                #expect(outcome == (round == 1, 0))
                let nothingWritten = try bytes(of: store) == before
                #expect(nothingWritten == (round == 2))
            }
        }
    }

    static let changes: [(String, @Sendable (inout Episode) -> Void)] = [
        ("section", { $0.section += 100 }), ("name", { $0.name += "!" }), ("address", { $0.address = nil }),
        ("another address", { $0.address = ResourceAddress("http://other/a.mp3") }), ("size", { $0.size = nil }),
        ("duration", { $0.duration = 1234.568 }), ("published", { $0.publishedAt = nil }),
        ("modified", { $0.modifiedAt = time(milliseconds: 1_700_000_000_003) }),
        ("media type", { $0.mediaType = "audio/mp4" }), ("guid", { $0.guid = nil }), ("number", { $0.number = 77 }),
        ("season", { $0.season = nil }),
        ("chapters", { $0.chapters = nil }), ("document of chapters", { $0.chaptersAddress = nil }),
        ("digest", { $0.digest = ContentDigest(algorithm: .sha1, hexadecimal: $0.digest?.hexadecimal ?? "") }),
    ]

    @Test(arguments: changes.indices)
    func `every column that changes is a change, once`(change: Int) async throws {
        try await withStore { store async throws in
            var episode = Episode.sample(1)
            _ = try await store.merge([episode], startingAt: 0, of: veterinary)
            Self.changes[change].1(&episode)
            let changed = try await store.merge([episode], startingAt: 0, of: veterinary)
            #expect(changed == MergeCounts(changed: 1), "\(Self.changes[change].0)")
            let again = try await store.merge([episode], startingAt: 0, of: veterinary)
            #expect(again == MergeCounts(unchanged: 1), "\(Self.changes[change].0)")
            let stored = try await store.episode(episode.identity)
            #expect(stored?.episode == episode)
        }
    }

    @Test func `a rotated signature is no change`() async throws {
        try await withStore { store async throws in
            var episode = Episode.sample(1)
            episode.address = ResourceAddress("http://h/a.mp3?sign=one#x")
            _ = try await store.merge([episode], startingAt: 0, of: veterinary)
            episode.address = ResourceAddress("http://user:pw@h/a.mp3?sign=two")
            let counts = try await store.merge([episode], startingAt: 0, of: veterinary)
            #expect(counts == MergeCounts(unchanged: 1))
        }
    }

    @Test func `a new place in the listing is taken over without counting as a change`() async throws {
        try await withStore { store async throws in
            let page = [Episode.bare(5), .bare(5)].enumerated().map { offset, episode in
                var episode = episode
                episode.identity = .sample(offset)
                return episode
            }
            let early = Date(timeIntervalSince1970: 1)
            _ = try await store.merge(page, startingAt: 0, of: veterinary, at: early)
            let counts = try await store.merge(page.reversed(), startingAt: 0, of: veterinary)
            #expect(counts == MergeCounts(unchanged: 2))
            let keys = try await store.episodes(of: veterinary).map(\.episode.identity.key)
            #expect(keys == ["id1", "id0"])
            #expect(try await store.books().first?.updatedAt == early)
        }
    }

    @Test func `of a key that a page lists twice the first one counts`() async throws {
        try await withStore { store async throws in
            var twin = Episode.sample(1)
            twin.name = "again"
            for expected in [MergeCounts(added: 1), MergeCounts(unchanged: 1)] {
                let counts = try await store.merge([.sample(1), twin], startingAt: 0, of: veterinary)
                #expect(counts == expected)
            }
        }
    }

    @Test(arguments: [("https://a.example/1.mp3", true), ("https://a.example/1.mp3?book=emma", false)])
    func `a feed at another address is the same book by addresses that are stored whole`(
        address: String, isTwin: Bool
    ) async throws {
        try await withStore { store async throws in
            let emma = BookIdentity(source: "feed", id: "https://a.example/emma.xml")
            var episode = Episode.sample(1, of: emma)
            (episode.address, episode.guid) = (ResourceAddress(address), "emma, chapter 1")
            _ = try await store.merge([episode], startingAt: 0, of: emma)
            episode.guid = "ulysses, chapter 1"
            episode.address = ResourceAddress(address.replacing("emma", with: "ulysses"))
            #expect(try await store.twin(of: [episode]) == (isTwin ? emma : nil))
        }
    }

    @Test func `only a complete listing marks episodes gone, and they may return`() async throws {
        try await withStore { store async throws in
            _ = try await store.merge(samples(1...3), startingAt: 0, of: veterinary)
            var proof = ListingProof(declared: 3, collected: 2, isComplete: false)
            let cutOff = try await store.finishListing(of: book, proof: proof, seen: ["id1", "id2"])
            #expect(cutOff == (true, 0))
            #expect(try await store.book(veterinary)?.isComplete == false)
            proof.isComplete = true
            let whole = try await store.finishListing(of: book, proof: proof, seen: ["id1", "id2"])
            #expect(whole == (false, 1))
            #expect(try await store.episodes(of: veterinary).map(\.isGone) == [false, false, true])
            let counts = try await store.merge([.sample(3)], startingAt: 2, of: veterinary)
            #expect(counts == MergeCounts(changed: 1))
            #expect(try await store.episode(.sample(3))?.isGone == false)
        }
    }

    @Test func `updated_at tells when the content last changed`() async throws {
        try await withStore { store async throws in
            func updated() async throws -> Double? { try await store.books().first?.updatedAt.timeIntervalSince1970 }
            func moment(_ seconds: Double) -> Date { Date(timeIntervalSince1970: seconds) }
            _ = try await store.merge(samples(1...2), startingAt: 0, of: veterinary, at: moment(10))
            #expect(try await updated() == 10)
            _ = try await store.merge(samples(1...2), startingAt: 0, of: veterinary, at: moment(20))
            #expect(try await updated() == 10)
            _ = try await store.finishListing(of: book, proof: complete(2), seen: ["id1", "id2"], at: moment(30))
            #expect(try await updated() == 30)
            let cutOff = ListingProof(declared: 2, collected: 1, isComplete: false)
            _ = try await store.finishListing(of: book, proof: cutOff, seen: [], at: moment(40))
            #expect(try await updated() == 30)
            _ = try await store.finishListing(of: book, proof: complete(2), seen: ["id1"], at: moment(50))
            #expect(try await updated() == 50)
        }
    }

    @Test func `an episode of another book is refused`() async throws {
        try await withStore { store async throws in
            let failure = try await failure {
                _ = try await store.merge(samples(1...1), startingAt: 0, of: BookIdentity(source: "kting", id: "1"))
            }
            #expect(failure?.kind == .defect)
        }
    }

    @Test func `no secret reaches the disk`() async throws {
        try await withStore { store async throws in
            var episode = Episode.sample(1)
            episode.address = ResourceAddress("http://user:pwpwpw@h/a.mp3?token=S3CRET")
            _ = try await store.merge([episode], startingAt: 0, of: veterinary)
            var book = book
            book.cover = ResourceAddress("http://user:pwpwpw@h/a.jpg?token=S3CRET")
            _ = try await store.finishListing(of: book, proof: complete(1), seen: ["id1"])
            #expect(try await store.episode(.sample(1))?.episode.address?.secretText == "http://h/a.mp3?token=***")
            let folder = URL(filePath: store.path).deletingLastPathComponent()
            for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
                let bytes = try Data(contentsOf: file)
                #expect(bytes.range(of: Data("pwpwpw".utf8)) == nil)
                #expect(bytes.range(of: Data("S3CRET".utf8)) == nil)
            }
        }
    }
}
