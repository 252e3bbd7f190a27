import BookSyncWeb
import Foundation
import Support
import Testing

extension ProductTests {
    /// `doctor` on things that are really broken.
    @Suite struct Doctor {
        /// What every file of the library holds, without what SQLite makes for a reader.
        private static func state(of bench: Workbench) throws -> [String: String] {
            let root = bench.library.path
            guard let below = FileManager.default.enumerator(atPath: root) else { return [:] }
            var state: [String: String] = [:]
            for case let path as String in below where !path.hasSuffix("-wal") && !path.hasSuffix("-shm") {
                state[path] = FileManager.default.contents(atPath: root + "/" + path).map(sha256) ?? "folder"
            }
            return state
        }

        @Test func `a sound library is ok in every line, and nothing is changed`() async throws {
            let catalog = ScriptedCatalog(episodes: 2)
            try await withCatalog(catalog.script, more: "subscriptions: [{ book: \"cat:1\" }]") { bench, server in
                #expect(try await bench.run("mirror", environment: bench.configured).exitCode == 0)
                let before = try Self.state(of: bench)
                let asked = server.record.requests.count
                let result = try await bench.run("doctor", environment: bench.configured)
                #expect(result.exitCode == 0)
                #expect(result.errors == "")
                #expect(result.outputLines.allSatisfy { $0.hasPrefix("ok       ") }, "\(result.output)")
                let checks = [
                    "configuration", "library", "locking", "lock", "renaming", "disk", "store", "leftovers", "space",
                    "subscriptions", "source cat",
                ]
                #expect(
                    result.outputLines.compactMap { $0.dropFirst(9).split(separator: ":").first }
                        == checks.map { $0[...] })
                #expect(server.record.requests.count == asked + 1, "one cheap request for each source")
                #expect(try Self.state(of: bench) == before)
                #expect(try await bench.run("doctor", "-q", environment: bench.configured).output == "")

                let document = try JSONObject(
                    try await bench.run("doctor", "--json", environment: bench.configured).output)
                #expect(document.number("exit_code") == 0)
                #expect(document.objects("checks").compactMap { $0["check"] } == checks)
                let keys: Set = ["check", "status", "message", "remedy"]
                #expect(document.objects("checks").allSatisfy { $0.keys == keys && $0["status"] == "ok" })
            }
        }

        @Test func `a folder that the next run makes anew is no problem`() async throws {
            try await withCatalog(ScriptedCatalog(episodes: 1).script) { bench, _ in
                #expect(try await bench.run("fetch", "cat:1", environment: bench.configured).exitCode == 0)
                try FileManager.default.removeItem(at: bench.library.appending(path: ".booksync/partial"))
                let before = try Self.state(of: bench)
                let result = try await bench.run("doctor", environment: bench.configured)
                #expect(result.exitCode == 0, "\(result.output)")
                #expect(try Self.state(of: bench) == before)
                #expect(try await bench.run("fetch", "cat:1", environment: bench.configured).exitCode == 0)
            }
        }

        @Test func `a library that is not there yet is no problem, and is not made`() async throws {
            try await withWorkbench { bench in
                let result = try await bench.run("doctor")
                #expect(result.exitCode == 0)
                #expect(result.output.contains("warning  library: "), "\(result.output)")
                #expect(!bench.exists)
                let lost = try await bench.runBare(["doctor", "--library", "none/L"])
                #expect(lost.exitCode == 73)
                #expect(lost.output.contains("problem  library: ") && lost.output.contains("parent"), "\(lost.output)")
            }
        }

        @Test(arguments: [
            (
                damage: "head -c 20000 /dev/urandom | dd of=L/.booksync/store.sqlite bs=4096 seek=1 conv=notrunc",
                "damaged"
            ),
            ("head -c 9000 /dev/urandom > L/.booksync/store.sqlite", "not a database"),
            ("rm L/.booksync/store.sqlite*", "lost"),
        ])
        func `a broken store is said with what to do, and left as it is`(damage: String, word: String) async throws {
            try await withWorkbench { bench in
                _ = try await bench.run("fetch", DemoCatalog.shortBook, "-q")
                _ = try await bench.shell(damage)
                let before = try Self.state(of: bench)
                let result = try await bench.run("doctor")
                #expect(result.exitCode == 74, "\(result.output)")
                let line = try #require(
                    result.outputLines.first { $0.hasPrefix("problem  store: ") }, "\(result.output)")
                let isRead = damage.contains("rm ")
                let warning = "warning  subscriptions: those in the store cannot be read"
                #expect(result.output.contains(warning) == !isRead)
                #expect(line.contains(word) && line.contains("booksync fetch"), "\(line)")
                #expect(try Self.state(of: bench) == before)
            }
        }

        @Test func `files that nothing will use again are counted, and what was killed is told`() async throws {
            try await withWorkbench { bench in
                _ = try await bench.run("fetch", DemoCatalog.shortBook, "-q")
                let own = bench.library.path + "/.booksync"
                for path in [
                    "/partial/00112233445566778899aabbccddeeff.part", "/store.sqlite.damaged-20200101T000000Z",
                ] {
                    try Data(repeating: 1, count: 1000).write(to: URL(filePath: own + path))
                }
                try Data("pid 1\nhost elsewhere\nsince 2001-01-01T00:00:00Z\ncommand mirror\n".utf8)
                    .write(to: URL(filePath: own + "/lock"))
                let result = try await bench.run("doctor")
                #expect(result.exitCode == 0)
                let line = try #require(result.outputLines.first { $0.contains(" leftovers: ") })
                #expect(line.hasPrefix("warning  leftovers: 1 file of an unfinished download (1.0 kB)"), "\(line)")
                #expect(line.contains("1 file of a damaged store (1.0 kB)") && line.contains("delete them"), "\(line)")
                let lock = try #require(result.outputLines.first { $0.contains(" lock: ") })
                #expect(lock.contains("free") && lock.contains("process 1 on another machine, elsewhere,"), "\(lock)")
            }
        }

        #if os(Linux)
            @Test(.needsMounting)
            func `a disk that is full, or cannot be written, is said`() async throws {
                try await withWorkbench { bench in
                    try FileManager.default.createDirectory(at: bench.library, withIntermediateDirectories: false)
                    let disk = try SmallDisk.mount(at: bench.library.path, kilobytes: 4000)
                    defer { disk.unmount() }
                    let filler = bench.library.appending(path: "filler")
                    try Data(repeating: 0, count: try disk.free() - 100_000).write(to: filler)
                    let full = try await bench.run("doctor")
                    #expect(full.exitCode == 74, "\(full.output)")
                    #expect(full.output.contains("problem  space: ") && full.output.contains("make room"))
                    // Also where nothing is to stay free: the store has to grow.
                    let free = try await bench.run("doctor", environment: ["BOOKSYNC_MIN_FREE_SPACE": "0"])
                    #expect(free.exitCode == 74 && free.output.contains("problem  space: "), "\(free.output)")
                    try FileManager.default.removeItem(at: filler)
                    try disk.forbidWriting()
                    let barred = try await bench.run("doctor")
                    #expect(barred.exitCode == 73, "\(barred.output)")
                    #expect(barred.output.contains("problem  library: ") && barred.output.contains("Read-only"))
                }
            }
        #endif

        @Test(.needsCompiler)
        func `a filesystem that keeps no locks is said, by a run with 73 and by doctor`() async throws {
            try await withWorkbench { bench in
                let library = try await PreloadedLibrary.make("no-locks", in: bench.folder)
                _ = try await bench.run("fetch", DemoCatalog.shortBook, "-q")
                let environment = ["LD_PRELOAD": library.path]
                for arguments in [["mirror"], ["doctor"]] {
                    let result = try await bench.runBare(arguments + ["--library", "L"], environment: environment)
                    #expect(result.exitCode == 73, "\(result.output)\(result.errors)")
                    let told = result.output + result.errors
                    #expect(told.contains("its filesystem keeps no locks (flock: No locks available)"), "\(told)")
                    #expect(told.contains("rpc.statd"), "\(told)")
                }
            }
        }
    }
}
