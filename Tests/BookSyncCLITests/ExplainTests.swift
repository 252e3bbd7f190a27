import Foundation
import Support
import Testing

extension ProductTests {
    @Suite struct Explaining {
        @Test func `each episode named has its paragraph, and nobody is asked`() async throws {
            var catalog = ScriptedCatalog(episodes: 3)
            catalog.items[1].deeds = [.instead(.notFound)]
            try await withCatalog(catalog.script, more: "downloads: { retries: 0 }") { bench, server in
                let environment = bench.configured
                _ = try await bench.run("fetch", "1", "-q", environment: environment)
                let asked = server.record.requests.count
                let result = try await bench.run("explain", "1/1-2", environment: environment)
                #expect(result.exitCode == 0 && result.errors == "")
                let paragraphs = result.output.components(separatedBy: "\n\n")
                #expect(paragraphs.count == 2)
                #expect(paragraphs[0].contains("episode 1 '第1集' (cat:1/1): nothing to do: on disk."))
                #expect(paragraphs[0].contains("It was fetched from http://127.0.0.1:\(server.port)/audio/1.mp3 on "))
                #expect(paragraphs[1].contains("It failed once, the last time because: "))
                #expect(paragraphs[1].contains("booksync fetch would fetch it (20.0 kB)"))

                let document = try JSONObject(
                    try await bench.run("explain", "1/1", "--json", environment: environment).output)
                #expect(document["state"] == "finished" && document["fetched_from"] != nil)
                #expect(document.objects("actions").map { $0["action"] } == ["keep"])
                let sentences = try #require(document.members["sentences"] as? [String])
                // The tests' processes are in UTC; people see times to the minute, programs as RFC 3339 has them.
                let shown = sentences.joined(separator: " ").replacing(/(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\dZ/) {
                    "\($0.output.1) \($0.output.2)"
                }
                #expect(shown == paragraphs[0])
                let both = try JSONObject.list(
                    try await bench.run("explain", "1/1-2", "--json", environment: environment).output)
                #expect(both.map { $0.number("section") } == [1, 2])
                #expect(server.record.requests.count == asked)
            }
        }

        @Test func `a book without a section is 64, a section that is not there and no shelf are 66`() async throws {
            try await withWorkbench { bench in
                let book = try await bench.run("explain", "40111")
                #expect(book.exitCode == 64)
                #expect(book.errors.contains("40111/12"))
                #expect(try await bench.run("explain", "40111/1").exitCode == 66)
                #expect(!bench.exists)
                _ = try await bench.run("fetch", "40111/1", "-q")
                #expect(try await bench.run("explain", "40111/77").exitCode == 66)
                let notAsked = try await bench.run("explain", "40111/2")
                #expect(notAsked.output.contains("Nothing of it is on disk."))
            }
        }
    }
}
