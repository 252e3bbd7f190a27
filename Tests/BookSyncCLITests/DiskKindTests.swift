#if os(Linux)
    import Foundation
    import Support
    import Testing

    extension ProductTests {
        /// Disks and folders that are not like the usual ones (cases 34a to 34d).
        @Suite struct DiskKinds {
            private static let naming = "naming: \"Shows/{section}.{ext}\""

            private static func attributes(_ path: String) throws -> (mode: Int?, group: Int?) {
                let facts = try FileManager.default.attributesOfItem(atPath: path)
                return (facts[.posixPermissions] as? Int, facts[.groupOwnerAccountID] as? Int)
            }

            @Test(.needsMounting)
            func `case 34a: a book's folder may be another filesystem`() async throws {
                let catalog = ScriptedCatalog(episodes: 4)
                try await withCatalog(catalog.script, more: Self.naming) { bench, server in
                    let folder = bench.library.appending(path: "Shows")
                    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                    let disk = try SmallDisk.mount(at: folder.path, kilobytes: 4000)
                    defer { disk.unmount() }
                    for _ in 0..<2 {
                        let run = try await bench.run("fetch", "1", environment: bench.configured)
                        #expect(run.exitCode == 0, "\(run.errors)")
                    }
                    // A walk through the library does not enter another filesystem.
                    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
                    #expect(try names.map { try sha256(ofFileAt: "\(folder.path)/\($0)") } == catalog.digests)
                    #expect(try bench.partialFiles == [])
                    // To the trash and back, and under other names on the other disk.
                    for command in [["remove", "cat:1", "--yes"], ["undo"]] {
                        let run = try await bench.runBare(command + ["--library", "L"], environment: bench.configured)
                        #expect(run.exitCode == 0, "\(command): \(run.errors)")
                    }
                    try bench.configure(
                        ScriptedCatalog.configuration(port: server.port, more: "naming: \"Other/{section}.{ext}\""))
                    let renamed = try await bench.run("fetch", "1", environment: bench.configured)
                    #expect(renamed.exitCode == 0, "\(renamed.errors)")
                    #expect(try bench.files().keys.allSatisfy { $0.hasPrefix("Other/") })
                    #expect(try bench.digests() == catalog.digests)
                    let verified = try await bench.run("verify", environment: bench.configured)
                    #expect(verified.exitCode == 0, "\(verified.output)\(verified.errors)")
                    #expect(server.record.audioBytesSent == catalog.totalBytes)
                }
            }

            @Test(
                .needsCompiler,
                arguments: [EINVAL, ENOTSUP])
            func `case 34b: folders that cannot be synced are told of once`(error: Int32) async throws {
                let catalog = ScriptedCatalog(episodes: 3)
                try await withCatalog(catalog.script) { bench, _ in
                    let faults = try await PreloadedLibrary.make("faults", in: bench.folder)
                    let environment = bench.configured.merging([
                        "LD_PRELOAD": faults.path, "FAULT_BELOW": bench.library.path, "FAULT_FOLDERS": "1",
                        "FAULT_ERROR": "\(error)",
                    ]) { $1 }
                    let first = try await bench.run("fetch", "1", "--only", "1-2", environment: environment)
                    #expect(first.exitCode == 0, "\(first.errors)")
                    let notice = "cannot sync folders"
                    #expect(first.errors.components(separatedBy: notice).count == 2, "\(first.errors)")
                    let second = try await bench.run("fetch", "1", environment: environment)
                    #expect(second.exitCode == 0 && !second.errors.contains(notice), "\(second.errors)")
                    #expect(try bench.digests() == catalog.digests)
                }
            }

            @Test(arguments: ["002", "027"])
            func `case 34c: files and folders have the modes that the umask leaves`(umask: String) async throws {
                try await withCatalog(ScriptedCatalog(episodes: 1).script, more: Self.naming) { bench, _ in
                    let run = try await bench.shell(
                        "umask \(umask); BOOKSYNC_CONFIG=booksync.yaml exec \"$BOOKSYNC\" fetch 1 --library L")
                    #expect(run.exitCode == 0, "\(run.errors)")
                    let left = try #require(Int(umask, radix: 8))
                    let file = try #require(try bench.files().values.first).path
                    #expect(try Self.attributes(file).mode == 0o666 & ~left)
                    #expect(try Self.attributes(bench.library.path + "/Shows").mode == 0o777 & ~left)
                }
            }

            @Test(.needsMounting)
            func `case 34c: a folder's own group and access list count`() async throws {
                try await withCatalog(ScriptedCatalog(episodes: 1).script, more: Self.naming) { bench, _ in
                    let folder = bench.library.appending(path: "Shows").path
                    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                    #expect(chown(folder, 0, 4242) == 0 && chmod(folder, 0o2770) == 0)
                    let run = try await bench.run("fetch", "1", environment: bench.configured)
                    #expect(run.exitCode == 0, "\(run.errors)")
                    let file = try #require(try bench.files().values.first).path
                    #expect(try Self.attributes(file).group == 4242)
                    #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 1)
                }
            }

            @Test func `case 34d: bit rot stays bit rot where the disk was copied`() async throws {
                try await withCatalog(ScriptedCatalog(episodes: 3).script) { bench, _ in
                    #expect(try await bench.run("fetch", "1", environment: bench.configured).exitCode == 0)
                    let copied = try await bench.shell("cp -a L C && rm -r L && mv C L")
                    #expect(copied.exitCode == 0, "\(copied.errors)")
                    let file = try #require(try bench.files().sorted { $0.key < $1.key }.first).value
                    let flipped = try await bench.shell(
                        """
                        touch -r '\(file.path)' stamp
                        printf x | dd of='\(file.path)' bs=1 seek=9000 conv=notrunc
                        touch -r stamp '\(file.path)'
                        """)
                    #expect(flipped.exitCode == 0, "\(flipped.errors)")
                    let verified = try await bench.run("verify", "--json", environment: bench.configured)
                    let bad = try JSONObject(verified.output).objects("bad")
                    #expect(bad.map { $0["condition"] } == ["bit_rot"], "\(verified.output)")
                }
            }
        }
    }
#endif
