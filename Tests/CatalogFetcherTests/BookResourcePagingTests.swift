import BookModel
import Foundation
import NIOHTTP1
import Support
import Testing

@testable import CatalogFetcher

@Suite(.limitedConcurrency) struct BookResourcePagingTests {
    /// Lists what a script answers, and returns how many requests it took.
    private func list(
        pageSize: Int = 50, ceiling: ListingProgress.Ceiling = .init(),
        _ script: @escaping @Sendable (RecordedRequest, Int) -> ScriptedAnswer
    ) async throws -> (ListedBook, requests: [RecordedRequest]) {
        try await ScriptedServer.run(script) { server, address in
            let settings = BookResourceSettings(address, pageSize: pageSize)
            return (try await listBook(settings: settings, ceiling: ceiling), server.requests)
        }
    }

    @Test func `the declared number ends the listing without a further request`() async throws {
        let (book, requests) = try await list { request, _ in WirePage.of(120, for: request, sections: 120) }
        #expect(requests.map(\.page) == [1, 2, 3])
        #expect(book.pages.map(\.episodes.count) == [50, 50, 20])
        #expect(book.listing.proof == ListingProof(declared: 120, collected: 120, isComplete: true))
        #expect(book.episodes.map(\.section) == Array(1...120))
        #expect(book.listing.inferredTitle == "书名")
        #expect(book.listing.book(testBook).title == "书名")
    }

    @Test func `a silently capped page size is followed to the declared number`() async throws {
        let (book, requests) = try await list { request, _ in WirePage.of(50, for: request, size: 20, sections: 50) }
        #expect(requests.count == 3)
        #expect(book.listing.proof == ListingProof(declared: 50, collected: 50, isComplete: true))
    }

    @Test func `an empty page ends a listing without a declared number, and proves it`() async throws {
        let (book, requests) = try await list { request, _ in WirePage.of(70, for: request, size: 20) }
        #expect(requests.count == 5)
        #expect(book.listing.proof == ListingProof(declared: nil, collected: 70, isComplete: true))
    }

    @Test func `a short last page that is repeated for ever proves the listing`() async throws {
        let (book, requests) = try await list { request, _ in
            ScriptedAnswer(WirePage.json(request.page == 1 ? 1...50 : 51...57))
        }
        #expect(requests.count == 3)
        #expect(book.listing.proof == ListingProof(declared: nil, collected: 57, isComplete: true))
    }

    @Test func `a full page that is repeated for ever proves nothing`() async throws {
        let (book, requests) = try await list { _, _ in ScriptedAnswer(WirePage.json(1...50)) }
        #expect(requests.count == 2)
        #expect(!book.listing.proof.isComplete)
        #expect(book.warnings.contains("repeats a full page"))
    }

    @Test(arguments: [true, false])
    func `a listing that falls short of the declared number is incomplete`(repeatsLastPage: Bool) async throws {
        let (book, _) = try await list { request, _ in
            ScriptedAnswer(
                WirePage.json(
                    request.page == 1 ? Array(1...50) : repeatsLastPage || request.page == 2 ? Array(51...60) : [],
                    sections: request.page > 2 ? 0 : 112))
        }
        #expect(book.listing.proof.declared == 112)
        #expect(book.listing.proof.collected == 60)
        #expect(!book.listing.proof.isComplete)
        #expect(book.warnings == "the catalog declares 112 episodes and lists 60: the listing counts as incomplete")
    }

    @Test func `more episodes than declared are listed to the end`() async throws {
        let (book, requests) = try await list { request, _ in WirePage.of(53, for: request, sections: 52) }
        #expect(requests.count == 3)
        #expect(book.listing.proof.collected == 53)
        #expect(book.listing.proof.isComplete)
        #expect(book.warnings == "the catalog declares 52 episodes and lists 53")
    }

    @Test func `a page past the end without a list is an end`() async throws {
        let (book, _) = try await list { request, _ in
            request.page == 1 ? ScriptedAnswer(WirePage.json(1...3)) : ScriptedAnswer(#"{"status":0,"list":null}"#)
        }
        #expect(book.listing.proof.isComplete)
    }

    @Test func `a catalog that invents episodes for ever is stopped`() async throws {
        let endless: @Sendable (RecordedRequest, Int) -> ScriptedAnswer = { request, _ in
            ScriptedAnswer(WirePage.json((request.page * 50)..<(request.page * 50 + 50)))
        }
        let (byPages, requests) = try await list(ceiling: .init(pages: 7), endless)
        #expect(requests.count == 7)
        #expect(!byPages.listing.proof.isComplete)
        #expect(byPages.warnings.contains("350 episodes on 7 pages"))
        let (byEpisodes, _) = try await list(ceiling: .init(episodes: 120), endless)
        #expect(byEpisodes.listing.proof.collected == 120)
        #expect(!byEpisodes.listing.proof.isComplete)
        let (declared, _) = try await list { request, _ in
            ScriptedAnswer(WirePage.json((request.page * 50)..<(request.page * 50 + 50), sections: 12))
        }
        #expect(declared.listing.proof.collected == 1024)
        #expect(declared.warnings.contains("though it declares 12"))
    }

    @Test func `one long page is handed on in batches`() async throws {
        let (book, _) = try await list { request, _ in WirePage.of(2500, for: request, size: 2500, sections: 2500) }
        #expect(book.pages.map(\.episodes.count) == [1000, 1000, 500])
        #expect(book.listing.proof.isComplete)
    }

    @Test func `of two episodes with one id the first is kept and the other named`() async throws {
        let (book, _) = try await list { request, _ in
            ScriptedAnswer(WirePage.json(request.page == 1 ? [1, 2, 1, 3] : []))
        }
        #expect(book.episodes.map(\.identity.key) == ["1", "2", "3"])
        #expect(book.warnings == "page 1 lists 1 episode a second time: the first of each is kept")
    }

    @Test func `elements without identity are left out, and nothing is proven`() async throws {
        let (book, _) = try await list { request, _ in
            ScriptedAnswer(
                request.page == 1
                    ? #"{"status":0,"list":[{"id":1},{"section":2},{"name":"x"},7,null,{"id":0,"section":9}]}"#
                    : #"{"status":0,"list":[]}"#)
        }
        #expect(book.episodes.map(\.identity.key) == ["1", "section-2", "section-9"])
        #expect(book.episodes.map(\.section) == [1, 2, 9])
        #expect(!book.listing.proof.isComplete)
        #expect(book.warnings == "page 1 lists 3 episodes without id and section: left out")
    }

    @Test func `the fixture is read with its detail`() async throws {
        let bodies = try ["page-1", "page-2", "detail"].map {
            Array(try Data(contentsOf: Corpus.fixture("book-resource/\($0).json")))
        }
        try await ScriptedServer.run { request, _ in
            ScriptedAnswer(body: request.path == "/detail" ? bodies[2] : bodies[request.page - 1])
        } _: { server, address in
            var settings = BookResourceSettings(address, pageSize: 3)
            settings.detailAddress = ResourceAddress(address + "/detail")
            let book = try await listBook(BookIdentity(source: "kting", id: "41"), settings: settings)
            #expect(server.requests.map(\.path).suffix(1) == ["/detail"])
            #expect(server.requests.last?.query == ["id": "41"])
            #expect(book.listing.proof == ListingProof(declared: 6, collected: 6, isComplete: true))
            #expect(
                book.listing.description
                    == BookDescription(
                        title: "潮汐与灯塔", author: "林 & 周", narrator: "海风", summary: "守塔人\n的故事",
                        cover: ResourceAddress("http://img.example/41.jpg")))
            #expect(book.listing.inferredTitle == "潮汐与灯塔")
            #expect(
                book.episodes.map { $0.address?.secretText } == [
                    "http://audio.example:81/asdb/chaoxi/001.mp3", nil, nil,
                    "http://audio.example/004.mp3?sign=SECRET&id=4", nil, "\(address)/yyting/files/006.mp3",
                ])
            #expect(book.episodes.map(\.size) == (1...6).map { 4_800_000 + Int64($0) })
            #expect(book.episodes.map(\.duration) == (1...6).map { 1200 + Double($0) })
            #expect(book.episodes[4].name == "第005集·潮汐与灯塔")
            #expect(book.episodes[5].identity.key == "900000006")
            #expect(book.episodes[0].modifiedAt == Date(timeIntervalSince1970: 1_700_000_000.001))
        }
    }

    @Test func `a detail that fails is a warning`() async throws {
        try await ScriptedServer.run { request, _ in
            request.path == "/detail" ? ScriptedAnswer(status: 404, "") : WirePage.of(2, for: request, sections: 2)
        } _: { _, address in
            var settings = BookResourceSettings(address)
            settings.detailAddress = ResourceAddress(address + "/detail")
            let book = try await listBook(settings: settings)
            #expect(book.listing.proof.isComplete)
            #expect(book.listing.description == BookDescription())
            #expect(book.warnings.hasPrefix("title and author are not known: "))
        }
    }

    @Test func `what the receiver throws ends the listing`() async throws {
        try await ScriptedServer.run { request, _ in
            WirePage.of(9, for: request)
        } _: { server, address in
            try await withSource(BookResourceSettings(address, pageSize: 3)) { source in
                await #expect(throws: NoFailure.self) {
                    _ = try await source.list(testBook) { _ in throw NoFailure() }
                }
            }
            #expect(server.requests.count == 1)
        }
    }
}
