import BookModel
import CatalogFetcher
import Foundation
import Settings
import Support
import Testing
import Transport

@testable import BookSync

@Suite(.limitedConcurrency) struct CollectionTests {
    /// Reads pages until there is no next one.
    private func pages(of id: String, in source: String, at server: MisbehavingServer) async throws -> [CollectionPage]
    {
        let configuration = StandIn.configuration(server)
        return try await StandIn.withTransport(configuration) { transport in
            let collection = try #require(
                try configuration.bookCollection(BookIdentity(source: source, id: id), over: transport))
            var pages: [CollectionPage] = []
            repeat { pages.append(try await collection.page(at: pages.last?.next)) } while pages.last?.next != nil
            return pages
        }
    }

    private static func scrape() throws -> ServerScript {
        .replies([.text(try StandIn.recorded("scrape-1")), .text(try StandIn.recorded("scrape-2"))])
    }

    @Test func `a collection of the archive is read cursor by cursor, with what the archive declares`() async throws {
        try await withServer(.paths([StandIn.scrape: try Self.scrape()])) { server in
            let pages = try await pages(of: "collection:audio_bookspoetry", in: "archive", at: server)
            #expect(pages.map { $0.entries.map(\.reference) } == [["archive:one", "archive:two"], ["archive:three"]])
            #expect(pages.map(\.declared) == [3, 3] && pages.last?.next == nil)
            #expect(pages[0].entries[0].publishedAt == Date(timeIntervalSince1970: 1_277_926_559))
            #expect(pages[0].entries[0].size == 1000 && pages[0].entries[0].author == "A")
            let requests = server.requests(path: StandIn.scrape)
            #expect(
                requests.map { $0.query["q"] }
                    == Array(repeating: "collection:audio_bookspoetry AND mediatype:audio", count: 2))
            #expect(requests.map { $0.query["cursor"] } == [nil, "W3siaWRlbnRpZmllciI6InR3byJ9XQ=="])
            // Beside it the archive does not look at the cursor.
            #expect(requests.allSatisfy { $0.query["count"] == nil })
        }
    }

    @Test func `a query of one's own, and a language of LibriVox, are lists as well`() async throws {
        try await withServer(.paths([StandIn.scrape: try Self.scrape()])) { server in
            _ = try await pages(of: "search:creator:(鲁迅) OR subject:x", in: "archive", at: server)
            let pages = try await pages(of: "language:Chinese", in: "librivox", at: server)
            #expect(
                server.requests(path: StandIn.scrape).compactMap { $0.query["q"] }.dropFirst() == [
                    "(creator:(鲁迅) OR subject:x) AND mediatype:audio",
                    #"collection:librivoxaudio AND language:("zh" OR "zho" OR "chi" OR "Chinese")"#,
                ])
            #expect(pages.last?.entries.map(\.reference) == ["librivox:333"])
        }
    }

    @Test(arguments: [
        (400, "{}"), (404, ""), (410, "gone"), (200, #"{"error":"[CURSOR_EXPIRED] invalid or expired cursor"}"#),
    ])
    func `a cursor that expired is told apart from a server that is away`(status: Int, body: String) async throws {
        let script = ServerScript.replies([.text(try StandIn.recorded("scrape-1")), .text(body, status: status)])
        try await withServer(.paths([StandIn.scrape: script])) { server in
            let failure = try await #require(throws: Failure.self) {
                try await pages(of: "collection:x", in: "archive", at: server)
            }
            #expect(failure.reason == .expiredCursor && failure.kind == .catalogUnavailable)
        }
    }

    @Test(arguments: [
        (503, "", Failure.Kind.catalogUnavailable), (200, "<html>", .unreadableCatalog),
        (200, #"{"error":"bad query"}"#, .unreadableCatalog), (200, #"{"items":7}"#, .unreadableCatalog),
    ])
    func `a first page that cannot be had fails as every catalog does`(
        status: Int, body: String, kind: Failure.Kind
    ) async throws {
        try await withServer(.paths([StandIn.scrape: .always(.text(body, status: status))])) { server in
            let failure = try await #require(throws: Failure.self) {
                try await pages(of: "collection:x", in: "archive", at: server)
            }
            #expect(failure.kind == kind && failure.reason == nil)
            #expect(failure.what.description.contains("the list of archive:collection:x"))
        }
    }

    @Test func `a cursor that comes again, and totals that lie, do not go on for ever`() async throws {
        let again = #"{"items":[{"identifier":"a","title":"A"}],"total":-7,"cursor":"same"}"#
        try await withServer(.paths([StandIn.scrape: .always(.text(again))])) { server in
            let pages = try await pages(of: "collection:x", in: "archive", at: server)
            #expect(pages.map(\.next) == ["same", nil])
            #expect(pages.map(\.declared) == [nil, nil])
        }
    }

    @Test func `all books of an author are read until an empty page, without those of others with that name`()
        async throws
    {
        let script = ServerScript { request in
            switch Int(request.query["offset"] ?? "") ?? 0 {
            case 0: .text((try? StandIn.recorded("librivox")) ?? "")
            case 2:
                .text(
                    #"{"books":[{"id":"54","title":"Le père Goriot","authors":[{"first_name":"Honoré de","last_name":"Balzac"}]},{"id":""}]}"#
                )
            default: .text(#"{"error":"Audiobooks could not be found"}"#, status: 404)
            }
        }
        try await withServer(.paths([StandIn.librivox: script])) { server in
            let pages = try await pages(of: "author:Honore de Balzac", in: "librivox", at: server)
            #expect(pages.map { $0.entries.map(\.identity.id) } == [["52"], ["54"], []])
            let requests = server.requests(path: StandIn.librivox)
            #expect(requests.map { $0.query["offset"] } == ["0", "2", "4"])
            #expect(requests.allSatisfy { $0.query["author"] == "Balzac" && $0.query["title"] == nil })
        }
    }

    @Test func `what names no list is none`() async throws {
        try await withServer(try StandIn.script()) { server in
            let configuration = StandIn.configuration(server)
            try await StandIn.withTransport(configuration) { transport in
                for (source, id) in [
                    ("archive", "emma"), ("archive", "collection:"), ("archive", "collection:a b"),
                    ("archive", "author:x"),
                    ("librivox", "52"), ("librivox", "collection:x"), ("books", "author:x"), ("nosuch", "author:x"),
                ] {
                    let none = try configuration.bookCollection(BookIdentity(source: source, id: id), over: transport)
                    #expect(none == nil, "\(source):\(id)")
                }
            }
            #expect(server.record.requests.isEmpty)
        }
    }
}
