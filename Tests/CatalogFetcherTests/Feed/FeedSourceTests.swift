import BookModel
import Foundation
import Logging
import NIOHTTP1
import Support
import Testing
import Transport

@testable import CatalogFetcher

@Suite(.limitedConcurrency) struct FeedSourceTests {
    private static func list(
        _ address: String, settings: FeedSettings = FeedSettings(), retries: Int = 2,
        since validator: ListingValidator? = nil, access: SourceAccess = .standard, trust: TrustedAuthorities? = nil,
        maxResponseBytes: Int = 256 << 20
    ) async throws -> ListedBook? {
        let waits = RecordedWaits()
        return try await withHTTPTransport(
            options: TransportOptions(connectTimeout: 60, stallTimeout: 60, authorities: trust),
            logger: Logger(label: "test")
        ) { transport in
            let source = FeedSource(
                settings: settings,
                client: CatalogClient(
                    transport: transport.using(access), retry: RetryPolicy(retries: retries),
                    maxResponseBytes: maxResponseBytes, pause: { try await waits.pause($0) }))
            let book = BookIdentity(source: "feeds", id: address)
            var pages: [CatalogPage] = []
            let listing =
                if let validator {
                    try await source.list(book, ifChangedSince: validator) { pages.append($0) }
                } else {
                    try await source.list(book) { pages.append($0) }
                }
            return listing.map { ListedBook(pages: pages, listing: $0, waits: waits.all) }
        }
    }

    private static func items(_ numbers: some Sequence<Int>) -> String {
        numbers.map {
            #"<item><guid>g\#($0)</guid><title>\#($0)</title><enclosure url="http://a.example/\#($0).mp3"/></item>"#
        }
        .joined()
    }

    private static func page(_ numbers: some Sequence<Int>, next: String? = nil) -> String {
        rss(items(numbers), head: "<title>T</title>" + (next.map { #"<atom:link rel="next" href="\#($0)"/>"# } ?? ""))
    }

    @Test func `a feed is listed`() async throws {
        try await ScriptedServer.run { _, _ in
            ScriptedAnswer(Self.page(1...2500))
        } _: { server, address in
            let book = try #require(try await Self.list(address + "/feed"))
            #expect(book.episodes.count == 2500)
            #expect(book.pages.map(\.episodes.count) == [1000, 1000, 500])
            #expect(book.listing.proof == ListingProof(declared: nil, collected: 2500, isComplete: true))
            #expect(server.requests.count == 1)
        }
    }

    private static func failure(
        _ address: String, access: SourceAccess = .standard
    ) async throws -> Failure? {
        do {
            _ = try await list(address, retries: 0, access: access)
            return nil
        } catch let failure as Failure {
            return failure
        }
    }

    @Test(
        arguments: [
            (403, "/feed", [], Failure.Kind.catalogUnavailable, "check the address"),
            (403, "/feed", ["User-Agent"], .catalogUnavailable, "check the address"),
            (403, "/feed", ["X-Key"], .credentialsRejected, "if the address holds a secret"),
            (401, "/feed", [], .credentialsRejected, "set user and password"),
            (401, "/feed", ["X-Key"], .credentialsRejected, "if the address holds a secret"),
            (451, "/feed", [], .catalogUnavailable, "check the address and the query"),
            (404, "/feed", [], .unknownBook, "check the address"),
        ] as [(Int, String, [String], Failure.Kind, String)])
    func `a refusal counts as one of credentials only where some were sent`(
        _ status: Int, _ path: String, _ headers: [String], _ kind: Failure.Kind, _ remedy: String
    ) async throws {
        try await ScriptedServer.run { _, _ in
            ScriptedAnswer(status: status, "no")
        } _: { server, address in
            var credentials = SourceCredentials(origins: Set([WebOrigin(ResourceAddress(address))].compactMap(\.self)))
            if headers == ["X-Key"] { credentials.headers = ["X-Key": Secret("k-1")] }
            let open = headers.filter { $0 == "User-Agent" }.map { (name: $0, value: "k-1") }
            let access = SourceAccess(credentials: credentials, headers: open)
            let failure = try #require(try await Self.failure(address + path, access: access))
            #expect(failure.kind == kind)
            #expect(failure.remedy?.description.hasPrefix(remedy) == true, "\(failure)")
            if status == 404 { #expect(failure.what.description == "no book is at \(address)\(path)") }
            #expect(kind == .credentialsRejected || failure.disposition == .skip)
            #expect(server.requests.count == 1)
        }
    }

    @Test(arguments: [true, false])
    func `a feed that ends without the end of TLS is whole where its document is`(isWhole: Bool) async throws {
        let page = Self.page(1...3)
        let text = isWhole ? page : String(page.dropLast(20))
        let script = ServerScript.always(Reply(body: Array(text.utf8), framing: .untilClose))
        try await withServer(script) { server in
            try await SecureServer.before(server, endsRudely: true) { port in
                let trust = try TrustedAuthorities(pem: Array(SecureServer.certificateText.utf8))
                let book = try #require(try await Self.list("https://localhost:\(port)/feed", trust: trust))
                #expect(book.listing.proof.isComplete == isWhole)
                #expect(server.record.requests.count == (isWhole ? 1 : 3))
            }
        }
    }

    @Test func `a query that is configured arrives as it was written`() async throws {
        try await ScriptedServer.run { _, _ in
            ScriptedAnswer(Self.page(1...1))
        } _: { server, address in
            let settings = FeedSettings(
                address: ResourceAddress(address + "/{id}"),
                credentials: CatalogCredentials(query: [("token", "a&b#c=d+e %41"), ("名", "第一")]))
            let request = try settings.address(of: BookIdentity(source: "feeds", id: "第1/2"))
            #expect(
                request.secretText
                    == address
                    + "/%E7%AC%AC1%2F2?token=a%26b%23c%3Dd%2Be%20%2541&%E5%90%8D=%E7%AC%AC%E4%B8%80")
            #expect(settings.secrets(in: request).masking("it said a&b#c=d+e %41") == "it said ***")
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `a charset that the server declares counts`() async throws {
        try await ScriptedServer.run { _, _ in
            let body =
                Array("<rss><channel><title>".utf8) + [0xB5, 0xDA, 0xD2, 0xBB] + Array("</title></channel></rss>".utf8)
            return ScriptedAnswer(headers: ["Content-Type": "application/rss+xml; Charset=\"gb2312\""], body: body)
        } _: { _, address in
            let book = try await Self.list(address)
            #expect(book?.listing.description.title == "第一")
        }
    }

    @Test func `pages are followed to the last one`() async throws {
        try await ScriptedServer.run { request, _ in
            let page = Int(request.query["p"] ?? "") ?? 1
            return ScriptedAnswer(Self.page((page * 10)..<(page * 10 + 10), next: page < 3 ? "?p=\(page + 1)" : nil))
        } _: { server, address in
            let book = try #require(try await Self.list(address + "/feed"))
            #expect(book.episodes.count == 30)
            #expect(book.listing.proof.isComplete)
            #expect(server.requests.count == 3)
        }
    }

    @Test(arguments: [
        ("/feed", "leads back to one that was read", 1), ("?again=", "brings nothing new", 2),
        ("/missing", "page 2 is missing", 2), ("refused", "page 2 is missing", 1),
    ])
    func `pages that go wrong make the listing incomplete, and nothing is lost`(
        next: String, warning: String, requests: Int
    ) async throws {
        try await withRefusingPort { port in
            let next = next == "refused" ? "http://127.0.0.1:\(port)/x" : next
            try await ScriptedServer.run { request, count in
                request.path == "/missing"
                    ? ScriptedAnswer(status: 404, "")
                    : ScriptedAnswer(Self.page(1...3, next: next.hasSuffix("=") ? next + "\(count)" : next))
            } _: { server, address in
                let book = try #require(try await Self.list(address + "/feed", retries: 0))
                #expect(book.episodes.count == 3)
                #expect(!book.listing.proof.isComplete)
                #expect(book.warnings.contains(warning), "\(book.warnings)")
                #expect(server.requests.count == requests)
            }
        }
    }

    @Test func `an unchanged feed costs one request and is not listed`() async throws {
        let headers: HTTPHeaders = ["ETag": "\"v1\"", "Last-Modified": "Mon, 06 Sep 2010 10:00:00 GMT"]
        try await ScriptedServer.run { request, _ in
            request.headers.first(name: "If-None-Match") == "\"v1\""
                ? ScriptedAnswer(status: 304, headers: headers, "") : ScriptedAnswer(headers: headers, Self.page(1...3))
        } _: { server, address in
            let first = try #require(try await Self.list(address))
            let validator = try #require(first.listing.proof.validator)
            #expect(validator.pages.map(\.validator.entityTag) == ["\"v1\""])
            let unchanged = try await Self.list(address, since: validator)
            #expect(unchanged?.episodes == nil)
            #expect(server.requests.last?.headers.first(name: "If-Modified-Since") == "Mon, 06 Sep 2010 10:00:00 GMT")
            let changed = try await Self.list(address, since: Self.told("\"v0\""))
            #expect(changed?.episodes.count == 3)
            #expect(server.requests.count == 3)
        }
    }

    private static func told(_ tags: String...) -> ListingValidator {
        let pages = tags.map { ListingValidator.Page(validator: ContentValidator(entityTag: $0)) }
        return ListingValidator(pages: pages, readAt: Date())
    }

    @Test(arguments: [(200, ""), (200, "<html>busy</html>"), (200, "<rss><channel/></rss>"), (412, "no")])
    func `an empty response to a condition is asked for again without one, at once`(
        status: Int, body: String
    ) async throws {
        try await ScriptedServer.run { request, _ in
            request.headers.contains(name: "If-None-Match")
                ? ScriptedAnswer(status: status, body) : ScriptedAnswer(Self.page(1...3))
        } _: { server, address in
            let book = try #require(try await Self.list(address, since: Self.told("\"v1\"")))
            #expect(book.episodes.count == 3 && book.listing.proof.isComplete && book.waits.isEmpty)
            #expect(server.requests.map { $0.headers.first(name: "If-None-Match") } == ["\"v1\"", nil])
        }
    }

    @Test func `each page is asked by what it came with, and all are read when one of them changed`() async throws {
        let changed = Watched(0)
        try await ScriptedServer.run { request, _ in
            let page = Int(request.query["paged"] ?? "") ?? 1
            let tag = "\"page-\(page)-\(changed.value == page ? 2 : 1)\""
            let items = (page * 10)..<(page * 10 + (changed.value == page ? 9 : 10))
            return request.headers.first(name: "If-None-Match") == tag
                ? ScriptedAnswer(status: 304, "")
                : ScriptedAnswer(headers: ["ETag": tag], Self.page(items, next: page < 3 ? "?paged=\(page + 1)" : nil))
        } _: { server, address in
            let first = try #require(try await Self.list(address + "/feed"))
            let validator = try #require(first.listing.proof.validator)
            #expect(validator.pages.map(\.address) == [nil, address + "/feed?paged=2", address + "/feed?paged=3"])
            #expect(try await Self.list(address + "/feed", since: validator)?.episodes == nil)
            #expect(server.requests.count == 6)
            for page in 1...3 {
                changed.update { $0 = page }
                let before = server.requests.count
                let book = try #require(try await Self.list(address + "/feed", since: validator))
                #expect(book.episodes.count == 29 && book.listing.proof.isComplete)
                // What was read of the changed page is not asked for again.
                #expect(server.requests.count == before + page + 2)
            }
        }
    }

    @Test func `a page that nothing can be asked by has all of them read`() async throws {
        let headers: HTTPHeaders = ["ETag": "\"v1\""]
        for next in ["?p=2", "?p=2&token=0123456789abcdef"] {
            try await ScriptedServer.run { request, _ in
                request.query["p"] == nil
                    ? ScriptedAnswer(headers: headers, Self.page(1...2, next: next))
                    : ScriptedAnswer(headers: next == "?p=2" ? [:] : headers, Self.page(3...4))
            } _: { _, address in
                let book = try #require(try await Self.list(address + "/feed"))
                #expect(book.episodes.count == 4 && book.listing.proof.isComplete)
                #expect(book.listing.proof.validator == nil)
            }
        }
    }

    @Test(
        arguments: [
            ("Tue, 03 Mar 2020 10:00:00 GMT", "Tue, 03 Mar 2020 10:00:01 GMT", true),
            ("Tue, 03 Mar 2020 10:00:00 GMT", "Tue, 03 Mar 2020 10:00:00 GMT", true),
            ("Tue, 03 Mar 2020 10:00:01 GMT", "Tue, 03 Mar 2020 10:00:00 GMT", false),
            ("Tue, 03 Mar 2020 10:00:01 +0000", "Tue, 03 Mar 2020 10:00:00 GMT", false),
            ("Fri, 03 Mar 2090 10:00:00 GMT", nil, false), ("Tue, 03 Mar 2020 10:00:00 GMT", nil, true),
            ("yesterday", nil, true),
        ] as [(String, String?, Bool)])
    func `a time behind that of the response itself is never asked by`(
        modified: String, date: String?, isAskedBy: Bool
    ) async throws {
        try await ScriptedServer.run { _, _ in
            var headers: HTTPHeaders = ["Last-Modified": modified]
            if let date { headers.add(name: "Date", value: date) }
            return ScriptedAnswer(headers: headers, Self.page(1...2))
        } _: { _, address in
            let book = try await Self.list(address)
            #expect(book?.listing.proof.validator?.pages.first?.validator.lastModified == (isAskedBy ? modified : nil))
        }
    }

    @Test func `a tag that Apache marked is asked by as it would be without the mark, too`() async throws {
        try await ScriptedServer.run { request, _ in
            let tags = request.headers.first(name: "If-None-Match") ?? ""
            return tags.contains("\"v1\"")
                ? ScriptedAnswer(status: 304, "") : ScriptedAnswer(headers: ["ETag": "\"v1-gzip\""], Self.page(1...2))
        } _: { server, address in
            let book = try #require(try await Self.list(address))
            #expect(try await Self.list(address, since: book.listing.proof.validator) == nil)
            #expect(server.requests.last?.headers.first(name: "If-None-Match") == "\"v1-gzip\", \"v1\"")
        }
    }

    @Test(arguments: ["<rss><channel><title>T</title></channel></rss>"])
    func `an empty listing has nothing to ask by`(body: String) async throws {
        try await ScriptedServer.run { _, _ in
            ScriptedAnswer(headers: ["ETag": "\"v1\""], body)
        } _: { _, address in
            let book = try #require(try await Self.list(address))
            #expect(book.listing.proof.isComplete && book.listing.proof.validator == nil)
        }
    }

    @Test func `a listing is believed to be unchanged for a week`() {
        let validator = Self.told("\"v1\"")
        let day = 86_400.0
        #expect([0, 6.9].allSatisfy { validator.isGood(at: validator.readAt + $0 * day) })
        #expect(![7, 400, -1].contains { validator.isGood(at: validator.readAt + $0 * day) })
    }

    @Test(arguments: [
        "<br />\n<b>Warning</b>: Cannot modify header in <b>/srv/wp/x.php</b> on line <b>3</b><br />\n",
        "Warning: Undefined array key 7 in /srv/wp/x.php on line 12\n", "\n\n\u{FEFF}",
        "<div class='xdebug'><table><tr><th>( ! ) Deprecated<br></th></tr>"
            + String(repeating: "<tr><td>x", count: 500),
    ])
    func `what a program says before its feed is no part of it`(said: String) async throws {
        for prolog in ["<?xml version='1.0' encoding='gb2312'?>", ""] {
            let title: [UInt8] = prolog.isEmpty ? Array("第一".utf8) : [0xB5, 0xDA, 0xD2, 0xBB]
            let body =
                Array((said + prolog + "<rss version='2.0'><channel><title>").utf8) + title
                + Array(("</title>" + Self.items(1...3) + "</channel></rss>").utf8)
            try await ScriptedServer.run { _, _ in
                ScriptedAnswer(body: body)
            } _: { _, address in
                let book = try #require(try await Self.list(address))
                #expect(book.episodes.count == 3 && book.listing.proof.isComplete, "\(book.warnings)")
                #expect(book.listing.description.title == "第一")
            }
            #expect(FeedReader.recognises(body))
        }
    }

    @Test(arguments: [
        "<!DOCTYPE html><html><body><pre><rss version='2.0'></pre></body></html>", "{\"a\":\"<rss >\"}",
        "<html><feed ></html>", "<p>no feed here</p>",
    ])
    func `a page that shows the beginning of a feed is none`(page: String) {
        #expect(!FeedReader.recognises(Array(page.utf8)))
    }

    @Test func `an incomplete listing has nothing to ask by`() async throws {
        try await ScriptedServer.run { _, _ in
            ScriptedAnswer(headers: ["ETag": "\"v1\""], String(Self.page(1...3).dropLast(30)))
        } _: { _, address in
            let book = try #require(try await Self.list(address))
            #expect(book.episodes.count == 2)
            #expect(!book.listing.proof.isComplete && book.listing.proof.validator == nil)
        }
    }

    @Test func `a cut connection is tried again, and what came is used when that does not help`() async throws {
        try await ScriptedServer.run { _, count in
            var answer = ScriptedAnswer(String(Self.page(1...3).dropLast(count < 2 ? 150 : 0)))
            answer.endsWithConnection = true
            return answer
        } _: { server, address in
            let book = try await Self.list(address)
            #expect(book?.episodes.count == 3)
            #expect(server.requests.count == 2)
        }
        try await ScriptedServer.run { _, _ in
            var answer = ScriptedAnswer(String(Self.page(1...3).dropLast(150)))
            answer.endsWithConnection = true
            return answer
        } _: { server, address in
            let book = try #require(try await Self.list(address))
            #expect(book.episodes.count == 1)
            #expect(!book.listing.proof.isComplete)
            #expect(server.requests.count == 3)
        }
    }

    @Test(arguments: [
        (200, "<!DOCTYPE html><html>secret-token", Failure.Kind.unreadableCatalog, "HTML page"),
        (200, "", .unreadableCatalog, "empty"), (404, "", .unknownBook, "404"), (401, "", .credentialsRejected, "401"),
        (500, "", .catalogUnavailable, "500"), (304, "", .catalogUnavailable, "304"),
    ])
    func `what is no feed is a failure in a sentence`(
        status: Int, body: String, kind: Failure.Kind, why: String
    ) async throws {
        try await ScriptedServer.run { _, _ in
            ScriptedAnswer(status: status, body)
        } _: { _, address in
            let failure = await #expect(throws: Failure.self) {
                _ = try await Self.list(address + "/f?show=secret-token", retries: 0)
            }
            #expect(failure?.kind == kind)
            #expect(failure?.why.description.contains(why) == true, "\(String(describing: failure))")
        }
    }

    @Test func `an answer above the limit is refused before it is held`() async throws {
        try await ScriptedServer.run { _, _ in
            ScriptedAnswer(Self.page(1...2000))
        } _: { _, address in
            let failure = await #expect(throws: Failure.self) {
                _ = try await Self.list(address, maxResponseBytes: 10_000)
            }
            #expect(failure?.why.description.contains("longer than 10.0 kB") == true, "\(String(describing: failure))")
        }
    }

    @Test func `a source's url is a template, and secrets go to its own server only`() async throws {
        try await ScriptedServer.run { _, _ in
            ScriptedAnswer(Self.page(1...1))
        } _: { _, other in
            try await ScriptedServer.run { _, _ in
                ScriptedAnswer(Self.page(2...2, next: other + "/more"))
            } _: { server, address in
                let settings = FeedSettings(
                    address: ResourceAddress(address + "/shows/{id}/rss"),
                    credentials: CatalogCredentials(query: [("token", "sesame")]))
                let book = try #require(try await Self.list("a b", settings: settings))
                #expect(book.episodes.count == 2)
                #expect(server.requests.first?.path == "/shows/a b/rss")
                #expect(server.requests.first?.query["token"] == "sesame")
            }
        }
    }

    @Test func `a feed whose id hides a secret is asked for when the address is given`() throws {
        let address = ResourceAddress("https://a.example/feed?token=sesame")
        let book = BookIdentity(source: "feeds", id: FeedSettings.bookID(of: address))
        #expect(try FeedSettings(knownAddresses: [address]).address(of: book) == address)
        #expect(try FeedSettings(address: address).address(of: book) == address)
        let failure = #expect(throws: Failure.self) { try FeedSettings().address(of: book) }
        #expect(failure?.kind == .configuration)
        #expect(throws: Failure.self) { try FeedSettings().address(of: BookIdentity(source: "feeds", id: "30776")) }
    }
}
