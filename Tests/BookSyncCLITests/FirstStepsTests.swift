import Foundation
import Support
import Testing

extension ProductTests {
    /// What somebody meets who begins with booksync: `init`, and the command without a word.
    @Suite struct FirstSteps {
        private static let page =
            #"<html><a href="01%20One.mp3">01 One.mp3</a> <a href="02%20Two.mp3">02 Two.mp3</a></html>"#

        /// A folder with two files.
        private static let script = ServerScript { request in
            if request.path == "/Emma/" { return .text(page, type: "text/html") }
            guard request.path.hasPrefix("/Emma/0") else { return .notFound }
            return ServerScript.file(sampleMP3(bytes: 20_000, seed: UInt64(request.path.count))).answer(request)
        }

        private func mode(of file: URL) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        }

        @Test func `an address makes a configuration that mirror works with`() async throws {
            try await withServer(Self.script) { server in
                try await withWorkbench { bench in
                    let environment = bench.configured
                    let missing = try await bench.run("init", server.url("/none/"), environment: environment)
                    #expect(missing.exitCode == 66, "\(missing.errors)")
                    let word = try await bench.run("init", "Emma", environment: environment)
                    #expect(word.exitCode == 64, "\(word.errors)")
                    #expect(!FileManager.default.fileExists(atPath: bench.configuration.path))

                    let done = try await bench.run("init", server.url("/Emma/"), environment: environment)
                    let found = "found the directory 'Emma': 2 episodes"
                    #expect(done.exitCode == 0 && done.errors.contains(found), "\(done.errors)")
                    #expect(done.errors.contains("| crontab -"))
                    // An address may hold a token.
                    #expect(try mode(of: bench.configuration) == 0o600)
                    #expect(try await bench.runBare(["config", "check"], environment: environment).exitCode == 0)
                    let run = try await bench.runBare(["mirror", "--json"], environment: environment)
                    #expect(try run.summary().number("fetched") == 2, "\(run.errors)")
                    #expect(try bench.files().count == 2)

                    let text = try String(contentsOf: bench.configuration, encoding: .utf8)
                    let again = try await bench.run("init", environment: environment)
                    #expect(again.exitCode == 64 && again.errors.contains("it is there already"), "\(again.errors)")
                    #expect(try String(contentsOf: bench.configuration, encoding: .utf8) == text)
                }
            }
        }

        @Test func `the line for cron runs as it is printed, whatever the file is called`() async throws {
            try await withServer(Self.script) { server in
                try await withWorkbench { bench in
                    let path = bench.folder.appending(path: "my 100% 'books'/c.yaml").path
                    let done = try await bench.run("init", server.url("/Emma/"), "--config", path)
                    let line = try #require(done.errors.firstMatch(of: /crontab -l; (echo '.*')\) \| crontab -/)).output
                        .1
                    let written = try await bench.shell(String(line))
                    // What cron makes of a line: five fields, and a command in which a percent sign stands behind a backslash.
                    let command = written.output.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)[5]
                        .replacing("\\%", with: "%")
                    let night = try await bench.shell(String(command))
                    #expect(night.exitCode == 0, "\(command) \(night.errors)")
                    #expect(try bench.files().count == 2)
                }
            }
        }

        /// A `crontab` that keeps its table in a file, as the first in PATH.
        private static func standInCrontab(_ bench: Workbench) throws -> [String: String] {
            let folder = bench.folder.appending(path: "tools")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let script = """
                #!/bin/sh
                table='\(bench.folder.path)/table'
                [ "$1" = - ] && exec cat >"$table"
                [ -e "$table" ] || { echo "no crontab for me" >&2; exit 1; }
                exec cat "$table"
                """
            let path = folder.appending(path: "crontab").path
            try Data(script.utf8).write(to: URL(filePath: path))
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
            return bench.configured.merging(["PATH": "\(folder.path):/usr/bin:/bin"]) { $1 }
        }

        @Test func `init has cron run the mirror, once, and keeps what else is in the table`() async throws {
            try await withWorkbench { bench in
                let environment = try Self.standInCrontab(bench)
                let table = bench.folder.appending(path: "table")
                let done = try await bench.run("init", "--cron", environment: environment)
                #expect(
                    done.exitCode == 0 && done.output == "cron runs booksync mirror every night\n", "\(done.errors)")
                let first = try String(contentsOf: table, encoding: .utf8)
                #expect(first.hasPrefix("30 3 * * *  exec ") && first.contains(" mirror --quiet "), "\(first)")
                #expect(first.contains(" --config ") && first.split(separator: "\n").count == 1)
                try Data("# mine\n@daily date\n".utf8).write(to: table)
                for _ in 1...2 {
                    // The configuration is there now, and stays as it is.
                    #expect(try await bench.run("init", "--cron", environment: environment).exitCode == 0)
                }
                #expect(try String(contentsOf: table, encoding: .utf8) == "# mine\n@daily date\n" + first)
            }
        }

        @Test func `a table that cannot be read is not overwritten, and a missing crontab is told`() async throws {
            try await withWorkbench { bench in
                let environment = try Self.standInCrontab(bench)
                let tool = bench.folder.appending(path: "tools/crontab")
                let refusing =
                    "#!/bin/sh\n[ \"$1\" = - ] && touch '\(bench.folder.path)/written'\necho no >&2; exit 1\n"
                try Data(refusing.utf8).write(to: tool)
                let refused = try await bench.run("init", "--cron", environment: environment)
                #expect(refused.exitCode == 78 && refused.errors.contains("crontab does not let you"))
                #expect(!FileManager.default.fileExists(atPath: bench.folder.path + "/written"))
                let missing = try await bench.run(
                    "init", "--cron", environment: bench.configured.merging(["PATH": "/nowhere"]) { $1 })
                #expect(missing.exitCode == 78, "\(missing.errors)")
                #expect(missing.errors.contains("there is no crontab command here"), "\(missing.errors)")
            }
        }

        @Test func `init writes the units of a timer, and says how to start them where systemd does not`() async throws
        {
            try await withWorkbench { bench in
                let environment = bench.configured.merging([
                    "XDG_CONFIG_HOME": bench.folder.path + "/.config", "XDG_RUNTIME_DIR": "/nowhere",
                    "DBUS_SESSION_BUS_ADDRESS": "",
                ]) { $1 }
                let done = try await bench.run("init", "--timer", environment: environment)
                #expect(done.exitCode == 78, "\(done.errors)")
                #expect(done.errors.hasSuffix("&& systemctl --user enable --now booksync.timer\n"), "\(done.errors)")
                let units = bench.folder.path + "/.config/systemd/user/booksync."
                let service = try String(contentsOfFile: units + "service", encoding: .utf8)
                #expect(service.contains("/booksync\" \"mirror\" \"--quiet\"") && service.contains("\"--config\""))
                #expect(try String(contentsOfFile: units + "timer", encoding: .utf8).contains("\nOnCalendar="))
            }
        }

        @Test func `a page of a book-resource catalog makes a source, with what it was asked besides`() async throws {
            let catalog = ScriptedCatalog(episodes: 3, bytes: 2000)
            let path = "/bookclient/ClientGetBookResource.action"
            let script = ServerScript { request in
                guard request.path == path else { return catalog.script.answer(request) }
                guard request.query["token"] == "s3cr et", request.query["sc"] == nil else { return .notFound }
                var request = request
                request.target = request.target.replacing(path, with: ScriptedCatalog.listPath)
                return catalog.script.answer(request)
            }
            try await withServer(script) { server in
                try await withWorkbench { bench in
                    let page = server.url("\(path)?bookId=9&pageNum=2&pageSize=7&token=s3cr%20et&sc=abc")
                    let done = try await bench.run("init", page, environment: bench.configured)
                    #expect(done.exitCode == 0 && done.errors.contains("3 episodes"), "\(done.errors)")
                    #expect(!done.errors.contains("s3cr"))
                    let shown = try await bench.runBare(["config", "show"], environment: bench.configured)
                    #expect(shown.exitCode == 0 && !shown.output.contains("s3cr"), "\(shown.output)")
                    let run = try await bench.runBare(["mirror", "--json"], environment: bench.configured)
                    #expect(try run.summary().number("fetched") == 3, "\(run.errors)")
                    let again = try await bench.runBare(["fetch", "9", "--json"], environment: bench.configured)
                    #expect(try again.summary().number("kept") == 3, "\(again.errors)")
                }
            }
        }

        @Test func `what would mean something in YAML is taken as it is`() async throws {
            try await withWorkbench { bench in
                let folder = bench.folder.path + "/a \"b\" ${HOME} # \\n"
                let done = try await bench.runBare(["init", "--library", folder], environment: bench.configured)
                #expect(done.exitCode == 0, "\(done.errors)")
                let shown = try await bench.runBare(["config", "show", "--json"], environment: bench.configured)
                #expect(shown.output.contains(#"a \"b\" ${HOME} # \\n"#), "\(shown.output)")
            }
        }

        #if os(Linux)
            @Test func `on a terminal it asks, and asks again`() async throws {
                try await withServer(Self.script) { server in
                    try await withWorkbench { bench in
                        try await bench.onTerminal(
                            "\"$BOOKSYNC\" init <\"$TERMINAL\" 2>\"$TERMINAL\"", environment: bench.configured
                        ) { run, terminal in
                            try await terminal.waitForScreen { $0.contains { $0.contains("[~/Audiobooks]:") } }
                            terminal.type("books\n")
                            try await terminal.waitForScreen { $0.joined().contains("empty for none):") }
                            terminal.type("\(server.url("/none/"))\n")
                            try await terminal.waitForScreen {
                                $0.joined().ranges(of: "empty for none):").count == 2
                            }
                            terminal.type("\(server.url("/Emma/"))\n")
                            #expect(try await run.result().exitCode == 0)
                        }
                        let text = try String(contentsOf: bench.configuration, encoding: .utf8)
                        #expect(
                            text.contains("/books\"\n") && text.contains("  - book: \"\(server.url("/Emma/"))\""),
                            "\(text)")
                    }
                }
            }

            @Test func `alone on a terminal it says what fits what is there, elsewhere it shows its help`() async throws
            {
                try await withWorkbench { bench in
                    try bench.configure("library: L")
                    func screen(_ options: String = "") async throws -> String {
                        var text = ""
                        let alone = "\"$BOOKSYNC\" \(options) >\"$TERMINAL\""
                        try await bench.onTerminal(columns: 100, alone, environment: bench.configured) {
                            run, terminal in
                            #expect(try await run.result().exitCode == 0)
                            text = try await terminal.waitForScreen { $0.contains { $0.contains("booksync help") } }
                                .joined(separator: "\n")
                        }
                        return text
                    }
                    let empty = try await screen()
                    #expect(empty.hasPrefix("The library is empty.") && empty.contains("booksync init"), "\(empty)")
                    #expect(!bench.exists)
                    #expect(try await bench.run("fetch", "40111/1-2", "-q").exitCode == 0)
                    let begun = try await screen()
                    #expect(begun.hasPrefix("1 book, 2 episodes on disk (619.6 kB), 4 missing."), "\(begun)")
                    #expect(
                        begun.contains("booksync fetch demo:40111") && begun.contains("subscribe demo:40111"),
                        "\(begun)")
                    let other = try await screen("--library M")
                    #expect(other.hasPrefix("The library is empty."), "\(other)")
                    #expect(try await bench.run("subscribe", "demo:40111", "-q").exitCode == 0)
                    let whole = try await screen()
                    #expect(whole.hasPrefix("1 book, 2 episodes on disk (619.6 kB), 4 missing."), "\(whole)")
                    // Of what is subscribed to in part, the subscription says what is wanted.
                    #expect(try await bench.run("subscribe", "demo:40111", "--keep", "last 3", "-q").exitCode == 0)
                    let followed = try await screen()
                    #expect(
                        followed.hasPrefix("1 book, 2 episodes on disk (619.6 kB), nothing missing."), "\(followed)")
                    #expect(followed.contains("booksync mirror") && !followed.contains("booksync fetch"), "\(followed)")
                    let help = try await bench.runBare([], environment: bench.configured)
                    #expect(help.exitCode == 0 && help.output.hasPrefix("OVERVIEW: "))
                }
            }
        #endif
    }
}
