import Foundation
import Support
import Testing

extension ProductTests {
    /// Where there is no source, a number is a book of the demo catalog for the one command that tries booksync; everywhere
    /// else the demo catalog is there where it is named.
    @Suite struct TrialTests {
        private static let feed = """
            <rss version="2.0"><channel><title>Tides</title><item><title>Low</title><guid>a</guid>\
            <enclosure url="/1.mp3" type="audio/mpeg"/></item></channel></rss>
            """

        /// A library that follows one podcast, whose user configured no source. The server is the proxy to it: a server of ours
        /// leads its clients to no private address.
        private func withPodcast(
            _ body: (Workbench, MisbehavingServer, [String: String]) async throws -> Void
        ) async throws {
            let script = ServerScript { request in
                request.path.hasSuffix("/feed")
                    ? .text(Self.feed, type: "application/rss+xml")
                    : ServedFile(sampleMP3(bytes: 5000)).answer(to: request)
            }
            try await withServer(script) { server in
                try await withWorkbench { bench in
                    try bench.configure("library: L\nfind: { sources: [] }\n")
                    let environment = bench.configured.merging(["http_proxy": server.url("")]) { $1 }
                    let followed = try await bench.run(
                        "subscribe", "feed:http://podcast.example/feed", environment: environment)
                    try #require(followed.exitCode == 0, "\(followed.errors)")
                    try await body(bench, server, environment)
                }
            }
        }

        private static let mistyped: [(arguments: [String], exitCode: Int32, said: String)] = [
            (["list", "nosuch"], 66, "no book matches 'nosuch'"), (["list", "nosuch"], 66, "booksync list lists"),
            (["show", "nosuch/3"], 66, "no book matches 'nosuch'"), (["plan", "nosuch"], 66, "no book matches"),
            (["fetch", "nosuch"], 66, "no book matches"), (["fetch", "30776"], 66, "no book matches '30776'"),
            (["subscribe", "notaurl"], 66, "no book matches 'notaurl'"),
            (["subscribe", "30776"], 66, "no book matches"),
            (["subscribe", "www.example.org"], 64, "write https://www.example.org"),
            (["catalog", "nosuch"], 66, "no book matches"), (["unsubscribe", "nosuch"], 66, "no book matches"),
        ]

        @Test func `what is mistyped is no book of the demo catalog, and none is subscribed to`() async throws {
            try await withPodcast { bench, _, environment in
                for (arguments, exitCode, said) in Self.mistyped {
                    let result = try await bench.runBare(arguments + ["--library", "L"], environment: environment)
                    #expect(
                        result.exitCode == exitCode && result.errors.contains(said), "\(arguments): \(result.errors)")
                    #expect(!result.errors.contains("demo"), "\(arguments): \(result.errors)")
                }
                let stored = try await bench.run("subscriptions", "--json", environment: environment)
                #expect(try JSONObject.list(stored.output).count == 1)
                // Where it is named it is there, and what came of it has its number for a name.
                for arguments in [["fetch", "demo:40111/1", "-q"], ["list", "40111"], ["fetch", "40111/2", "-q"]] {
                    let result = try await bench.runBare(arguments + ["--library", "L"], environment: environment)
                    #expect(result.exitCode == 0, "\(arguments): \(result.errors)")
                }
                #expect(try bench.files().count == 2)
            }
        }

        @Test func `where nothing is configured and nothing subscribed to, fetch has the demo book of a number`()
            async throws
        {
            try await withWorkbench { bench in
                for _ in 1...2 {
                    let fetched = try await bench.runBare(["fetch", "--book", "40111"])
                    #expect(fetched.exitCode == 0 && fetched.errors.contains("using the built-in demo catalog"))
                }
                #expect(try bench.files(in: bench.folder.appending(path: "Audiobooks")).count == 6)
                #expect(try await bench.runBare(["fetch", "nosuch"]).exitCode == 66)
                let subscribed = try await bench.runBare(["subscribe", "40111"])
                #expect(subscribed.exitCode == 0, "\(subscribed.errors)")
                #expect(try await bench.runBare(["mirror", "-q"]).exitCode == 0)
            }
        }

        @Test func `a book of the demo catalog is still read once a source is configured`() async throws {
            try await withWorkbench { bench in
                #expect(try await bench.runBare(["fetch", "40111/1", "--library", "L"]).exitCode == 0)
                try bench.configure("library: L\nsources: { own: { type: feed, url: \"http://127.0.0.1:9/feed\" } }")
                for words in ["fetch demo:40111/2", "subscribe demo:40111", "plan demo:40111", "mirror"] {
                    let run = try await bench.runBare(
                        words.split(separator: " ").map(String.init), environment: bench.configured)
                    #expect(run.exitCode == 0, "\(words): \(run.errors)")
                    #expect(!run.errors.contains("no source is configured"), "\(words): \(run.errors)")
                }
                #expect(try bench.files().count == 6)
                // A number alone is of the one source that there is.
                let number = try await bench.runBare(["plan", "30776"], environment: bench.configured)
                #expect(number.exitCode != 0 && !number.errors.contains("demo"), "\(number.errors)")
            }
        }

        @Test func `a server that mirrors and searches for a podcast starts no demo catalog`() async throws {
            try await withPodcast { bench, server, environment in
                try await bench.serve(environment: environment) { shelf in
                    let json = ["Content-Type: application/json", "Content-Length: 2"]
                    #expect(try await shelf.send("/api/v1/mirror", method: "POST", json, body: "{}").status == 200)
                    try await shelf.product.waitForErrors(containing: "1 fetched")
                    #expect(try await shelf.send("/discover?q=tides").status == 200)
                    let typo = #"{"refs": ["nosuch"]}"#
                    let refused = try await shelf.send(
                        "/api/v1/subscribe", method: "POST",
                        ["Content-Type: application/json", "Content-Length: \(typo.utf8.count)"], body: typo)
                    #expect(refused.status == 404 && refused.text.contains("no book matches"), "\(refused.text)")
                    shelf.product.send(signal: SIGTERM)
                    #expect(try await !shelf.product.result().errors.contains("demo"))
                }
                #expect(server.record.requests.count { $0.path.hasSuffix("/1.mp3") } == 1)
            }
        }
    }
}
