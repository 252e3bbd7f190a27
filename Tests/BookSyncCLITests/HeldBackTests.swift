import Foundation
import Support
import Testing

extension ProductTests {
    /// Episodes that failed too often to be tried in every run, and others that a run does not bring.
    @Suite struct HeldBackTests {
        @Test func `an episode that the book does not have is 66`() async throws {
            try await withWorkbench { bench in
                #expect(try await bench.run("fetch", "40111/1-2", "-q").exitCode == 0)
                for arguments in [
                    ["fetch", "40111/900"], ["fetch", "40111", "--only", "900"], ["fetch", "40111/900-902"],
                    ["plan", "demo:40111/900-902"],
                    ["fetch", "40111/900", "--dry-run"],
                    ["plan", "demo:40111/900"], ["plan", "demo:40111/900", "--offline"], ["fetch", "40111/900", "-q"],
                ] {
                    let result = try await bench.runBare(arguments + ["--library", "L"])
                    #expect(result.exitCode == 66, "\(arguments)")
                    #expect(
                        result.errors.contains("its episodes are numbered 1 to 6"), "\(arguments): \(result.errors)")
                    #expect(!result.errors.contains("none of its episodes"), "it is said once: \(result.errors)")
                }
                // Of a range a part is enough; what else is named is fetched.
                #expect(try await bench.run("fetch", "40111/2-900").exitCode == 0)
                for arguments in [["40111/2,900"], ["40111/900", "40111/2"], ["40111", "--only", "2,900"]] {
                    #expect(try await bench.run("remove", "40111/2", "-q").exitCode == 0)
                    #expect(try await bench.run("remove", "--forget", "40111/2", "-q").exitCode == 0)
                    let result = try await bench.runBare(["fetch"] + arguments + ["--library", "L"])
                    #expect(result.exitCode == 66 && result.errors.contains("has no episode 900:"), "\(result.errors)")
                    #expect(try bench.files().count == 6)
                }
                // A subscription may wait for what is to come.
                #expect(try await bench.run("subscribe", "demo:40111/900-902").exitCode == 0)
                for _ in 1...2 { #expect(try await bench.run("mirror").exitCode == 0) }
                #expect(try await bench.run("fetch", "40111/900-902").exitCode == 66)
            }
        }

        @Test func `off a terminal a long wait is told, once for all that waits for the server`() async throws {
            let catalog = ScriptedCatalog(episodes: 3)
            let script = ServerScript { request in
                request.path.hasPrefix("/audio/")
                    ? .text("", status: 503, headers: ["Retry-After": "200"]) : catalog.script.answer(request)
            }
            try await withCatalog(script) { bench, server in
                try await bench.start("fetch", "1", environment: bench.configured) { run in
                    let sentence = "waiting 3 min 20 s for http://127.0.0.1:\(server.port): "
                    _ = try await run.waitForErrors(containing: sentence)
                    run.send(signal: SIGINT)
                    let result = try await run.result()
                    #expect(result.exitCode == 130)
                    #expect(result.errorLines.count { $0.hasPrefix("waiting ") } == 1, "\(result.errors)")
                }
            }
        }

        @Test func `a server that wants to be left alone for a day is asked nothing more, nor by the next run`()
            async throws
        {
            let catalog = ScriptedCatalog(episodes: 3)
            let script = ServerScript { request in
                request.path.hasPrefix("/audio/")
                    ? .text("", status: 429, headers: ["Retry-After": "86400"]) : catalog.script.answer(request)
            }
            try await withCatalog(script) { bench, server in
                let first = try await bench.run("fetch", "1", "--jobs", "1", "--json", environment: bench.configured)
                #expect(first.exitCode == 75)
                #expect(first.errors.contains("and asked to retry after 20 h"), "\(first.errors)")
                let summary = try first.summary()
                #expect(summary.number("failed") == 1 && summary.number("left") == 2)
                let second = try await bench.run("fetch", "1", "--json", environment: bench.configured)
                #expect(second.exitCode == 75)
                #expect(try second.summary().number("held_back") == 3)
                #expect(server.record.requests.count { $0.path.hasPrefix("/audio/") } == 1)
                let explained = try await bench.run("explain", "1/3", environment: bench.configured)
                #expect(explained.output.contains("It was put off, because: "), "\(explained.output)")
                #expect(explained.output.contains("It is not tried again before "), "\(explained.output)")
            }
        }

        @Test func `what a run does not bring is counted by why`() async throws {
            try await withWorkbench { bench in
                #expect(try await bench.run("fetch", "40111/1-3", "-q").exitCode == 0)
                #expect(try await bench.run("remove", "40111/1").exitCode == 0)
                #expect(try await bench.run("pause", "40111/5").exitCode == 0)
                let result = try await bench.run("fetch", "40111", "--exclude", "006")
                #expect(result.exitCode == 0)
                #expect(result.errors.contains("1 fetched"), "\(result.errors)")
                #expect(result.errors.contains("2 kept, 1 paused, 1 removed earlier in"), "\(result.errors)")
                let last = try await bench.run("fetch", "40111", "--exclude", "006", "--json").summary()
                let recorded = try #require(try JSONObject.list(try await bench.run("runs", "--json").output).last)
                for counts in [last, recorded] {
                    let words = ["fetched", "kept", "paused", "removed", "filtered", "gone", "held_back"]
                    #expect(words.map(counts.number) == [0, 3, 1, 1, 1, 0, 0])
                }
            }
        }

        @Test func `a run without an episode that failed before says so, and is not done`() async throws {
            let isThere = Watched(false)
            let catalog = ScriptedCatalog(episodes: 3)
            let script = ServerScript { request in
                request.path == "/audio/2.mp3" && !isThere.value ? .notFound : catalog.script.answer(request)
            }
            try await withCatalog(script, more: "downloads: { retries: 0 }") { bench, server in
                let environment = bench.configured
                for _ in 1...3 { #expect(try await bench.run("fetch", "1", environment: environment).exitCode == 75) }
                let asked = server.requests(path: "/audio/2.mp3").count
                for arguments in [["fetch", "1"], ["fetch", "1", "--json"], ["fetch", "1", "-q"]] {
                    let result = try await bench.runBare(arguments + ["--library", "L"], environment: environment)
                    #expect(result.exitCode == 75, "\(arguments)")
                    switch arguments.last {
                    case "--json":
                        #expect(try result.summary().number("held_back") == 1)
                        #expect(try result.summary().number("kept") == 2)
                        #expect(try result.summary().number("failed") == 0)
                        #expect(try result.summary().number("exit_code") == 75)
                    case "-q": #expect(result.output + result.errors == "")
                    default:
                        #expect(result.errors.contains("2 kept, 1 held back in"), "\(result.errors)")
                        #expect(result.errors.contains("episode 2 failed 3 times, next try "), "\(result.errors)")
                        #expect(result.errors.contains("booksync fetch cat:1 --only 2 tries at once"))
                    }
                }
                #expect(server.requests(path: "/audio/2.mp3").count == asked)
                // What is named is tried at once.
                #expect(try await bench.run("fetch", "1/2", environment: environment).exitCode == 75)
                #expect(try await bench.run("fetch", "1", "--only", "2", environment: environment).exitCode == 75)
                #expect(server.requests(path: "/audio/2.mp3").count == asked + 2)
                // Nor is a gap the business of a run that does not want it.
                #expect(try await bench.run("fetch", "1/1,3", environment: environment).exitCode == 0)
                let runs = try await bench.run("runs", environment: environment)
                #expect(runs.output.contains("held back"), "\(runs.output)")
                isThere.update { $0 = true }
                #expect(try await bench.run("fetch", "1", "--force", environment: environment).exitCode == 0)
                #expect(try await bench.run("fetch", "1", environment: environment).exitCode == 0)
                #expect(try bench.digests() == catalog.digests)
            }
        }
    }
}
