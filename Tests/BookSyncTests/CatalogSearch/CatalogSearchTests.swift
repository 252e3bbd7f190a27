import BookModel
import CatalogFetcher
import Crypto
import Foundation
import Settings
import Support
import Testing
import Transport

@testable import BookSync

@Suite(.limitedConcurrency) struct CatalogSearchTests {
    @Test func `every catalog is asked in its own words, and Chinese is percent-encoded as Python does it`()
        async throws
    {
        try await withServer(try StandIn.script()) { server in
            let query = CatalogQuery(text: #"兽医 "a\b" &=#"#, author: "Jane Austen", language: "zh", limit: 7)
            _ = try await search(query, at: server)
            let record = server.record
            func asked(_ path: String) throws -> [ServerRequest] { record.requests(path: path) }

            let archives = try asked(StandIn.archive)
            let words = #"(title:"兽医" OR creator:"兽医") AND (title:"\"a\\b\"" OR creator:"\"a\\b\"")"#
            let rest = #" AND (title:"&=#" OR creator:"&=#") AND creator:"Jane" AND creator:"Austen""#
            let language = #" AND language:("zh" OR "zho" OR "chi" OR "Chinese")"#
            #expect(
                Set(archives.compactMap { $0.query["q"] }) == [
                    "mediatype:audio AND \(words)\(rest)\(language)",
                    "collection:librivoxaudio AND \(words)\(rest)\(language)",
                ])
            #expect(archives.allSatisfy { $0.query["rows"] == "7" && $0.query["output"] == "json" })
            // urllib.parse.quote('(title:"兽医"', safe='')
            #expect(archives.allSatisfy { $0.target.contains("%28title%3A%22%E5%85%BD%E5%8C%BB%22") })

            let librivox = try #require(try asked(StandIn.librivox).first)
            #expect(librivox.query["title"] == #"^兽医 "a\b" &=#"# && librivox.query["author"] == "Austen")
            #expect(librivox.query["limit"] == "7" && librivox.query["format"] == "json")

            let itunes = try #require(try asked(StandIn.itunes).first)
            #expect(itunes.query["term"] == #"兽医 "a\b" &=# Jane Austen"# && itunes.query["media"] == "podcast")
            #expect(itunes.query["limit"] == "7" && itunes.query["country"] == "CN")
            // urllib.parse.quote('兽医 "a\\b" &=# Jane Austen', safe='')
            #expect(itunes.target.contains("term=%E5%85%BD%E5%8C%BB%20%22a%5Cb%22%20%26%3D%23%20Jane%20Austen&"))

            let fyyd = try #require(try asked(StandIn.fyyd).first)
            #expect(fyyd.query["term"] == #"兽医 "a\b" &=# Jane Austen"# && fyyd.query["count"] == "7")

            let books = try #require(try asked(StandIn.books).first)
            #expect(books.query["keyWord"] == #"兽医 "a\b" &=# Jane Austen"# && books.query["imei"] == "12345678")
            let path = "/books/search.action?imei=12345678&keyWord=兽医 \"a\\b\" &=# Jane Austen&token=s3cr3t-token"
            #expect(books.query["sc"] == Insecure.MD5.hash(data: Data((path + "signing-secret").utf8)).hexadecimal)
            #expect(
                record.exchanges.allSatisfy {
                    $0.request.path == StandIn.books || !$0.request.target.contains("s3cr3t")
                })
        }
    }

    @Test func `all are asked at once, and each one's books come as soon as it answers`() async throws {
        let gates = StandIn.files.mapValues { _ in Gate() }
        let held = try StandIn.files.reduce(into: [String: ServerScript]()) { scripts, file in
            let body = Array(try StandIn.recorded(file.value).utf8)
            let gate = try #require(gates[file.key])
            scripts[file.key] = .always(.reply(body: body, then: .stallAfter(bytes: 1, until: gate)))
        }
        try await withServer(.paths(held)) { server in
            let configuration = StandIn.configuration(server)
            let feeds = ["https://feeds.example.org/brides.xml", "http://feeds.example.de/braeute?show=7"]
            // Nobody has a whole answer before all are asked.
            async let opened: Void = {
                try await server.waitUntil { $0.requests.count == 6 }
                gates[StandIn.fyyd]?.open()
            }()
            let (found, order) = try await StandIn.withTransport(configuration) { transport in
                var order: [String] = []
                let search = try configuration.catalogSearch(over: transport)
                let found = try await search.search(CatalogQuery(text: "brides")) { answer, found in
                    order.append(answer.source)
                    guard answer.source == "fyyd" else { return }
                    #expect(found.references == feeds)
                    for gate in gates.values { gate.open() }
                }
                return (found, order)
            }
            try await opened
            #expect(server.record.maximumConcurrentRequests == 6)
            // The library waits for nobody.
            #expect(order.prefix(2) == ["library", "fyyd"])
            #expect(Set(order) == ["archive", "librivox", "books", "itunes", "fyyd", "library"])
            #expect(found.unanswered.isEmpty)
        }
    }

    @Test func `what catalogs answer is put together`() async throws {
        try await withServer(try StandIn.script()) { server in
            let found = try await search(CatalogQuery(text: "brides"), at: server)
            #expect(found.unanswered.isEmpty)
            #expect(
                found.books.map { "\($0.entry.reference) \($0.sources.joined(separator: "+"))" } == [
                    "http://feeds.example.org/brides.xml itunes+fyyd", "http://192.168.1.1/admin.xml itunes",
                    "http://printer.local/feed itunes", "librivox:52 librivox+archive",
                    "archive:brides-radio-play librivox+archive", "books:30776 books", "books:40111.0 books",
                    "librivox:53 librivox", "http://feeds.example.de/braeute?show=7 fyyd",
                    "archive:chi-brides librivox+archive",
                ])
            let letters = try #require(found.books.first { $0.entry.title == "Letters of Two Brides" })
            #expect(
                Set(letters.places.map(\.entry.reference)) == ["librivox:52", "archive:letters_brides_0709_librivox"])
            let own = try #require(letters.places.first { $0.source == "librivox" }?.entry)
            #expect(own.author == "Honoré de Balzac" && own.language == "en" && own.episodes == 57)
            #expect(own.seconds == 32960 && own.size == 1_009_021_313)
        }
    }

    @Test func `an archive's item is read as far as it can be`() async throws {
        try await withServer(try StandIn.script()) { server in
            let entries = try await search(CatalogQuery(text: "brides"), in: "archive", at: server).books.map(\.entry)
            #expect(
                Set(entries.map(\.identity.id)) == ["letters_brides_0709_librivox", "brides-radio-play", "chi-brides"])
            let letters = try #require(entries.first { $0.identity.id.hasPrefix("letters") })
            #expect(
                letters.seconds == 32960 && letters.size == 1_009_021_313
                    && letters.summary == "Two brides write letters.")
            #expect(letters.publishedAt == Date(timeIntervalSince1970: 1_191_153_600))
            let play = try #require(entries.first { $0.identity.id == "brides-radio-play" })
            #expect(play.title == "The Brides: a radio play" && play.author == "B. Writer, A. Reader")
            #expect(play.language == "en" && play.size == 73_400_320)
            let chinese = try #require(entries.first { $0.identity.id == "chi-brides" })
            #expect(chinese.title == "新娘 们 [31m" && chinese.language == "zh")
            #expect(chinese.size == nil && chinese.seconds == nil && chinese.author == nil)
        }
    }

    @Test func `elements of a book-resource search are read tolerantly`() async throws {
        try await withServer(try StandIn.script()) { server in
            let entries = try await search(CatalogQuery(text: "新娘"), in: "books", at: server).books.map(\.entry)
            #expect(entries.map(\.identity.id) == ["40111.0", "30776"])
            #expect(entries.last?.title == "回到古代当兽医&新娘" && entries.last?.author == "演示作者")
            #expect(entries.last?.narrator == "八音盒" && entries.last?.episodes == 112 && entries.last?.summary == "简介")
        }
    }

    // MARK: LibriVox

    @Test func `LibriVox's 404 means none, and its books are found by any word in the archive`() async throws {
        let none = ServerScript.always(.text(#"{"error":"Audiobooks could not be found"}"#, status: 404))
        try await withServer(try StandIn.script([StandIn.librivox: none])) { server in
            let found = try await search(CatalogQuery(text: "brides"), in: "librivox", at: server)
            #expect(found.unanswered.isEmpty && server.requests(path: StandIn.librivox).count == 1)
            #expect(Set(found.references) == ["librivox:52", "archive:brides-radio-play", "archive:chi-brides"])
        }
        try await withServer(
            .paths([StandIn.librivox: none, StandIn.archive: .always(.text(#"{"response":{"docs":[]}}"#))])
        ) {
            server in
            let found = try await search(CatalogQuery(text: "brides"), in: "librivox", at: server)
            #expect(found.unanswered.isEmpty && found.books.isEmpty)
        }
    }

    @Test
    func `where LibriVox or the archive is away the other one's books are shown, and where both are that is said`()
        async throws
    {
        let away = ServerScript.always(.text("<html>", type: "text/html"))
        try await withServer(try StandIn.script([StandIn.librivox: away])) { server in
            let found = try await search(CatalogQuery(text: "brides"), in: "librivox", at: server)
            #expect(found.unanswered.isEmpty && found.references.contains("librivox:52"))
        }
        try await withServer(try StandIn.script([StandIn.archive: away])) { server in
            let found = try await search(CatalogQuery(text: "letters"), in: "librivox", at: server)
            #expect(found.unanswered.isEmpty && found.references == ["librivox:53", "librivox:52"])
        }
        try await withServer(try StandIn.script([StandIn.archive: away, StandIn.librivox: away])) { server in
            let found = try await search(CatalogQuery(text: "letters"), in: "librivox", at: server)
            #expect(found.unanswered.map(\.source) == ["librivox"] && found.books.isEmpty)
        }
    }

    @Test func `where LibriVox does not answer at all, the archive's books are shown in time`() async throws {
        try await withServer(try StandIn.script([StandIn.librivox: .always(.neverAnswer)])) { server in
            let configuration = StandIn.configuration(server)
            let entries = try await StandIn.withTransport(configuration) { transport in
                let client = CatalogClient(transport: transport, maxResponseBytes: 1 << 20)
                let settings = LibriVoxSettings(address: server.address("/librivox"))
                let archive = ArchiveSearch(
                    source: "archive", librivox: "librivox",
                    settings: InternetArchiveSettings(address: server.address("/archive")), client: client)
                var search = LibriVoxSearch(source: "librivox", settings: settings, client: client, archive: archive)
                // The archive's answer is there when LibriVox is given up.
                search.patience = 10
                return try await search.search(CatalogQuery(text: "brides"))
            }
            #expect(entries.map(\.reference) == ["librivox:52", "archive:brides-radio-play", "archive:chi-brides"])
        }
    }

    // MARK: What goes wrong

    @Test func `those that do not answer are named, each with its reason, and the others' books are shown`()
        async throws
    {
        let scripts: [String: ServerScript] = [
            StandIn.archive: .always(.text("<!DOCTYPE html><title>Login</title>", type: "text/html")),
            StandIn.librivox: .always(.text("", status: 403)),
            StandIn.itunes: .always(.notFound),
            StandIn.books: .always(.text(#"{"status":1,"msg":"token 已过期 s3cr3t-token"}"#)),
        ]
        try await withServer(try StandIn.script(scripts)) { server in
            let found = try await search(CatalogQuery(text: "brides"), at: server)
            let failures = Dictionary(uniqueKeysWithValues: found.unanswered.map { ($0.source, $0.failure) })
            #expect(Set(failures.keys) == ["archive", "librivox", "itunes", "books"])
            #expect(failures["archive"]?.kind == .unreadableCatalog)
            #expect(failures["archive"]?.description.contains("HTML") == true)
            #expect(failures["archive"]?.what.description == "archive cannot be searched")
            #expect(failures["itunes"]?.kind == .catalogUnavailable)
            #expect(failures["itunes"]?.description.contains("404") == true)
            #expect(failures["books"]?.kind == .credentialsRejected)
            #expect(failures.values.allSatisfy { !$0.description.contains("s3cr3t") })
            #expect(found.books.map(\.sources) == [["fyyd"], ["fyyd"]])
        }
    }

    @Test func `a server that asks for a pause is asked again, and an answer that was cut too`() async throws {
        let recorded = try StandIn.recorded("fyyd")
        let scripts: [String: ServerScript] = [
            StandIn.itunes: .replies([
                .text("", status: 429, headers: ["Retry-After": "0"]), .text(try StandIn.recorded("itunes")),
            ]),
            StandIn.fyyd: .replies([
                .reply(body: Array(recorded.utf8), then: .cutAfter(bytes: 200)), .text(recorded),
            ]),
        ]
        try await withServer(try StandIn.script(scripts)) { server in
            let found = try await search(CatalogQuery(text: "brides"), in: "itunes", "fyyd", at: server)
            #expect(found.unanswered.isEmpty)
            #expect(found.books.first?.sources == ["itunes", "fyyd"])
            #expect(server.requests(path: StandIn.itunes).count == 2 && server.requests(path: StandIn.fyyd).count == 2)
        }
    }

    @Test func `of a million hits no more than the limit is taken`() async throws {
        let items = (1...5000).map { #"{"identifier":"brides\#($0)","title":"Brides \#($0)"}"# }.joined(separator: ",")
        let many = ServerScript.always(.text(#"{"response":{"numFound":1000000,"docs":[\#(items)]}}"#))
        try await withServer(try StandIn.script([StandIn.archive: many])) { server in
            let found = try await search(CatalogQuery(text: "brides", limit: 3), in: "archive", at: server)
            #expect(found.references == ["archive:brides1", "archive:brides2", "archive:brides3"])
        }
    }

    @Test func `a megabyte of a title is cut, and an endless answer is refused`() async throws {
        let long = String(repeating: "bride ", count: 200_000)
        let accents = "bride" + String(repeating: "\u{301}", count: 500_000)
        let scripts: [String: ServerScript] = [
            StandIn.fyyd: .always(
                .text(
                    #"{"data":[{"title":"\#(long)","xmlURL":"http://a.example/f"},{"title":"\#(accents)","xmlURL":"http://b.example/f"}]}"#
                )),
            StandIn.itunes: .always(
                .reply(headers: ["Content-Length": "99999999999"], body: [0x20], then: .cutAfter(bytes: 1))),
        ]
        try await withServer(try StandIn.script(scripts)) { server in
            let found = try await search(CatalogQuery(text: "bride"), in: "fyyd", "itunes", at: server)
            #expect(found.books.map { $0.entry.title.utf8.count <= 900 } == [true, true])
            #expect(found.unanswered.map(\.source) == ["itunes"])
            #expect(found.unanswered.first?.failure.kind == .unreadableCatalog)
        }
    }

    @Test func `a public directory leads neither to scripts nor into a private network`() async throws {
        try await withServer(.always(.text(try StandIn.recorded("itunes")))) { server in
            let found = try await search(CatalogQuery(text: "brides"), in: "itunes", at: server) {
                $0.find.itunesURL = ResourceAddress("http://itunes.example.org")
                $0.proxies = ProxyEnvironment(["http_proxy": server.url("")])
            }
            #expect(found.unanswered.isEmpty && server.record.requests.count == 1)
            #expect(found.references == ["http://feeds.example.org/brides.xml"])
        }
    }

    @Test func `a catalog that takes too long is named and not waited for`() async throws {
        struct Stuck: SearchableCatalog {
            func search(_ query: CatalogQuery) async throws -> [CatalogEntry] {
                try await Task.sleep(for: .seconds(3600))
                return []
            }
        }
        let found = try await CatalogSearch([(source: "stuck", catalog: Stuck())], patience: 0.05)
            .search(CatalogQuery(text: "brides"))
        #expect(found.unanswered.map(\.source) == ["stuck"])
    }

    @Test func `a source that cannot be used now is named, one that has no search is refused by name`() async throws {
        try await withServer(try StandIn.script()) { server in
            let found = try await search(CatalogQuery(text: "brides"), in: "books", "fyyd", at: server) {
                $0.sources["books"]?.faults = [
                    Failure(.configuration, what: "books cannot be used", why: "there is no variable KTING_TOKEN")
                ]
            }
            #expect(found.unanswered.map(\.source) == ["books"] && found.books.count == 2)
            #expect(found.unanswered.first?.failure.description.contains("KTING_TOKEN") == true)
            #expect(server.requests(path: StandIn.books).isEmpty)
            for name in ["books", "nosuch"] {
                await #expect(throws: Failure.self) {
                    try await search(CatalogQuery(text: "brides"), in: name, at: server) {
                        $0.sources["books"]?.searchURL = nil
                    }
                }
            }
        }
    }

    @Test func `what is turned off is asked by name alone`() async throws {
        try await withServer(try StandIn.script()) { server in
            _ = try await search(CatalogQuery(text: "brides"), at: server) { $0.find.sources = [.fyyd] }
            #expect(server.requests(path: StandIn.itunes).isEmpty && server.requests(path: StandIn.fyyd).count == 1)
            _ = try await search(CatalogQuery(text: "brides"), in: "itunes", at: server) { $0.find.sources = [] }
            #expect(server.requests(path: StandIn.itunes).count == 1 && server.record.requests.count == 6)
        }
    }
}
