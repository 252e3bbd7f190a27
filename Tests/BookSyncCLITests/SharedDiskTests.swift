import Foundation
import Support
import Testing

extension ProductTests {
    /// A real network filesystem, MooseFS, mounted twice as two machines would: with locks that reach one mount only.
    @Suite(.needs("MooseFS, and the right to mount it") { MooseVolume.isPossible }, .serialized, .firstInLine)
    struct SharedDisk {
        private static func listing(_ catalog: ScriptedCatalog, of folder: String) throws -> [String] {
            let files = try FileManager.default.subpathsOfDirectory(atPath: folder)
                .filter { $0.hasSuffix(".mp3") && !$0.hasPrefix(".booksync") }
            return try files.sorted().map { sha256(try Data(contentsOf: URL(filePath: "\(folder)/\($0)"))) }
        }

        @Test func `a stopped run that another took over from publishes nothing when it wakes, and ends with 75`()
            async throws
        {
            let gate = Gate()
            var catalog = ScriptedCatalog(episodes: 3, bytes: 300_000)
            catalog.items[1].deeds = [.stall(at: 100_000, until: gate), .wellBehaved]
            try await withCatalog(catalog.script, more: "downloads: { jobs: 1 }") { bench, server in
                try await withMooseVolume(in: bench.folder) { one, other in
                    let (first, second) = (one + "/L", other + "/L")
                    try await withProduct(
                        ["fetch", "1", "--library", first], environment: bench.configured, in: bench.folder
                    ) { stopped in
                        let partials = second + "/.booksync/partial"
                        try await waitUntil("a part of the second file is there") {
                            try FileManager.default.fileExists(atPath: partials)
                                && FileManager.default.contentsOfDirectory(atPath: partials).contains { name in
                                    // The first file may have been put in its place meanwhile.
                                    let file = try unlessRemoved {
                                        try FileManager.default.attributesOfItem(atPath: "\(partials)/\(name)")
                                    }
                                    return file?[.size] as? Int == 100_000
                                }
                        }
                        // While it lives nobody else comes in, though the kernel's lock does not reach them.
                        let refused = try await bench.runBare(
                            ["fetch", "1", "--library", second], environment: bench.configured)
                        #expect(refused.exitCode == 75, "\(refused)")
                        #expect(refused.errors.contains("\(stopped.processIdentifier)"), "\(refused.errors)")

                        stopped.send(signal: SIGSTOP)
                        let next = try await withProduct(
                            ["fetch", "1", "--library", second], environment: bench.configured, in: bench.folder
                        ) { try await $0.result(within: 300) }
                        #expect(next.exitCode == 0, "\(next)")
                        #expect(next.errors.contains("took the library over"), "\(next.errors)")
                        let listing = try Self.listing(catalog, of: second)
                        #expect(listing == catalog.digests)

                        gate.open()
                        stopped.send(signal: SIGCONT)
                        let woken = try await stopped.result()
                        #expect(woken.exitCode == 75, "\(woken)")
                        #expect(woken.errors.contains("this run has lost the library"), "\(woken.errors)")
                        #expect(try Self.listing(catalog, of: second) == listing)
                    }
                    let ranges = server.requests(path: "/audio/2.mp3").map { $0.header("Range") }
                    #expect(ranges == [nil, "bytes=100000-"])
                    #expect(server.requests(path: "/audio/3.mp3").count == 1)
                    for arguments in [["verify"], ["fetch", "1"], ["doctor"]] {
                        let result = try await bench.runBare(
                            arguments + ["--library", second], environment: bench.configured)
                        #expect(result.exitCode == 0, "\(arguments): \(result)")
                    }
                    #expect(server.requests(path: "/audio/3.mp3").count == 1)
                }
            }
        }

        @Test func `while a run has the store of a shared disk alone, others read its last copy`() async throws {
            let gate = Gate()
            var catalog = ScriptedCatalog(episodes: 2, bytes: 30_000)
            catalog.items[1].deeds = [.stall(at: 10_000, until: gate)]
            try await withCatalog(catalog.script) { bench, server in
                try await withMooseVolume(in: bench.folder) { one, other in
                    func run(_ arguments: String...) async throws -> ProductRunner.Result {
                        try await bench.runBare(arguments + ["--library", other + "/L"], environment: bench.configured)
                    }
                    #expect(
                        try await bench.runBare(
                            ["fetch", "1/1", "--library", one + "/L"], environment: bench.configured
                        ).exitCode == 0)
                    #expect(try await run("subscribe", "cat:1").exitCode == 0)
                    #expect(try await run("subscriptions").output.contains("cat:1"))
                    try await withProduct(
                        ["fetch", "1", "--library", one + "/L"], environment: bench.configured, in: bench.folder
                    ) { fetching in
                        try await server.waitUntil { $0.bodyBytesSent(path: "/audio/2.mp3") >= 10_000 }
                        let states = try JSONObject.list(try await run("list", "1", "--json").output)
                            .compactMap { $0["state"] }
                        #expect(states.first == "finished" && states.last != "finished", "\(states)")
                        gate.open()
                        #expect(try await fetching.result().exitCode == 0)
                    }
                    let states = try JSONObject.list(try await run("list", "1", "--json").output).map { $0["state"] }
                    #expect(states == ["finished", "finished"])
                    let names = try FileManager.default.contentsOfDirectory(atPath: one + "/L/.booksync")
                    #expect(!names.contains { $0.hasSuffix("-shm") }, "\(names)")
                }
            }
        }
    }
}
