#if os(Linux)
    import Foundation
    import Support
    import Testing

    @testable import BookSyncCLI

    extension ProductTests {
        /// A first evening with booksync, as it stands on the screen of a terminal: in both languages, wide and narrow.
        ///
        /// With `BOOKSYNC_UPDATE_SCREENS=1` the screens in Fixtures/screens are recorded anew.
        @Suite struct Screens {
            private static let evening = [
                "", "fetch 40111/1-3 --jobs 1", "list", "list 夜航船", "plan 40111", "catalog 40111",
                "plan 40111 --offline --naming '{title}/{section}.{ext}'", "explain 夜航船/2", "pause 夜航船/5",
                "queue",
                "remove 夜航船/1", "trash list", "undo", "subscribe 夜航船 --keep 'last 4'", "subscriptions",
                "mirror --dry-run",
                "runs", "search 航", "verify", "show 山", "fetch 夜航船/99", "ftech", "list --sort colour",
            ]

            private static let locales = ["en": "en_GB.UTF-8", "zh": "zh_CN.UTF-8", "c": "C"]

            @Test(arguments: ["en", "zh", "c"], [80, 40])
            func `a first evening looks as it is recorded`(language: String, columns: Int) async throws {
                let screens = try await Self.screens(locale: Self.locales[language] ?? "", columns: columns)
                let fixture = Corpus.fixture("screens/\(language)-\(columns).txt")
                if ProcessInfo.processInfo.environment["BOOKSYNC_UPDATE_SCREENS"] == "1" {
                    try Data(screens.utf8).write(to: fixture)
                }
                let recorded = try String(contentsOf: fixture, encoding: .utf8)
                for (shown, line) in zip(screens.split(separator: "\n"), recorded.split(separator: "\n")) {
                    #expect(shown == line)
                }
                #expect(screens == recorded)
                for line in screens.split(separator: "\n") where !line.hasPrefix("$ ") {
                    if language == "zh" { #expect(!line.contains(/[A-Za-z]{2,} [a-z]+ [a-z]+ [a-z]+/), "\(line)") }
                    if language == "c" { #expect(line.utf8.count == line.count, "\(line)") }
                }
            }

            @Test(arguments: [80, 40])
            func `in a Chinese encoding it is told in English, with the names in that encoding`(columns: Int)
                async throws
            {
                let screens = try await Self.screens(locale: "zh_CN.GB18030", columns: columns)
                let recorded = try String(contentsOf: Corpus.fixture("screens/en-\(columns).txt"), encoding: .utf8)
                #expect(screens == recorded)
            }

            private static func screens(locale: String, columns: Int) async throws -> String {
                var screens = ""
                try await withWorkbench { bench in
                    try bench.configure("library: L")
                    let environment = bench.configured.merging([
                        "LANG": locale, "COLUMNS": "\(columns)",
                        "NO_COLOR": "1",
                    ]) { $1 }
                    for words in evening {
                        let line = "\"$BOOKSYNC\" \(words) >\"$TERMINAL\" 2>\"$TERMINAL\"; echo \"= $?\" >\"$TERMINAL\""
                        try await bench.onTerminal(columns: columns, line, environment: environment) { run, terminal in
                            _ = try await run.result()
                            try await terminal.waitForScreen { $0.last?.hasPrefix("= ") == true }
                            var screen = VirtualTerminal(width: columns)
                            screen.feed(steady(try await text(terminal.bytes, locale, bench)))
                            #expect(screen.oddities == [])
                            screens += "$ booksync \(words)\n" + screen.text.joined(separator: "\n") + "\n\n"
                        }
                    }
                }
                return screens
            }

            /// What the bytes say on a terminal of that locale, by the judgement of iconv.
            private static func text(_ bytes: [UInt8], _ locale: String, _ bench: Workbench) async throws -> String {
                guard locale.hasSuffix("GB18030") else { return try #require(String(bytes: bytes, encoding: .utf8)) }
                try Data(bytes).write(to: bench.folder.appending(path: "written"))
                let result = try await bench.shell("iconv -f GB18030 -t UTF-8 written")
                #expect(result.exitCode == 0 && result.errors == "")
                return result.output
            }

            /// Without what differs from one evening to the next, at the same width.
            private static func steady(_ text: String) -> String {
                text.replacing(/\d{4}-\d\d-\d\d(\s+)\d\d:\d\d/, with: { "2026-11-25\($0.output.1)20:00" })
                    .replacing(/127\.0\.0\.1:\d{5}/, with: "127.0.0.1:12345")
                    .replacing(/(in |用时 |fetch +)\d+(\s+s)/, with: { "\($0.output.1)0\($0.output.2)" })
                    .replacing(/\d+ s ago|\d+ s前/, with: "0 s ago")
            }
        }
    }
#endif
