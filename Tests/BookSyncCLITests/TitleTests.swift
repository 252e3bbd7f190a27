import Foundation
import Support
import Testing

extension ProductTests {
    /// Books that are named by their titles, or by their number in a listing.
    @Suite struct Titles {
        @Test(arguments: ["夜航船", "夜航", "yhc", "demo:40111", "40111"])
        func `a book on the shelf is named by its id, its title, its beginning or its initials`(
            name: String
        ) async throws {
            try await withWorkbench { bench in
                #expect(try await bench.run("fetch", "40111/1", "30776/1", "-q").exitCode == 0)
                let shown = try await bench.run("show", name, "--json")
                #expect(try JSONObject(shown.output)["id"] == "40111", "\(shown.errors)")
                let fetched = try await bench.run("fetch", "\(name)/2", "--json")
                #expect(try fetched.summary().number("fetched") == 1, "\(fetched.errors)")
                #expect(try bench.files().count == 3)
            }
        }

        @Test func `words are no book of the demo catalog because the store cannot be read`() async throws {
            try await withWorkbench { bench in
                #expect(try await bench.run("fetch", "40111/1", "-q").exitCode == 0)
                for store in ["store.sqlite", "store.sqlite-wal"] {
                    let place = bench.library.appending(path: ".booksync/\(store)")
                    try? FileManager.default.removeItem(at: place)
                }
                try Data(repeating: 7, count: 100_000)
                    .write(to: bench.library.appending(path: ".booksync/store.sqlite"))
                for command in ["subscribe", "fetch"] {
                    let result = try await bench.run(command, "notaurl")
                    let told = result.output + result.errors
                    #expect(result.exitCode != 0 && !told.contains("demo:notaurl"), "\(told)")
                }
            }
        }

        @Test(arguments: ["cancel", "remove", "unsubscribe"])
        func `where nobody can be asked, a command that takes something away wants the whole title`(
            command: String
        ) async throws {
            try await withWorkbench { bench in
                #expect(try await bench.run("fetch", "40111/1", "-q").exitCode == 0)
                #expect(try await bench.run("subscribe", "demo:40111", "-q").exitCode == 0)
                let more = command == "remove" ? ["--yes"] : []
                for name in ["夜航", "yhc"] {
                    let refused = try await bench.runBare([command, name, "--library", "L"] + more)
                    #expect(refused.exitCode == 64, "\(refused.errors)")
                    let sentence =
                        "'\(name)' is not the whole title of a book: what changes a library takes no less; it fits demo:40111 夜航船;"
                    #expect(refused.errors.contains(sentence), "\(refused.errors)")
                }
                #expect(try bench.files().count == 1)
                #expect(try await bench.runBare([command, "夜航船", "--library", "L"] + more).exitCode == 0)
            }
        }

        @Test func `several books of such a title are told apart by their ids`() async throws {
            var catalog = ScriptedCatalog(episodes: 1)
            catalog.items[0].name = "第1集_山村兽医"
            try await withCatalog(catalog.script) { bench, _ in
                let environment = bench.configured
                #expect(try await bench.run("fetch", "1", "2", "-q", environment: environment).exitCode == 0)
                let refused = try await bench.run("show", "山村", environment: environment)
                #expect(refused.exitCode == 64 && refused.output.isEmpty)
                #expect(refused.errors.contains("'山村' names 2 books: cat:1 山村兽医, cat:2 山村兽医"), "\(refused.errors)")
                // What nobody called so is an id, which the shelf does not know.
                #expect(try await bench.run("show", "兽医", environment: environment).exitCode == 66)
            }
        }

        #if os(Linux)
            @Test func `on a terminal books are numbered, and one of several is chosen`() async throws {
                var catalog = ScriptedCatalog(episodes: 1)
                catalog.items[0].name = "第1集_山村兽医"
                try await withCatalog(catalog.script) { bench, _ in
                    let environment = bench.configured
                    #expect(try await bench.run("fetch", "1", "2", "-q", environment: environment).exitCode == 0)
                    let unlisted = try await bench.run("show", "@1", environment: environment)
                    #expect(
                        unlisted.exitCode == 64 && unlisted.errors.contains("nothing was listed"), "\(unlisted.errors)")
                    try await bench.onTerminal(
                        "\"$BOOKSYNC\" list --library L >\"$TERMINAL\"", environment: environment
                    ) { run, terminal in
                        #expect(try await run.result().exitCode == 0)
                        let rows = try await terminal.waitForScreen { $0.count == 3 }
                        #expect(rows[1].hasPrefix("@1  cat:1") && rows[2].hasPrefix("@2  cat:2"), "\(rows)")
                    }
                    let shown = try await bench.run("show", "@2", "--json", environment: environment)
                    #expect(try JSONObject(shown.output)["id"] == "2", "\(shown.errors)")
                    let beyond = try await bench.run("show", "@3", environment: environment)
                    #expect(beyond.exitCode == 64 && beyond.errors.contains("had 2 rows"), "\(beyond.errors)")
                    try await bench.onTerminal(
                        "\"$BOOKSYNC\" show 山村 --json --library L <\"$TERMINAL\" 2>\"$TERMINAL\"",
                        environment: environment
                    ) { run, terminal in
                        try await terminal.waitForScreen { $0.contains { $0.contains("Which one do you mean? [1-2]") } }
                        terminal.type("2\n")
                        #expect(try JSONObject(try await run.result().output)["id"] == "2")
                    }
                }
            }
        #endif
    }
}
