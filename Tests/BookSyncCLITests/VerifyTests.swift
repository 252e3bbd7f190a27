import Foundation
import Support
import Testing

extension ProductTests {
    /// Files that are no longer what was fetched.
    @Suite struct Verifying {
        private let files = FileManager.default

        private func file(_ section: Int, _ bench: Workbench) throws -> String {
            try #require(try bench.files().first { $0.key.contains("第\(section)集") }?.value.path)
        }

        /// One of each kind; what remains is whole.
        private func spoil(_ bench: Workbench) throws {
            try flipBit(of: try file(1, bench), at: 10_000)
            try FileHandle(forUpdating: URL(filePath: try file(2, bench))).truncate(atOffset: 5000)
            let page = Data("<!DOCTYPE html><html>".utf8)
            try (page + Data(repeating: 32, count: 20_003 - page.count)).write(to: URL(filePath: try file(3, bench)))
            try files.removeItem(atPath: try file(4, bench))
        }

        @Test func `what is bad is named, repaired, and right afterwards`() async throws {
            let catalog = ScriptedCatalog(episodes: 6)
            try await withCatalog(catalog.script) { bench, server in
                let environment = bench.configured
                _ = try await bench.run("fetch", "1", "-q", environment: environment)
                let clean = try await bench.run("verify", environment: environment)
                #expect(clean.exitCode == 0 && clean.errors == "")
                #expect(clean.output.hasPrefix("6 files verified (120.0 kB): 6 intact in "), "\(clean.output)")
                let quiet = try await bench.run("verify", "-q", environment: environment)
                #expect(quiet.exitCode == 0 && quiet.output + quiet.errors == "", "\(quiet.output)")
                let before = try bench.files().keys.sorted()
                try spoil(bench)

                let plain = try await bench.run("verify", environment: environment)
                #expect(plain.exitCode == 75)
                let said = [
                    "bit rot: ", "truncated: it had 20002 bytes", "wrong header: it begins with an HTML page",
                    "missing",
                ]
                for (section, words) in said.enumerated() {
                    #expect(
                        plain.errorLines.contains { $0.contains("第\(section + 1)集.mp3: \(words)") }, "\(plain.errors)")
                }
                #expect(
                    plain.outputLines.last?.contains(
                        "2 intact, 4 bad (1 bit rot, 1 missing, 1 truncated, 1 wrong header)") == true,
                    "\(plain.output)")
                let quick = try await bench.run("verify", "--quick", "--json", environment: environment)
                #expect(quick.exitCode == 75)
                let found = try JSONObject(quick.output)
                #expect(
                    found.objects("bad").compactMap { $0["condition"] } == ["truncated", "wrong_header", "missing"])
                #expect(found.members["quick"] as? Bool == true)

                let asked = server.record.requests.count
                let sent = server.record.audioBytesSent
                let repaired = try await bench.run("verify", "--repair", environment: environment)
                #expect(repaired.exitCode == 0, "\(repaired.errors)")
                #expect(repaired.outputLines.last?.contains("4 repaired") == true, "\(repaired.output)")
                #expect(try bench.digests() == catalog.digests)
                #expect(try bench.files().keys.sorted() == before)
                #expect(try bench.partialFiles.isEmpty)
                let bad = catalog.items.prefix(4).reduce(0) { $0 + $1.bytes.count }
                #expect(server.record.audioBytesSent - sent == bad)
                #expect(server.record.requests.count > asked)
                let again = try await bench.run("verify", "--repair", environment: environment)
                #expect(again.exitCode == 0)
                #expect(again.output.contains("6 intact"))
                let run = try await bench.run("fetch", "1", "--json", environment: environment)
                #expect(try run.summary().number("kept") == 6)
            }
        }

        @Test func `the document says of each bad file what is wrong and what came of it`() async throws {
            var catalog = ScriptedCatalog(episodes: 5)
            catalog.items[1].deeds = [.wellBehaved, .instead(.notFound)]
            try await withCatalog(catalog.script, more: "downloads: { retries: 0 }") { bench, _ in
                let environment = bench.configured
                _ = try await bench.run("fetch", "1", "-q", environment: environment)
                try spoil(bench)
                let result = try await bench.run("verify", "1", "--repair", "--json", environment: environment)
                #expect(result.exitCode == 75)
                let document = try JSONObject(result.output)
                #expect(document.number("exit_code") == 75)
                #expect(document.members["complete"] as? Bool == true)
                let totals = try #require(document.object("totals"))
                #expect(totals.number("checked") == 5 && totals.number("intact") == 1)
                #expect(totals.number("bad") == 4 && totals.number("repaired") == 3 && totals.number("still_bad") == 1)
                let bad = document.objects("bad")
                #expect(bad.compactMap { $0.number("section") } == [1, 2, 3, 4])
                #expect(bad.compactMap { $0["repair"] } == ["repaired", "left", "repaired", "repaired"])
                #expect(
                    bad[0].keys == [
                        "source", "book_id", "id", "section", "name", "path", "condition", "reason", "size",
                        "recorded_size", "recorded_sha256", "repair", "kept_as", "error",
                    ])
                #expect(bad[0].number("recorded_size") == 20_001 && bad[1].number("size") == 5000)
                #expect(bad[1]["error"]?.contains("404") == true)
                #expect(bad[0]["recorded_sha256"] == catalog.digests[0])
                let kept = try #require(bad[2]["kept_as"])
                #expect(kept.hasPrefix(".booksync/trash/"))
                let page = try Data(contentsOf: bench.library.appending(path: kept))
                #expect(page.starts(with: Data("<!DOCTYPE".utf8)))
                // The one that could not be fetched is as it was.
                #expect(try Data(contentsOf: URL(filePath: file(2, bench))).count == 5000)
            }
        }

        @Test func `verifying goes on beside a run, and repairing waits for it or says who runs`() async throws {
            let gate = Gate()
            var catalog = ScriptedCatalog(episodes: 2)
            catalog.items[1].deeds = [.ending(.stallAfter(bytes: 10_000, until: gate)), .wellBehaved]
            try await withCatalog(catalog.script) { bench, _ in
                let environment = bench.configured
                try await bench.start("fetch", "1", "--jobs", "1", environment: environment) { run in
                    try await run.waitForErrors(containing: "fetched ")
                    try flipBit(of: try file(1, bench), at: 10_000)
                    #expect(try await bench.run("verify", environment: environment).exitCode == 75)
                    let held = try await bench.run("verify", "--repair", environment: environment)
                    #expect(held.exitCode == 75)
                    #expect(held.errors.contains("another run holds the library"))
                    gate.open()
                    let waited = try await bench.run("verify", "--repair", "--wait", "30s", environment: environment)
                    #expect(waited.exitCode == 0, "\(waited.errors)")
                    _ = try await run.result()
                }
                #expect(try bench.digests() == catalog.digests)
            }
        }

        /// So large that reading them takes a second or so: no blocks stand behind most of their bytes.
        private static let largeSizes = [1_500_000_000, 1_500_000_001]

        private static let largeCatalog = ServerScript { _ in
            let sizes = [20_000] + largeSizes
            let list = sizes.enumerated().map { place, size in
                #"{"id":\#(place + 1),"section":\#(place + 1),"name":"第\#(place + 1)集","path":"/audio/x.mp3","size":\#(size)}"#
            }
            return .text(#"{"status":0,"msg":null,"sections":3,"list":[\#(list.joined(separator: ","))]}"#)
        }

        /// Starts it with the lowest priority: however busy the machine is, the test sees its lines before it is done.
        private func startVerifying(
            _ bench: Workbench, _ arguments: String..., body: (RunningProduct) async throws -> Void
        ) async throws {
            let product = try #require(ProductRunner.executable)
            try await withProduct(
                ["-n", "19", product.path, "verify"] + arguments + ["--library", "L"], environment: bench.configured,
                in: bench.folder, executable: URL(filePath: "/usr/bin/nice"), body)
        }

        @Test(.firstInLine) func `a verification that is killed or interrupted goes on where it stopped`() async throws
        {
            try await withCatalog(Self.largeCatalog) { bench, _ in
                let environment = bench.configured
                let folder = bench.library.appending(path: "old")
                try files.createDirectory(at: folder, withIntermediateDirectories: true)
                try Data(sampleMP3(bytes: 20_000)).write(to: folder.appending(path: "1.mp3"))
                for (place, size) in Self.largeSizes.enumerated() {
                    let path = folder.appending(path: "\(place + 2).mp3")
                    try Data("ID3".utf8).write(to: path)
                    try FileHandle(forUpdating: path).truncate(atOffset: UInt64(size))
                }
                let adopted = try await bench.run("adopt", "L/old", "--book", "1", environment: environment)
                #expect(adopted.output.contains("3 adopted"), "\(adopted.output) \(adopted.errors)")

                try await startVerifying(bench, "-v") { verify in
                    try await verify.waitForErrors(containing: "intact: old/1.mp3")
                    verify.send(signal: SIGKILL)
                    #expect(try await verify.result().signal == SIGKILL)
                }
                try await startVerifying(bench, "-v") { verify in
                    try await verify.waitForErrors(containing: "1 of 3 files were found right already")
                    verify.send(signal: SIGINT)
                    let result = try await verify.result()
                    #expect(result.exitCode == 130)
                    #expect(result.outputLines.last?.contains("2 left for the next verify") == true, "\(result.output)")
                }
                // Asked to, it reads what was found right once more, and goes on from there the next time.
                try await startVerifying(bench, "--anew", "-v") { verify in
                    try await verify.waitForErrors(containing: "intact: old/1.mp3")
                    verify.send(signal: SIGINT)
                    let result = try await verify.result()
                    #expect(result.exitCode == 130)
                    #expect(!result.errors.contains("were found right already"), "\(result.errors)")
                }
                let rest = try await bench.run("verify", "--json", environment: environment)
                #expect(rest.exitCode == 0)
                let document = try JSONObject(rest.output)
                #expect(document["continues"] != nil)
                #expect(document.object("totals")?.number("verified_before") == 1)
                #expect(document.object("totals")?.number("checked") == 2)
                let quick = try JSONObject(
                    try await bench.run("verify", "--quick", "--json", environment: environment).output)
                #expect(quick.object("totals")?.number("checked") == 3)
            }
        }
    }
}
