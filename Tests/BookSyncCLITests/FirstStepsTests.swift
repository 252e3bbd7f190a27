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
                    let night = try await Self.runAsCron(written.output, bench)
                    #expect(night.exitCode == 0, "\(written.output) \(night.errors)")
                    #expect(try bench.files().count == 2)
                }
            }
        }

        /// Runs what cron makes of a line: five fields, and a command in which a percent sign is behind a backslash. Nothing of
        /// the user's environment is there, and the home folder is another one.
        private static func runAsCron(_ line: String, _ bench: Workbench) async throws -> ProductRunner.Result {
            let command = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)[5]
            let script = bench.folder.appending(path: "night")
            try Data(command.replacing("\\%", with: "%").utf8).write(to: script)
            return try await bench.shell("exec env -i HOME=\"$PWD/home\" PATH=/usr/bin:/bin sh '\(script.path)'")
        }

        @Test func `the line that init puts into the crontab works without the user's environment`() async throws {
            try await withServer(Self.script) { server in
                try await withWorkbench { bench in
                    var environment = try Self.standInCrontab(bench)
                    environment["BOOKSYNC_CONFIG"] = nil
                    environment["XDG_CONFIG_HOME"] = bench.folder.path + "/settings"
                    let done = try await bench.run("init", server.url("/Emma/"), "--cron", environment: environment)
                    #expect(done.exitCode == 0, "\(done.errors)")
                    let path = bench.folder.path + "/settings/booksync/"
                    let table = bench.folder.appending(path: "table")
                    let line = try String(contentsOf: table, encoding: .utf8)
                    let night = try await Self.runAsCron(line, bench)
                    #expect(night.exitCode == 0 && night.errors == "", "\(line) \(night.errors)")
                    #expect(try bench.files().count == 2)
                    // What the configuration takes from the environment is in a file beside it.
                    let text = try String(contentsOfFile: path + "config.yaml", encoding: .utf8)
                    try Data(text.replacing("/Emma/\"", with: "/${NAME}/\"").utf8)
                        .write(to: URL(filePath: path + "config.yaml"))
                    #expect(try await Self.runAsCron(line, bench).exitCode == 78)
                    try Data("NAME=Emma\n".utf8).write(to: URL(filePath: path + "secrets.env"))
                    let second = try await Self.runAsCron(line, bench)
                    #expect(second.exitCode == 0, "\(second.errors)")

                    // Another configuration has a line of its own; what is named besides a configuration that is there is not
                    // dropped without a word.
                    let other = ["init", "--cron", "--config", bench.folder.path + "/other.yaml"]
                    for _ in 1...2 {
                        #expect(try await bench.runBare(other, environment: environment).exitCode == 0)
                    }
                    let lines = try String(contentsOf: table, encoding: .utf8).split(separator: "\n")
                    #expect(lines.count == 2 && lines[1].hasSuffix("/other.yaml"), "\(lines)")
                    for more in [[server.url("/Emma/")], ["--library", "M"]] {
                        let refused = try await bench.runBare(other + more, environment: environment)
                        #expect(refused.exitCode == 64 && refused.errors.contains("it is there already"))
                    }
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
                echo "a warning of the system" >&2
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
                let again = ["init", "--cron"]
                #expect(
                    done.exitCode == 0 && done.output == "cron runs booksync mirror every night\n", "\(done.errors)")
                let first = try String(contentsOf: table, encoding: .utf8)
                #expect(first.hasPrefix("30 3 * * *  set -a; ") && first.contains(" mirror --quiet "), "\(first)")
                #expect(first.contains(" --config ") && first.split(separator: "\n").count == 1)
                try Data("# mine\n@daily date\n".utf8).write(to: table)
                for _ in 1...2 {
                    // The configuration is there now, and stays as it is.
                    #expect(try await bench.runBare(again, environment: environment).exitCode == 0)
                }
                #expect(try String(contentsOf: table, encoding: .utf8) == "# mine\n@daily date\n" + first)
                // A line of which the user changed the hour and the limit stays the only one.
                let mine = first.replacing("30 3 ", with: "5 1 ").replacing("--time-limit 8h ", with: "")
                try Data(mine.utf8).write(to: table)
                #expect(try await bench.runBare(again, environment: environment).exitCode == 0)
                #expect(try String(contentsOf: table, encoding: .utf8) == mine)
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
                #expect(refused.exitCode == 78 && refused.errors.contains("your crontab cannot be read"))
                #expect(!FileManager.default.fileExists(atPath: bench.folder.path + "/written"))
                // The configuration was written.
                let missing = try await bench.runBare(
                    ["init", "--cron"], environment: bench.configured.merging(["PATH": "/nowhere"]) { $1 })
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
                // What the user changed stays.
                let mine = service + "Nice=19\n"
                try Data(mine.utf8).write(to: URL(filePath: units + "service"))
                let again = try await bench.runBare(["init", "--timer"], environment: environment)
                #expect(again.exitCode == 78 && again.errors.contains("no systemd user session"), "\(again.errors)")
                #expect(try String(contentsOfFile: units + "service", encoding: .utf8) == mine)
                let other = try await bench.runBare(
                    ["init", "--timer", "--config", bench.folder.path + "/other.yaml"], environment: environment)
                #expect(other.errors.contains("service is there already and runs something else"), "\(other.errors)")
                #expect(try String(contentsOfFile: units + "service", encoding: .utf8) == mine)
            }
        }

        @Test func `installed units are started, and not hidden behind others`() async throws {
            try await withWorkbench { bench in
                let product = try #require(ProductRunner.executable)
                let environment = [
                    "PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": "/nowhere", "DBUS_SESSION_BUS_ADDRESS": "",
                    // A value that is to be ignored.
                    "XDG_CONFIG_HOME": "",
                ]
                let installed = bench.folder.appending(path: ".local/share/systemd/user")
                try FileManager.default.createDirectory(at: installed, withIntermediateDirectories: true)
                try Data("[Service]\nExecStart=\(product.path) mirror --wait 10min\n".utf8)
                    .write(to: installed.appending(path: "booksync.service"))
                let done = try await bench.run("init", "--timer", environment: environment)
                #expect(done.exitCode == 78, "\(done.errors)")
                #expect(done.output == "the units of the nightly run are in \(installed.path)\n", "\(done.errors)")
                #expect(try bench.files(in: bench.folder.appending(path: ".config")).count == 1)
                try FileManager.default.removeItem(at: installed)
                let own = try await bench.runBare(["init", "--timer"], environment: environment)
                let folder = bench.folder.path + "/.config/systemd/user"
                #expect(own.output == "the units of the nightly run are in \(folder)\n", "\(own.errors)")
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
