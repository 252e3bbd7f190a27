import BookSyncWeb
import Foundation
import Support
import Testing

extension ProductTests {
    /// With the server gone the shelf still answers. (The demo catalog lives only as long as a run.)
    @Suite struct Offline {
        @Test func `the shelf is listed`() async throws {
            try await withWorkbench { bench in
                _ = try await bench.run("fetch", "40111", "--only", "1-4", "-q")
                let text = try await bench.run("list")
                #expect(text.exitCode == 0)
                #expect(text.errors == "")
                #expect(text.outputLines.count == 2)
                #expect(
                    text.outputLines.first?.split(separator: "  ").map { $0.trimmingCharacters(in: .whitespaces) }
                        .filter { !$0.isEmpty } == [
                            "book", "title", "author", "on disk", "not here", "locked", "bytes",
                        ])
                #expect(text.outputLines.last?.contains("demo:40111  夜航船  演示作者二") == true)
                #expect(text.outputLines.last?.contains(" 4/6 ") == true)

                let books = try JSONObject.list(try await bench.run("list", "--json").output)
                let book = try #require(books.first)
                #expect(book["source"] == "demo")
                #expect(book["id"] == "40111")
                #expect(book.number("episodes") == 6)
                #expect(book.number("missing") == 2)
                #expect(book.members["complete"] as? Bool == true)
                let updated = try #require(book["updated_at"])
                #expect(updated.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/) != nil, "\(updated)")
                let sizes = (1...4).compactMap { DemoCatalog.audio(book: "40111", section: $0)?.count }
                #expect(book.number("bytes") == sizes.reduce(0, +))
            }
        }

        @Test func `the episodes of a book are listed`() async throws {
            try await withWorkbench { bench in
                _ = try await bench.run("fetch", "40111", "--only", "1-4", "-q")
                let text = try await bench.run("list", "40111")
                #expect(text.outputLines.count == 7)
                #expect(text.outputLines[1].contains("1  第001集_夜航船  finished"))
                #expect(text.outputLines[6].contains("6  第006集_夜航船  not here"))

                let episodes = try JSONObject.list(try await bench.run("list", "40111", "--json").output)
                #expect(episodes.compactMap { $0.number("section") } == [1, 2, 3, 4, 5, 6])
                for episode in episodes {
                    #expect(episode.isNull("published_at"))
                    #expect(episode.isNull("error"))
                }
                #expect(episodes[0]["sha256"] == DemoCatalog.sha256(book: "40111", section: 1))
                #expect(episodes[0].number("bytes_done") == episodes[0].number("size"))
                #expect(episodes[5].isNull("sha256"))
                #expect(episodes[5].isNull("path"))
                #expect(episodes[5].number("bytes_done") == 0)

                let missing = try await bench.run("list", "40111", "--missing", "--json")
                #expect(try JSONObject.list(missing.output).compactMap { $0.number("section") } == [5, 6])
                let finished = try await bench.run("list", "40111/3-6", "--state", "finished", "--json")
                #expect(try JSONObject.list(finished.output).compactMap { $0.number("section") } == [3, 4])
            }
        }

        @Test func `episodes of several books are listed with the titles of their books`() async throws {
            try await withWorkbench { bench in
                _ = try await bench.run("fetch", "40111/1", "30776/1", "-q")
                let both = try await bench.run("list", "40111/1", "30776/1")
                #expect(both.outputLines.first?.hasPrefix("book ") == true)
                #expect(both.outputLines.dropFirst().map { $0.prefix(3) } == ["夜航船", "回到古"])
                let one = try await bench.run("list", "40111/1", "40111/2")
                #expect(one.outputLines.count == 3 && one.outputLines.first?.contains("book") == false)
                _ = try await bench.run("pause", "40111", "30776")
                let queue = try await bench.run("queue")
                #expect(queue.outputLines.first?.hasPrefix("book ") == true)
                #expect(queue.outputLines.contains { $0.hasPrefix("夜航船 ") && $0.contains("paused") })
            }
        }

        @Test func `everything known of an episode and of a book is shown`() async throws {
            try await withWorkbench { bench in
                _ = try await bench.run("fetch", "30776", "--only", "7", "-q")
                let text = try await bench.run("show", "30776/7")
                #expect(text.exitCode == 0)
                let words = text.outputLines.map { $0.split(separator: " ").joined(separator: " ") }
                #expect(words.contains("name 第007集_回到古代当兽医"), "\(words)")
                let digest = try #require(DemoCatalog.sha256(book: "30776", section: 7))
                #expect(words.contains("SHA-256 \(digest)"), "\(words)")

                let episode = try JSONObject(try await bench.run("show", "demo:30776/7", "--json").output)
                #expect(episode["sha256"] == digest)
                #expect(episode["state"] == "finished")
                #expect(episode.number("section") == 7)
                #expect(episode["path"]?.hasSuffix("/007 第007集_回到古代当兽医.mp3") == true)

                let book = try JSONObject(try await bench.run("show", "30776", "--json").output)
                #expect(book["title"] == "回到古代当兽医")
                #expect(book.number("locked") == 2)
                let locked = try JSONObject(try await bench.run("show", "30776/57", "--json").output)
                #expect(locked["state"] == "locked")
                #expect(locked.isNull("url"))
            }
        }
    }
}
