import Foundation
import Support
import Testing

extension ProductTests {
    @Suite struct Log {
        private func lines(_ bench: Workbench, _ name: String = "booksync.log") throws -> [String] {
            let text = try String(contentsOf: bench.folder.appending(path: name), encoding: .utf8)
            #expect(text.hasSuffix("\n"))
            return text.split(separator: "\n").map(String.init)
        }

        private func document(_ line: String) throws -> [String: String] {
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String])
        }

        @Test func `a log file tells what a run did, and the next run goes on with it`() async throws {
            try await withWorkbench { bench in
                let first = try await bench.run(
                    "fetch", "40111/1-2", "-q", "--log-file", "booksync.log", "--log-format", "json")
                #expect(first.exitCode == 0 && first.errors == "")
                let documents = try lines(bench).map(document)
                #expect(documents.first?["message"] == "begins" && documents.first?["command"] == "fetch")
                #expect(documents.last?["message"] == "ends" && documents.last?["exit_code"] == "0")
                let placed = documents.filter { $0["message"] == "file in its place" }
                #expect(Set(placed.compactMap { $0["episode"] }) == ["demo:40111#5000000001", "demo:40111#5000000002"])
                #expect(documents.first { $0["message"] == "planned" }?["fetch"] == "2")
                #expect(documents.allSatisfy { $0["time"]?.wholeMatch(of: /20\d\d-\d\d-\d\dT[\d:]{8}\.\d{3}Z/) != nil })
                let count = documents.count
                #expect(try await bench.run("list", "--log-file", "booksync.log", "-q").exitCode == 0)
                let more = try lines(bench).dropFirst(count)
                #expect(more.count == 2)
                #expect(more.first?.contains(" info: begins command=list process=") == true, "\(more)")
            }
        }

        @Test(arguments: [(["-v"], false), (["-vv"], true), (["-v", "-v"], true)])
        func `more is said with each -v`(flags: [String], isMost: Bool) async throws {
            try await withWorkbench { bench in
                let result = try await bench.runBare(flags + ["fetch", "40111/1", "--library", "L"])
                #expect(result.exitCode == 0)
                #expect(result.errors.contains(" info: begins command=fetch"), "\(result.errors)")
                #expect(result.errors.contains(" debug: sending a request address=") == isMost)
                #expect(result.errors.contains(" status=200") == isMost)
            }
        }

        @Test func `a failure is in the log, as one line, whatever the catalog put into its names`() async throws {
            try await withWorkbench { bench in
                var catalog = ScriptedCatalog(episodes: 2, bytes: 4000)
                catalog.items[0].deeds = [.instead(.notFound)]
                catalog.items[1].name = "two\\nlines=\\\"1\\\""
                try await withServer(catalog.script) { server in
                    try bench.configure(
                        """
                        downloads: { retries: 0 }
                        sources:
                          cat:
                            type: book-resource
                            url: http://127.0.0.1:\(server.port)\(ScriptedCatalog.listPath)
                            allow-private-addresses: true
                        """)
                    let result = try await bench.runBare(
                        ["fetch", "1", "--library", "L", "--log-file", "booksync.log"], environment: bench.configured)
                    #expect(result.exitCode == 75, "\(result.errors)")
                }
                let told = try lines(bench).filter { $0.contains("error: failed") }
                #expect(told.count == 1 && told.first?.contains("404") == true, "\(told)")
                #expect(try lines(bench).allSatisfy { $0.hasPrefix("20") })
            }
        }

        @Test(arguments: [("/nowhere/booksync.log", "No such file"), ("/dev/full", "No space left")])
        func `a log that cannot be written is an error`(file: String, why: String) async throws {
            try await withWorkbench { bench in
                let result = try await bench.run("list", "--log-file", file)
                #expect(result.exitCode == 74)
                #expect(result.errors.contains("the log '\(file)' cannot be written: \(why)"), "\(result.errors)")
            }
        }
    }
}
