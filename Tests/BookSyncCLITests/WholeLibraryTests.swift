import Foundation
import Support
import Testing

extension ProductTests {
    /// `--all`: what is done to a library with several books.
    @Suite struct WholeLibrary {
        /// Of the two books six episodes each are known, and the first two of each are on disk.
        private func withTwoBooks(_ body: (Workbench, MisbehavingServer, ScriptedCatalog) async throws -> Void)
            async throws
        {
            let catalog = ScriptedCatalog(episodes: 6)
            try await withCatalog(catalog.script) { bench, server in
                let first = try await bench.run("fetch", "1/1-2", "2/1-2", "--json", environment: bench.configured)
                try #require(first.exitCode == 0, "\(first.errors)")
                try await body(bench, server, catalog)
            }
        }

        private func states(of bench: Workbench) async throws -> [String: [String]] {
            var states: [String: [String]] = [:]
            for book in ["1", "2"] {
                let list = try await bench.run("list", book, "--json", environment: bench.configured)
                states[book] = try JSONObject.list(list.output).compactMap { $0["state"] }
            }
            return states
        }

        private func expect(_ expected: [String], in bench: Workbench) async throws {
            #expect(try await states(of: bench) == ["1": expected, "2": expected])
        }

        private func act(_ arguments: String..., saying sentence: String, in bench: Workbench) async throws {
            let result = try await bench.runBare(arguments + ["--library", "L"], environment: bench.configured)
            #expect(result.exitCode == 0 && result.output == "")
            // Where nothing was done it says why.
            let isNothing = sentence.hasPrefix("0 ") && result.errors.hasPrefix("\(sentence) (finished: 12): only ")
            #expect(isNothing || result.errors == sentence + "\n", "\(result.errors)")
        }

        private func fetch(_ bench: Workbench) async throws -> JSONObject {
            try await bench.run("fetch", "1", "2", "--json", environment: bench.configured).summary()
        }

        @Test
        func `what is paused ahead of a run is not fetched until resume --all, which reaches every book and no file`()
            async throws
        {
            try await withTwoBooks { bench, server, _ in
                try await act("pause", "1", "2", saying: "8 episodes paused", in: bench)
                let paused = Array(repeating: "paused", count: 4)
                try await expect(["finished", "finished"] + paused, in: bench)
                let sent = server.record.audioBytesSent
                let held = try await fetch(bench)
                #expect(held.number("fetched") == 0 && held.number("kept") == 4)
                #expect(server.record.audioBytesSent == sent)

                try await act("resume", "--all", saying: "8 episodes resumed", in: bench)
                try await expect(
                    ["finished", "finished"] + Array(repeating: "waiting", count: 4), in: bench)
                #expect(try await fetch(bench).number("fetched") == 8)
                try await act("pause", "--all", saying: "0 episodes paused", in: bench)
                try await act("resume", "--all", saying: "0 episodes resumed", in: bench)
            }
        }

        @Test func `cancel --all drops the partial files of every book, and the next run begins anew`() async throws {
            let tap = Tap(allowing: 5000)
            let catalog = ScriptedCatalog(episodes: 2, tap: tap)
            try await withCatalog(catalog.script) { bench, server in
                try await bench.start("fetch", "1", "2", "--json", "--jobs", "4", environment: bench.configured) {
                    run in
                    // Once a partial file holds bytes, they are there to be dropped.
                    try await bench.waitUntilHeld(4 * 5000)
                    run.send(signal: SIGINT)
                    #expect(try await run.result().exitCode == 130)
                }
                #expect(try bench.partialFiles.count == 4)
                try await act("cancel", "--all", saying: "4 episodes cancelled", in: bench)
                #expect(try bench.partialFiles == [])
                try await expect(["cancelled", "cancelled"], in: bench)
                tap.open()
                let next = try await fetch(bench)
                #expect(next.number("fetched") == 4 && next.number("bytes_reused") == 0)
                #expect(next.number("bytes_received") == 2 * catalog.totalBytes)
            }
        }

        @Test func `removing what was never downloaded is not called removing`() async throws {
            try await withTwoBooks { bench, _, _ in
                try await act(
                    "remove", "1/5-6", "--yes", saying: "2 episodes not downloaded yet will not be fetched", in: bench)
                let more = try await bench.run(
                    "remove", "1/1-4", "--yes", "--json", "-q", environment: bench.configured)
                let removal = try JSONObject(more.output)
                #expect(removal.number("episodes") == 4 && removal.number("never_fetched") == 2)
                #expect(removal.number("files") == 2)
            }
        }

        @Test func `remove --all keeps every book from being fetched again until that is forgotten`() async throws {
            try await withTwoBooks { bench, server, catalog in
                #expect(try bench.files().count == 4)
                let dry = try await bench.run("remove", "--all", "--dry-run", environment: bench.configured)
                #expect(
                    dry.outputLines.last
                        == "4 episodes to remove, 4 files to move to the trash, 8 not downloaded yet will not be fetched"
                )
                try await act(
                    "remove", "--all", "--yes",
                    saying: "4 episodes removed, 4 files moved to the trash (booksync undo brings them back), "
                        + "8 not downloaded yet will not be fetched",
                    in: bench)
                #expect(try bench.files().isEmpty)
                // Folders that are left empty go as well.
                let left = try FileManager.default.contentsOfDirectory(atPath: bench.library.path)
                #expect(left.filter { !$0.hasPrefix(".") } == [])
                try await expect(Array(repeating: "removed", count: 6), in: bench)
                let sent = server.record.audioBytesSent
                let nothing = try await fetch(bench)
                #expect(nothing.number("fetched") == 0 && nothing.number("bytes_received") == 0)
                #expect(server.record.audioBytesSent == sent)

                try await act("remove", "--all", "--forget", saying: "12 episodes wanted again", in: bench)
                // The rest comes back from the trash.
                #expect(try await fetch(bench).number("fetched") == 8)
                #expect(try bench.digests().sorted() == (catalog.digests + catalog.digests).sorted())
                // Forgetting touches no file.
                let nothingToForget = try await bench.run(
                    "remove", "--all", "--forget", environment: bench.configured)
                #expect(nothingToForget.errors.hasPrefix("0 episodes wanted again ("), "\(nothingToForget.errors)")
                #expect(try bench.digests().count == catalog.digests.count * 2)
            }
        }
    }
}
