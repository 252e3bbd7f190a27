import Foundation
import Support
import Testing

@testable import BookSyncCLI

extension ProductTests {
    /// What lies in `config` for those who install booksync and have it run every night.
    @Suite struct Installation {
        private static func config(_ name: String) -> URL { Corpus.repository.appending(path: "config/\(name)") }

        private static func text(_ name: String) throws -> String {
            try String(contentsOf: config(name), encoding: .utf8)
        }

        /// Runs a tool of the system to its end.
        private static func run(
            _ tool: URL, _ arguments: [String], environment: [String: String] = [:], in folder: URL
        ) async throws -> ProductRunner.Result {
            try await withProduct(arguments, environment: environment, in: folder, executable: tool) {
                try await $0.result()
            }
        }

        /// Installs a program: booksync, where no other one is given.
        private static func install(
            _ bench: Workbench, _ arguments: [String], program: URL? = ProductRunner.executable, home: String? = nil
        ) async throws -> ProductRunner.Result {
            // A prefix below the home folder has the units of a user.
            let environment = ["HOME": home ?? bench.folder.path + "/home"]
            return try await run(
                config("install"), ["--binary", try #require(program).path] + arguments, environment: environment,
                in: bench.folder)
        }

        /// A program of few words: the pages and completions of booksync are made by a hundred calls of it.
        private static func otherProgram(in bench: Workbench) throws -> URL {
            let script = bench.folder.appending(path: "other")
            let text = """
                #!/bin/sh
                case $1 in --version) echo 0.1;; *) printf 'OVERVIEW: x\n\nUSAGE: x\n\nOPTIONS:\n  -h  Help.\n';; esac

                """
            try Data(text.utf8).write(to: script)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script.path)
            return script
        }

        @Test(.needs("shellcheck"))
        func `shellcheck finds nothing in the scripts`() async throws {
            let scripts = ["setup", "install", "manual"].map { Self.config($0).path }
            let result = try await Self.run(
                try #require(ForeignProgram.path("shellcheck")), scripts, in: Corpus.repository)
            #expect(result.exitCode == 0, "\(result.output)")
        }

        @Test func `all is installed below the prefix, also over what was installed there`() async throws {
            try await withWorkbench { bench in
                let prefix = bench.folder.appending(path: "prefix").path
                let other = try Self.otherProgram(in: bench)
                for _ in 1...2 {
                    let result = try await Self.install(bench, [prefix], program: other)
                    #expect(result.exitCode == 0, "\(result.errors)")
                }
                let files = try bench.files(in: URL(filePath: prefix))
                #expect(
                    Set(files.keys) == [
                        "bin/booksync", "lib/systemd/system/booksync-serve.service",
                        "lib/systemd/system/booksync.service", "lib/systemd/system/booksync.timer",
                        "share/bash-completion/completions/booksync", "share/doc/booksync/booksync.cron",
                        "share/doc/booksync/booksync.yaml", "share/fish/vendor_completions.d/booksync.fish",
                        "share/man/man1/booksync.1", "share/man/zh_CN/man1/booksync.1",
                        "share/zsh/site-functions/_booksync",
                    ])
                let cron = try String(contentsOfFile: prefix + "/share/doc/booksync/booksync.cron", encoding: .utf8)
                #expect(cron.contains("exec \(prefix)/bin/booksync mirror ") && !cron.contains("/usr/local/"))
                let service = try String(
                    contentsOfFile: prefix + "/lib/systemd/system/booksync.service", encoding: .utf8)
                #expect(service.contains("ExecStart=\(prefix)/bin/booksync mirror "))
                // A catalog or a server without end holds the library for no longer.
                #expect(service.contains(" --time-limit 8h\n"))
            }
        }

        @Test(.needs("systemd-analyze"))
        func `below a home folder the units are the user's own, and a folder that is not in PATH is told`()
            async throws
        {
            try await withWorkbench { bench in
                let prefix = bench.folder.appending(path: ".local").path
                let result = try await Self.install(
                    bench, [prefix], program: Self.otherProgram(in: bench), home: bench.folder.path)
                #expect(result.exitCode == 0, "\(result.errors)")
                #expect(result.output.contains("\(prefix)/bin is not in your PATH"), "\(result.output)")
                let units = prefix + "/share/systemd/user"
                let service = try String(contentsOfFile: units + "/booksync.service", encoding: .utf8)
                #expect(service.contains("ExecStart=\(prefix)/bin/booksync mirror "))
                for key in ["User=", "Environment=", "ProtectHome=", "/etc/"] { #expect(!service.contains(key)) }
                #expect(service.contains("\nEnvironmentFile=-%h/.config/booksync/secrets.env\n"))
                let shelf = try String(contentsOfFile: units + "/booksync-serve.service", encoding: .utf8)
                #expect(shelf.contains("WantedBy=default.target") && !shelf.contains("ProtectHome="))
                #expect(!FileManager.default.fileExists(atPath: prefix + "/lib"))
                let verified = try await Self.run(
                    try #require(ForeignProgram.path("systemd-analyze")),
                    ["verify", "--user"] + ["booksync.service", "booksync.timer"].map { "\(units)/\($0)" },
                    environment: ["MANPATH": prefix + "/share/man", "XDG_RUNTIME_DIR": bench.folder.path],
                    in: bench.folder)
                #expect(verified.exitCode == 0 && verified.errors == "", "\(verified.errors)")
            }
        }

        @Test func `with the root as home folder the units are the system's, and a script may be installed`()
            async throws
        {
            try await withWorkbench { bench in
                let script = try Self.otherProgram(in: bench)
                let prefix = bench.folder.appending(path: "prefix").path
                let result = try await Self.install(bench, [prefix], program: script, home: "/")
                #expect(result.exitCode == 0 && result.errors == "", "\(result.errors)")
                let service = try String(
                    contentsOfFile: prefix + "/lib/systemd/system/booksync.service", encoding: .utf8)
                #expect(service.contains("User=booksync"))
                #expect(!FileManager.default.fileExists(atPath: prefix + "/share/systemd"))
                let installed = try Data(contentsOf: URL(filePath: prefix + "/bin/booksync"))
                #expect(try installed == Data(contentsOf: script))
            }
        }

        @Test(arguments: [
            ["--binary"], ["--nonsense"], [""], ["/a", "/b"], ["/with a space"], ["/x%h"], ["/x&y"], ["/x|y"],
        ])
        func `what cannot be installed is refused before anything is`(arguments: [String]) async throws {
            try await withWorkbench { bench in
                let result = try await Self.install(bench, arguments)
                #expect(result.exitCode == 1)
                #expect(result.errors.hasPrefix("config/install: "), "\(result.errors)")
                #expect(try bench.files(in: bench.folder).isEmpty)
            }
        }

        // MARK: The manual page

        private static let manuals = ["/share/man/man1/booksync.1", "/share/man/zh_CN/man1/booksync.1"]

        /// In one test, for an installation takes its time.
        @Test(.needs("systemd-analyze", "mandoc", "groff"), .firstInLine)
        func
            `the manual pages name all that there is, and systemd, mandoc and groff find nothing in what is installed`()
            async throws
        {
            try await withWorkbench { bench in
                let prefix = bench.folder.appending(path: "prefix").path
                let result = try await Self.install(bench, [prefix])
                try #require(result.exitCode == 0, "\(result.errors)")
                let version = try await Self.run(
                    URL(filePath: prefix + "/bin/booksync"), ["--version"], in: bench.folder)
                #expect(version.output == BookSyncCommand.version + "\n")
                let product = try #require(ProductRunner.executable)
                let sizes = try [prefix + "/bin/booksync", product.path].map {
                    try FileManager.default.attributesOfItem(atPath: $0)[.size] as? Int ?? 0
                }
                #expect(sizes[0] < sizes[1], "it is installed without symbols")
                let pages = Self.manuals.map { prefix + $0 }
                for page in pages { try await Self.checkManual(page, in: bench) }
                let texts = try pages.map { try String(contentsOfFile: $0, encoding: .utf8) }
                let tags = texts.map { page in page.split(separator: "\n").filter { $0.hasPrefix(".B") } }
                #expect(tags[0] == tags[1], "one has what the other lacks")
                let headings = texts[1].split(separator: "\n").filter { $0.hasPrefix(".SH ") }
                #expect(headings.count == 10 && headings.allSatisfy { !$0.allSatisfy(\.isASCII) }, "\(headings)")
                let units = ["booksync.service", "booksync.timer", "booksync-serve.service"]
                    .map { "\(prefix)/lib/systemd/system/\($0)" }
                let readers =
                    [("systemd-analyze", ["verify"] + units)]
                    + pages.map { ("mandoc", ["-T", "lint", "-W", "warning", $0]) }
                    + pages.map { ("groff", ["-man", "-ww", "-z", "-T", "utf8", "-K", "utf8", $0]) }
                for (reader, arguments) in readers {
                    let result = try await ForeignProgram.run(
                        reader, arguments, environment: ["MANPATH": prefix + "/share/man"], in: bench)
                    #expect(
                        result.exitCode == 0 && result.output + result.errors == "",
                        "\(reader): \(result.output)\(result.errors)")
                }
            }
        }

        private static func checkManual(_ path: String, in bench: Workbench) async throws {
            let page = try String(contentsOfFile: path, encoding: .utf8).replacing("\\-", with: "-")
            let dumped = try await bench.runBare(["--experimental-dump-help"])
            let root = try #require(try JSONObject(dumped.output).object("command"))
            var names: [String] = []
            func collect(_ command: JSONObject, _ path: [String]) {
                let below = command.objects("subcommands").filter { $0["commandName"] != "help" }
                if below.isEmpty, !path.isEmpty { names.append(".SS \(path.joined(separator: " ")) [options]") }
                for argument in command.objects("arguments") where argument["kind"] != "positional" {
                    names += argument.objects("names").map {
                        ($0["kind"] == "short" ? "-" : "--") + ($0["name"] ?? "?")
                    }
                }
                for inner in below { collect(inner, path + [inner["commandName"] ?? "?"]) }
            }
            collect(root, [])
            #expect(names.contains(".SS fetch [options]") && names.contains("--max-episodes") && names.contains("-q"))
            for name in Set(names) { #expect(page.contains(name), "\(name) is not in the manual page") }
            let entries = page.split(separator: "\n")
            #expect(entries.count { $0.hasPrefix("\\fB--log-f") } == 2, "what all commands take is told once")
            let tags = page.split(separator: "\n").filter { $0.hasPrefix(".B") }
            for status in BookSyncCLI.ExitStatus.allCases {
                let code = "\(status.rawValue)"
                #expect(tags.contains { $0.split { !$0.isNumber }.contains(code[...]) }, "\(code) is not told")
            }
        }

        // MARK: Exit codes, cron

        @Test(arguments: ["booksync.service", "booksync-serve.service"])
        func `a unit does with every exit code what the table says`(unit: String) throws {
            let service = try Self.text(unit)
            func codes(_ key: String) throws -> Set<Int32> {
                let line = try #require(service.split(separator: "\n").first { $0.hasPrefix(key + "=") })
                return Set(line.dropFirst(key.count + 1).split(separator: " ").compactMap { Int32($0) })
            }
            let succeeded: Set<BookSyncCLI.ExitStatus> = [.hangUp, .interrupted, .terminated]
            // What a limit leaves is for the next night: restarted, the mirror would run for a day, and past its ration.
            let triedAgain: Set<BookSyncCLI.ExitStatus> =
                unit == "booksync.service" ? [.catalogUnavailable] : [.catalogUnavailable, .temporary]
            #expect(try codes("SuccessExitStatus") == Set(succeeded.map(\.rawValue)))
            let needPerson = Set(BookSyncCLI.ExitStatus.allCases).subtracting(succeeded).subtracting(triedAgain)
                .subtracting([.done]
                )
            #expect(try codes("RestartPreventExitStatus") == Set(needPerson.map(\.rawValue)))
            #expect(service.contains("\nRestart=on-failure\n"))
        }

        @Test func `the cron line is one, and what it runs is silent when all went well`() async throws {
            let lines = try Self.text("booksync.cron").split(separator: "\n").filter { !$0.hasPrefix("#") }
            let fields = try #require(lines.first).split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
            #expect(lines.count == 1 && fields.count == 6)
            #expect(fields.prefix(5).joined(separator: " ") == "30 3 * * *")
            let command = try #require(fields.last).trimmingCharacters(in: .whitespaces)
            #expect(!command.contains("%"), "which means a line end to cron")
            try await withWorkbench { bench in
                #expect(try await bench.run("subscribe", "demo:40111/latest:1", "-q").exitCode == 0)
                let script =
                    "export BOOKSYNC_LIBRARY=L; " + command.replacing("/usr/local/bin/booksync", with: "$BOOKSYNC")
                let result = try await bench.shell(script)
                #expect(result.exitCode == 0 && result.output + result.errors == "", "\(result.output)\(result.errors)")
                #expect(try bench.files().count == 1)
            }
        }

        // MARK: Completions

        @Test(.needs("bash"))
        func `bash completes commands and options`() async throws {
            try await Self.checkCompletion("bash", ForeignProgram.path("bash")) { script, words in
                let last = words.count - 1
                return [
                    "--norc", "-c",
                    """
                    source "$0"; spec=$(complete -p booksync); name=${spec#*-F }; name=${name%% *}
                    COMP_WORDS=("$@"); COMP_CWORD=\(last); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
                    "$name" booksync "${COMP_WORDS[\(last)]}" "${COMP_WORDS[\(last - 1)]}"
                    printf '%s\\n' "${COMPREPLY[@]}"
                    """, script,
                ] + words
            }
        }

        @Test(.needs("fish"))
        func `fish completes commands and options`() async throws {
            try await Self.checkCompletion("fish", ForeignProgram.path("fish")) { script, words in
                ["--no-config", "-c", "source \(script); complete -C '\(words.joined(separator: " "))'"]
            }
        }

        /// In a terminal of its own, at the press of the key.
        @Test(.needs("zsh", "timeout"))
        func `zsh completes commands and options`() async throws {
            try await Self.checkCompletion("zsh", ForeignProgram.path("timeout")) { script, words in
                [
                    "60", "zsh", "-f", "-c",
                    """
                    zmodload zsh/zpty; zpty s zsh -f -i
                    zpty -w s "PS1='> '; fpath=(${1:h} \\$fpath); autoload -Uz compinit; compinit -u -d ${1:h}/dump; print rea''dy"
                    zpty -r s text '*ready*'
                    zpty -w -n s "$2"$'\\t'
                    zpty -r s text "*$3*"; print -r -- "$text"
                    """, "zsh", script, words.joined(separator: " "),
                    words.last == "fe" ? "fetch" : "dry-run",
                ]
            }
        }

        /// - Parameter arguments: of the shell, for the script's path and the words of a line that is being typed.
        private static func checkCompletion(
            _ shell: String, _ tool: URL?, arguments: (String, [String]) -> [String]
        ) async throws {
            try await withWorkbench { bench in
                let script = bench.folder.appending(path: "_booksync")
                let made = try await bench.runBare(["--generate-completion-script", shell])
                try Data(made.output.utf8).write(to: script)
                for (words, expected) in [
                    (["booksync", "fe"], "fetch"), (["booksync", "mirror", "--dry"], "--dry-run"),
                ] {
                    let result = try await run(try #require(tool), arguments(script.path, words), in: bench.folder)
                    #expect(result.output.contains(expected), "\(shell): \(result.output)\(result.errors)")
                    #expect(!result.output.contains("subscribe"), "\(shell): \(result.output)")
                }
            }
        }
    }
}
