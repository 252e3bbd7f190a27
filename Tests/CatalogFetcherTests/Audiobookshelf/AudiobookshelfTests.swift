import BookModel
import Foundation
import Logging
import NIOHTTP1
import Support
import Testing
import Transport

@testable import CatalogFetcher

@Suite(.limitedConcurrency) struct AudiobookshelfTests {
    private static let id = "bc0719db-2124-4ba2-9860-1b729cbfcc6e"

    private static func fixture(_ name: String) throws -> String {
        String(decoding: try Corpus.bytes("audiobookshelf/\(name)"), as: UTF8.self)
    }

    private func withServer(
        _ pages: [String: String], _ body: (AudiobookshelfSettings, ScriptedServer, String) async throws -> Void
    ) async throws {
        try await ScriptedServer.run { request, _ in
            let page = request.query["page"].map { "?page=\($0)" } ?? ""
            return pages[request.path + page].map { ScriptedAnswer($0) } ?? ScriptedAnswer(status: 404, "Not Found")
        } _: { server, address in
            let settings = AudiobookshelfSettings(
                address: ResourceAddress(address + "/abs/?token=QUERY-SECRET"),
                credentials: CatalogCredentials(alsoSecret: ["SECRET-1"]))
            try await body(settings, server, address)
        }
    }

    private func withSource<Result: Sendable>(
        _ settings: AudiobookshelfSettings, _ body: (AudiobookshelfSource) async throws -> Result
    ) async throws -> Result {
        try await withHTTPTransport(options: TransportOptions(), logger: Logger(label: "test")) { transport in
            try await body(
                AudiobookshelfSource(
                    name: "friend", settings: settings,
                    client: CatalogClient(transport: transport, retry: RetryPolicy(retries: 0))))
        }
    }

    @Test func `an item is a book, its tracks in their order`() async throws {
        let pages = ["/abs/api/items/\(Self.id)": try Self.fixture("item.json")]
        try await withServer(pages) { settings, server, address in
            let book = try await list(Self.id, in: settings)
            let folder = "\(address)/abs/api/items/\(Self.id)"
            #expect(
                book.episodes.map { $0.address?.secretText } == [
                    folder + "/file/147831/download", folder + "/file/147832/download",
                    folder + "/file/147834/download",
                ])
            #expect(book.episodes.map(\.identity.key) == ["147831", "147832", "147834"])
            #expect(book.episodes.map(\.name) == ["01 The Lamp", "02 The Marsh", "附录"])
            #expect(book.episodes.map(\.section) == [1, 2, 4])
            #expect(book.episodes.map(\.duration) == [2000.5, 2320, 1])
            #expect(book.episodes.map(\.size) == [20001, 20002, 20000])
            #expect(book.episodes.map(AudioExtension.of) == ["mp3", "mp3", "m4b"])
            let description = book.listing.description
            #expect(description.title == "The Heron Lamp" && description.author == "Ada Quill, Bo Lund")
            #expect(description.narrator == "Tom Reed" && description.language == "en")
            #expect(description.summary == "A lamp." && description.cover?.secretText == folder + "/cover")
            #expect(book.listing.proof.isComplete && book.warnings.isEmpty)
            #expect(server.requests.map(\.query) == [["expanded": "1"]])
        }
    }

    /// Two tracks whose numbers, and those of the files, are given.
    private static func item(tracks: [Int], files: [Int]) -> String {
        func metadata(_ place: Int) -> String {
            #""metadata":{"filename":"0\#(place + 1).mp3","relPath":"CD\/0\#(place + 1).mp3","size":20000}"#
        }
        let tracks = tracks.enumerated().map { #"{"index":\#($0 + 1),"ino":"\#($1)",\#(metadata($0))}"# }
        let files = files.enumerated().map { #"{"ino":"\#($1)",\#(metadata($0))}"# }
        return """
            {"id":"x","media":{"metadata":{},"tracks":[\(tracks.joined(separator: ","))]},
            "libraryFiles":[\(files.joined(separator: ","))]}
            """
    }

    @Test func `a track is its path, and its address has the number of the file there`() async throws {
        for (tracks, files) in [([11, 12], [11, 12]), ([1, 2], [28, 11]), ([3, 4], [])] {
            let asked = files.isEmpty ? tracks : files
            let pages = ["/abs/api/items/x": Self.item(tracks: tracks, files: files)]
            try await withServer(pages) { settings, _, address in
                let book = try await list("x", in: settings)
                #expect(book.episodes.map(\.identity.key) == ["CD/01.mp3", "CD/02.mp3"])
                #expect(
                    book.episodes.map { $0.address?.secretText }
                        == asked.map { "\(address)/abs/api/items/x/file/\($0)/download" })
            }
        }
    }

    @Test(arguments: [
        ("<html><title>Sign in</title>", Failure.Kind.unreadableCatalog, "the answer is HTML or XML"),
        ("{}", .unreadableCatalog, "the answer is no item of Audiobookshelf"),
        ("[", .unreadableCatalog, "no proper JSON"),
        (#"{"id":"x","media":{"metadata":{},"audioFiles":[]}}"#, .unknownBook, "the item holds no audio files"),
        (#"{"token":"SECRET-1""#, .unreadableCatalog, "***"),
    ])
    func `what is no audiobook is told so`(text: String, kind: Failure.Kind, why: String) async throws {
        try await withServer(["/abs/api/items/x": text]) { settings, _, _ in
            let failure = try await CatalogFetcherTests.failure(listing: "x", in: settings)
            #expect(failure.kind == kind && "\(failure.why)".contains(why), "\(failure)")
            #expect(!"\(failure)".contains("SECRET-1"))
        }
    }

    @Test func `ids lead nowhere else`() async throws {
        try await withServer([:]) { settings, server, _ in
            for id in ["../me", "a/b", "a?b", "é", "li_none"] {
                let refused = try await failure(listing: id, in: settings)
                #expect(refused.kind == .unknownBook)
            }
            #expect(
                server.requests.map(\.path) == ["../me", "a/b", "a?b", "é", "li_none"].map { "/abs/api/items/" + $0 })
            #expect(server.requests.allSatisfy { $0.query == ["expanded": "1"] })
        }
        let wicked = #"{"id":"x","media":{"metadata":{},"tracks":[{"ino":"../../me?a","mimeType":"audio/mpeg"},{}]}}"#
        try await withServer(["/abs/api/items/x": wicked]) { settings, _, address in
            let book = try await list("x", in: settings)
            #expect(
                book.episodes.map { $0.address?.secretText } == [
                    address + "/abs/api/items/x/file/..%2F..%2Fme%3Fa/download", nil,
                ])
        }
    }

    @Test(arguments: [
        ("https://abs.example/item/li_1a", "li_1a"), ("https://abs.example/audiobookshelf/item/\(id)", id),
        ("https://abs.example/api/items/\(id)?expanded=1", id), ("https://abs.example/item/", nil),
        ("https://abs.example/library/x", nil), ("https://abs.example/item/a%20b", "a b"),
    ])
    func `addresses of items name their books`(address: String, id: String?) {
        #expect(AudiobookshelfSettings.bookID(in: ResourceAddress(address)) == id)
    }

    @Test func `a saved item is recognised and read`() throws {
        let answer = CatalogResponse(bytes: try Corpus.bytes("audiobookshelf/item.json"))
        #expect(AudiobookshelfSettings.bookID(in: answer) == Self.id)
        let settings = AudiobookshelfSettings(address: ResourceAddress("https://abs.example"))
        let contents = try settings.read(answer, source: "mine", id: nil)
        #expect(contents.identity.id == Self.id && contents.episodes.count == 3)
    }

    @Test func `a search asks every library of books`() async throws {
        let pages = [
            "/abs/api/libraries": try Self.fixture("libraries.json"),
            "/abs/api/libraries/lib_books/search": try Self.fixture("search.json"),
        ]
        try await withServer(pages) { settings, server, _ in
            let found = try await withSource(settings) { try await $0.search(CatalogQuery(text: "灯 & heron")) }
            #expect(found.map(\.identity.description) == ["friend:li_heron", "friend:li_reiher"])
            #expect(found.map(\.episodes) == [2, 7] && found.map(\.author) == ["Ada Quill", "Jo Kranich"])
            #expect(found.first?.size == 60003 && found.first?.seconds == 4320.5)
            #expect(server.requests.last?.query == ["q": "灯 & heron", "limit": "20"])
            #expect(server.requests.count == 2)
            let english = try await withSource(settings) {
                try await $0.search(CatalogQuery(text: "heron", author: "quill", language: "en", limit: 5))
            }
            #expect(english.map(\.title) == ["The Heron Lamp"])
        }
    }

    /// A page as the server sends it.
    private static func page(_ books: Range<Int>, of total: Int, page: Int, tracks: Int = 1) -> String {
        let items = books.map {
            #"{"id":"li_\#($0)","mediaType":"book","media":{"metadata":{"title":"\#($0)","authorName":"A"},"numTracks":\#(tracks)}}"#
        }
        return
            #"{"results":[\#(items.joined(separator: ","))],"total":\#(total),"limit":100,"page":\#(page),"minified":true}"#
    }

    private func entries(_ settings: AudiobookshelfSettings) async throws -> (entries: [CatalogEntry], declared: [Int?])
    {
        try await withSource(settings) { source in
            let library = AudiobookshelfLibrary("lib_books", of: source)
            var (entries, declared, cursor): ([CatalogEntry], [Int?], String?) = ([], [], nil)
            repeat {
                let page = try await library.page(at: cursor)
                entries += page.entries
                declared.append(page.declared)
                cursor = page.next
            } while cursor != nil
            return (entries, declared)
        }
    }

    private static let items = "/abs/api/libraries/lib_books/items"

    @Test func `a library is listed to its end`() async throws {
        let pages = [
            Self.items + "?page=0": Self.page(0..<100, of: 230, page: 0),
            Self.items + "?page=1": Self.page(100..<200, of: 230, page: 1),
            Self.items + "?page=2": Self.page(200..<230, of: 230, page: 2, tracks: 0),
        ]
        try await withServer(pages) { settings, server, _ in
            let listed = try await entries(settings)
            #expect(listed.entries.count == 200 && Set(listed.entries.map(\.identity)).count == 200)
            #expect(listed.declared == [230, 230, nil])
            #expect(server.requests.map { $0.query["page"] } == ["0", "1", "2"])
        }
    }

    @Test func `pages cut short, totals that lie and a page that comes again end with a failure`() async throws {
        for first in [
            Self.page(0..<99, of: 230, page: 0), Self.page(0..<100, of: 99, page: 0), Self.page(0..<1, of: 0, page: 0),
            Self.page(0..<100, of: 230, page: 1), #"{"results":[{}]}"#,
        ] {
            try await withServer([Self.items + "?page=0": first]) { settings, _, _ in
                await #expect {
                    _ = try await entries(settings)
                } throws: {
                    "\($0)".contains("which is no whole page")
                }
            }
        }
        let again = Self.page(0..<100, of: 230, page: 0)
        try await withServer([Self.items + "?page=0": again, Self.items + "?page=1": again]) { settings, _, _ in
            await #expect(throws: Failure.self) { _ = try await entries(settings) }
        }
    }
}
