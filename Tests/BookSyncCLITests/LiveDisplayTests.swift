import BookSync
import Foundation
import Testing

@testable import BookModel
@testable import BookSyncCLI

#if os(Linux)
    @Suite struct LiveDisplayTests {
        private static func progress(_ bytes: Int64) -> TransferProgress {
            TransferProgress(
                episode: EpisodeIdentity(book: BookIdentity(source: "s", id: "1"), key: "1"), section: 1,
                name: "第1集 山村",
                path: "", bytesDone: bytes, bytesReused: 0, total: 1000)
        }

        @Test func `bars appear on a real terminal, follow its width, and are gone after the end`() async throws {
            let pair = try PseudoTerminal(columns: 80, rows: 24)
            defer { pair.close() }
            #expect(TerminalSize.current(of: pair.terminal) == TerminalSize(columns: 80, rows: 24))
            // However long this takes, no time passes: a transfer that stalls has a line more.
            let start = ContinuousClock.now
            let display = LiveDisplay(descriptor: pair.terminal, now: { start })
            var screen = VirtualTerminal(width: 80)

            await display.apply(.started(Self.progress(410)))
            screen.feed(try pair.output())
            #expect(screen.text.count == 2)
            #expect(screen.text[0].hasPrefix("第1集 山村 ["))
            #expect(screen.text[0].contains("]  41%"), "\(screen.text[0])")

            pair.resize(columns: 40, rows: 24)
            screen.resize(to: 40)
            await display.log("a notice\nof two lines")
            screen.feed(try pair.output())
            #expect(screen.text.prefix(2) == ["a notice", "of two lines"])
            #expect(screen.text.count == 4)
            #expect(!screen.text[2].contains("["))

            await display.close()
            await display.log("the summary")
            screen.feed(try pair.output())
            #expect(screen.text == ["a notice", "of two lines", "the summary"])
            #expect(screen.oddities == [])
        }

        @Test func `what somebody else counts is shown until the next event`() async throws {
            let pair = try PseudoTerminal(columns: 80, rows: 24)
            defer { pair.close() }
            let display = LiveDisplay(descriptor: pair.terminal)
            var screen = VirtualTerminal(width: 80)
            var state = ProgressState(
                transfers: [.init(name: "第7集", bytes: .init(bytesDone: 250, total: 1000))],
                run: RunProgress(
                    episodesDone: 9, episodesFailed: 2, episodesInAll: 110, bytes: .init(bytesDone: 5, total: 10)))
            state.failures = "2 bad"
            await display.apply(.measured(state))
            screen.feed(try pair.output())
            #expect(screen.text.count == 2)
            #expect(screen.text[0].hasPrefix("第7集") && screen.text[0].contains(" 25%"))
            #expect(screen.text[1].hasPrefix("9/110, 2 bad [") && screen.text[1].contains(" 50%"))
            await display.apply(.started(Self.progress(410)))
            await display.log("a line")
            screen.feed(try pair.output())
            #expect(screen.text.first == "a line" && screen.text[1].hasPrefix("第1集 山村 ["))
            await display.close()
        }

        @Test func `a flood of events is drawn ten times a second at most`() async throws {
            let pair = try PseudoTerminal(columns: 80, rows: 24)
            defer { pair.close() }
            let display = LiveDisplay(descriptor: pair.terminal)
            let clock = ContinuousClock()
            let began = clock.now
            var output = ""
            for bytes in 0..<3000 {
                await display.apply(.progressed(Self.progress(Int64(bytes))))
                if bytes % 100 == 0 { output += try pair.output() }
            }
            output += try pair.output()
            await display.close()
            let tenths = (clock.now - began) / .milliseconds(100)
            #expect(Double(output.split(separator: "第1集").count - 1) <= tenths + 1)
        }

        @Test func `what is written to a terminal that is gone is lost, and no more than that`() async throws {
            let pair = try PseudoTerminal(columns: 80, rows: 24)
            let display = LiveDisplay(descriptor: pair.terminal)
            _ = Foundation.close(pair.controller)
            #expect(write(pair.terminal, "a", 1) == -1)
            await display.apply(.started(Self.progress(1)))
            await display.log("nobody reads this")
            await display.close()
            _ = Foundation.close(pair.terminal)
        }
    }
#endif
