import BookSync
import Testing

@testable import BookModel
@testable import BookSyncCLI

@Suite struct ProgressLinesTests {
    private static let state = {
        var state = ProgressState(
            transfers: [
                .init(
                    name: "0012 山村里的兽医", bytes: .init(bytesDone: 1_200_000, total: 2_900_000, bytesPerSecond: 512_000)),
                .init(
                    name: "0013 A rather long English name of an episode 👨‍👩‍👧‍👦",
                    bytes: .init(bytesDone: 640, total: nil)),
                .init(name: "0014 终", bytes: .init(bytesDone: 5_531_722, total: 5_531_722, bytesPerSecond: 0)),
            ],
            run: RunProgress(
                episodesDone: 9, episodesFailed: 1, episodesInAll: 110,
                bytes: .init(bytesDone: 118_900_000, total: 999_900_000, bytesPerSecond: 104_857)))
        state.failures = "1 failed"
        return state
    }()

    private func screen(_ width: Int, rows: Int = 10) -> String {
        Self.state.lines(width: width, rows: rows).map(\.text).joined(separator: "\n")
    }

    @Test func `at 80 columns there is a bar, and everything`() {
        #expect(
            screen(80) == """
                0012 山村里的兽医         [===>      ]  41%     1.2 MB/2.9 MB 512.0 kB/s    0:04
                0013 A rather long Engli… [          ]                  640 B
                0014 终                   [==========] 100%     5.5 MB/5.5 MB      0 B/s
                9/110, 1 failed           [>         ]  11% 118.9 MB/999.9 MB 104.9 kB/s 2:20:02
                """)
    }

    @Test func `at 40 columns the bar and the bytes make room for the name`() {
        #expect(
            screen(40) == """
                0012 山村里的兽…  41% 512.0 kB/s    0:04
                0013 A rather l…
                0014 终          100%      0 B/s
                9/110, 1 failed   11% 104.9 kB/s 2:20:02
                """)
    }

    @Test func `at 200 columns names are whole and bars fine`() {
        #expect(
            screen(200) == """
                0012 山村里的兽医                                [===============>                        ]  41%     1.2 MB/2.9 MB 512.0 kB/s    0:04
                0013 A rather long English name of an episode 👨‍👩‍👧‍👦 [                                        ]                  640 B
                0014 终                                          [========================================] 100%     5.5 MB/5.5 MB      0 B/s
                9/110, 1 failed                                  [===>                                    ]  11% 118.9 MB/999.9 MB 104.9 kB/s 2:20:02
                """)
    }

    @Test func `transfers that find no room are counted`() {
        #expect(
            screen(40, rows: 3) == """
                0012 山村里的兽…  41% 512.0 kB/s    0:04
                … and 2 more
                9/110, 1 failed   11% 104.9 kB/s 2:20:02
                """)
        #expect(screen(40, rows: 2) == "… and 3 more\n9/110, 1 failed  11% 104.9 kB/s 2:20:02")
        #expect(screen(40, rows: 1) == "9/110, 1 failed  11% 104.9 kB/s 2:20:02")
        #expect(screen(40, rows: 0) == "")
    }

    @Test func `the line of the run tells what it went on with`() {
        var state = Self.state
        state.bytesResumed = 12_300_000
        #expect(state.lines(width: 120, rows: 10).last?.text.hasPrefix("9/110, 1 failed, 12.3 MB resumed ") == true)
    }

    @Test(arguments: [80, 40, 20])
    func `what waits is broken between words, so that its time is seen`(width: Int) {
        var state = Self.state
        let wait = "0015 A name: it answers with HTTP status 503, 3 waiting; next try in 28 s"
        state.waits = [Message(verbatim: wait)]
        let lines = state.lines(width: width, rows: 20).map(\.text)
        #expect(lines.dropFirst(3).dropLast().joined(separator: " ") == wait)
        #expect(lines.allSatisfy { DisplayWidth.columns(of: $0) <= width })
        state.transfers = []
        state.run.episodesInAll = 0
        #expect(state.lines(width: 80, rows: 20).map(\.text) == [wait], "there is nothing to count yet")
    }

    @Test func `no line is wider than asked and no screen higher`() {
        var state = Self.state
        state.transfers.append(
            .init(
                name: String(repeating: "回", count: 300),
                bytes: .init(bytesDone: .max, total: .max, bytesPerSecond: 1e18)))
        state.transfers.append(
            .init(name: "\u{1B}[2J\n\n", bytes: .init(bytesDone: 1, total: .max, bytesPerSecond: 0.001)))
        state.transfers.append(.init(name: "", bytes: .init(bytesDone: 9, total: 3, bytesPerSecond: 1)))
        for width in 1...220 {
            for rows in 1...9 {
                let lines = state.lines(width: width, rows: rows).map(\.text)
                #expect(lines.count == min(rows, 7))
                #expect(lines.allSatisfy { DisplayWidth.columns(of: $0) <= width }, "\(width)")
                #expect(!lines.joined().contains { $0 == "\u{1B}" || $0.isNewline })
            }
        }
    }
}
