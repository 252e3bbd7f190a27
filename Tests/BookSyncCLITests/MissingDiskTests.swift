#if os(Linux)
    import Foundation
    import Support
    import Testing

    extension ProductTests {
        /// Case 37 of the download cases, as the user meets it.
        @Suite(.limitedConcurrency) struct MissingDisk {
            @Test(.enabled(if: SmallDisk.canBeMounted, "mounting a tmpfs takes the rights of root"))
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
                    for arguments in [
                        ["mirror"], ["fetch", "1"], ["subscribe", "1"], ["list"], ["search", "x"], ["queue"], ["runs"],
                        ["plan", "1"], ["trash", "list"], ["subscriptions"], ["mirror", "--dry-run"],
                    ] {
                        let result = try await bench.runBare(
                            arguments + ["--library", "disk/Audiobooks"], environment: bench.configured)
                        #expect(result.exitCode == 73)
                        #expect(result.errors.contains("no disk is mounted there now"), "\(result.errors)")
                        #expect(result.errors.contains("mount its disk"), "\(result.errors)")
                    }
                    #expect(server.record.requests.count == asked)
                    #expect(try FileManager.default.contentsOfDirectory(atPath: place) == [])
                    // Without a home there is nothing remembered, and nothing in the way.
                    let homeless = try await bench.runBare(
                        ["fetch", "1", "--library", "disk/Audiobooks"],
                        environment: bench.configured.merging(["HOME": ""]) { $1 })
                    #expect(homeless.exitCode == 0, "\(homeless.errors)")
                }
            }

            @Test(
                .enabled(
                    if: Unprivileged.isAvailable, "root may write everywhere, and there is no setpriv to hinder it"))
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
