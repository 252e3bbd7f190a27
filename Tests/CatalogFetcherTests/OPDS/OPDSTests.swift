import BookModel
import Foundation
import Logging
import NIOHTTP1
import Support
import Testing
import Transport

@testable import CatalogFetcher

@Suite(.limitedConcurrency) struct OPDSTests {
    private static func fixture(_ name: String) throws -> String {
        String(decoding: try Corpus.bytes("opds/\(name)"), as: UTF8.self)
    }

    /// Answers each path, with its query where the key has one.
    private func withServer<Result>(
        _ pages: [String: String], _ body: (String, ScriptedServer) async throws -> Result
    ) async throws -> Result {
        try await ScriptedServer.run { request, _ in
            let query = request.query.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            let target = request.path + (query.isEmpty ? "" : "?") + query.joined(separator: "&")
            return (pages[target] ?? pages[request.path]).map { ScriptedAnswer($0) }
                ?? ScriptedAnswer(status: 404, "nothing here")
        } _: { server, address in
            try await body(address, server)
        }
    }

    private func listManifest(_ text: String) async throws -> ListedBook {
        try await withServer(["/b/manifest.json": text]) { address, _ in
            try await list(address + "/b/manifest.json", in: OPDSSettings())
        }
    }

    private func failure(readingManifest text: String) async throws -> Failure {
        try await withServer(["/m": text]) { address, _ in
            try await CatalogFetcherTests.failure(listing: address + "/m", in: OPDSSettings())
        }
    }

    // MARK: Manifests

    @Test func `a manifest of the W3C's is a book`() async throws {
        try await withServer(["/b/manifest.json": try Self.fixture("manifest-w3c.json")]) { address, _ in
            let book = try await list(address + "/b/manifest.json", in: OPDSSettings())
            #expect(
                book.episodes.map { $0.address?.secretText } == [
                    address + "/b/audio/01.mp3",
                    address + "/b/audio/%E7%AC%AC%E4%BA%8C%20%E9%9B%86.mp3", address + "/shared/03.mp3",
                ])
            #expect(book.episodes.map(\.name) == ["Part 1", "Part 2", "Part 3"])
            #expect(book.episodes.map(\.section) == [1, 2, 3])
            #expect(book.episodes.map(\.duration) == [1371, nil, 1506])
            #expect(book.episodes.map(\.mediaType) == ["audio/mpeg", "audio/mpeg", "audio/mpeg"])
            #expect(book.warnings == "1 item with something else than audio: left out")
            #expect(book.listing.proof.isComplete)
            let description = book.listing.description
            #expect(description.title == "The Heron Lamp" && description.author == "Ada Quill")
            #expect(description.narrator == "Tom Reed, Ina Voss" && description.language == "en")
            #expect(description.cover?.secretText == address + "/b/art/cover%20large.jpg")
        }
    }

    @Test func `chapters of a file are one episode, and what cannot be fetched is locked`() async throws {
        let book = try await listManifest(try Self.fixture("manifest-readium.json"))
        #expect(book.episodes.map(\.name) == ["Part 1", "whole", "Part 4", "Part 5"])
        #expect(book.episodes.map(\.isLocked) == [false, false, true, true])
        #expect(book.episodes.map(\.duration) == [1980.5, 1140, nil, nil])
        #expect(book.episodes.map(\.size) == [31_688_000, nil, nil, nil])
        #expect(book.warnings.contains("1 item listed a second time: the first of each is kept"))
        #expect(book.warnings.contains("2 items with an address that cannot be fetched"))
        let description = book.listing.description
        #expect(description.title == "The Heron Lamp" && description.author == "Ada Quill, Bo Lund")
        #expect(description.narrator == "Tom Reed, Ina Voss" && description.summary == "A lamp,\na marsh.")
        #expect(description.cover?.secretText.hasSuffix("/b/cover.jpeg") == true)
    }

    @Test func `a key outlives another query and another scheme, and none is shared`() async throws {
        func keys(_ query: String) async throws -> [String] {
            let files = (1...3).map { #"{"href":"https://cdn.example/\#($0).mp3?token=\#(query)"}"# }
            return try await listManifest("{\"readingOrder\":[\(files.joined(separator: ","))]}").episodes.map(
                \.identity.key)
        }
        let first = try await keys("one")
        #expect(try await keys("another") == first)
        #expect(Set(first).count == 3 && !first.contains { $0.contains("one") })
        let told = try await listManifest(#"{"readingOrder":[{"href":"/f.mp3?n=1"},{"href":"/f.mp3?n=2"}]}"#)
        #expect(Set(told.episodes.map(\.identity.key)).count == 2)
    }

    @Test func `a single file, a text in place of a list and nested lists are read`() async throws {
        #expect(try await listManifest(#"{"readingOrder":"a.mp3","name":"A"}"#).episodes.map(\.name) == ["A"])
        let nested =
            #"{"readingOrder":[["1.mp3",[{"url":"2.mp3"}]],{"url":"3.mp3","children":[{"url":"4.mp3"}]},{},null]}"#
        #expect(try await listManifest(nested).episodes.count == 4)
        let huge = String(repeating: "字", count: 400_000)
        let long = try await listManifest(#"{"name":"\#(huge)","readingOrder":[{"url":"1.mp3","name":"\#(huge)"}]}"#)
        #expect(long.listing.description.title?.count == 1000)
        #expect(long.episodes.map(\.name.count) == [1000])
    }

    @Test(
        arguments: [
            (#"{"type":"Audiobook","name":"x"}"#, .unknownBook, "it names no audiobook manifest and no audio file"),
            (#"{"readingOrder":[]}"#, .unknownBook, "its manifest lists no audio files"),
            (#"{"readingOrder":null}"#, .unknownBook, "its manifest lists no audio files"),
            (
                #"{"readingOrder":[{"href":"1.xhtml","type":"application/xhtml+xml"}]}"#, .unknownBook,
                "its manifest lists no audio files"
            ),
            (
                #"{"readingOrder":[{"href":"1.mp3","properties":{"encrypted":{"scheme":"http://readium.org/2014/01/lcp"}}}]}"#,
                .unknownBook, "its files are protected (LCP)"
            ),
            (
                #"{"links":[{"rel":"http://opds-spec.org/acquisition","href":"l","type":"application/vnd.readium.lcp.license.v1.0+json"}]}"#,
                .unknownBook, "its files are protected (LCP)"
            ),
            (
                #"{"links":[{"rel":"http://opds-spec.org/acquisition/borrow","href":"l"}]}"#, .unknownBook,
                "the catalog lends or sells it"
            ),
            (#"{"publications":[]}"#, .unreadableCatalog, "it is a list of 0 books"),
            ("<html><title>Sign in</title><form>", .unreadableCatalog, "the answer is HTML or XML"),
            ("<feed xmlns='http://www.w3.org/2005/Atom'><entry><title>a", .unreadableCatalog, "ends too early"),
            (#"{"readingOrder":["#, .unreadableCatalog, "no proper JSON"),
            ("", .unreadableCatalog, "the answer is empty"),
        ] as [(String, Failure.Kind, String)])
    func `what is no open audiobook is told so`(text: String, kind: Failure.Kind, why: String) async throws {
        let failure = try await failure(readingManifest: text)
        #expect(failure.kind == kind)
        #expect("\(failure.why)".contains(why), "\(failure)")
    }

    @Test(arguments: [(401, Failure.Kind.credentialsRejected), (403, .catalogUnavailable), (404, .unknownBook)])
    func `a refusal is told as every catalog's`(status: Int, kind: Failure.Kind) async throws {
        try await ScriptedServer.run { _, _ in
            ScriptedAnswer(status: status, "no")
        } _: { _, address in
            let refused = try await CatalogFetcherTests.failure(listing: address + "/m", in: OPDSSettings())
            #expect(refused.kind == kind)
        }
    }

    // MARK: Entries

    @Test func `an entry leads to its manifest, or is one file`() async throws {
        let entry = """
            <?xml version="1.0"?><entry xmlns="http://www.w3.org/2005/Atom"><title>x</title>
            <link rel="http://opds-spec.org/acquisition/open-access" type="application/audiobook+json" href="../m.json"/></entry>
            """
        let pages = [
            "/works/1": entry, "/m.json": try Self.fixture("manifest-w3c.json"),
            "/works/2": try Self.fixture("entry-1.xml"),
            "/loop": #"{"links":[{"rel":"self","type":"application/audiobook+json","href":"/loop"}]}"#,
        ]
        try await withServer(pages) { address, server in
            let book = try await list(address + "/works/1", in: OPDSSettings())
            #expect(book.episodes.count == 3 && book.listing.description.title == "The Heron Lamp")
            #expect(book.episodes.first?.address?.secretText == address + "/audio/01.mp3")
            let file = try await list(address + "/works/2", in: OPDSSettings())
            #expect(file.episodes.map(\.name) == ["One File"] && file.listing.description.summary == "A short one.")
            #expect(file.episodes.map { $0.address?.secretText } == [address + "/audio/one%20file.m4a?quality=64"])
            let loop = try await CatalogFetcherTests.failure(listing: address + "/loop", in: OPDSSettings())
            #expect(loop.kind == .unknownBook)
            #expect(server.requests.count == 5)
        }
    }

    @Test func `a query goes to the source's own server, and nowhere without one`() async throws {
        let entry = { (manifest: String) in
            #"{"links":[{"rel":"http://opds-spec.org/acquisition","type":"application/audiobook+json","href":"\#(manifest)"}]}"#
        }
        try await withServer(["/m": #"{"readingOrder":["1.mp3"]}"#]) { other, stranger in
            try await withServer(["/e": entry(other + "/m")]) { address, own in
                let credentials = CatalogCredentials(query: [("key", "SECRET-1")])
                let settings = OPDSSettings(
                    FeedSettings(address: ResourceAddress(address + "/opds"), credentials: credentials))
                let book = try await list(address + "/e", in: settings)
                #expect(book.episodes.count == 1)
                #expect(own.requests.first?.query["key"] == "SECRET-1")
                _ = try await list(address + "/e", in: OPDSSettings(FeedSettings(credentials: credentials)))
                #expect(own.requests.last?.query["key"] == nil)
                #expect(stranger.requests.count == 2)
                #expect(stranger.requests.allSatisfy { $0.query["key"] == nil })
            }
        }
    }

    @Test func `an address with a secret is asked for only where it was given`() async throws {
        try await withServer(["/m": #"{"readingOrder":["1.mp3"]}"#]) { address, server in
            let given = ResourceAddress(address + "/m?token=SECRET-123456")
            let id = FeedSettings.bookID(of: given)
            #expect(!id.contains("SECRET"))
            let refused = try await CatalogFetcherTests.failure(listing: id, in: OPDSSettings())
            #expect(refused.kind == .configuration && server.requests.isEmpty)
            let book = try await list(id, in: OPDSSettings(FeedSettings(knownAddresses: [given])))
            #expect(book.episodes.count == 1 && server.requests.first?.query == ["token": "SECRET-123456"])
        }
    }

    // MARK: Recognition

    @Test func `manifests and entries are recognised, feeds and ebooks are not`() throws {
        func id(_ text: String) -> String? {
            OPDSSettings.bookID(
                in: CatalogResponse(bytes: Array(text.utf8), address: ResourceAddress("https://b.example/m")))
        }
        for name in ["manifest-w3c.json", "manifest-readium.json", "entry-1.xml"] {
            #expect(try id(Self.fixture(name)) == "https://b.example/m", "\(name)")
        }
        for name in ["feed-1.xml", "feed-2.json", "search.xml"] {
            #expect(try id(Self.fixture(name)) == nil, "\(name)")
        }
        for text in ["", "{}", "[]", "<html>", "<entry><title>A post</title></entry>", #"{"links":[]}"#] {
            #expect(id(text) == nil, "\(text)")
        }
        let settings = OPDSSettings()
        let answer = CatalogResponse(bytes: Array(try Self.fixture("manifest-w3c.json").utf8))
        let saved = try settings.read(answer, source: "mine", id: nil)
        #expect(saved.identity.id == "saved" && saved.episodes.count == 3)
    }

    // MARK: Lists

    private func withCollection(
        _ pages: [String: String], at path: String, _ body: (OPDSCollection) async throws -> Void
    ) async throws {
        try await withServer(pages) { address, _ in
            try await withHTTPTransport(options: TransportOptions(), logger: Logger(label: "test")) { transport in
                let client = CatalogClient(transport: transport, retry: RetryPolicy(retries: 0))
                try await body(
                    OPDSCollection(
                        of: ResourceAddress(address + path), source: "shelf", settings: OPDSSettings(),
                        client: client))
            }
        }
    }

    /// Asks for page after page.
    private func entries(_ collection: OPDSCollection) async throws -> [CatalogEntry] {
        var entries: [CatalogEntry] = []
        var cursor: String?
        repeat {
            let page = try await collection.page(at: cursor)
            entries += page.entries
            cursor = page.next
        } while cursor != nil
        return entries
    }

    @Test func `a feed of OPDS 2 lists its open audiobooks to its last page`() async throws {
        let last =
            #"{"publications":[],"groups":[{"publications":[{"metadata":{"title":"Last"},"links":[{"rel":"self","href":"l.json","type":"application/audiobook+json"}]}]}]}"#
        try await withCollection(["/opds": try Self.fixture("feed-2.json"), "/opds?page=2": last], at: "/opds") {
            feed in
            let page = try await feed.page(at: nil)
            #expect(page.declared == nil && page.next?.hasSuffix("/opds?page=2") == true)
            #expect(page.entries.map(\.title) == ["The Heron Lamp", "One File"])
            let first = try #require(page.entries.first)
            #expect(first.identity.source == "shelf" && first.identity.id.hasSuffix("/heron/manifest.json"))
            #expect(first.reference == first.identity.description)
            #expect(first.author == "Ada Quill" && first.narrator == "Tom Reed" && first.seconds == 4320.5)
            #expect(page.entries.last?.identity.id.hasSuffix("/one.json") == true)
            #expect(try await entries(feed).map(\.title) == ["The Heron Lamp", "One File", "Last"])
        }
    }

    @Test func `a feed of OPDS 1 lists its open audiobooks`() async throws {
        try await withCollection(["/lists/audio": try Self.fixture("feed-1.xml")], at: "/lists/audio") { feed in
            let page = try await feed.page(at: nil)
            #expect(page.next?.hasSuffix("/lists/audio?after=3") == true)
            let entry = try #require(page.entries.first)
            #expect(page.entries.count == 1 && entry.title == "夜航 & 归舟" && entry.author == "林 溪, Bo Lund")
            #expect(entry.language == "zh" || entry.language == "zh-CN")
            #expect(entry.summary == "一盏灯" && entry.identity.id.hasSuffix("/works/1/fulfill"))
        }
    }

    private static func page(_ books: ClosedRange<Int>, next: String?, of total: Int? = nil) -> String {
        let publications = books.map {
            #"{"metadata":{"title":"\#($0)"},"links":[{"rel":"self","href":"/\#($0)","type":"application/audiobook+json"}]}"#
        }
        let links = next.map { #"{"rel":"next","href":"\#($0)"}"# } ?? ""
        let declared = total.map { #""numberOfItems":\#($0)"# } ?? ""
        return
            #"{"metadata":{\#(declared)},"links":[\#(links)],"publications":[\#(publications.joined(separator: ","))]}"#
    }

    @Test func `a list that leads back or goes on for ever ends with a failure`() async throws {
        let back = ["/1": Self.page(1...2, next: "/2"), "/2": Self.page(3...4, next: "/1")]
        let itself = ["/1": Self.page(1...2, next: "/1")]
        // Always another address, always the same books.
        let endless = ["/1": Self.page(1...2, next: "/1?n=1"), "/1?n=1": Self.page(1...2, next: "/1?n=2")]
        for pages in [back, itself, endless] {
            try await withCollection(pages, at: "/1") { feed in
                await #expect {
                    _ = try await entries(feed)
                } throws: {
                    "\($0)".contains("the feed leads back to a page that was read")
                }
            }
        }
    }

    @Test func `a list is resumed at its cursor, and read anew from its beginning`() async throws {
        let pages = ["/1": Self.page(1...2, next: "/2", of: 3), "/2": Self.page(3...3, next: nil, of: 3)]
        try await withCollection(pages, at: "/1") { feed in
            let first = try await feed.page(at: nil)
            #expect(first.declared == 3)
            #expect(try await entries(feed).count == 3)
            #expect(try await entries(feed).count == 3)
            #expect(try await feed.page(at: first.next).entries.map(\.title) == ["3"])
        }
    }

    // MARK: Searching

    private func search(
        _ query: CatalogQuery, _ pages: [String: String], credentials: [CatalogCredentials.Field] = []
    ) async throws -> (found: [CatalogEntry], asked: [RecordedRequest]) {
        try await withServer(pages) { address, server in
            try await withHTTPTransport(options: TransportOptions(), logger: Logger(label: "test")) { transport in
                let source = OPDSSource(
                    name: "shelf", settings: OPDSSettings(FeedSettings(address: ResourceAddress(address + "/opds"))),
                    client: CatalogClient(transport: transport, retry: RetryPolicy(retries: 0)))
                return (try await source.search(query), server.requests)
            }
        }
    }

    @Test func `a search goes by the template of OPDS 2 or the description of OPDS 1`() async throws {
        let result = try Self.fixture("feed-2.json")
        let two = try await search(CatalogQuery(text: "heron & 灯", limit: 1), ["/opds": result, "/search": result])
        #expect(two.found.map(\.title) == ["The Heron Lamp"])
        #expect(two.asked.last?.path == "/search" && two.asked.last?.query == ["query": "heron & 灯"])
        let pages = [
            "/opds": try Self.fixture("feed-1.xml"), "/search.xml": try Self.fixture("search.xml"),
            "/find": try Self.fixture("feed-1.xml"),
        ]
        let one = try await search(CatalogQuery(text: "夜航", author: "林 溪", language: "zh"), pages)
        #expect(one.found.map(\.title) == ["夜航 & 归舟"])
        #expect(one.asked.map(\.path) == ["/opds", "/search.xml", "/find"])
        #expect(one.asked.last?.query == ["q": "夜航 林 溪", "page": ""])
        let chinese = try await search(CatalogQuery(text: "x", language: "zh"), ["/opds": result, "/search": result])
        #expect(chinese.found.map(\.title) == ["One File"])
    }

    @Test func `a catalog that cannot be searched says so`() async throws {
        await #expect {
            _ = try await search(CatalogQuery(text: "x"), ["/opds": Self.page(1...1, next: nil)])
        } throws: {
            "\($0)".contains("the feed does not say where it is searched")
        }
    }

    @Test(arguments: [
        ("/s{?query}", "/s?query=a%20b"), ("/s?x=1{&title,query}", "/s?x=1&query=a%20b"),
        ("/s/{searchTerms}", "/s/a%20b"),
        ("/s?q={searchTerms}&p={startPage?}", "/s?q=a%20b&p="), ("/s{?title}", "/s"), ("/s", "/s"), ("{", "{"),
    ])
    func `templates are filled in`(template: String, address: String) {
        #expect(URITemplate.filled(template, searchTerms: "a b") == address)
    }
}
