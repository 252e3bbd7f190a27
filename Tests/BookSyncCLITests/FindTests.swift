import Foundation
import Support
import Testing

extension ProductTests {
    @Suite struct Finding {
        /// One server that is archive.org and both directories of podcasts.
        static func script(_ others: [String: ServerScript] = [:]) throws -> ServerScript {
            func recorded(_ name: String) throws -> ServerScript {
                .always(.text(try String(contentsOf: Corpus.fixture("search/\(name).json"), encoding: .utf8)))
            }
            return .paths(
                [
                    "/advancedsearch.php": try recorded("advanced-search"), "/search": try recorded("itunes"),
                    "/search/podcast": try recorded("fyyd"), "/librivox/api/feed/audiobooks": try recorded("librivox"),
                ].merging(others) { $1 })
        }

        static func configuration(_ server: MisbehavingServer, find sources: String = "itunes, fyyd") -> String {
            """
            find: { sources: [\(sources)], itunes-url: "\(server.url(""))", fyyd-url: "\(server.url(""))" }
            downloads: { retries: 0 }
            sources:
              archive: { type: internet-archive, url: "\(server.url(""))" }
            """
        }

        private func withCatalogs(
            _ others: [String: ServerScript] = [:], _ body: (Workbench, MisbehavingServer) async throws -> Void
        ) async throws {
            try await withWorkbench { bench in
                try await withServer(try Self.script(others)) { server in
                    try bench.configure(Self.configuration(server))
                    try await body(bench, server)
                }
            }
        }

        @Test func `without any source the library is searched, and never the demo catalog`() async throws {
            try await withWorkbench { bench in
                try bench.configure("find: { sources: [] }")
                let found = try await bench.run("find", "兽医", environment: bench.configured)
                #expect(found.exitCode == 0 && found.errors == "no matches\n" && found.output == "", "\(found)")
                let nothing = try await bench.run("find", "nosuch", "-q", environment: bench.configured)
                #expect(nothing.exitCode == 0 && nothing.output == "" && nothing.errors == "")
                let named = try await bench.run("find", "兽医", "--source", "demo", environment: bench.configured)
                #expect(named.exitCode == 64 && named.errors.contains("'demo' cannot be searched"), "\(named.errors)")
            }
        }

        @Test func `an address is sent to no catalog, and what is secret in it is not printed`() async throws {
            try await withCatalogs { bench, server in
                let address = "https://joe:hidden@feeds.example/f?auth=hidden"
                for arguments in [["find", address], ["find", address, "--json"], ["find", "a", address, "-q"]] {
                    let found = try await bench.runBare(arguments + ["--library", "L"], environment: bench.configured)
                    #expect(found.exitCode == 64 && found.errors.contains("an address is not searched for"), "\(found)")
                    #expect(!(found.output + found.errors).contains("hidden"), "\(found)")
                }
                #expect(server.record.requests.isEmpty)
            }
        }

        @Test func `books are printed as a table, and who did not answer on standard error`() async throws {
            try await withCatalogs(["/search": .always(.text("", status: 503))]) { bench, _ in
                let found = try await bench.run("find", "letters", environment: bench.configured)
                #expect(found.exitCode == 0)
                #expect(
                    found.errors == """
                        itunes cannot be searched: it answers with HTTP status 503; try again later

                        """)
                let rows = found.outputLines.map { $0.replacing(/\s{2,}/, with: "|") }
                #expect(rows.first == "title|author|narrator|language|episodes|hours|size|ref|found in")
                #expect(
                    rows.dropFirst().first
                        == "Letters of Two Brides|Honoré de Balzac|en|9.2|1.0 GB|archive:letters_brides_0709_librivox|archive",
                    "\(rows)")
                #expect(found.controlCharacters == [])
            }
        }

        @Test(arguments: [
            ["find"], ["find", "!!"], ["find", "x", "--limit", "0"], ["find", "x", "--language", "?"],
            ["find", "x", "--source", "nosuch"],
        ])
        func `what cannot be looked for is refused`(arguments: [String]) async throws {
            try await withCatalogs { bench, server in
                let refused = try await bench.runBare(arguments, environment: bench.configured)
                #expect(refused.exitCode == 64 && refused.output == "", "\(refused.errors)")
                #expect(server.record.requests.isEmpty)
            }
        }

        #if os(Linux)
            @Test func `on a terminal a number subscribes, and @1 is a book until the next listing`() async throws {
                try await withCatalogs { bench, server in
                    try await bench.onTerminal(
                        columns: 200, "\"$BOOKSYNC\" find letters --library L <\"$TERMINAL\" >\"$TERMINAL\" 2>&1",
                        environment: bench.configured
                    ) { run, terminal in
                        let rows = try await terminal.waitForScreen {
                            $0.contains { $0.contains("Subscribe to which one?") }
                        }
                        #expect(rows.contains { $0.contains("@1  Letters of Two Brides") }, "\(rows)")
                        terminal.type("1\n")
                        #expect(try await run.result().exitCode == 0)
                        try await terminal.waitForScreen {
                            $0.contains { $0.contains("subscribed to archive:letters_brides_0709_librivox") }
                        }
                    }
                    let list = try await bench.run("subscriptions", "--json", environment: bench.configured)
                    #expect(
                        try JSONObject.list(list.output).map { $0["id"] } == ["letters_brides_0709_librivox"],
                        "\(list.output)")
                    let plan = try await bench.run("plan", "@1", environment: bench.configured)
                    #expect(plan.errors.contains("archive has no book letters_brides_0709_librivox"), "\(plan.errors)")
                    #expect(server.requests(path: "/metadata/letters_brides_0709_librivox").count == 1)
                }
            }

            @Test(
                arguments: [
                    ("f1", 66, "archive has no book letters_brides_0709_librivox"), ("", 0, nil),
                    ("9", 64, "'9' names none of the books"), ("x", 64, "'x' names none of the books"),
                ] as [(String, Int32, String?)])
            func `f and a number fetches, Enter ends, any other answer is refused`(
                answer: String, exitCode: Int32, says: String?
            ) async throws {
                try await withCatalogs { bench, server in
                    try await bench.onTerminal(
                        columns: 200, "\"$BOOKSYNC\" find letters --library L <\"$TERMINAL\" >\"$TERMINAL\" 2>&1",
                        environment: bench.configured
                    ) { run, terminal in
                        try await terminal.waitForScreen { $0.contains { $0.contains("Subscribe to which one?") } }
                        terminal.type(answer + "\n")
                        #expect(try await run.result().exitCode == exitCode)
                        if let says { try await terminal.waitForScreen { $0.contains { $0.contains(says) } } }
                    }
                    let asked = server.requests(path: "/metadata/letters_brides_0709_librivox").count
                    #expect(asked == (exitCode == 66 ? 1 : 0))
                }
            }

            /// A feed whose name leads into the private network is asked for by a catalog, and not by the user.
            @Test func `a feed in the private network is not subscribed to`() async throws {
                try await withCatalogs { bench, server in
                    let feed = #"{"data":[{"title":"Home","xmlURL":"http://127.0.0.1:\#(server.port)/feed.xml"}]}"#
                    try await withServer(.always(.text(feed))) { directory in
                        try bench.configure(
                            """
                            find: { sources: [fyyd], fyyd-url: "\(directory.url(""))" }
                            sources: { feeds: { type: feed } }
                            """)
                        try await bench.onTerminal(
                            columns: 200, "\"$BOOKSYNC\" find home --library L <\"$TERMINAL\" >\"$TERMINAL\" 2>&1",
                            environment: bench.configured
                        ) { run, terminal in
                            try await terminal.waitForScreen { $0.contains { $0.contains("Subscribe to which one?") } }
                            terminal.type("1\n")
                            #expect(try await run.result().exitCode == 69)
                        }
                        #expect(server.record.requests.isEmpty && !bench.exists)
                    }
                }
            }
        #endif
    }
}
