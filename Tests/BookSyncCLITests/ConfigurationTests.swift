import Foundation
import Support
import Testing

extension ProductTests {
    @Suite struct ConfigurationCommands {
        @Test func `a good configuration is said to be good, and a doubtful one is warned of`() async throws {
            try await withWorkbench { bench in
                try bench.configure("sources: { a: { type: feed } }\nsubscriptions: [{ book: \"a:http://h/x\" }]\n")
                let good = try await bench.runBare(["config", "check"], environment: bench.configured)
                #expect(good.exitCode == 0)
                #expect(good.output == "ok: \(bench.configuration.path) (1 source, 1 subscription)\n")
                #expect(good.errors == "")
                try bench.configure("sources: { a: { type: librivox, bearer: LITERAL } }\n")
                try FileManager.default.setAttributes(
                    [.posixPermissions: 0o644], ofItemAtPath: bench.configuration.path)
                let open = try await bench.runBare(["config", "check"], environment: bench.configured)
                #expect(open.exitCode == 0)
                #expect(open.errors.hasPrefix("warning: everybody on this machine can read"), "\(open.errors)")
                #expect(open.errors.contains("sources.a.bearer in line 1") && !open.errors.contains("LITERAL"))
            }
        }

        @Test func `everything that is wrong is told, with exit code 78`() async throws {
            try await withWorkbench { bench in
                try bench.configure(
                    """
                    sources:
                      a: { type: feed, query: { token: "${UNSET_A}" } }
                      b: { type: feed, query: { token-file: nowhere } }
                    """)
                let bad = try await bench.runBare(["config", "check"], environment: bench.configured)
                #expect(bad.exitCode == 78)
                #expect(bad.errorLines.count == 2 && bad.errorLines.allSatisfy { $0.hasPrefix("error: ") })
                #expect(bad.errors.contains("line 2: the environment has no variable UNSET_A"))
                #expect(bad.errors.contains("line 3: the file that 'token-file' names"))
                #expect(bad.output == "")

                try bench.configure("\nlibary: x")
                let json = try await bench.runBare(["config", "check", "--json"], environment: bench.configured)
                #expect(json.exitCode == 78)
                let document = try #require(
                    try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
                #expect(document["ok"] as? Bool == false)
                let errors = try #require(document["errors"] as? [[String: Any]])
                #expect(errors.first?["remedy"] as? String == "did you mean 'library'?")
            }
        }

        @Test func `each setting that is wrong is told, and nothing that only follows from it`() async throws {
            try await withWorkbench { bench in
                try bench.configure(
                    """
                    libary: x
                    downloads: { jobs: none, retries: 3, order: lifo }
                    naming: "{name}.mp3"
                    sources:
                      a: { type: rss }
                      b: { type: book-resource, url: nowhere, page-size: 0 }
                      c: { type: feed, depth: 2 }
                    subscriptions:
                      - { book: "a:1" }
                      - { book: "b:1", latest: 0, since: never }
                      - { book: "d:1" }
                      - { title: x }
                    """)
                let environment = bench.configured.merging(["BOOKSYNC_RETRIES": "many"]) { $1 }
                let check = try await bench.runBare(["config", "check", "--json"], environment: environment)
                #expect(check.exitCode == 78)
                let errors = try JSONObject(check.output).objects("errors").compactMap { $0["what"] }
                let lines = errors.map { $0.firstMatch(of: /line (\d+)/).flatMap { Int($0.1) } ?? 0 }
                #expect(lines.sorted() == [0, 1, 2, 2, 3, 5, 6, 6, 7, 10, 10, 11, 12], "\(errors)")
                let told = try await bench.runBare(["config", "check"], environment: environment)
                #expect(told.exitCode == 78 && told.errorLines.count { $0.hasPrefix("error: ") } == 13)
                // Every other command is kept from its work by the first one.
                let list = try await bench.run("list", environment: environment)
                #expect(
                    list.exitCode == 78 && list.errorLines.count == 1
                        && list.errors.contains("\(bench.configuration.path), line 1"))
            }
        }

        @Test func `what is shown says where it came from`() async throws {
            try await withWorkbench { bench in
                try bench.configure("downloads: { jobs: 2 }\n")
                let shown = try await bench.run(
                    "config", "show", environment: bench.configured.merging(["BOOKSYNC_RETRIES": "3"]) { $1 })
                let file = bench.configuration.path
                for line in [
                    "  jobs: 2  # \(file), line 1", "  retries: 3  # $BOOKSYNC_RETRIES", "  order: first  # default",
                ] {
                    #expect(shown.outputLines.contains(line), "\(shown.output)")
                }
                #expect(shown.outputLines.first?.hasSuffix("  # --library") == true)
            }
        }
    }

    @Suite struct SubscriptionWishes {
        @Test func `a subscription brings so many a run, the newest first`() async throws {
            let catalog = ScriptedCatalog(episodes: 5)
            try await withCatalog(
                catalog.script, more: "subscriptions: [{ book: 1, order: last, max-episodes: 2 }]"
            ) { bench, server in
                for (run, paths) in [[5, 4], [3, 2], [1]].enumerated() {
                    let plan = try await bench.run("mirror", "--dry-run", environment: bench.configured)
                    #expect(plan.output.contains("max-episodes") == (run < 2), "\(plan.output)")
                    let result = try await bench.run("mirror", "--json", "--jobs", "1", environment: bench.configured)
                    #expect(result.exitCode == 0, "\(result.errors)")
                    #expect(try result.summary().number("fetched") == paths.count)
                    let asked = server.record.requests.filter { $0.path.hasPrefix("/audio/") }.map(\.path)
                    #expect(asked.suffix(paths.count) == paths.map { "/audio/\($0).mp3" }[...])
                }
                #expect(try bench.digests() == catalog.digests)
                let all = try await bench.run("fetch", "1", "--json", environment: bench.configured)
                #expect(try all.summary().number("kept") == 5)
            }
        }

        @Test func `what subscribe is told is kept and heeded`() async throws {
            let catalog = ScriptedCatalog(episodes: 4)
            try await withCatalog(catalog.script) { bench, _ in
                let subscribed = try await bench.run(
                    "subscribe", "1", "--since", "30d", "--order", "last", "--max-bytes", "45k", "--title", "T",
                    "--exclude", "第4集", environment: bench.configured)
                #expect(subscribed.exitCode == 0, "\(subscribed.errors)")
                let list = try await bench.run("subscriptions", environment: bench.configured)
                #expect(list.output.contains("without 第4集, since 30d, order last, 45.0 kB a run"), "\(list.output)")
                let json = try await bench.run("subscriptions", "--json", environment: bench.configured)
                let document = try #require(try JSONObject.list(json.output).first)
                #expect(document["since"] == "30d" && document["order"] == "last" && document["title"] == "T")
                #expect(document.number("max_bytes") == 45_000 && document.isNull("max_episodes"))
                let result = try await bench.run("mirror", environment: bench.configured)
                #expect(try bench.files().keys.sorted() == ["T/002 第2集.mp3", "T/003 第3集.mp3"], "\(result.errors)")
                #expect(result.errors.contains("1 left for the next run"), "\(result.errors)")
            }
        }

        @Test func `--since asks for what is new enough, and refuses what is no time`() async throws {
            try await withWorkbench { bench in
                let feed = """
                    <rss><channel><title>F</title>
                    <item><title>old</title><guid>1</guid><pubDate>Mon, 01 Jan 2024 00:00:00 GMT</pubDate>
                    <enclosure url="/1.mp3" type="audio/mpeg"/></item>
                    <item><title>new</title><guid>2</guid><pubDate>Fri, 31 May 2024 00:00:00 GMT</pubDate>
                    <enclosure url="/2.mp3" type="audio/mpeg"/></item>
                    <item><title>undated</title><guid>3</guid><enclosure url="/3.mp3" type="audio/mpeg"/></item>
                    </channel></rss>
                    """
                try await withServer(.paths(["/feed": .always(.text(feed, type: "application/rss+xml"))])) { server in
                    let plan = try await bench.run("plan", server.url("/feed"), "--since", "2024-05-31", "--json")
                    #expect(plan.exitCode == 0, "\(plan.errors)")
                    let fetched = plan.output.split(separator: "\"action\":\"fetch\"").count - 1
                    #expect(fetched == 2, "\(plan.output)")
                    #expect(plan.output.contains("new") && plan.output.contains("undated"))
                }
                let refused = try await bench.run("fetch", "1", "--since", "lately")
                #expect(refused.exitCode == 64)
                #expect(refused.errors.contains("30d"))
            }
        }
    }
}
