import BookSyncWeb
import Foundation
import Support
import Testing

extension ProductTests {
    @Suite struct Output {
        @Test func `quiet says nothing when all went well`() async throws {
            try await withWorkbench { bench in
                for arguments in [
                    ["-q", "fetch", "40111"], ["fetch", "40111", "--quiet"], ["subscribe", "demo:40111", "-q"],
                    ["mirror", "-q"],
                ] {
                    let result = try await bench.runBare(arguments + ["--library", "L"])
                    #expect(result.exitCode == 0)
                    #expect(result.output == "")
                    #expect(result.errors == "")
                }
            }
        }

        @Test(arguments: [[:], ["TERM": "xterm-256color", "COLORTERM": "truecolor", "COLUMNS": "80"]])
        func `off a terminal there is a line for each episode and no control character`(
            environment: [String: String]
        ) async throws {
            try await withWorkbench { bench in
                let result = try await bench.run("fetch", "40111", "-v", "--only", "1-3", environment: environment)
                #expect(result.exitCode == 0)
                #expect(result.controlCharacters.isEmpty)
                #expect(result.errorLines.filter { $0.hasPrefix("fetched ") }.count == 3)
            }
        }

        @Test func `a reader that closes standard output early is no crash`() async throws {
            try await withWorkbench { bench in
                _ = try await bench.run("fetch", "30776", "--only", "1-40", "-q")
                for command in ["list 30776 --json", "fetch 30776 --only 1-60 --json -q", "plan 30776", "--help"] {
                    let result = try await bench.shell(
                        "{ \"$BOOKSYNC\" \(command) --library L 2>err; echo $? > code; } | head -c 10 > head")
                    #expect(result.exitCode == 0)
                    let code = try String(contentsOf: bench.folder.appending(path: "code"), encoding: .utf8)
                    #expect(code == "0\n", "\(command)")
                    let errors = try String(contentsOf: bench.folder.appending(path: "err"), encoding: .utf8)
                    #expect(!errors.contains("Fatal"))
                }
                #expect(try bench.files().count == 59)
            }
        }

        @Test func `a standard error that nobody reads does not hold up a run`() async throws {
            try await withWorkbench { bench in
                let result = try await bench.shell("\"$BOOKSYNC\" fetch 40111 --library L 2>&-; echo $?")
                #expect(result.output.hasSuffix("0\n"))
                #expect(try bench.digests() == (1...6).map { DemoCatalog.sha256(book: "40111", section: $0) })
            }
        }
    }
}
