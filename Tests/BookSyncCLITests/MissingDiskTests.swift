#if os(Linux)
    import Foundation
    import Support
    import Testing

    extension ProductTests {
        /// Case 37 of the download cases, as the user meets it.
        @Suite(.limitedConcurrency) struct MissingDisk {
            @Test(.needsMounting)
            func `case 37: a library whose disk is not mounted is 73 before any request, and stays as it is`()
                async throws
            {
                let catalog = ScriptedCatalog(episodes: 2)
                try await withCatalog(catalog.script, more: "subscriptions: [{ book: \"cat:1\" }]") { bench, server in
                    let place = bench.folder.appending(path: "disk").path
                    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
                    let disk = try SmallDisk.mount(at: place, kilobytes: 20_000)
                    let first = try await bench.runBare(
                        ["mirror", "--library", "disk/Audiobooks"], environment: bench.configured)
                    #expect(first.exitCode == 0, "\(first.errors)")
                    let asked = server.record.requests.count
                    disk.unmount()
                    for arguments in Self.refused {
                        let result = try await bench.runBare(
                            arguments + ["--library", "disk/Audiobooks"], environment: bench.configured)
                        #expect(result.exitCode == 73)
                        #expect(result.errors.contains("no disk is mounted there now"), "\(result.errors)")
                        #expect(result.errors.contains("mount its disk"), "\(result.errors)")
                    }
                    // In the user's zone, to the minute.
                    let told = try await bench.runBare(
                        ["list", "--library", "disk/Audiobooks"],
                        environment: bench.configured.merging(["TZ": "Asia/Shanghai"]) { $1 })
                    #expect(
                        told.errors.contains(/a library on \d{4}-\d\d-\d\d \d\d:\d\d, on the disk/), "\(told.errors)")
                    #expect(server.record.requests.count == asked)
                    let doctor = try await bench.runBare(
                        ["doctor", "--library", "disk/Audiobooks"], environment: bench.configured)
                    #expect(doctor.exitCode == 73)
                    #expect(doctor.output.contains("no disk is mounted there now; mount its disk"), "\(doctor.output)")
                    #expect(try FileManager.default.contentsOfDirectory(atPath: place) == [])
                    // Without a home there is nothing remembered, and nothing in the way.
                    let homeless = try await bench.runBare(
                        ["fetch", "1", "--library", "disk/Audiobooks"],
                        environment: bench.configured.merging(["HOME": ""]) { $1 })
                    #expect(homeless.exitCode == 0, "\(homeless.errors)")
                }
            }

            @Test(.needsMounting)
            func `without the disk with its users a server of several libraries is refused, unless it has a password`()
                async throws
            {
                let libraries = "libraries: { home: disk/L, attic: A }\n"
                try await withCatalog(ScriptedCatalog(episodes: 1).script, more: libraries) { bench, _ in
                    let place = bench.folder.appending(path: "disk").path
                    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
                    let disk = try SmallDisk.mount(at: place, kilobytes: 20_000)
                    for library in ["home", "attic"] {
                        let fetched = try await bench.runBare(
                            ["fetch", library == "home" ? "1" : "2", "-q", "--library", library],
                            environment: bench.configured)
                        #expect(fetched.exitCode == 0, "\(fetched.errors)")
                    }
                    let added = try await bench.shell(
                        "echo 'long enough' | $BOOKSYNC serve --add-user Anna --config '\(bench.configuration.path)'")
                    #expect(added.exitCode == 0, "\(added.errors)")
                    disk.unmount()
                    for option in ["--listen=127.0.0.1:0", "--list-users"] {
                        let refused = try await bench.runBare(["serve", option], environment: bench.configured)
                        #expect(refused.exitCode == 73, "\(refused.output)\(refused.errors)")
                    }
                    let text = try String(contentsOf: bench.configuration, encoding: .utf8)
                    try bench.configure(text + "\nserve: { password: '\(ServedShelf.hash)' }\n")
                    try await bench.serve(library: nil, environment: bench.configured) { shelf async throws in
                        #expect(try await shelf.status(nil) == 401)
                    }
                }
            }

            private static let refused = [
                ["mirror"], ["fetch", "1"], ["fetch", "1", "--dry-run"], ["subscribe", "1"], ["list"], ["search", "x"],
                ["queue"], ["runs"], ["plan", "1"], ["trash", "list"], ["subscriptions"], ["mirror", "--dry-run"],
                ["serve", "--listen", "127.0.0.1:0"],
            ]

            @Test(arguments: [true, false])
            func `a library that was moved, or deleted, is 73 before any request, until the user says what is meant`(
                isMoved: Bool
            ) async throws {
                let (catalog, files) = (ScriptedCatalog(episodes: 2), FileManager.default)
                try await withCatalog(catalog.script, more: "subscriptions: [{ book: \"cat:1\" }]") { bench, server in
                    func audio() -> Int { server.record.requests.count { $0.path.hasPrefix("/audio/") } }
                    func mirror(_ library: String) async throws -> ProductRunner.Result {
                        try await bench.runBare(["mirror", "--library", library], environment: bench.configured)
                    }
                    let none = try await bench.run("list", environment: bench.configured)
                    #expect(none.exitCode == 0 && none.errors.contains("there is no shelf at"), "\(none.errors)")
                    #expect(try await mirror("L").exitCode == 0)
                    let moved = bench.folder.appending(path: "L2")
                    let asked = try await bench.serve(environment: bench.configured) { shelf in
                        if isMoved {
                            try files.moveItem(at: bench.library, to: moved)
                        } else {
                            try files.removeItem(at: bench.library)
                            try files.createDirectory(at: bench.library, withIntermediateDirectories: false)
                        }
                        let asked = server.record.requests.count
                        let json = ["Content-Type: application/json", "Content-Length: 2"]
                        let refused = try await shelf.send("/api/v1/mirror", method: "POST", json, body: "{}")
                        #expect(refused.status >= 400 && refused.text.contains("it was a library until"))
                        #expect(try await shelf.send("/api/v1/books").status >= 400)
                        return asked
                    }
                    for arguments in Self.refused {
                        let result = try await bench.runBare(
                            arguments + ["--library", "L"], environment: bench.configured)
                        #expect(result.exitCode == 73, "\(arguments)")
                        #expect(result.errors.contains(/it was a library until \d{4}-\d\d-\d\d/), "\(result.errors)")
                        #expect(result.errors.contains("set library: in the configuration"), "\(result.errors)")
                    }
                    #expect(server.record.requests.count == asked)
                    if isMoved {
                        #expect(!bench.exists)
                        #expect(try await mirror("L2").exitCode == 0)
                        #expect(audio() == 2)
                    }
                    let refusal = try await mirror("L").errors
                    let command = try #require(refusal.firstMatch(of: /run: (rm .*)/)).output.1
                    #expect(try await bench.shell(String(command)).exitCode == 0)
                    for _ in 1...2 { #expect(try await mirror("L").exitCode == 0) }
                    #expect(audio() == 4)
                    #expect(try bench.digests() == catalog.digests)
                }
            }

            @Test func `a library whose records are gone is 74 for who looks, and a run recognises its audio`()
                async throws
            {
                let catalog = ScriptedCatalog(episodes: 2)
                try await withCatalog(catalog.script, more: "subscriptions: [{ book: \"cat:1\" }]") { bench, server in
                    #expect(try await bench.run("mirror", "-q", environment: bench.configured).exitCode == 0)
                    try FileManager.default.removeItem(at: bench.library.appending(path: ".booksync"))
                    for arguments in [
                        ["list"], ["list", "1"], ["search", "x"], ["show", "1"], ["queue"], ["doctor"], ["undo"],
                    ] {
                        let result = try await bench.runBare(
                            arguments + ["--library", "L"], environment: bench.configured)
                        let text = result.output + result.errors
                        #expect(result.exitCode == 74, "\(arguments): \(text)")
                        #expect(text.contains("its audio is there, and no record of it"), "\(arguments): \(text)")
                        #expect(text.contains("booksync fetch for each book"), "\(arguments): \(text)")
                    }
                    #expect(!FileManager.default.fileExists(atPath: bench.library.appending(path: ".booksync").path))
                    let asked = server.record.requests.count { $0.path.hasPrefix("/audio/") }
                    let planned = try await bench.run("plan", environment: bench.configured)
                    #expect(planned.exitCode == 0, "\(planned.errors)")
                    let again = try await bench.run("mirror", "--json", environment: bench.configured)
                    #expect(again.exitCode == 0, "\(again.errors)")
                    #expect(try again.summary().number("adopted") == 2)
                    #expect(server.record.requests.count { $0.path.hasPrefix("/audio/") } == asked)
                    #expect(try await bench.run("list", environment: bench.configured).exitCode == 0)
                }
            }

            @Test func `a mirror whose subscriptions were lost with the records begins no new store`() async throws {
                try await withCatalog(ScriptedCatalog(episodes: 2).script) { bench, _ in
                    let environment = bench.configured
                    #expect(try await bench.run("subscribe", "cat:1", environment: environment).exitCode == 0)
                    #expect(try await bench.run("mirror", "-q", environment: environment).exitCode == 0)
                    try FileManager.default.removeItem(at: bench.library.appending(path: ".booksync"))
                    for arguments in [["mirror", "-q"], ["mirror", "--dry-run"], ["plan"], ["list"]] {
                        let result = try await bench.runBare(
                            arguments + ["--library", "L"], environment: environment)
                        #expect(result.exitCode == 74, "\(arguments): \(result.errors)")
                    }
                    // Nor is it left out where there are others.
                    let text = try String(contentsOf: bench.configuration, encoding: .utf8)
                    try bench.configure(text + "\nlibraries: { home: L, attic: A }\n")
                    for arguments in [["plan"], ["list"], ["mirror", "--dry-run"]] {
                        let result = try await bench.runBare(arguments, environment: environment)
                        #expect(result.exitCode == 74, "\(arguments): \(result.errors)")
                    }
                    #expect(!FileManager.default.fileExists(atPath: bench.library.appending(path: ".booksync").path))
                }
            }

            @Test(.needsMounting)
            func `on a disk without a byte free the trash can be emptied, and to remove says so`() async throws {
                try await withCatalog(ScriptedCatalog(episodes: 3, bytes: 300_000).script) { bench, _ in
                    try FileManager.default.createDirectory(at: bench.library, withIntermediateDirectories: true)
                    let disk = try SmallDisk.mount(at: bench.library.path, kilobytes: 6000)
                    defer { disk.unmount() }
                    let environment = bench.configured
                    #expect(try await bench.run("fetch", "1", environment: environment).exitCode == 0)
                    #expect(try await bench.run("remove", "1/1", environment: environment).exitCode == 0)
                    try Data(repeating: 0, count: try disk.free()).write(to: bench.library.appending(path: "filler"))
                    #expect(try disk.free() == 0)
                    let refused = try await bench.run("remove", "1/2", environment: environment)
                    #expect(refused.exitCode == 74 && refused.errors.contains("booksync trash empty"), "\(refused)")
                    let emptied = try await bench.run("trash", "empty", "--yes", environment: environment)
                    #expect(emptied.exitCode == 0 && emptied.output.contains("1 file ("), "\(emptied)")
                    #expect(try disk.free() > 0)
                    let left = try await bench.run("trash", "list", "--json", environment: environment)
                    #expect(left.output.filter { !$0.isWhitespace } == "[]", "\(left)")
                    #expect(try await bench.run("remove", "1/2", environment: environment).exitCode == 0)
                }
            }

            @Test(
                .needs("a user who is not root, or setpriv") { Unprivileged.isAvailable })
            func `case 37: a library without the permission to write is 73 before any request`() async throws {
                try await withCatalog(ScriptedCatalog(episodes: 1).script) { bench, server in
                    #expect(try await bench.run("fetch", "1", environment: bench.configured).exitCode == 0)
                    let asked = server.record.requests.count
                    let closed = bench.library.path + "/.booksync/partial"
                    #expect(chmod(closed, 0o500) == 0 && chmod(bench.folder.path, 0o500) == 0)
                    for library in ["L", "New"] {
                        let result = try await Unprivileged.run(
                            ["fetch", "1", "--library", library], environment: bench.configured, in: bench.folder)
                        #expect(result.exitCode == 73)
                        #expect(result.errors.contains("cannot be written: Permission denied"), "\(result.errors)")
                    }
                    #expect(server.record.requests.count == asked)
                }
            }

            @Test(
                .needs("a user who is not root, or setpriv") { Unprivileged.isAvailable })
            func `a folder that may not be read, as lost+found, hinders no search for a moved file`() async throws {
                try await withCatalog(ScriptedCatalog(episodes: 2).script) { bench, server in
                    #expect(try await bench.run("fetch", "1", environment: bench.configured).exitCode == 0)
                    let files = FileManager.default
                    let found = bench.library.appending(path: "lost+found")
                    try files.createDirectory(at: found, withIntermediateDirectories: false)
                    #expect(chmod(found.path, 0) == 0)
                    let paths = try files.subpathsOfDirectory(atPath: bench.library.path)
                        .filter { $0.hasSuffix(".mp3") }.sorted()
                    try #require(paths.count == 2)
                    for (path, name) in zip(paths, ["one.mp3", "two.mp3"]) {
                        try files.moveItem(
                            at: bench.library.appending(path: path), to: bench.library.appending(path: name))
                    }
                    let removed = try await Unprivileged.run(
                        ["remove", "1/1", "--library", "L"], environment: bench.configured, in: bench.folder)
                    #expect(
                        removed.exitCode == 0 && removed.errors.contains("1 file moved to the trash"),
                        "\(removed.errors)")
                    let again = try await Unprivileged.run(
                        ["fetch", "1", "--library", "L"], environment: bench.configured, in: bench.folder)
                    #expect(again.exitCode == 0 && again.errors.contains("1 adopted"), "\(again.errors)")
                    #expect(server.record.requests.count { $0.path.hasSuffix(".mp3") } == 2)
                }
            }
        }
    }

    /// Runs the product without root's right to write everywhere.
    private enum Unprivileged {
        private static let tool = "/usr/bin/setpriv"

        static var isAvailable: Bool { geteuid() != 0 || FileManager.default.isExecutableFile(atPath: tool) }

        static func run(
            _ arguments: [String], environment: [String: String], in folder: URL
        ) async throws -> ProductRunner.Result {
            guard geteuid() == 0 else {
                return try await ProductRunner.run(arguments, environment: environment, in: folder)
            }
            let product = try #require(ProductRunner.executable)
            return try await withProduct(
                ["--bounding-set=-all", "--inh-caps=-all", product.path] + arguments, environment: environment,
                in: folder, executable: URL(filePath: tool)
            ) { try await $0.result() }
        }
    }
#endif
