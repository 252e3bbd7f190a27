import BookModel
import Foundation
import Testing

@testable import BookSync

@Suite struct ShelfOrderTests {
    private func shelf() -> [BookSummary] {
        [("b", "Zoo 10", nil, 3, 5), ("a2", "alpha", "Y", 0, 9), ("a10", "zoo 9", "x", 3, 1)].map {
            (id: String, title: String, author: String?, missing: Int, bytes: Int64) in
            BookSummary(
                book: Book(identity: BookIdentity(source: "s", id: id), title: title, author: author),
                episodes: missing,
                missing: missing, locked: 0, present: 0, bytes: bytes, path: nil,
                updatedAt: Date(timeIntervalSince1970: Double(bytes)))
        }
    }

    @Test(
        arguments: [
            (.id, ["a2", "a10", "b"]), (.title, ["a2", "a10", "b"]), (.author, ["a10", "a2", "b"]),
            (.missing, ["b", "a10", "a2"]), (.episodes, ["b", "a10", "a2"]), (.bytes, ["a2", "b", "a10"]),
            (.updated, ["a2", "b", "a10"]),
        ] as [(ShelfOrder, [String])])
    func `books are ordered`(order: ShelfOrder, expected: [String]) {
        #expect(shelf().sorted(by: order).map(\.book.identity.id) == expected)
    }

    @Test(
        arguments: [
            (.section, [1, 2, 3]), (.name, [2, 3, 1]), (.bytes, [2, 1, 3]), (.state, [1, 3, 2]),
            (.published, [3, 1, 2]),
            (.id, [1, 2, 3]),
        ] as [(ShelfOrder, [Int])])
    func `episodes are ordered`(order: ShelfOrder, expected: [Int]) {
        let book = BookIdentity(source: "s", id: "b")
        let episodes = [(1, "Part 10", 5), (2, "part 2", 9), (3, "Part 003", nil)].map {
            (section: Int, name: String, size: Int64?) in
            var episode = Episode(
                identity: EpisodeIdentity(book: book, key: "k\(section)"), section: section, name: name, size: size)
            if section != 2 { episode.publishedAt = Date(timeIntervalSince1970: Double(section)) }
            if section == 2 { episode.address = ResourceAddress("http://a.example/") }
            return ShelfReader.EpisodeOnDisk(shelved: EpisodeRecord(episode: episode), bytesDone: 0)
        }
        #expect(episodes.sorted(by: order).map(\.shelved.episode.section) == expected)
    }

    @Test(arguments: [("a2", "a10"), ("A", "b"), ("第9集", "第10集"), ("", "z"), ("a", "ab"), ("x1", "x1a")])
    func `names rise as people count`(one: String, other: String) {
        let keys = (NaturalKey(one), NaturalKey(other))
        #expect(one.isEmpty ? keys.1 < keys.0 : keys.0 < keys.1)
    }
}
