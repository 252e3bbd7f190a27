import BookModel
import CatalogStore
import Foundation
import GRDB
import Support
import Testing

@Suite(.firstInLine, .serialized) struct SearchTests {
    private static let vet = veterinary
    private static let holmes = BookIdentity(source: "librivox", id: "48")

    private func list(
        _ store: CatalogStore, _ identity: BookIdentity, title: String, author: String?, _ names: [String]
    ) async throws {
        let episodes = names.enumerated().map {
            Episode(
                identity: .sample($0.offset + 1, of: identity), section: $0.offset + 1, name: $0.element,
                address: ResourceAddress("http://a.example/\($0.offset)"))
        }
        _ = try await store.merge(episodes, startingAt: 0, of: identity)
        _ = try await store.finishListing(
            of: Book(identity: identity, title: title, author: author), proof: complete(names.count),
            seen: Set(episodes.map(\.identity.key)))
    }

    private func withShelf(_ body: (CatalogStore) async throws -> Void) async throws {
        try await withStore { store async throws in
            try await list(
                store, Self.vet, title: "回到古代当兽医", author: "萧十一狼",
                (1...12).map { "第\($0 < 10 ? "00" : "0")\($0)集_回到古代当兽医" })
            try await list(
                store, Self.holmes, title: "The Hound of the Baskervilles", author: "Arthur Conan Doyle",
                ["Mr. Sherlock Holmes", "The Curse", "兽医的狗", "Déjà vu"])
            try await body(store)
        }
    }

    /// What a search finds, in its order: titles of books, names of episodes.
    private func found(_ store: CatalogStore, _ text: String, limit: Int? = nil) async throws -> [String] {
        try await store.search(text, limit: limit).hits.map { hit in
            switch hit {
            case .book(let shelved): shelved.book.title
            case .episode(let shelved, _): shelved.episode.name
            }
        }
    }

    @Test(arguments: [false, true])
    func `titles, authors and names are found, with the index and without`(isIndexed: Bool) async throws {
        try await withShelf { store async throws in
            if isIndexed { try await store.updateSearchIndex() }
            #expect(try await store.unindexedNames() == (isIndexed ? 0 : 18))
            #expect(try await found(store, "十一") == ["回到古代当兽医"])
            #expect(try await found(store, "兽医", limit: 2) == ["回到古代当兽医", "兽医的狗"])
            #expect(try await found(store, "兽医").count == 14)
            #expect(try await found(store, "第7集") == ["第007集_回到古代当兽医"])
            #expect(try await found(store, "deja") == ["Déjà vu"])
            #expect(try await found(store, "doyle") == ["The Hound of the Baskervilles"])
            #expect(try await found(store, "doyle baskerv") == ["The Hound of the Baskervilles"])
            #expect(try await found(store, "sherl") == ["Mr. Sherlock Holmes"])
            #expect(try await found(store, "狗") == ["兽医的狗"])
            #expect(try await found(store, "狼人") == [])
            // Some words of the book, the others of the name.
            #expect(try await found(store, "十一狼 第12集") == ["第012集_回到古代当兽医"])
            #expect(try await found(store, "baskervilles curse") == ["The Curse"])
            #expect(try await found(store, "conan vu hound") == ["Déjà vu"])
            #expect(try await found(store, "conan wolf") == [])
            #expect(try await found(store, "AND") == [])
        }
    }

    @Test func `any two neighbouring characters of a name find it`() async throws {
        try await withShelf { store async throws in
            try await store.updateSearchIndex()
            for text in ["回到", "到古", "古代", "代当", "当兽", "兽医"] {
                #expect(try await found(store, text).first == "回到古代当兽医", "\(text)")
            }
        }
    }

    @Test func `a name that changed is found by the new one and not by the old one`() async throws {
        try await withShelf { store async throws in
            try await store.updateSearchIndex()
            for isIndexed in [false, true] {
                let name = isIndexed ? "终章" : "番外篇"
                var episode = Episode(identity: .sample(7), section: 7, name: name)
                episode.address = ResourceAddress("http://a.example/6")
                _ = try await store.merge([episode], startingAt: 6, of: Self.vet)
                #expect(try await store.unindexedNames() == 1)
                if isIndexed { try await store.updateSearchIndex() }
                #expect(try await found(store, name) == [name])
                #expect(try await found(store, "第7集") == [])
                #expect(try await found(store, "番外") == (isIndexed ? [] : [name]))
            }
            // And back to what it was called at first.
            let episode = Episode(identity: .sample(7), section: 7, name: "第007集")
            _ = try await store.merge([episode], startingAt: 6, of: Self.vet)
            try await store.updateSearchIndex()
            #expect(try await found(store, "第7集") == ["第007集"])
        }
    }

    @Test func `a title and an author that changed are found by the new ones`() async throws {
        try await withShelf { store async throws in
            try await store.updateSearchIndex()
            try await list(store, Self.holmes, title: "四签名", author: "柯南道尔", ["Mr. Sherlock Holmes"])
            for _ in 1...2 {
                #expect(try await found(store, "签名") == ["四签名"])
                #expect(try await found(store, "柯南") == ["四签名"])
                #expect(try await found(store, "hound") == [])
                try await store.updateSearchIndex()
            }
        }
    }

    @Test func `a book that was listed and has no title yet is found by its id`() async throws {
        try await withStore { store async throws in
            _ = try await store.merge(samples(1...1), startingAt: 0, of: Self.vet)
            #expect(try await found(store, "30776") == ["Book 30776"])
        }
    }

    @Test func `episodes of a deleted book are not found, nor is what comes in their place missed`() async throws {
        try await withShelf { store async throws in
            try await store.updateSearchIndex()
            let database = try DatabaseQueue(path: store.path)
            try await database.write { try $0.execute(sql: "DELETE FROM book") }
            try database.close()
            #expect(try await found(store, "兽医") == [])
            try await list(store, Self.holmes, title: "新书", author: nil, ["全新", "兽医又来"])
            for _ in 1...2 {
                #expect(try await found(store, "全新") == ["全新"])
                #expect(try await found(store, "兽医") == ["兽医又来"])
                #expect(try await found(store, "holmes") == [])
                try await store.updateSearchIndex()
            }
        }
    }

    @Test func `a limit says that there is more`() async throws {
        try await withShelf { store async throws in
            #expect(try await store.search("兽医", limit: 14).hasMore == false)
            #expect(try await store.search("兽医", limit: 13).hasMore == true)
            #expect(try await store.search("兽医", limit: 1).hits.count == 1)
            #expect(try await store.search("十一", limit: 1).hasMore == false)
        }
    }

    @Test func `the shelf is searched while another process writes, and without writing`() async throws {
        try await withShelf { store async throws in
            let reader = try await CatalogStore(path: store.path, access: .readOnly)
            #expect(try await found(reader, "第7集") == ["第007集_回到古代当兽医"])
            try await store.updateSearchIndex()
            #expect(try await found(reader, "第7集") == ["第007集_回到古代当兽医"])
            try await reader.close()
        }
    }

    @Test func `the index is brought up to date piece by piece`() async throws {
        try await withStore { store async throws in
            let names = (1...45_000).map { "第\($0)回" }
            try await list(store, Self.vet, title: "长", author: nil, names)
            try await store.updateSearchIndex()
            #expect(try await store.unindexedNames() == 0)
            #expect(try await found(store, "第44999回") == ["第44999回"])
            #expect(try await found(store, "第", limit: 3).count == 3)
        }
    }
}
