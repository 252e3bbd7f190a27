import BookSyncWeb
import Foundation
import Support
import Testing

extension MainJobTests {
    @Suite struct MainJob {
        private static let openSections = (1...112).filter { $0 != 57 && $0 != 112 }

        @Test func `a book is fetched whole, and a second run fetches nothing`() async throws {
            try await withWorkbench { bench in
                let first = try await bench.run("fetch", "--book", "30776")
                #expect(first.exitCode == 0)
                #expect(first.output == "")
                #expect(first.errors.hasPrefix("no source is configured: using the built-in demo catalog at http://"))
                let summary = try #require(first.errorLines.last)
                #expect(
                    summary.wholeMatch(of: /30776 回到古代当兽医: 110 fetched \(29\.2 MB\), 2 locked in \d+ s/) != nil,
                    "\(summary)")
                let expected = Self.openSections.map { DemoCatalog.sha256(book: DemoCatalog.book, section: $0) }
                #expect(try bench.digests() == expected)
                #expect(try bench.partialFiles.isEmpty)

                let again = try await bench.run("fetch", "30776", "--json")
                #expect(again.exitCode == 0)
                let counts = try again.summary()
                #expect(counts.number("fetched") == 0)
                #expect(counts.number("kept") == 110)
                #expect(counts.number("locked") == 2)
                #expect(counts.number("bytes_received") == 0)
                #expect(counts.number("exit_code") == 0)
                let last = try #require(again.errorLines.last)
                #expect(last.contains("0 fetched, 110 kept, 2 locked in"))
            }
        }

        @Test func `JSON events have the contract's keys`() async throws {
            try await withWorkbench { bench in
                let result = try await bench.run("fetch", DemoCatalog.shortBook, "--json")
                let events = try result.events()
                #expect(events.first?["event"] == "plan")
                #expect(events.last?["event"] == "summary")

                let plan = try #require(events.first)
                #expect(plan.keys == ["event", "book", "actions", "totals"])
                #expect(plan.objects("actions").count == 6)
                for action in plan.objects("actions") {
                    #expect(action.keys == ["action", "section", "id", "name", "path", "bytes", "reason"])
                }
                #expect(
                    plan.object("totals")?.keys
                        == ["fetch", "resume", "replace", "rename", "adopt", "keep", "expire", "skip", "bytes"])

                let finished = events.filter { $0["event"] == "finished" }
                #expect(finished.compactMap { $0.number("section") }.sorted() == [1, 2, 3, 4, 5, 6])
                for event in finished {
                    let section = try #require(event.number("section"))
                    #expect(event["sha256"] == DemoCatalog.sha256(book: DemoCatalog.shortBook, section: section))
                    #expect(event.number("bytes_received") == event.number("size"))
                }
                let summary = try result.summary()
                #expect(
                    summary.keys.isSuperset(of: [
                        "books", "fetched", "resumed", "replaced", "renamed", "adopted", "kept", "locked", "failed",
                        "bytes_received", "bytes_reused", "seconds", "exit_code",
                    ]))
                let sizes = finished.compactMap { $0.number("size") }.reduce(0, +)
                #expect(summary.number("bytes_received") == sizes)
            }
        }

        @Test func `progress comes at most twice a second for each episode`() async throws {
            let catalog = ScriptedCatalog(episodes: 2, bytes: 80_000, pace: Pace(bytesPerSecond: 40_000))
            try await withCatalog(catalog.script) { bench, _ in
                let result = try await bench.run("fetch", "b", "--json", environment: bench.configured)
                let events = try result.events()
                let finished = events.filter { $0["event"] == "finished" }
                #expect(finished.count == 2)
                for end in finished {
                    let seconds = try #require(end.double("seconds"))
                    let progress = events.filter { $0["event"] == "progress" && $0["id"] == end["id"] }
                    #expect(progress.count > 0)
                    #expect(Double(progress.count) <= seconds * 2 + 1)
                    let bytes = progress.compactMap { $0.number("bytes_done") }
                    #expect(bytes == bytes.sorted())
                }
                #expect(events.filter { $0["event"] == "started" }.count == 2)
            }
        }

        @Test func `common options stand before or after the command`() async throws {
            try await withWorkbench { bench in
                let before = try await bench.runBare(
                    ["--json", "--library", "L", "--no-color", "fetch", "--only", "2", DemoCatalog.shortBook])
                #expect(try before.summary().number("fetched") == 1)
                let after = try await bench.runBare(
                    ["fetch", DemoCatalog.shortBook, "--only", "2-3", "--library=L", "--json", "-v"])
                #expect(try after.summary().number("fetched") == 1)
                #expect(try after.summary().number("kept") == 1)
                let config = try await bench.runBare(["--library", "L", "--json", "config", "show"])
                #expect(try JSONObject(config.output)["library"] == bench.library.path)
                let version = try await bench.runBare(["-q", "--version"])
                #expect(version.exitCode == 0)
                #expect(version.output.wholeMatch(of: /\d+\.\d+\.\d+\n/) != nil)
            }
        }

        @Test(arguments: [
            ["plan", "demo:40111"], ["fetch", "40111", "--dry-run"], ["plan", "demo:40111", "--json"],
            ["mirror", "--dry-run"],
            ["plan"], ["list"], ["subscriptions"], ["config", "show"], ["config", "path"],
        ])
        func `what only looks creates no library`(_ arguments: [String]) async throws {
            try await withWorkbench { bench in
                let result = try await bench.runBare(arguments + ["--library", "L"])
                // Nothing is subscribed to.
                #expect(result.exitCode == (arguments.contains("mirror") ? 78 : 0))
                #expect(!bench.exists)
                #expect(try FileManager.default.contentsOfDirectory(atPath: bench.folder.path).isEmpty)
            }
        }

        @Test func `a plan names what a run would do and leaves the shelf as it is`() async throws {
            try await withWorkbench { bench in
                _ = try await bench.run("fetch", "40111", "--only", "1-2", "-q")
                let before = try bench.digests()
                let plan = try await bench.run("plan", "demo:40111")
                #expect(plan.exitCode == 0)
                #expect(plan.outputLines.last?.hasPrefix("40111 夜航船: 4 to fetch, 2 to keep (") == true)
                // One book that was never read keeps no other from being planned.
                let both = try await bench.run("plan", "demo:30776", "demo:40111", "--offline")
                #expect(both.exitCode == 66 && both.errors.contains("30776 is not on the shelf"), "\(both.errors)")
                #expect(both.output.contains("40111 夜航船: 4 to fetch, 2 to keep ("), "\(both.output)")
                let document = try JSONObject(try await bench.run("plan", "demo:40111", "--json").output)
                #expect(document.object("totals")?.number("fetch") == 4)
                #expect(document.object("totals")?.number("keep") == 2)
                let dry = try await bench.run("fetch", "40111", "--dry-run", "--json")
                #expect(try JSONObject(dry.output).objects("actions").count == 6)
                #expect(try bench.digests() == before)
            }
        }

        @Test func `an offline plan asks nobody`() async throws {
            try await withWorkbench { bench in
                let unknown = try await bench.run("plan", "demo:40111", "--offline")
                #expect(unknown.exitCode == 66)
                _ = try await bench.run("fetch", "40111", "--only", "1-2", "-q")
                let plan = try await bench.run("plan", "demo:40111", "--offline")
                #expect(plan.exitCode == 0)
                #expect(plan.errors == "")
                #expect(plan.outputLines.last?.hasPrefix("40111 夜航船: 4 to fetch, 2 to keep (") == true)
            }
        }

        @Test func `a book that is named twice is planned once`() async throws {
            try await withWorkbench { bench in
                let run = try await bench.run(
                    "fetch", "--book", "40111/1-2", "--book", "40111/2-3", "40111/1", "--json")
                #expect(run.exitCode == 0)
                #expect(try run.summary().number("books") == 1)
                #expect(try run.summary().number("fetched") == 3)
                let both = try await bench.run("fetch", "40111/1-2", "40111/latest:2")
                #expect(both.exitCode == 64)
                #expect(both.errors.contains("named twice"))
                let all = try await bench.run("fetch", "40111/1-2", "40111", "--json")
                #expect(try all.summary().number("kept") == 3)
                #expect(try all.summary().number("fetched") == 3)
            }
        }

        @Test func `a plan for people leaves out what was not asked for`() async throws {
            try await withWorkbench { bench in
                let plan = try await bench.run("plan", "demo:30776", "--only", "1-2")
                #expect(plan.outputLines.count == 4)
                #expect(plan.outputLines.last?.hasPrefix("30776 回到古代当兽医: 2 to fetch (") == true)
            }
        }

        @Test func `the last episodes, those that match, and those that are named`() async throws {
            try await withWorkbench { bench in
                let latest = try await bench.run("fetch", "40111", "--latest", "2", "--json")
                #expect(try latest.summary().number("fetched") == 2)
                let named = try await bench.run("fetch", "demo:40111/1,3-4", "--json")
                #expect(try named.summary().number("fetched") == 3)
                let matching = try await bench.run("fetch", "--book", "40111", "--match", "第00[12]", "--json")
                #expect(try matching.summary().number("fetched") == 1)
                let reference = try await bench.run("fetch", "40111/latest:3", "--json")
                #expect(try reference.summary().number("fetched") == 0)
                #expect(try bench.files().count == 6)
            }
        }
    }
}
