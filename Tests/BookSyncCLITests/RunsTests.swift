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
                    #expect(try await run.result().exitCode == code)
                }
                let runs = try await listed(bench)
                #expect(runs.map { $0["state"] } == ["ended"])
                #expect(runs.map { $0.number("exit_code") } == [Int(code)])
            }
        }

        @Test func `case 39: a signal ends the command that is told of the run`() async throws {
            try await withCatalog(ScriptedCatalog(episodes: 1).script) { bench, _ in
                let marker = bench.folder.appending(path: "told").path
                try bench.configure(
                    try String(contentsOf: bench.configuration, encoding: .utf8)
                        + "\nnotify: { exec: \"echo $$ > told.new; mv told.new told; exec sleep 1000\" }\n")
                try await bench.start("fetch", "1", environment: bench.configured) { run in
                    while !FileManager.default.fileExists(atPath: marker) {
                        try await Task.sleep(for: .milliseconds(5))
                    }
                    run.send(signal: SIGINT)
                    #expect(try await run.result().exitCode == 130)
                }
                let text = try String(contentsOfFile: marker, encoding: .utf8)
                let process = try #require(Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)))
                #expect(kill(process, 0) != 0)
                #expect(try await listed(bench).map { $0.number("exit_code") } == [130])
                #expect(try bench.files().count == 1)
            }
        }

        @Test func `what a webhook's address holds is in nothing that is printed or recorded`() async throws {
            let catalog = ScriptedCatalog(episodes: 1)
            try await withCatalog(catalog.script) { bench, server in
                try bench.configure(
                    ScriptedCatalog.configuration(
                        port: server.port,
                        more: "notify: { webhook: \"\(server.url("/hook/s3cr3tpath?key=s3cr3tkey"))\" }"))
                let run = try await bench.run("fetch", "1", "-v", "--json", environment: bench.configured)
                #expect(run.exitCode == 0, "an alert never fails the run")
                let posted = try #require(server.requests(path: "/hook/s3cr3tpath").first)
                #expect(posted.method == "POST")
                let document = try JSONObject(String(decoding: posted.body, as: UTF8.self))
                #expect(document["event"] == "summary")
                #expect(document.number("fetched") == 1)
                #expect(document.number("exit_code") == 0)
                #expect(run.errors.contains("the alert could not be posted to http://127.0.0.1:"))
                #expect(run.errors.contains("HTTP status 404"))
                #expect(!(run.output + run.errors).contains("s3cr3t"))
                let runs = try await bench.run("runs", "--json", environment: bench.configured)
                #expect(!runs.output.contains("s3cr3t"))
            }
        }

        @Test func `who is to be told only later is told of what still fails then`() async throws {
            try await withWorkbenchAndRefusingPort { bench, port in
                let configuration = ScriptedCatalog.configuration(
                    port: port, more: "downloads: { retries: 0 }\nsubscriptions: [{ book: \"cat:1\" }]")
                try bench.configure(configuration)
                #expect(try await bench.run("mirror", environment: bench.configured).exitCode == 69)
                try bench.configure(configuration + "\nnotify: { exec: \"cat >> told\" }\n")
                for _ in 1...2 { _ = try await bench.run("mirror", environment: bench.configured) }
                let told = try String(contentsOf: bench.folder.appending(path: "told"), encoding: .utf8)
                    .split(separator: "\n").map { try JSONObject($0) }
                #expect(told.count == 1)
                #expect(told.first?.objects("outages").map { $0["subject"] } == ["http://127.0.0.1:\(port)"])
                #expect(told.first?.objects("outages").map { $0.number("runs") } == [2])
            }
        }

        @Test func `case 34: a run that is killed shows as cut off`() async throws {
            try await withCatalog(.always(.neverAnswer)) { bench, server in
                try await bench.start("fetch", "1", environment: bench.configured) { run in
                    try await server.waitUntil { !$0.requests.isEmpty }
                    run.send(signal: SIGKILL)
                    _ = try await run.result()
                }
                let runs = try await listed(bench)
                #expect(runs.map { $0["state"] } == ["cut_off"])
                // What it had fetched nobody has counted.
                #expect(runs.allSatisfy { $0.isNull("fetched") && $0.isNull("bytes_received") })
                let table = try await bench.run("runs", environment: bench.configured)
                #expect(table.output.contains("cut off"))
            }
        }
    }
}
