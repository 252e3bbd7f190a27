import BookSyncWeb
import Foundation
import Support
import Testing

extension ProductTests {
    @Suite struct Searching {
        private func withShelf(_ body: (Workbench) async throws -> Void) async throws {
            try await withWorkbench { bench async throws in
                _ = try await bench.run("fetch", "30776", "40111", "--only", "1-2", "-q")
                try await body(bench)
            }
        }

        private func found(_ bench: Workbench, _ words: String...) async throws -> [JSONObject] {
            try JSONObject.list(try await bench.runBare(["search", "--library", "L", "--json"] + words).output)
        }

        @Test func `any two characters of a title find the book before its episodes`() async throws {
            try await withShelf { bench async throws in
                for text in ["回到", "到古", "古代", "代当", "当兽", "兽医"] {
                    let hits = try await found(bench, text)
                    #expect(hits.count == 50)
                    #expect(hits.first?["kind"] == "book" && hits.first?["title"] == "回到古代当兽医")
                    #expect(hits.dropFirst().allSatisfy { $0["kind"] == "episode" && $0["book_title"] == "回到古代当兽医" })
                }
                let all = try await found(bench, "兽医", "--limit", "0")
                #expect(all.count == 113)
            }
        }

        @Test func `people are found, several words narrow, and a table is printed`() async throws {
            try await withShelf { bench async throws in
                #expect(try await found(bench, "作者二").map { $0["id"] } == ["40111"])
                let text = try await bench.run("search", "夜航船", "第003集")
                #expect(text.outputLines.count == 2)
                #expect(text.outputLines[0].split(separator: " ").joined(separator: " ") == "ref name of state")
                #expect(text.outputLines[1] == "demo:40111/3  第003集_夜航船  夜航船  not here")
            }
        }

        @Test func `nothing found is said and is no error`() async throws {
            try await withShelf { bench async throws in
                let nothing = try await bench.run("search", "狼人")
                #expect(nothing.exitCode == 0 && nothing.output == "")
                #expect(nothing.errors == "no matches\n")
                let more = try await bench.run("search", "兽医", "--limit", "2")
                #expect(more.outputLines.count == 3)
                #expect(more.errors.contains("--limit 0"))
            }
        }

        @Test(arguments: [
            "\"", "*", "", "AND", "NEAR(", "😀", "'; DROP TABLE book; --", "tokens:x", "\u{1B}[2J", "\u{1B}",
        ])
        func `whatever is typed, nothing breaks`(text: String) async throws {
            try await withShelf { bench async throws in
                let result = try await bench.run("search", text)
                let holdsNothing = ["\"", "*", "", "\u{1B}"].contains(text)
                #expect(result.exitCode == (holdsNothing ? 64 : 0), "\(result.errors)")
                #expect(result.errorLines.count == 1)
                #expect(result.controlCharacters == [])
            }
        }

        @Test func `books and episodes are listed in the order asked for`() async throws {
            try await withShelf { bench async throws in
                func ids(_ arguments: String...) async throws -> [String?] {
                    try JSONObject.list(
                        try await bench.runBare(["list", "--library", "L", "--json"] + arguments).output
                    ).map {
                        $0["id"]
                    }
                }
                #expect(try await ids() == ["30776", "40111"])
                #expect(try await ids("--reverse") == ["40111", "30776"])
                #expect(try await ids("--sort", "missing") == ["30776", "40111"])
                #expect(try await ids("--sort", "missing", "--reverse") == ["40111", "30776"])
                #expect(try await ids("--sort", "title") == ["30776", "40111"])
                #expect(try await ids("--state", "locked") == ["30776"])
                #expect(try await ids("--state", "finished") == ["30776", "40111"])
                #expect(try await ids("--state", "paused") == [])
                // As the table has it.
                let missing = try await ids("--state", "waiting")
                for word in ["not here", "未下载", "等待中"] { #expect(try await ids("--state", word) == missing) }
                let sections = try JSONObject.list(
                    try await bench.run("list", "40111", "--sort", "section", "--reverse", "--json").output
                ).compactMap { $0.number("section") }
                #expect(sections == [6, 5, 4, 3, 2, 1])
                #expect(try await bench.run("list", "--sort", "section").exitCode == 64)
                #expect(try await bench.run("list", "40111", "--sort", "author").exitCode == 64)
            }
        }
    }
}
