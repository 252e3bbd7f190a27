import Foundation
import Support
import Testing

extension ProductTests {
    @Suite struct Undoing {
        @Test func `the shelf that a changed naming renamed is renamed back, and stays so`() async throws {
            let catalog = ScriptedCatalog(episodes: 3)
            try await withCatalog(catalog.script) { bench, server in
                let environment = bench.configured
                _ = try await bench.run("fetch", "1", "-q", environment: environment)
                let before = try bench.files().keys.sorted()
                #expect(try await bench.run("undo", environment: environment).output.hasPrefix("no run has renamed"))
                try bench.configure(
                    ScriptedCatalog.configuration(port: server.port, more: "naming: \"all/{name} ({section}).{ext}\""))
                let renamed = try await bench.run("fetch", "1", "--json", environment: environment)
                #expect(try renamed.summary().number("renamed") == 3)
                #expect((renamed.output + renamed.errors).contains("3 files of"), "what an edited naming does is told")
                let after = try bench.files().keys.sorted()
                #expect(after.allSatisfy { $0.hasPrefix("all/") })

                let dry = try await bench.run("undo", "--dry-run", "--json", environment: environment)
                #expect(try JSONObject(dry.output).objects("undone").compactMap { $0["path"] } == before)
                #expect(try bench.files().keys.sorted() == after)
                // As a copy is that keeps no times.
                try bench.rewriteFiles()
                let undone = try await bench.run("undo", environment: environment)
                #expect(undone.exitCode == 0)
                #expect(undone.outputLines.last?.hasPrefix("3 renames of ") == true)
                #expect(undone.errors.contains("a changed naming can be set back"))
                #expect(try bench.files().keys.sorted() == before)
                #expect(try bench.digests() == catalog.digests)

                let next = try await bench.run("fetch", "1", "--json", environment: environment)
                #expect(try next.summary().number("renamed") == 0 && next.summary().number("kept") == 3)
                #expect(try bench.files().keys.sorted() == before)
            }
        }

        @Test func `what is in the way is left and named, and the exit code says so`() async throws {
            let catalog = ScriptedCatalog(episodes: 2)
            try await withCatalog(catalog.script) { bench, server in
                let environment = bench.configured
                _ = try await bench.run("fetch", "1", "-q", environment: environment)
                let before = try bench.files()
                try bench.configure(
                    ScriptedCatalog.configuration(port: server.port, more: "naming: \"all/{section}.{ext}\""))
                _ = try await bench.run("fetch", "1", "-q", environment: environment)
                let first = try #require(before.keys.sorted().first)
                let place = bench.library.appending(path: first)
                try FileManager.default.createDirectory(
                    at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data("mine".utf8).write(to: place)
                let result = try await bench.run("undo", "--json", environment: environment)
                #expect(result.exitCode == 75)
                let document = try JSONObject(result.output)
                #expect(document.objects("undone").count == 1)
                #expect(document.objects("left").compactMap { $0["reason"] } == ["something else stands at \(first)"])
                #expect(try Data(contentsOf: place) == Data("mine".utf8))
            }
        }
    }
}
