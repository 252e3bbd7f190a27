import Foundation
import Support
import Testing

extension ProductTests {
    /// Removed files go to the trash, and come back from it.
    @Suite struct TrashTests {
        private func paths(_ bench: Workbench) throws -> Set<String> { Set(try bench.files().keys) }

        /// The names of what is in the trash, by the disk.
        private func trashed(_ bench: Workbench) throws -> [String] {
            let trash = bench.library.appending(path: ".booksync/trash")
            guard FileManager.default.fileExists(atPath: trash.path) else { return [] }
            return try bench.files(in: trash).keys.map { $0.split(separator: "/").dropFirst().joined(separator: "/") }
                .sorted()
        }

        @Test func `a file copied without its times is removed, and one with other bytes of that length is not`()
            async throws
        {
            try await withCatalog(ScriptedCatalog(episodes: 3).script) { bench, _ in
                let environment = bench.configured
                _ = try await bench.run("fetch", "1", "-q", environment: environment)
                try bench.rewriteFiles()
                let path = try #require(try paths(bench).min())
                var bytes = try Data(contentsOf: bench.library.appending(path: path))
                bytes[bytes.count / 2] ^= 1
                try bytes.write(to: bench.library.appending(path: path))
                let removed = try await bench.run("remove", "1", "-y", environment: environment)
                #expect(removed.exitCode == 75 && removed.errors.contains("was changed since"), "\(removed.errors)")
                #expect(try paths(bench) == [path])
                #expect(try trashed(bench).count == 2)
            }
        }

        @Test func `what was removed can be listed and restored, as it was and without a request`() async throws {
            try await withCatalog(ScriptedCatalog(episodes: 3).script) { bench, server in
                _ = try await bench.run("fetch", "1", "-q", environment: bench.configured)
                let (before, digests) = (try paths(bench), try bench.digests())
                let environment = bench.configured
                #expect(try await bench.run("remove", "1/2-3", "-y", environment: environment).exitCode == 0)
                #expect(try paths(bench).count == 1)
                #expect(try trashed(bench) == before.subtracting(try paths(bench)).sorted())
                let list = try JSONObject.list(
                    try await bench.run("trash", "list", "--json", environment: environment).output)
                #expect(list.compactMap { $0.number("section") } == [2, 3])
                #expect(Set(list.compactMap { $0["path"] }) == Set(try trashed(bench)))

                let doctor = try await bench.run("doctor", environment: environment)
                #expect(doctor.output.contains("trash: 2 files ("), "\(doctor.output)")

                let asked = server.record.requests.count
                let one = try await bench.run("trash", "restore", "1/3", environment: environment)
                #expect(one.exitCode == 0 && one.output.contains("1 file ("), "\(one.output)\(one.errors)")
                #expect(try paths(bench).count == 2)
                #expect(try await bench.run("trash", "restore", "--all", environment: environment).exitCode == 0)
                #expect(server.record.requests.count == asked)
                #expect(try paths(bench) == before && bench.digests() == digests)
                #expect(try trashed(bench) == [])
                let verified = try await bench.run("verify", environment: environment)
                #expect(verified.exitCode == 0, "\(verified.errors)")
                let summary = try await bench.run("fetch", "1", "--json", environment: environment).summary()
                #expect(summary.number("kept") == 3 && summary.number("bytes_received") == 0)
            }
        }

        @Test func `what is asked for by force comes back from the trash, and is not fetched`() async throws {
            try await withCatalog(ScriptedCatalog(episodes: 3).script) { bench, server in
                let environment = bench.configured
                _ = try await bench.run("fetch", "1", "-q", environment: environment)
                let (before, digests) = (try paths(bench), try bench.digests())
                let fetched = server.record.audioBytesSent
                #expect(try await bench.run("remove", "1", "-y", environment: environment).exitCode == 0)
                #expect(try await bench.run("fetch", "1", environment: environment).exitCode == 0)
                #expect(try paths(bench).isEmpty, "what was removed stays removed")
                let planned = try await bench.run("plan", "1/2-3", "--force", environment: environment)
                #expect(planned.errors.contains("2 files come back from the trash and are not fetched"))
                let part = try await bench.run("fetch", "1/2-3", "--force", environment: environment)
                #expect(part.exitCode == 0, "\(part.errors)")
                #expect(part.errors.contains("2 files come back from the trash"), "\(part.errors)")
                #expect(try trashed(bench).count == 1)
                #expect(try await bench.run("fetch", "1", "--force", environment: environment).exitCode == 0)
                #expect(try paths(bench) == before && bench.digests() == digests)
                #expect(try trashed(bench) == [])
                #expect(server.record.audioBytesSent == fetched)
                // What is lost there is fetched.
                _ = try await bench.run("remove", "1/2", environment: environment)
                try FileManager.default.removeItem(at: bench.library.appending(path: ".booksync/trash"))
                let run = try await bench.run("fetch", "1", "--force", environment: environment)
                #expect(run.exitCode == 0 && run.errors.contains("1 fetched"), "\(run.errors)")
                #expect(try bench.digests() == digests)
            }
        }

        @Test(arguments: [["fetch", "1", "--latest", "2"], ["mirror"]])
        func `what may be downloaded again comes back from the trash, and is not fetched`(
            _ command: [String]
        ) async throws {
            try await withCatalog(ScriptedCatalog(episodes: 3).script) { bench, server in
                let environment = bench.configured
                #expect(try await bench.run("subscribe", "1", "--latest", "2", environment: environment).exitCode == 0)
                #expect(try await bench.run("mirror", "-q", environment: environment).exitCode == 0)
                let (before, digests) = (try paths(bench), try bench.digests())
                #expect(before.count == 2)
                let fetched = server.record.audioBytesSent
                for options in [["--yes"], ["--forget"]] {
                    let removal = try await bench.runBare(
                        ["remove", "1", "--library", "L"] + options, environment: environment)
                    #expect(removal.exitCode == 0, "\(removal.errors)")
                }
                #expect(try paths(bench).isEmpty)
                let planned = try await bench.run("plan", "1", "--latest", "2", "--offline", environment: environment)
                #expect(planned.errors.contains("2 files come back from the trash and are not fetched"))
                #expect(planned.output.contains("2 to keep"), "\(planned.output)")
                let run = try await bench.runBare(command + ["--library", "L"], environment: environment)
                #expect(run.exitCode == 0 && run.errors.contains("2 files come back from the trash"), "\(run.errors)")
                #expect(try paths(bench) == before && bench.digests() == digests)
                #expect(server.record.audioBytesSent == fetched)
            }
        }

        @Test func `undo brings back the last removal, and only that`() async throws {
            try await withWorkbench { bench in
                _ = try await bench.run("fetch", "40111/1-4", "-q")
                let before = try paths(bench)
                _ = try await bench.run("remove", "40111/1")
                let between = try paths(bench)
                _ = try await bench.run("remove", "40111/2-3", "--yes")
                let shown = try await bench.run("undo", "--dry-run")
                #expect(shown.output.split(separator: "\n").count == 2 && shown.exitCode == 0, "\(shown.output)")
                #expect(try paths(bench).count == 1)
                #expect(try await bench.run("undo").exitCode == 0)
                #expect(try paths(bench) == between)
                #expect(try await bench.run("undo").exitCode == 0)
                #expect(try paths(bench) == before)
                #expect(try await bench.run("undo").output.contains("no run has renamed anything"))
            }
        }

        @Test func `several episodes are not removed where nobody can be asked, unless --yes is said`() async throws {
            try await withWorkbench { bench in
                _ = try await bench.run("fetch", "40111/1-3", "-q")
                let before = try paths(bench)
                let refused = try await bench.run("remove", "40111/1-2")
                #expect(refused.exitCode == 64 && refused.errors.contains("--yes"), "\(refused.errors)")
                let shown = try await bench.run("remove", "40111/1-2", "--dry-run")
                #expect(shown.exitCode == 0)
                #expect(shown.output.contains("2 episodes to remove, 2 files"), "\(shown.output)")
                let listed = try await bench.run("remove", "40111/1-2", "--dry-run", "--json").output
                #expect(try JSONObject.list(listed).compactMap { $0.number("section") } == [1, 2])
                #expect(try paths(bench) == before)
                let done = try await bench.run("remove", "40111/1-2", "--yes", "--json")
                let document = try JSONObject(done.output)
                #expect(document.number("episodes") == 2 && document.number("files") == 2)
                // What is removed already is not removed again.
                let again = try await bench.run("remove", "40111/1-2", "--yes")
                #expect(again.errors == "0 episodes removed\n")
                #expect(try await bench.run("trash", "empty").exitCode == 64)
                #expect(try trashed(bench).count == 2)
                #expect(try await bench.run("trash", "empty", "--yes").exitCode == 0)
                #expect(try trashed(bench) == [])
                #expect(try await bench.run("trash", "list", "--json").output == "[]\n")
                // It is gone for good, and removed nevertheless.
                #expect(try await bench.run("trash", "restore", "--all").output == "0 files restored\n")
                #expect(try await bench.run("fetch", "40111/1-2", "--json").summary().number("removed") == 2)
            }
        }

        #if os(Linux)
            @Test(arguments: [("n", 3), ("", 3), ("y", 1)])
            func `on a terminal it is asked`(answer: String, left: Int) async throws {
                try await withWorkbench { bench in
                    _ = try await bench.run("fetch", "40111/1-3", "-q")
                    try await bench.onTerminal(
                        "\"$BOOKSYNC\" remove 40111/1-2 --library L <\"$TERMINAL\" 2>\"$TERMINAL\""
                    ) { run, terminal in
                        try await terminal.waitForScreen { $0.contains { $0.contains("to the trash? [y/N]") } }
                        terminal.type(answer + "\n")
                        #expect(try await run.result().exitCode == 0)
                    }
                    #expect(try bench.files().count == left)
                }
            }
        #endif

        @Test func `a file that is not the one that was fetched is not removed`() async throws {
            try await withWorkbench { bench in
                _ = try await bench.run("fetch", "40111/1-2", "-q")
                let path = try #require(try await bench.path(of: "40111/2"))
                let file = bench.library.appending(path: path)
                // As another program would put it there: another file, under the name.
                try FileManager.default.removeItem(at: file)
                try Data("mine".utf8).write(to: file)
                let removed = try await bench.run("remove", "40111/2")
                #expect(
                    removed.exitCode == 75
                        && removed.errors.contains("is not the file that was fetched, or was changed"))
                #expect(try String(contentsOf: file, encoding: .utf8) == "mine")
                #expect(try trashed(bench) == [])
                #expect(try await bench.run("fetch", "40111/1-2", "--json").summary().number("removed") == 1)
                #expect(try String(contentsOf: file, encoding: .utf8) == "mine")
            }
        }

        @Test func `what is removed while a run is under way is moved when that ends`() async throws {
            let tap = Tap(allowing: 1000)
            let catalog = ScriptedCatalog(episodes: 2)
            let script = ServerScript { request in
                request.path == "/audio/2.mp3"
                    ? ScriptedCatalog(episodes: 2, tap: tap).script.answer(request) : catalog.script.answer(request)
            }
            try await withCatalog(script) { bench, _ in
                let environment = bench.configured
                _ = try await bench.run("fetch", "1/1", "-q", environment: environment)
                let path = try #require(try await bench.path(of: "1/1", environment: environment))
                try await bench.start("fetch", "1", "--json", environment: environment) { run in
                    _ = try await run.waitForOutput(containing: "\"event\":\"started\"")
                    let removed = try await bench.run("remove", "1/1", environment: environment)
                    #expect(removed.exitCode == 0)
                    #expect(
                        removed.errors == "1 episode removed, 1 file to be moved when the run that is under way ends\n")
                    #expect(try paths(bench) == [path])
                    tap.open()
                    #expect(try await run.result().exitCode == 0)
                }
                #expect(try trashed(bench) == [path])
                #expect(try await bench.run("undo", environment: environment).exitCode == 0)
                #expect(try paths(bench).contains(path))
            }
        }

        @Test func `what another book's file has the place of comes back beside it`() async throws {
            try await withCatalog(ScriptedCatalog(episodes: 3).script) { bench, server in
                var environment = bench.configured
                environment["BOOKSYNC_NAMING"] = "Shared/{section} {name}.{ext}"
                _ = try await bench.run("fetch", "1", "-q", environment: environment)
                let path = try #require(try await bench.path(of: "1/2", environment: environment))
                _ = try await bench.run("remove", "1/2", environment: environment)
                _ = try await bench.run("fetch", "2", "-q", environment: environment)
                #expect(try await bench.path(of: "2/2", environment: environment) == path)
                let sent = server.record.audioBytesSent
                _ = try await bench.run("remove", "1/2", "--forget", environment: environment)
                let planned = try await bench.run("plan", "1", environment: environment)
                #expect(planned.errors.contains("1 file comes back from the trash"), "\(planned.errors)")
                #expect(try await bench.run("fetch", "1", environment: environment).exitCode == 0)
                #expect(server.record.audioBytesSent == sent)
                #expect(try paths(bench).count == 6 && trashed(bench) == [])
                #expect(try await bench.run("verify", environment: environment).exitCode == 0)
            }
        }

        @Test func `a file that is back is not paused any more`() async throws {
            try await withCatalog(ScriptedCatalog(episodes: 3).script) { bench, _ in
                let environment = bench.configured
                _ = try await bench.run("fetch", "1", "-q", environment: environment)
                _ = try await bench.run("remove", "1/1", environment: environment)
                _ = try await bench.run("remove", "1/1", "--forget", environment: environment)
                #expect(try await bench.run("pause", "1/1", environment: environment).exitCode == 0)
                #expect(try await bench.run("trash", "restore", "1/1", environment: environment).exitCode == 0)
                let list = try JSONObject.list(
                    try await bench.run("list", "1", "--json", environment: environment).output)
                #expect(list.map { $0["state"] } == ["finished", "finished", "finished"])
                let queue = try await bench.run("queue", "--json", environment: environment)
                #expect(try JSONObject.list(queue.output).isEmpty)
            }
        }

        @Test func `what comes into the trash only as that is emptied stays there`() async throws {
            let tap = Tap(allowing: 1000)
            try await withCatalog(ScriptedCatalog(episodes: 3, tap: tap).script) { bench, _ in
                let environment = bench.configured
                tap.open()
                _ = try await bench.run("fetch", "1/1-2", "-q", environment: environment)
                _ = try await bench.run("remove", "1/1", environment: environment)
                let path = try #require(try await bench.path(of: "1/2", environment: environment))
                tap.allow(1000)
                try await bench.start("fetch", "1", "--json", environment: environment) { run in
                    _ = try await run.waitForOutput(containing: "\"event\":\"started\"")
                    #expect(try await bench.run("remove", "1/2", environment: environment).exitCode == 0)
                    run.send(signal: SIGKILL)
                    _ = try await run.result()
                }
                let emptied = try await bench.run("trash", "empty", "--yes", environment: environment)
                #expect(emptied.exitCode == 0 && emptied.output.hasPrefix("1 file ("), "\(emptied.output)")
                #expect(try trashed(bench) == [path])
            }
        }

        @Test func `what cannot come back stays in the trash`() async throws {
            try await withWorkbench { bench in
                _ = try await bench.run("fetch", "40111/1-2", "-q")
                let path = try #require(try await bench.path(of: "40111/2"))
                let file = bench.library.appending(path: path)
                let content = try Data(contentsOf: file)
                _ = try await bench.run("remove", "40111/2")
                try Data("mine".utf8).write(to: file)
                let occupied = try await bench.run("trash", "restore", "40111")
                #expect(occupied.exitCode == 75 && occupied.errors.contains("something else has its path"))
                #expect(try String(contentsOf: file, encoding: .utf8) == "mine")
                #expect(try trashed(bench) == [path])
                try content.write(to: file)
                _ = try await bench.run("remove", "40111/2", "--forget")
                #expect(try await bench.run("fetch", "40111/2", "-q").exitCode == 0)
                let again = try await bench.run("trash", "restore", "40111")
                #expect(again.exitCode == 0, "\(again.errors)")
                // The two have swapped places.
                #expect(try trashed(bench) == [path])
                #expect(try Data(contentsOf: file) == content)
            }
        }

        @Test(.needs("sqlite3"))
        func `what was there for 30 days when a run of a day ago or more began is deleted, and nothing else`()
            async throws
        {
            try await withWorkbench { bench in
                _ = try await bench.run("fetch", "40111/1-3", "-q")
                _ = try await bench.run("remove", "40111/1")
                _ = try await bench.run("remove", "40111/2")
                let shift = "UPDATE run SET started_at = started_at - 2 * 86400000"
                let shifted = try await ForeignProgram.run("sqlite3", ["L/.booksync/store.sqlite", shift], in: bench)
                #expect(shifted.exitCode == 0, "\(shifted.errors)")
                for (section, days) in [(1, 33), (2, 31)] {
                    let time = Int64((Date().timeIntervalSince1970 - Double(days) * 86400) * 1000)
                    let moved = try #require(try trashed(bench).first { $0.contains("00\(section)") })
                    let statement = "UPDATE operation SET done_at = \(time) WHERE path = '\(moved)'"
                    let result = try await ForeignProgram.run(
                        "sqlite3", ["L/.booksync/store.sqlite", statement], in: bench)
                    #expect(result.exitCode == 0, "\(result.errors)")
                }
                #expect(try trashed(bench).count == 2)
                #expect(try await bench.run("fetch", "40111/3", "-q").exitCode == 0)
                #expect(try trashed(bench).allSatisfy { $0.contains("002") })
                #expect(try trashed(bench).count == 1)
                #expect(try await bench.run("undo").exitCode == 0)
                #expect(try bench.files().count == 2)
            }
        }
    }
}

extension Workbench {
    /// Where the store has the file of an episode, relative to the library.
    fileprivate func path(of reference: String, environment: [String: String] = [:]) async throws -> String? {
        let listed = try await run("list", reference, "--json", environment: environment)
        return try JSONObject.list(listed.output).first?["path"]
    }
}
