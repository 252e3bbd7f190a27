import Foundation
import Support
import Testing

extension ProductTests {
    /// `verify --accept`: files that somebody edited are recorded as they are.
    @Suite struct Accepting {
        private func file(_ section: Int, _ bench: Workbench) throws -> URL {
            try #require(try bench.files().first { $0.key.contains("第\(section)集") }?.value)
        }

        private func append(_ bytes: [UInt8], to section: Int, _ bench: Workbench) throws {
            let file = try file(section, bench)
            try (try Data(contentsOf: file) + Data(bytes)).write(to: file)
        }

        @Test func `what was edited is accepted and kept from then on; what rotted is not`() async throws {
            let catalog = ScriptedCatalog(episodes: 4)
            try await withCatalog(catalog.script) { bench, server in
                let environment = bench.configured
                _ = try await bench.run("fetch", "1", "-q", environment: environment)
                try append([1, 2, 3], to: 1, bench)
                try append([4, 5], to: 2, bench)
                try flipBit(of: try file(3, bench).path, at: 10_000)
                let digests = try bench.digests()

                // One episode alone.
                let one = try await bench.run("verify", "1/1", "--accept", environment: environment)
                #expect(one.exitCode == 0, "\(one.errors)")
                #expect(one.output.contains("accepted ") && one.output.contains("1 accepted"), "\(one.output)")
                #expect(try await bench.run("verify", "1/1", environment: environment).exitCode == 0)

                let rest = try await bench.run("verify", "1", "--accept", "--json", environment: environment)
                #expect(rest.exitCode == 75)
                let document = try JSONObject(rest.output)
                #expect(document.number("exit_code") == 75)
                let bad = document.objects("bad")
                #expect(bad.compactMap { $0.number("section") } == [2, 3])
                #expect(bad.compactMap { $0["repair"] } == ["accepted", "left"])
                #expect(document.object("totals")?.number("intact") == 2)
                #expect(document.object("totals")?.number("still_bad") == 1)

                // Nothing was written to, and nothing is asked for.
                #expect(try bench.digests() == digests)
                let sent = server.record.audioBytesSent
                let run = try await bench.run("fetch", "1", "--json", environment: environment)
                #expect(try run.summary().number("kept") == 4)
                #expect(server.record.audioBytesSent == sent)
                let shown = try await bench.run("show", "1/2", "--json", environment: environment)
                #expect(try JSONObject(shown.output)["sha256"] == digests[1])
            }
        }

        @Test(arguments: [["--accept"], ["1", "--accept", "--quick"], ["1", "--accept", "--repair"]])
        func `--accept takes a REF, and goes with neither --quick nor --repair`(arguments: [String]) async throws {
            try await withWorkbench { bench in
                let result = try await bench.runBare(["verify"] + arguments + ["--library", "L"])
                #expect(result.exitCode == 64 && result.errors.contains("--accept"), "\(result.errors)")
                #expect(!bench.exists)
            }
        }
    }
}
