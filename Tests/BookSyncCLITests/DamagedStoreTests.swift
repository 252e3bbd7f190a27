import BookSyncWeb
import Foundation
import Support
import Testing

extension ProductTests {
    /// Case 44 through the product.
    @Suite struct DamagedStore {
        @Test(arguments: [16, 24, 28, 63])
        func `where too few files may be open that is said, and nothing begun`(limit: Int) async throws {
            try await withWorkbench { bench in
                let run = try await bench.shell("ulimit -n \(limit); $BOOKSYNC fetch demo:40111/1 --library L")
                #expect(run.exitCode == 74)
                #expect(
                    run.errors == """
                        booksync: only \(limit) files may be open at once: booksync needs 64 at least; raise the limit: ulimit -n 1024

                        """)
                #expect(!FileManager.default.fileExists(atPath: bench.library.path))
            }
        }

        @Test func `what may be open is raised as far as every process may raise it`() async throws {
            try await withWorkbench { bench in
                let run = try await bench.shell("ulimit -S -n 24; $BOOKSYNC fetch demo:40111/1 --library L")
                #expect(run.exitCode == 0, "\(run.errors)")
            }
        }

        @Test(arguments: [
            "rm L/.booksync/store.sqlite*", ": > L/.booksync/store.sqlite",
            "head -c 9000 /dev/urandom > L/.booksync/store.sqlite",
        ])
        func `case 44: the shelf says what is wrong, and the next fetch fetches nothing`(damage: String) async throws {
            try await withWorkbench { bench in
                _ = try await bench.run("fetch", DemoCatalog.shortBook, "-q")
                let digests = try bench.digests()
                _ = try await bench.shell("rm -r L/.booksync/backup; \(damage)")
                for command in [["list"], ["show", DemoCatalog.shortBook], ["queue"], ["pause", "--all"]] {
                    let result = try await bench.runBare(command + ["--library", "L"])
                    #expect(result.exitCode == 74, "\(command): \(result.errors)")
                    #expect(result.errors.contains("booksync fetch"))
                }
                let plan = try await bench.run("fetch", DemoCatalog.shortBook, "--dry-run")
                #expect(plan.exitCode == (damage.contains("urandom") ? 74 : 0))
                let result = try await bench.run("fetch", "--book", DemoCatalog.shortBook, "--json")
                let summary = try result.summary()
                #expect(summary.number("adopted") == 6 && summary.number("fetched") == 0)
                #expect(summary.number("bytes_received") == 0 && summary.number("exit_code") == 0)
                #expect(try result.events().count { $0["event"] == "adopted" } == 6)
                #expect(result.errors.contains("a new one is begun"))
                #expect(try bench.digests() == digests)
                #expect(try await bench.run("list").exitCode == 0)
            }
        }

        @Test(
            .needs("sqlite3"),
            arguments: ["rm L/.booksync/store.sqlite*", "head -c 9000 /dev/urandom > L/.booksync/store.sqlite"])
        func `case 44: the copy of the last run takes the place of the store`(damage: String) async throws {
            try await withWorkbench { bench in
                _ = try await bench.run("fetch", DemoCatalog.shortBook, "-q")
                let copies = try await bench.shell("ls L/.booksync/backup").outputLines
                #expect(copies.count == 1)
                let checked = try await ForeignProgram.run(
                    "sqlite3",
                    ["L/.booksync/backup/\(copies[0])", "PRAGMA integrity_check; SELECT COUNT(*) FROM local_file"],
                    in: bench)
                #expect(checked.outputLines == ["ok", "6"])
                _ = try await bench.shell(damage)
                let result = try await bench.run("fetch", "--book", DemoCatalog.shortBook, "--json")
                let summary = try result.summary()
                #expect(summary.number("kept") == 6 && summary.number("adopted") == 0, "\(result.output)")
                #expect(summary.number("bytes_received") == 0)
                #expect(result.errors.contains("and the copy of 20"), "\(result.errors)")
            }
        }

        @Test func `case 44: a mirror whose subscriptions were lost says so, and is not done`() async throws {
            try await withWorkbench { bench in
                _ = try await bench.run("subscribe", "demo:\(DemoCatalog.shortBook)")
                #expect(try await bench.run("mirror", "-q").exitCode == 0)
                _ = try await bench.shell("rm -r L/.booksync/backup L/.booksync/store.sqlite*")
                let result = try await bench.run("mirror", "-q")
                #expect(result.exitCode == 74)
                #expect(result.errors.contains("what was subscribed to is lost"), "\(result.errors)")
            }
        }

        @Test(.needs("sqlite3"))
        func `a store that this version does not understand is 70, and stays where it is`() async throws {
            try await withWorkbench { bench in
                _ = try await bench.run("fetch", DemoCatalog.shortBook, "-q")
                func write(_ word: String) async throws {
                    // As a version that is to come may.
                    let sql = "PRAGMA ignore_check_constraints = 1; UPDATE local_file SET verification = '\(word)'"
                    let result = try await ForeignProgram.run("sqlite3", ["L/.booksync/store.sqlite", sql], in: bench)
                    #expect(result.exitCode == 0, "\(result.errors)")
                }
                try await write("blessed")
                let files = try await bench.shell("ls L/.booksync").output
                let result = try await bench.run("fetch", DemoCatalog.shortBook)
                #expect(result.exitCode == 70, "\(result.errors)")
                #expect(result.errors.contains("does not know"), "\(result.errors)")
                #expect(try await bench.shell("ls L/.booksync").output == files)
                try await write("length")
                #expect(try await bench.run("fetch", DemoCatalog.shortBook, "--json").summary().number("kept") == 6)
            }
        }
    }
}
