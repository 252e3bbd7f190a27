import Foundation
import Support
import Testing

extension ProductTests {
    @Suite struct Subscriptions {
        @Test func `what is subscribed to is listed and can be given up`() async throws {
            try await withWorkbench { bench in
                let none = try await bench.run("subscriptions", "--json")
                #expect(try JSONObject.list(none.output).isEmpty)
                #expect(try await bench.run("subscribe", "demo:40111/latest:2", "demo:30776/1-3").exitCode == 0)
                let text = try await bench.run("subscriptions")
                #expect(text.outputLines.count == 3)
                #expect(text.output.contains("latest 2"))
                let list = try JSONObject.list(try await bench.run("subscriptions", "--json").output)
                #expect(list.compactMap { $0["id"] }.sorted() == ["30776", "40111"])
                let short = try #require(list.first { $0["id"] == "40111" })
                #expect(short["source"] == "demo")
                #expect(short.number("latest") == 2)
                #expect(short.isNull("only"))
                #expect(short["subscribed_at"] != nil)

                let again = try await bench.run("subscribe", "demo:40111")
                #expect(again.exitCode == 0)
                #expect(again.errors.contains("already"))
                #expect(try await bench.run("unsubscribe", "40111").exitCode == 0)
                let gone = try await bench.run("unsubscribe", "demo:40111")
                #expect(gone.exitCode == 66)
                #expect(gone.errors.contains("demo:40111"))
                let left = try JSONObject.list(try await bench.run("subscriptions", "--json").output)
                #expect(left.compactMap { $0["only"] } == ["1-3"])
            }
        }

        @Test func `mirror follows them, and files stay when they are given up`() async throws {
            try await withWorkbench { bench in
                _ = try await bench.run("subscribe", "demo:40111/latest:2", "demo:30776/1-3", "-q")
                let first = try await bench.run("mirror", "--json")
                #expect(first.exitCode == 0)
                #expect(try first.summary().number("books") == 2)
                #expect(try first.summary().number("fetched") == 5)
                #expect(first.errorLines.last?.hasPrefix("2 books: 5 fetched (") == true)
                let again = try await bench.run("mirror", "--json")
                #expect(try again.summary().number("fetched") == 0)
                #expect(try again.summary().number("bytes_received") == 0)
                _ = try await bench.run("unsubscribe", "40111", "-q")
                let rest = try await bench.run("mirror", "--json")
                #expect(try rest.summary().number("books") == 1)
                #expect(try bench.files().count == 5)
            }
        }

        @Test func `a title given to a book whose catalog has nothing new is the book's from the next run on`()
            async throws
        {
            var catalog = NightCatalog()
            catalog.feed = [(NightCatalog.item("serial", 1), 1)]
            let night = Watched(catalog)
            try await withWorkbench { bench in
                try await withServer(ServerScript { request in night.update { $0.answer(request) } }) { server in
                    let address = server.url(NightCatalog.feedPath)
                    #expect(try await bench.run("fetch", address, "-q").exitCode == 0)
                    #expect(try await bench.run("subscribe", address, "--title", "Mine", "-q").exitCode == 0)
                    let mirror = try await bench.run("mirror", "--json")
                    let summary = try mirror.summary()
                    #expect(summary.number("renamed") == 1, "\(mirror.errors)")
                    #expect(server.requests(path: NightCatalog.feedPath).last?.header("If-None-Match") != nil)
                    let books = try JSONObject.list(try await bench.run("list", "--json").output)
                    #expect(books.map { $0["title"] } == ["Mine"])
                    #expect(try bench.files().keys.allSatisfy { $0.hasPrefix("Mine/") })
                    let again = try await bench.run("mirror", "--json").summary()
                    #expect(again.number("kept") == 1)
                }
            }
        }

        @Test(arguments: [[], ["-q"], ["--json"], ["-q", "--dry-run"]])
        func `mirror without a subscription is 78, and says what to do`(_ options: [String]) async throws {
            try await withWorkbench { bench in
                let result = try await bench.runBare(["mirror", "--library", "L"] + options)
                #expect(result.exitCode == 78)
                #expect(result.errors.contains("nothing is subscribed to: neither the configuration nor the library "))
                #expect(result.errors.contains("booksync subscribe REF adds one"), "\(result.errors)")
                #expect(!result.errors.contains("demo catalog"))
                #expect(!bench.exists, "a folder without a book is of no use")
            }
        }

        @Test(arguments: [["-q"], ["-q", "--dry-run"]])
        func `mirror is 78 where none of several libraries follows a book, begun or not`(_ options: [String])
            async throws
        {
            let catalog = ScriptedCatalog(episodes: 2, bytes: 2000)
            try await withCatalog(catalog.script, more: "libraries: { home: L, attic: A }") { bench, _ in
                func run(_ arguments: [String]) async throws -> ProductRunner.Result {
                    try await bench.runBare(arguments, environment: bench.configured)
                }
                let told = "nothing is subscribed to: neither the configuration nor any of its libraries names a book"
                for isBegun in [false, true] {
                    if isBegun { #expect(try await run(["fetch", "1", "-q", "--library", "attic"]).exitCode == 0) }
                    let idle = try await run(["mirror"] + options)
                    #expect(idle.exitCode == 78, "\(idle.errors)")
                    #expect(idle.errors.ranges(of: told).count == 1, "\(idle.errors)")
                }
                #expect(try await run(["subscribe", "1", "-q", "--library", "attic"]).exitCode == 0)
                let followed = try await run(["mirror"] + options)
                #expect(followed.exitCode == 0 && followed.errors == "", "\(followed.errors)")
            }
        }

        @Test func `the configuration's subscriptions are followed under the title that they give`() async throws {
            let catalog = ScriptedCatalog(episodes: 4, bytes: 2000)
            let more = """
                subscriptions:
                  - book: cat:77
                    title: 我的书
                    latest: 3
                """
            try await withCatalog(catalog.script, more: more) { bench, _ in
                let environment = bench.configured
                let result = try await bench.run("mirror", "--json", environment: environment)
                #expect(result.exitCode == 0)
                #expect(try result.summary().number("fetched") == 3)
                #expect(try bench.files().keys.allSatisfy { $0.hasPrefix("我的书/") })
                let subscriptions = try await bench.run("subscriptions", "--json", environment: environment)
                #expect(try JSONObject.list(subscriptions.output).first?["title"] == "我的书")
                let refused = try await bench.run("unsubscribe", "77", environment: environment)
                #expect(refused.exitCode == 78)
                let fetch = try await bench.run("fetch", "77", "--json", environment: environment)
                #expect(try fetch.summary().number("fetched") == 1)
                #expect(try bench.files().keys.allSatisfy { $0.hasPrefix("我的书/") })
            }
        }

        @Test func `with --json, subscribe and unsubscribe print an object for each book`() async throws {
            try await withWorkbench { bench in
                func outcomes(_ result: ProductRunner.Result) throws -> [String?] {
                    try result.events().map { $0["outcome"] }
                }
                let new = try await bench.run("subscribe", "demo:40111", "demo:30776/1-3", "--json")
                #expect(try outcomes(new) == ["subscribed", "subscribed"])
                #expect(try new.events().map { $0["id"] } == ["40111", "30776"])
                #expect(try new.events().map { $0["source"] } == ["demo", "demo"])
                let again = try await bench.run("subscribe", "demo:40111", "demo:30776/1-4", "--json", "-q")
                #expect(try outcomes(again) == ["already", "changed"])
                let ended = try await bench.run("unsubscribe", "demo:77", "40111", "--json")
                #expect(ended.exitCode == 66 && ended.errors.contains("demo:77"))
                #expect(try outcomes(ended) == ["was not subscribed", "unsubscribed"])
                let told = try await bench.run("unsubscribe", "30776")
                #expect(told.errors == "unsubscribed from demo:30776\n" && told.output == "")
            }
        }

        @Test func `what the configuration subscribes to is changed there, and no library is made for it`() async throws
        {
            try await withCatalog(
                ScriptedCatalog(episodes: 1).script, more: "subscriptions: [{ book: \"cat:77\" }]"
            ) { bench, _ in
                for command in ["subscribe", "unsubscribe"] {
                    let refused = try await bench.run(command, "1", "77", environment: bench.configured)
                    #expect(refused.exitCode == 78)
                    #expect(
                        refused.errors
                            == "booksync: cat:77 cannot be \(command)d: the configuration subscribes to it; "
                            + "change it in \(bench.configuration.path)\n")
                }
                #expect(try await bench.run("unsubscribe", "1", environment: bench.configured).exitCode == 66)
                #expect(!bench.exists)
            }
        }

        @Test func `a book of a source that does not exist is refused`() async throws {
            try await withWorkbench { bench in
                let result = try await bench.run("subscribe", "nowhere:1")
                #expect(result.exitCode == 78)
                #expect(result.errors.contains("nowhere"))
            }
        }
    }
}
