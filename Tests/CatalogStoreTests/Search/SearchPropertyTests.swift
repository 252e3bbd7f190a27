import BookModel
import CatalogStore
import Foundation
import Support
import Testing

/// That the index finds what reading every name finds: for names and queries nobody would think of.
@Suite(.full, .limitedConcurrency) struct SearchPropertyTests {
    private static let pieces = [
        "回", "到", "古", "回到", "第", "集", "兽医", "0", "1", "01", "12", "a", "ab", "B", "é", "ü", "ß", " ", "_", "-", "'",
        "(",
        "。", "😀", "한", "ー", "パ", "Ａ", "１", "\u{301}", "\u{200B}", "я", "٣", "\"", "*",
    ]

    private func text(_ generator: inout SeededGenerator, atMost count: Int) -> String {
        (0..<Int.random(in: 1...count, using: &generator)).map { _ in
            Self.pieces.randomElement(using: &generator) ?? ""
        }.joined()
    }

    private func found(_ store: CatalogStore, _ query: String) async throws -> Set<String> {
        let hits: [SearchHit]
        do {
            hits = try await store.search(query, limit: nil).hits
        } catch let failure as Failure where failure.kind == .usage {
            return ["nothing to search for"]
        }
        return Set(
            hits.map { hit in
                switch hit {
                case .book(let shelved): "\(shelved.book.identity)"
                case .episode(let shelved, _): "\(shelved.episode.identity)"
                }
            })
    }

    @Test(arguments: 1...Tier.choose(full: 1, long: 10))
    func `the index finds what reading all names finds`(seed: UInt64) async throws {
        try await withStore { store async throws in
            var generator = SeededGenerator(seed: seed)
            for number in 1...30 {
                let identity = BookIdentity(source: "s", id: "\(number)")
                let episodes = (1...20).map {
                    Episode(identity: .sample($0, of: identity), section: $0, name: text(&generator, atMost: 12))
                }
                _ = try await store.merge(episodes, startingAt: 0, of: identity)
                let book = Book(
                    identity: identity, title: text(&generator, atMost: 6), author: text(&generator, atMost: 4))
                _ = try await store.finishListing(
                    of: book, proof: complete(20), seen: Set(episodes.map(\.identity.key)))
            }
            let queries = (1...300).map { _ in text(&generator, atMost: 4) }
            var read: [Set<String>] = []
            for query in queries { read.append(try await found(store, query)) }
            try await store.updateSearchIndex()
            for (query, expected) in zip(queries, read) {
                let found = try await found(store, query)
                #expect(found == expected, "\(query.debugDescription)")
            }
            #expect(read.count { $0.count > 1 } > 50, "queries that find nothing prove nothing")
        }
    }
}
