import Foundation
import Support
import Testing

extension ProductTests {
    @Suite struct ExitCodes {
        @Test(arguments: [
            (["fetch", "1", "--only", "5-2"], "5-2"), (["fetch", "1", "--jobs", "0"], "--jobs"),
            (["fetch", "1", "--jobs", "many"], "--jobs"), (["fetch", "1", "--latest", "0"], "--latest"),
            (["fetch", "1", "--match", "("], "--match"), (["fetch", "1", "--order", "random"], "--order"),
            (["fetch"], "booksync fetch --book 30776"), (["fetch", ""], "REF"), (["fetch", ":7"], ":7"),
            (["frobnicate"], "frobnicate"), (["fetch", "--bok", "1"], "--book"), (["mirror", "extra"], "extra"),
            (["mirror", "--wait", "soon"], "--wait"), (["show"], "ref"), (["list", "--state", "odd", "1"], "--state"),
            (["demo", "--listen", "nowhere"], "nowhere"),
            (["--library"], "--library"), (["ftech", "1"], "there is no command 'ftech'; did you mean fetch?"),
            (["--json", "-q", "help", "nosuch"], "there is no command 'nosuch'"),
            (["help", "trash", "nosuch"], "there is no command 'trash nosuch'"),
            (["--no-color", "trash", "lst"], "there is no command 'trash lst'; did you mean list?"),
            (["30776"], "'30776' is a book: booksync fetch 30776"),
            (["-q", "kting:30776"], "'kting:30776' is a book: booksync fetch kting:30776"),
            (["mirror", "--max-episodes", "0"], "--max-episodes"), (["mirror", "--max-bytes", "much"], "--max-bytes"),
            (["mirror", "--time-limit", "soon"], "--time-limit"), (["verify", "1/x"], "'x'"),
            (["verify", "--no-such"], "--no-such"), (["serve", "--read-only", "--mirror-every", "6h"], "--read-only"),
            (["--config", "c", "http://h/f.xml"], "'http://h/f.xml' is a book: booksync fetch http://h/f.xml"),
        ])
        func `wrong usage is 64 and names what is wrong`(_ arguments: [String], _ word: String) async throws {
            try await withWorkbench { bench in
                let result = try await bench.runBare(arguments)
                #expect(result.exitCode == 64)
                #expect(result.output == "")
                #expect(result.errors.contains(word), "\(result.errors)")
                #expect(try FileManager.default.contentsOfDirectory(atPath: bench.folder.path).isEmpty)
            }
        }

        @Test func `an unknown book is 66`() async throws {
            try await withWorkbench { bench in
                let result = try await bench.run("fetch", "99999", "--json")
                #expect(result.exitCode == 66)
                #expect(result.errors.contains("99999"))
                #expect(result.errors.contains("书籍不存在"))
                #expect(try result.summary().number("exit_code") == 66)
                #expect(try result.summary().number("failed") == 1)
                // A folder without a book is not left behind, and not missed by the next run; one that was there stays.
                #expect(!bench.exists)
                #expect(try await bench.run("fetch", "99999", "-q").exitCode == 66)
                #expect(try await bench.run("fetch", "99999", "40111/1", "-q").exitCode == 66)
                #expect(try await bench.run("fetch", "99999", "-q").exitCode == 66)
                #expect(try bench.files().count == 1)
            }
        }

        @Test func `a refused port is 69`() async throws {
            try await withWorkbenchAndRefusingPort { bench, port in
                try bench.configure(ScriptedCatalog.configuration(port: port, more: "downloads: { retries: 0 }"))
                let result = try await bench.run("fetch", "1", environment: bench.configured)
                #expect(result.exitCode == 69)
                #expect(result.errors.contains("127.0.0.1:\(port)"))
                #expect(result.errors.contains("refuses the connection"), "\(result.errors)")
            }
        }

        @Test(arguments: ["file", "file/below", "/proc/self/library", "missing/parent/library"])
        func `a library that cannot be written is 73 before any request`(_ library: String) async throws {
            try await withCatalog(ScriptedCatalog(episodes: 1).script) { bench, server in
                try Data("x".utf8).write(to: bench.folder.appending(path: "file"))
                for arguments in [["fetch", "1"], ["mirror"], ["subscribe", "1"]] {
                    let result = try await bench.runBare(
                        arguments + ["--library", library], environment: bench.configured)
                    #expect(result.exitCode == 73)
                    #expect(result.errors.contains("cannot be written"), "\(result.errors)")
                }
                #expect(server.record.requests.isEmpty)
            }
        }

        @Test func `a configuration that was named and is not there is 78`() async throws {
            try await withWorkbench { bench in
                let result = try await bench.run("list", "--config", "absent.yaml")
                #expect(result.exitCode == 78)
                #expect(result.errors.contains("absent.yaml"))
                let variable = try await bench.run("list", environment: ["BOOKSYNC_JOBS": "lots"])
                #expect(variable.exitCode == 78)
                #expect(variable.errors.contains("BOOKSYNC_JOBS"))
            }
        }

        @Test func `some episodes fail: 75, and the others are fetched`() async throws {
            var catalog = ScriptedCatalog(episodes: 6)
            catalog.items[1].deeds = [.instead(.notFound)]
            catalog.items[4].deeds = [.instead(.text("gone fishing", status: 503))]
            try await withCatalog(catalog.script, more: "downloads: { retries: 0 }") { bench, _ in
                let result = try await bench.run("fetch", "1", "--json", environment: bench.configured)
                #expect(result.exitCode == 75)
                #expect(try result.summary().number("fetched") == 4)
                #expect(try result.summary().number("failed") == 2)
                #expect(try result.summary().number("exit_code") == 75)
                let failed = try result.events().filter { $0["event"] == "failed" }
                #expect(failed.compactMap { $0.number("section") }.sorted() == [2, 5])
                #expect(result.errorLines.last?.contains("4 fetched") == true)
                #expect(result.errorLines.last?.contains("2 failed") == true)
                #expect(try bench.files().count == 4)
                let missing = try JSONObject.list(
                    try await bench.run("list", "1", "--missing", "--json", environment: bench.configured).output)
                #expect(missing.compactMap { $0.number("section") } == [2, 5])
                for episode in missing { #expect(episode["error"] != nil) }
            }
        }

        @Test func `of several failures the one that most needs a person decides`() async throws {
            let answers = [
                "login": "{\"status\":2,\"msg\":\"token已过期\"}", "html": "<html>",
                "gone": "{\"status\":3,\"msg\":\"书籍不存在\"}",
                "busy": "{\"status\":1,\"msg\":\"系统繁忙\"}",
            ]
            let script = ServerScript { request in
                .text(request.query["bookId"].flatMap { answers[$0] } ?? "")
            }
            try await withCatalog(script, more: "downloads: { retries: 0 }") { bench, _ in
                for (books, code) in [
                    (["busy", "gone"], 66), (["gone", "html", "busy"], 65), (["html", "login"], 77),
                    (["login", "other:1", "html"], 78), (["busy"], 69),
                ] {
                    let result = try await bench.runBare(
                        ["fetch", "--library", "L"] + books, environment: bench.configured)
                    #expect(result.exitCode == Int32(code), "\(books): \(result.errors)")
                }
            }
        }
    }
}
