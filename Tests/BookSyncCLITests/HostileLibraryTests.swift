import Foundation
import LibraryFiles
import Support
import Testing

extension ProductTests {
    /// A library in which somebody else has been: what its store says, and what stands in `.booksync`.
    @Suite struct HostileLibrary {
        private static func inStore(_ statements: String, of bench: Workbench) async throws {
            let result = try await ForeignProgram.run(
                "sqlite3", [bench.library.path + "/.booksync/store.sqlite", statements], in: bench)
            try #require(result.exitCode == 0, "\(result.errors)")
        }

        /// Fetches two episodes, and lays a file beside the library that is none of its business.
        private func withVictim(_ body: (Workbench, URL) async throws -> Void) async throws {
            try await withWorkbench { bench in
                _ = try await bench.run("fetch", "40111/1-2", "-q")
                let victim = bench.folder.appending(path: "outside.mp3")
                try Data("none of its business".utf8).write(to: victim)
                try await body(bench, victim)
                #expect(try Data(contentsOf: victim) == Data("none of its business".utf8))
                #expect(
                    try FileManager.default.contentsOfDirectory(atPath: bench.folder.path).count(where: {
                        $0.hasPrefix("outside")
                    }) == 1)
            }
        }

        @Test(
            .needs("sqlite3"),
            arguments: ["../outside.mp3", "a/../../outside.mp3", ".booksync/lock", "a//b"])
        func `a path that leads out of the library is not followed, and said`(path: String) async throws {
            try await withVictim { bench, _ in
                try await Self.inStore("UPDATE local_file SET path = '\(path)' WHERE episode_id = 1", of: bench)
                for command in [
                    ["remove", "40111/1"], ["verify", "--repair"], ["export", "opf"], ["list", "40111"],
                    ["fetch", "40111"],
                ] {
                    let result = try await bench.runBare(command + ["--library", bench.library.path])
                    #expect(result.exitCode == 78, "\(command): \(result.output)\(result.errors)")
                    #expect(result.errors.contains("it names '\(path)'"), "\(command): \(result.errors)")
                }
            }
        }

        @Test(
            .needs("sqlite3"), arguments: ["path", "to_path"],
            ["../../../../outside.mp3", ".booksync/trash/../../../outside.mp3", ".booksync/store.sqlite"])
        func `nor one in the records of the trash`(column: String, path: String) async throws {
            try await withVictim { bench, _ in
                #expect(try await bench.run("remove", "40111/1").exitCode == 0)
                try await Self.inStore("UPDATE operation SET \(column) = '\(path)'", of: bench)
                for command in [
                    ["trash", "empty", "--yes"], ["trash", "restore", "--all"], ["trash", "list"], ["undo"],
                ] {
                    let result = try await bench.runBare(command + ["--library", bench.library.path])
                    #expect(result.exitCode == 78, "\(command): \(result.output)\(result.errors)")
                }
            }
        }

        @Test(.needs("sqlite3"))
        func `nor one in the records of what was exported`() async throws {
            try await withVictim { bench, _ in
                #expect(try await bench.run("export", "opf", "40111").exitCode == 0)
                try await Self.inStore("UPDATE exported_file SET path = '../outside.mp3'", of: bench)
                for (name, file) in try bench.files() where name.hasSuffix(".opf") {
                    try FileManager.default.removeItem(at: file)
                }
                #expect(try await bench.run("export", "opf", "40111").exitCode == 78)
            }
        }

        @Test(arguments: ["ln -s ../../outside.mp3", "mkfifo", "ln ../../outside.mp3"])
        func `what is no file of booksync's own is not opened, waited for or written`(deed: String) async throws {
            try await withVictim { bench, _ in
                for name in ["serve-keys", "lock", "store.sqlite-journal", "store.sqlite"] {
                    // A file that is replaced and never written may have other names.
                    if name == "serve-keys", deed.hasPrefix("ln ../") { continue }
                    let made = try await bench.shell("cd L/.booksync && rm -f \(name) && \(deed) \(name)")
                    #expect(made.exitCode == 0, "\(made.errors)")
                    for command in [["fetch", "40111"], ["list"], ["doctor"]] {
                        let result = try await bench.runBare(command + ["--library", bench.library.path])
                        #expect(result.exitCode == 73, "\(name), \(command): \(result.output)\(result.errors)")
                        #expect((result.output + result.errors).contains(".booksync/\(name) is a "), "\(command)")
                    }
                    _ = try await bench.shell("rm L/.booksync/\(name)")
                }
            }
        }

        @Test(arguments: ["0", "022"])
        func `what booksync keeps for itself is its owner's alone, whatever the umask`(umask: String) async throws {
            try await withWorkbench { bench in
                let made = try await bench.shell(
                    "umask \(umask); \"$BOOKSYNC\" fetch 40111/1-2 --library L -q && \"$BOOKSYNC\" remove 40111/1 --library L"
                )
                #expect(made.exitCode == 0, "\(made.errors)")
                let own = bench.library.appending(path: ".booksync").path
                let mode = { (path: String) in
                    try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
                }
                #expect(try mode(own) == 0o700)
                for name in ["store.sqlite", "lock"] { #expect(try mode("\(own)/\(name)") == 0o600) }
                // One that an earlier version made.
                try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: own)
                #expect(try await bench.run("fetch", "40111/2", "-q").exitCode == 0)
                #expect(try mode(own) == 0o700)
            }
        }

        @Test func `a command to run is refused where others may have written it`() async throws {
            try await withWorkbench { bench in
                try bench.configure("notify: { exec: \": TOKEN1234567; tr '\\\\0' ' ' </proc/$$/cmdline >told\" }\n")
                let files = FileManager.default
                for (mode, code) in [(0o666, 78), (0o602, 78), (0o644, 0), (0o600, 0)] as [(Int, Int32)] {
                    try files.setAttributes([.posixPermissions: mode], ofItemAtPath: bench.configuration.path)
                    let result = try await bench.run("config", "check", environment: bench.configured)
                    #expect(result.exitCode == code, "\(mode): \(result.errors)")
                    if code == 78 { #expect(result.errors.contains("chmod go-w"), "\(result.errors)") }
                }
                try files.setAttributes([.posixPermissions: 0o777], ofItemAtPath: bench.folder.path)
                #expect(try await bench.run("list", environment: bench.configured).exitCode == 78)
            }
        }

        #if os(Linux)
            @Test func `the command of an alert does not stand in an argument list`() async throws {
                try await withCatalog(.always(.text("busy", status: 503)), more: "downloads: { retries: 0 }") {
                    bench, server in
                    try bench.configure(
                        ScriptedCatalog.configuration(
                            port: server.port,
                            more: """
                                downloads: { retries: 0 }
                                subscriptions: [{ book: "cat:1" }]
                                notify: { exec: ": TOKEN1234567; tr '\\\\0' ' ' </proc/$$/cmdline >told" }
                                """))
                    #expect(try await bench.run("mirror", environment: bench.configured).exitCode == 69)
                    let told = try String(contentsOf: bench.folder.appending(path: "told"), encoding: .utf8)
                    #expect(told.hasPrefix("/bin/sh") && !told.contains("TOKEN1234567"), "\(told)")
                }
            }
        #endif
    }
}
