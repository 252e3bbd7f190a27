import BookModel
import Testing

@testable import BookSyncCLI

@Suite struct RunRecapTests {
    private static let book = BookIdentity(source: "cat", id: "1")

    private static func failed(_ section: Int, remedy: Message? = nil) -> SyncEvent {
        .failed(
            FailureReport(
                book: book, episode: EpisodeIdentity(book: book, key: "\(section)"), section: section,
                failure: Failure(
                    .temporary, what: "episode \(section) cannot be fetched", why: "it answers with HTTP status 404",
                    remedy: remedy)))
    }

    private func screen(_ events: [SyncEvent], width: Int = 80, _ language: Language = .english) -> String {
        var recap = RunRecap()
        for event in events { recap.record(event) }
        return recap.lines(OutputStyle(width: width, words: Wordings(language))).map(\.text).joined(separator: "\n")
    }

    @Test func `what was renamed and what failed is told with the next step`() {
        let events: [SyncEvent] = [
            .renamed(EpisodeIdentity(book: Self.book, key: "1"), from: "a/1.mp3", to: "b/1.mp3"), Self.failed(2),
            .notice("something else"), Self.failed(3, remedy: "look"),
        ]
        #expect(
            screen(events) == """
                1 file renamed:
                  a/1.mp3 → b/1.mp3
                    booksync undo takes this back
                2 failed:
                  cat:1/2: episode 2 cannot be fetched: it answers with HTTP status 404
                    booksync fetch cat:1/2 tries again
                  cat:1/3: episode 3 cannot be fetched: it answers with HTTP status 404
                    look
                """)
    }

    @Test func `at 30 columns nothing is cut`() {
        #expect(
            screen([Self.failed(2)], width: 30) == """
                1 failed:
                  cat:1/2: episode 2 cannot be
                  fetched: it answers with
                  HTTP status 404
                    booksync fetch cat:1/2
                    tries again
                """)
    }

    @Test func `of many the first ten are named`() {
        let lines = screen((1...13).map { Self.failed($0) }).split(separator: "\n")
        #expect(lines.count == 22)
        #expect(lines.last == "  … and 3 more; booksync list --state failed lists the books")
    }

    @Test func `a single failure that says what to do, right above, is not told again`() {
        #expect(screen([Self.failed(2, remedy: "look")]) == "")
        #expect(screen([Self.failed(2, remedy: "look"), .notice("x")]) != "")
        #expect(screen([.notice("x")]) == "")
    }

    @Test func `it is told in Chinese`() {
        let events: [SyncEvent] = [
            .renamed(EpisodeIdentity(book: Self.book, key: "1"), from: "a", to: "b"), Self.failed(2),
        ]
        let text = screen(events, .chinese)
        #expect(text.hasPrefix("已改名 1 个文件：\n  a → b\n    booksync undo 可撤销\n失败 1 项："))
        #expect(text.hasSuffix("booksync fetch cat:1/2 会重试"))
    }
}
