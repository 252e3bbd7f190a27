import Foundation
import Support
import Testing

extension ProductTests {
    /// Subscriptions that keep only some of their episodes on disk.
    @Suite struct Keeping {
        @Test func `mirror moves to the trash what the rule does not keep, and one undo brings back the same bytes`()
            async throws
        {
            let catalog = ScriptedCatalog(episodes: 9, bytes: 2000)
            try await withCatalog(catalog.script) { bench, server in
                func run(_ arguments: String...) async throws -> ProductRunner.Result {
                    let result = try await bench.runBare(arguments + ["--library", "L"], environment: bench.configured)
                    #expect(result.exitCode == 0, "\(arguments): \(result.errors)")
                    return result
                }
                _ = try await run("fetch", "1", "-q")
                let digests = try bench.digests()
                _ = try await run("subscribe", "1", "--keep", "last 4")
                #expect(try await run("subscriptions").output.contains("keep: last 4"))
                let planned = try JSONObject(try await run("plan", "--json").output)
                #expect(planned.object("totals")?.number("expire") == 5)
                #expect(try await run("plan").output.contains("5 to expire"))
                #expect(try await run("explain", "1/2").output.contains("would move its file to the trash"))
                // Only the mirror keeps to the rule: fetch brings what it is told to.
                #expect(try await run("fetch", "1", "--json").summary().number("kept") == 9)

                let mirrored = try await run("mirror")
                #expect(mirrored.errors.contains("5 episodes of"), "\(mirrored.errors)")
                #expect(mirrored.errors.contains("4 kept, 5 expired in"), "\(mirrored.errors)")
                #expect(try bench.files().count == 4)
                #expect(try JSONObject.list(try await run("trash", "list", "--json").output).count == 5)
                let asked = server.record.requests.count { $0.path.hasPrefix("/audio") }
                let quiet = try await run("mirror", "--json").summary()
                #expect(quiet.number("expired") == 0 && quiet.number("removed") == 5 && quiet.number("fetched") == 0)

                _ = try await run("undo")
                #expect(try bench.digests() == digests)
                _ = try await run("unsubscribe", "1")
                _ = try await run("subscribe", "1", "--max-size", "8k")
                #expect(try await run("mirror", "--json").summary().number("expired") == 6, "three newest stay")
                #expect(server.record.requests.count { $0.path.hasPrefix("/audio") } == asked)
                _ = try await run("verify")
            }
        }

        @Test func `files that stay beyond the rule are named with the reason`() async throws {
            try await withCatalog(ScriptedCatalog(episodes: 9, bytes: 2000).script) { bench, _ in
                let environment = bench.configured
                #expect(try await bench.run("fetch", "1", "-q", environment: environment).exitCode == 0)
                let file = try #require(try bench.files().keys.sorted().first)
                try FileManager.default.moveItem(
                    at: bench.library.appending(path: file), to: bench.library.appending(path: "mine.mp3"))
                #expect(try await bench.run("fetch", "1", "-q", environment: environment).exitCode == 0)
                _ = try await bench.run("subscribe", "1", "--keep", "last 1", environment: environment)
                let stays =
                    "cat:1: beyond its keep rule these episodes stay: 8 (one of the 3 newest files), "
                    + "7 (one of the 3 newest files), 1 (touched, renamed or moved since it was fetched)"
                let mirrored = try await bench.run("mirror", environment: environment)
                #expect(mirrored.errors.contains(stays) && mirrored.exitCode == 0, "\(mirrored.errors)")
                #expect(try bench.files().count == 4)
                #expect(try await bench.run("mirror", "-q", environment: environment).errors == "")
            }
        }

        @Test
        func `a rule that differs by some bytes is another rule, though nothing was to be done by the one before`()
            async throws
        {
            // 2,001 to 2,009 bytes: 18,045 in all.
            try await withCatalog(ScriptedCatalog(episodes: 9, bytes: 2000).script) { bench, _ in
                let environment = bench.configured
                #expect(try await bench.run("fetch", "1", "-q", environment: environment).exitCode == 0)
                for (bytes, outcome) in [
                    ("18049", "9 kept in"), ("18049", "9 kept in"), ("18001", "8 kept, 1 expired in"),
                ] {
                    _ = try await bench.run("subscribe", "1", "--max-size", bytes, environment: environment)
                    let mirrored = try await bench.run("mirror", environment: environment)
                    #expect(mirrored.errors.contains(outcome), "\(bytes): \(mirrored.errors)")
                }
            }
        }

        @Test func `from a listing that was cut nothing expires, and a rule that says nothing is refused`() async throws
        {
            let full = ScriptedCatalog(episodes: 9, bytes: 2000)
            let isCut = Watched(false)
            let script = ServerScript { request in
                guard isCut.value, request.path == ScriptedCatalog.listPath else { return full.script.answer(request) }
                // The ninth is declared, and never comes.
                let reply = full.script.answer(request)
                return .text(
                    String(decoding: reply.body, as: UTF8.self).replacing(/\{"id":9009,.*?\}/, with: "")
                        .replacing(",]", with: "]"))
            }
            try await withCatalog(script, more: "    keep: last 4") { bench, _ in
                let environment = bench.configured
                #expect(try await bench.run("fetch", "1", "-q", environment: environment).exitCode == 0)
                #expect(try await bench.run("subscribe", "1", environment: environment).exitCode == 0)
                isCut.update { $0 = true }
                let cut = try await bench.run("mirror", "--json", environment: environment).summary()
                #expect(cut.number("expired") == 0 && cut.number("kept") == 9, "\(cut)")
                // A plain run remembers that there was nothing to do, and must not believe it once the listing is whole.
                for _ in 1...2 {
                    #expect(try await bench.run("mirror", environment: environment).errors.contains("9 kept in"))
                }
                isCut.update { $0 = false }
                let planned = try await bench.run("plan", environment: environment)
                #expect(planned.output.contains("5 to expire"), "\(planned.output)")
                let whole = try await bench.run("mirror", environment: environment)
                #expect(whole.errors.contains("4 kept, 5 expired in"), "\(whole.errors)")
                #expect(try await bench.run("undo", environment: environment).exitCode == 0)
                #expect(
                    try await bench.run("mirror", "--json", environment: environment).summary().number("expired") == 5)
                let refused = try await bench.run("subscribe", "1", "--keep", "some", environment: environment)
                #expect(refused.exitCode == 64 && refused.errors.contains("last 20"), "\(refused.errors)")
            }
        }
    }
}
