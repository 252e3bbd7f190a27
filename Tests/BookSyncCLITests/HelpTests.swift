import Foundation
import Support
import Testing

@testable import BookSyncCLI

extension ProductTests {
    /// The help is read by people who learn the program from it: a change must be seen in Fixtures/help, and wanted.
    @Suite struct Help {
        private static let commands = [
            "init", "find", "fetch", "catalog", "plan", "mirror", "subscribe", "unsubscribe", "subscriptions", "runs",
            "list",
            "search",
            "show",
            "explain", "queue", "pause", "resume", "cancel", "remove", "trash", "adopt", "import", "verify", "undo",
            "export", "tag", "join", "move",
            "serve",
            "demo",
            "doctor", "config", "config-show", "config-check", "config-path", "trash-list",
            "trash-restore", "trash-empty",
        ]

        @Test(arguments: ["booksync"] + commands)
        func `the help of a command is what is recorded`(_ command: String) async throws {
            let recorded = try String(contentsOf: Corpus.fixture("help/\(command).txt"), encoding: .utf8)
            try await withWorkbench { bench in
                let words = command == "booksync" ? [] : command.split(separator: "-").map(String.init)
                let help = try await bench.runBare(words + ["--help"])
                #expect(help.exitCode == 0)
                #expect(help.errors == "")
                #expect(
                    help.output == recorded,
                    "where the change is wanted: booksync \(words.joined(separator: " ")) --help > Fixtures/help/\(command).txt"
                )
            }
        }

        /// As ``Fixtures/help`` for English; recorded with `LANG=zh_CN.UTF-8 COLUMNS=80`.
        @Test(arguments: ["booksync"] + commands)
        func `in Chinese the help is what is recorded, fits, and has no English sentence`(_ command: String)
            async throws
        {
            let recorded = try String(contentsOf: Corpus.fixture("help/zh/\(command).txt"), encoding: .utf8)
            try await withWorkbench { bench in
                let words = command == "booksync" ? [] : command.split(separator: "-").map(String.init)
                let environment = ["LANG": "zh_CN.UTF-8", "COLUMNS": "80"]
                let help = try await bench.runBare(words + ["--help"], environment: environment)
                #expect(help.exitCode == 0 && help.errors == "")
                #expect(help.output == recorded)
                for line in help.output.split(separator: "\n") where !line.hasPrefix("用法：") {
                    #expect(DisplayWidth.columns(of: String(line)) <= 80, "\(line)")
                    #expect(!line.contains(/[A-Za-z]{2,} [a-z]+ [a-z]+ [a-z]+/), "\(line)")
                }
                let wrong = try await bench.runBare(words + ["--nosuch"], environment: environment)
                #expect(wrong.exitCode == 64 && wrong.errors.hasPrefix("错误："), "\(wrong.errors)")
                #expect(!wrong.errors.contains("Unknown") && !wrong.errors.contains("Usage"), "\(wrong.errors)")
            }
        }

        @Test(arguments: [
            (["fetch", "--config", "book"], "booksync.yaml"), (["catalog", "book"], "booksync.yaml"),
            (["adopt", "--library", "fol"], "folder"), (["adopt", "fol"], "folder"), (["export", "met"], "metadata"),
        ])
        func `bash completes paths and kinds`(_ words: [String], _ expected: String) async throws {
            try await withWorkbench { bench in
                try bench.configure("")
                let folder = bench.folder.appending(path: "folder")
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                let offered = try await bench.completions(of: ["booksync"] + words)
                #expect(offered.contains { $0.hasPrefix(expected) }, "\(offered)")
            }
        }

        @Test(arguments: [
            ["fetch", "30"], ["show", "demo"], ["fetch", "--book", "1"], ["remove", "d"], ["list", "9"],
        ])
        func `bash completes the books of the library and of the subscriptions`(_ words: [String]) async throws {
            try await withWorkbench { bench in
                #expect(try await bench.run("fetch", "40111/1", "-q").exitCode == 0)
                let subscriptions = "subscriptions: [{ book: 30776 }, { book: \"cat:17\" }]"
                try bench.configure(ScriptedCatalog.configuration(port: 1, more: subscriptions))
                let typed = ["booksync", words[0], "--config", "booksync.yaml", "--library", "L"] + words.dropFirst()
                let offered = try await bench.completions(of: typed)
                let all = ["17", "30776", "demo:40111"]
                #expect(offered == all.filter { $0.hasPrefix(words.last ?? "") }, "\(words)")
            }
        }

        @Test func `bash takes a REF with a colon for one word`() async throws {
            try await withWorkbench { bench in
                // What bash breaks words at is not this program's to change.
                let script = try await bench.runBare(["--generate-completion-script", "bash"])
                #expect(!script.output.contains("COMP_WORDBREAKS="))
                try bench.configure(Self.subscriptions)
                let typed = ["booksync", "catalog", "--config", "booksync.yaml", "--library", "L"]
                #expect(try await bench.completions(of: typed + ["cat:a"]) == ["abc"])
                #expect(try await bench.completions(of: typed + ["cat:"]) == ["abc"])
                #expect(try await bench.completions(of: typed + ["book"]) == ["booksync.yaml"])
            }
        }

        @Test func `an address is offered once, and a title once it is begun`() async throws {
            try await withCatalog(ScriptedCatalog(episodes: 1).script) { bench, server in
                let url = "http://127.0.0.1:\(server.port)/a.xml"
                try bench.configure("subscriptions: [{ book: \"\(url)\" }]")
                #expect(try await bench.run("fetch", "40111/1", "-q").exitCode == 0)
                let typed = ["booksync", "show", "--config", "booksync.yaml", "--library", "L"]
                #expect(try await bench.completions(of: typed + ["夜"]) == ["夜航船"])
                #expect(try await bench.completions(of: typed + ["http"]) == ["http:" + url.dropFirst(5)])
                #expect(try await bench.completions(of: typed + ["feed"]) == [])
            }
        }

        @Test(arguments: ["config", "trash"])
        func `the parser's own words are Chinese`(command: String) async throws {
            try await withWorkbench { bench in
                let environment = ["LANG": "zh_CN.UTF-8", "COLUMNS": "80"]
                let help = try await bench.runBare([command, "--help"], environment: environment)
                #expect(help.output.contains("用法：booksync \(command) <子命令>"), "\(help.output)")
                let wrong = try await bench.runBare(["list", "--log-format", "x"], environment: environment)
                #expect(wrong.errors.contains("可取 “text”或“json”"), "\(wrong.errors)")
                let order = try await bench.runBare(["fetch", "--order", "x"], environment: environment)
                #expect(order.errors.contains("可取 “first”、“last”或“listed”"), "\(order.errors)")
            }
        }

        @Test(arguments: [("zsh", "cat\\:abc"), ("fish", "cat:abc")])
        func `a shell is offered a REF with a colon as it takes it`(_ shell: String, _ offered: String) async throws {
            try await withWorkbench { bench in
                try bench.configure(Self.subscriptions)
                let line = ["booksync", "show", "cat:a"]
                let result = try await bench.runBare(
                    ["---completion", "show", "--", "positional@0", "2", "5"] + line,
                    environment: bench.configured.merging(["SAP_SHELL": shell]) { $1 })
                #expect(result.outputLines.first == offered, "\(result)")
            }
        }

        private static let subscriptions = """
            sources:
              cat: { type: feed, url: "http://127.0.0.1:1/a.xml", allow-private-addresses: true }
              other: { type: feed, url: "http://127.0.0.1:1/b.xml", allow-private-addresses: true }
            default-source: other
            subscriptions: [{ book: "cat:abc" }, { book: "17" }]
            """

        @Test func `every command that is listed has its help recorded, and no other`() async throws {
            try await withWorkbench { bench in
                let help = try await bench.runBare(["--help"])
                let listed = try #require(help.output.split(separator: "SUBCOMMANDS:").last).split(separator: "\n")
                    .filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") && !$0.hasPrefix("  See") }
                    .compactMap { $0.split(separator: " ").first.map(String.init) }
                #expect(listed == Self.commands.filter { !$0.contains("-") })
                for folder in ["help", "help/zh"].map({ Corpus.fixture($0).path }) {
                    let recorded = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0 != "zh" }
                    #expect(recorded.sorted() == (["booksync"] + Self.commands).map { $0 + ".txt" }.sorted())
                }
            }
        }
    }
}

extension Workbench {
    /// What bash offers for the last of the words.
    fileprivate func completions(of words: [String]) async throws -> [String] {
        let line = words.joined(separator: " ")
        let parts = line.replacing(":", with: " : ").split(separator: " ").map(String.init)
        let result = try await shell(
            """
            bash --norc -c '
            booksync() { "$BOOKSYNC" "$@"; }
            source <("$BOOKSYNC" --generate-completion-script bash)
            COMP_LINE="\(line)"; COMP_POINT=${#COMP_LINE}
            COMP_WORDS=(\(parts.joined(separator: " "))); COMP_CWORD=\(parts.count - 1)
            _booksync_with_colons booksync \(parts.suffix(2).reversed().joined(separator: " "))
            printf "%s\\n" "${COMPREPLY[@]}"'
            """)
        #expect(result.errors == "")
        return result.outputLines.filter { !$0.isEmpty }
    }
}
