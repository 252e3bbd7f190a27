import Support
import Testing

extension ProductTests {
    /// Episodes that failed too often to be tried in every run.
    @Suite struct HeldBackTests {
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
                    default: #expect(result.errors.contains("2 kept, 1 held back in"), "\(result.errors)")
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
