import Foundation
import Support
import Testing

extension ProductTests {
    @Suite struct Runs {
        private func listed(_ bench: Workbench, _ more: String...) async throws -> [JSONObject] {
            let result = try await ProductRunner.run(
                ["runs", "--json", "--library", "L"] + more, environment: bench.configured, in: bench.folder)
            return try JSONObject.list(result.output)
        }

        @Test func `runs are listed with what came of them, the newest last`() async throws {
            let catalog = ScriptedCatalog(episodes: 3)
            try await withCatalog(catalog.script) { bench, _ in
                #expect(try await listed(bench).isEmpty)
                _ = try await bench.run("fetch", "1", "--only", "1-2", environment: bench.configured)
                _ = try await bench.run("subscribe", "1", environment: bench.configured)
                _ = try await bench.run("mirror", "-q", environment: bench.configured)
                _ = try await bench.run("fetch", "nosource:1", environment: bench.configured)
                let runs = try await listed(bench)
                #expect(runs.map { $0["command"] } == ["fetch", "mirror", "fetch"])
                #expect(runs.map { $0["state"] } == ["ended", "ended", "ended"])
                #expect(runs.map { $0.number("exit_code") } == [0, 0, 78])
                #expect(runs.map { $0.number("fetched") } == [2, 1, 0])
                #expect(runs.map { $0.number("books") } == [1, 1, 1])
                #expect(runs[0].number("bytes_received") == 40_003)
                #expect(runs[0].isNull("error"))
                #expect(runs[2]["error"]?.contains("nosource") == true)
                #expect(try await listed(bench, "--last", "1").map { $0["command"] } == ["fetch"])
                let table = try await bench.run("runs", environment: bench.configured)
                #expect(table.outputLines.count == 4)
                #expect(table.outputLines[2].contains("mirror"))
            }
        }

        @Test(arguments: [(SIGINT, Int32(130)), (SIGTERM, Int32(143)), (SIGHUP, Int32(129))])
        func `case 39: a run that is interrupted closes its record`(_ signal: Int32, _ code: Int32) async throws {
            try await withCatalog(.always(.neverAnswer)) { bench, server in
                try await bench.start("fetch", "1", environment: bench.configured) { run in
                    try await server.waitUntil { !$0.requests.isEmpty }
                    #expect(try await listed(bench).map { $0["state"] } == ["under_way"])
                    run.send(signal: signal)
                    #expect(try await run.result(within: 5).exitCode == code)
                }
                let runs = try await listed(bench)
                #expect(runs.map { $0["state"] } == ["ended"])
                #expect(runs.map { $0.number("exit_code") } == [Int(code)])
            }
        }

        @Test func `case 34: a run that is killed shows as cut off`() async throws {
            try await withCatalog(.always(.neverAnswer)) { bench, server in
                try await bench.start("fetch", "1", environment: bench.configured) { run in
                    try await server.waitUntil { !$0.requests.isEmpty }
                    run.send(signal: SIGKILL)
                    _ = try await run.result(within: 5)
                }
                #expect(try await listed(bench).map { $0["state"] } == ["cut_off"])
                let table = try await bench.run("runs", environment: bench.configured)
                #expect(table.output.contains("cut off"))
            }
        }
    }
}
