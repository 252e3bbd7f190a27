import BookModel
import Logging
import NIOHTTP1
import Support
import Testing
import Transport

@testable import CatalogFetcher

@Suite(.limitedConcurrency) struct BookResourceFailureTests {
    @Test(
        arguments: [
            (401, .credentialsRejected), (403, .catalogUnavailable), (404, .unknownBook), (410, .unknownBook),
            (400, .catalogUnavailable), (304, .catalogUnavailable),
        ] as [(Int, Failure.Kind)])
    func `an HTTP status that will not change is not asked for twice`(status: Int, kind: Failure.Kind) async throws {
        let (failure, requests) = try await failure { _, _ in ScriptedAnswer(status: status, "") }
        #expect(failure.kind == kind)
        #expect("\(failure)".contains("\(status)"))
        #expect(requests == 1)
    }

    @Test(arguments: [500, 503, 408, 429])
    func `an HTTP status that may change is tried again, then told`(status: Int) async throws {
        let (failure, requests) = try await failure { _, _ in ScriptedAnswer(status: status, "") }
        #expect(failure.kind == .catalogUnavailable)
        #expect(failure.why.description == "it answers with HTTP status \(status) (tried 4 times)")
        #expect(failure.what.description.contains("page 1 of kting:30776 cannot be fetched from 127.0.0.1:"))
        #expect(requests == 4)
    }

    @Test func `a wait that the server asks for is kept`() async throws {
        try await ScriptedServer.run { request, count in
            count == 1
                ? ScriptedAnswer(status: 503, headers: ["Retry-After": "17"], "")
                : WirePage.of(2, for: request, sections: 2)
        } _: { _, address in
            let book = try await listBook(settings: BookResourceSettings(address))
            #expect(book.waits == [.seconds(17)])
            #expect(book.listing.proof.isComplete)
        }
    }

    @Test func `a body that is cut is fetched again and not parsed`() async throws {
        try await ScriptedServer.run { request, count in
            var answer = WirePage.of(40, for: request, sections: 40)
            answer.cutAfter = count == 1 ? 700 : nil
            return answer
        } _: { server, address in
            let book = try await listBook(settings: BookResourceSettings(address))
            #expect(book.listing.proof == ListingProof(declared: 40, collected: 40, isComplete: true))
            #expect(server.requests.count == 2)
        }
    }

    @Test func `a body that ends with its connection and too early is fetched again`() async throws {
        try await ScriptedServer.run { request, count in
            var answer = WirePage.of(40, for: request, sections: 40)
            answer.endsWithConnection = true
            if count == 1 { answer.body.removeLast(100) }
            return answer
        } _: { server, address in
            let book = try await listBook(settings: BookResourceSettings(address))
            #expect(book.listing.proof.isComplete)
            #expect(server.requests.count == 2)
        }
    }

    @Test func `a catalog that is down is named`() async throws {
        try await withRefusingPort { port in
            let failure = await #expect(throws: Failure.self) {
                try await listBook(settings: BookResourceSettings("http://127.0.0.1:\(port)"))
            }
            #expect(failure?.kind == .catalogUnavailable)
            #expect(failure?.why.description == "the server refuses the connection (tried 4 times)")
            #expect(failure?.what.description.hasSuffix("127.0.0.1:\(port)") == true)
        }
    }

    @Test func `an address that is none is a matter of configuration`() async throws {
        let failure = await #expect(throws: Failure.self) {
            try await listBook(settings: BookResourceSettings("no-url"))
        }
        #expect(failure?.kind == .configuration)
    }

    @Test func `too frequent waits with a widening gap that stays`() async throws {
        try await ScriptedServer.run { request, count in
            [1, 2, 4].contains(count)
                ? ScriptedAnswer(#"{"apiStatus":0,"status":114,"msg":"下载过于频繁，请稍后再试"}"#)
                : WirePage.of(9, for: request, sections: 9)
        } _: { server, address in
            let book = try await listBook(settings: BookResourceSettings(address, pageSize: 3))
            #expect(server.requests.map(\.page) == [1, 1, 1, 2, 2, 3])
            #expect(book.waits == [2, 4, 4, 8, 8].map { .seconds($0) })
            #expect(book.told == [2, 4, 4, 8, 8])
            #expect(book.listing.proof.isComplete)
        }
    }

    @Test func `too frequent for ever is given up after six waits`() async throws {
        let (failure, requests) = try await failure { _, _ in ScriptedAnswer(#"{"status":"114","msg":"下载过于频繁"}"#) }
        #expect(failure.kind == .catalogUnavailable)
        #expect(failure.why.description == "it answers status 114 \"下载过于频繁\" after 6 waits, the last of 60 s")
        #expect(requests == 7)
    }

    @Test(
        arguments: [
            (#"{"status":4,"msg":"非法请求"}"#, .catalogUnavailable, #"it answers status 4 "非法请求""#),
            (#"{"status":9,"msg":"书籍不存在"}"#, .unknownBook, #"it answers status 9 "书籍不存在""#),
            (
                #"{"status":1,"msg":"token已过期: my-token\n\u001b[31m"}"#, .credentialsRejected,
                #"it answers status 1 "token已过期: ***  [31m""#
            ),
            (#"{"status":-3,"msg":null}"#, .catalogUnavailable, "it answers status -3 without a message"),
            (#"{"list":[],"sections":0,"status":0}"#, .unknownBook, "it may also be the id of an album"),
            (#"{"list":[],"status":0}"#, .unknownBook, "it may also be the id of an album"),
            (#"{"list":null,"status":0}"#, .unknownBook, "it may also be the id of an album"),
            (#"{"status":0,"sections":112}"#, .unreadableCatalog, "declares 112 episodes and lists none"),
            (
                #"{"status":0,"list":{"id":1}}"#, .unreadableCatalog,
                #"its list is an object and no array: '{"status":0"#
            ),
            (#"{"hello":"my-token"}"#, .unreadableCatalog, #"the answer has no list of episodes: '{"hello":"***"}'"#),
            ("[1,2]", .unreadableCatalog, "the answer is an array and no object: '[1,2]'"),
            ("7", .unreadableCatalog, "the answer is a number and no object: '7'"),
            ("null", .unreadableCatalog, "the answer is null and no object: 'null'"),
            (
                "<html>\n<title>Login my-token</title>", .unreadableCatalog,
                "the answer is HTML or XML and no JSON: '<html> <title>Login ***</title>'"
            ),
            (#"{"list":[{"id":1,}]}"#, .unreadableCatalog, "expected a member's name in quotes at byte 17"),
            (#"{"list":[{"id":1"#, .unreadableCatalog, "expected ',' or '}' after a member at byte 16"),
            ("", .unreadableCatalog, "the answer is empty"),
            (
                String(repeating: "[", count: 100_000), .unreadableCatalog,
                "no more than 512 levels of nesting at byte 512"
            ),
        ] as [(String, Failure.Kind, String)])
    func `an answer that is no listing is told in a sentence`(
        body: String, kind: Failure.Kind, sentence: String
    ) async throws {
        let (failure, requests) = try await failure(token: "my-token") { _, _ in ScriptedAnswer(body) }
        #expect(failure.kind == kind)
        #expect(failure.why.description.contains(sentence))
        #expect(!"\(failure)".contains("my-token"))
        #expect(requests == 1)
    }

    @Test func `messages and quotations are cut`() async throws {
        let long = String(repeating: "长", count: 5000)
        let (refused, _) = try await failure { _, _ in ScriptedAnswer(#"{"status":5,"msg":"\#(long)"}"#) }
        #expect(refused.why.description == "it answers status 5 \"" + long.prefix(199) + "…\"")
        let (unreadable, _) = try await failure { _, _ in ScriptedAnswer("<" + long) }
        #expect(unreadable.why.description.hasSuffix("'<" + long.prefix(78) + "…'"))
    }

    @Test(arguments: [true, false])
    func `an answer beyond the limit is refused`(declaresLength: Bool) async throws {
        let (failure, requests) = try await failure(maxResponseBytes: 100_000) { _, _ in
            ScriptedAnswer(body: Array(repeating: 0x20, count: 100_001), endsWithConnection: !declaresLength)
        }
        #expect(failure.kind == .unreadableCatalog)
        #expect(failure.why.description == "the answer is longer than 100.0 kB")
        #expect(requests == 1)
    }

    @Test func `an empty first page of a declared book is an incomplete listing`() async throws {
        try await ScriptedServer.run { _, _ in
            ScriptedAnswer(#"{"list":[],"sections":12,"status":0}"#)
        } _: { _, address in
            let book = try await listBook(settings: BookResourceSettings(address))
            #expect(book.listing.proof.isComplete == false)
            #expect(book.warnings.contains("declares 12 episodes and lists 0"))
        }
    }

    @Test(arguments: [
        ScriptedAnswer("<html>busy</html>"), ScriptedAnswer(status: 500, ""), ScriptedAnswer(status: 404, ""),
        ScriptedAnswer(#"{"status":4,"msg":"非法请求"}"#),
    ])
    func `one page that cannot be read is a gap, and the listing incomplete`(bad: ScriptedAnswer) async throws {
        try await ScriptedServer.run { request, _ in
            request.page == 2 ? bad : WirePage.of(9, for: request, sections: 9)
        } _: { _, address in
            let book = try await listBook(settings: BookResourceSettings(address, pageSize: 3))
            #expect(book.episodes.map(\.section) == [1, 2, 3, 7, 8, 9])
            #expect(!book.listing.proof.isComplete)
            #expect(book.warnings.hasPrefix("page 2 cannot be read: "), "\(book.warnings)")
        }
    }

    @Test func `after two bad pages in a row, or rejected credentials, the listing fails`() async throws {
        for (bad, kind) in [
            (ScriptedAnswer("<html>busy</html>"), Failure.Kind.unreadableCatalog),
            (ScriptedAnswer(#"{"status":1,"msg":"token已过期"}"#), .credentialsRejected),
        ] {
            let (failure, requests) = try await failure { request, _ in
                request.page > 1 ? bad : WirePage.of(150, for: request, sections: 150)
            }
            #expect(failure.kind == kind && (requests == (kind == .credentialsRejected ? 2 : 3)))
        }
    }

    @Test func `a cancelled listing ends as cancelled`() async throws {
        try await ScriptedServer.run { _, _ in
            ScriptedAnswer(status: 503, "")
        } _: { _, address in
            let (pauses, paused) = AsyncStream<Void>.makeStream()
            let listing = Task {
                try await withHTTPTransport(options: .init(), logger: Logger(label: "test")) { transport in
                    let source = BookResourceSource(
                        settings: BookResourceSettings(address),
                        client: CatalogClient(
                            transport: transport,
                            pause: { _ in
                                paused.yield()
                                try await Task.sleep(for: .seconds(3600))
                            }))
                    return try await source.list(testBook) { _ in }
                }
            }
            for await _ in pauses.prefix(1) { listing.cancel() }
            await #expect(throws: CancellationError.self) { try await listing.value }
        }
    }
}
