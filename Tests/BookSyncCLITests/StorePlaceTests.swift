import BookModel
import Foundation
import LibraryFiles
import Support
import Testing

extension ProductTests {
    /// The setting `store`: the store apart from the audio. Two "machines" are two folders for it.
    @Suite struct StorePlace {
        private static func machine(_ name: String?, _ bench: Workbench) -> [String: String] {
            var environment = bench.configured
            if let name { environment["BOOKSYNC_STORE"] = bench.folder.path + "/" + name }
            return environment
        }

        private static func stores(of name: String, _ bench: Workbench) throws -> [String] {
            let folder = bench.folder.path + "/" + name
            guard FileManager.default.fileExists(atPath: folder) else { return [] }
            return try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.hasSuffix("/store.sqlite") }
        }

        private static func inside(_ bench: Workbench) throws -> Set<String> {
            Set(try FileManager.default.contentsOfDirectory(atPath: bench.library.path + "/.booksync"))
                .intersection(["store.sqlite", "store.sqlite-wal", "store-copy.sqlite"])
        }

        @Test func `a store moves out of its library and back, and nothing is fetched for it`() async throws {
            let catalog = ScriptedCatalog(episodes: 3, bytes: 20_000)
            try await withCatalog(catalog.script) { bench, server in
                let (here, apart) = (Self.machine(nil, bench), Self.machine("one", bench))
                #expect(try await bench.run("fetch", "1/1-2", environment: here).exitCode == 0)
                #expect(try await bench.run("subscribe", "cat:7", environment: here).exitCode == 0)
                let list = try await bench.run("list", "1", "--json", environment: here).output
                // Readers need no run to find it.
                #expect(try await bench.run("list", "1", "--json", environment: apart).output == list)

                for round in 1...2 {
                    let out = try await bench.run("fetch", "1/1-2", environment: apart)
                    #expect(out.exitCode == 0, "\(round): \(out.errors)")
                    #expect(try Self.stores(of: "one", bench).count == 1)
                    #expect(try Self.inside(bench) == ["store-copy.sqlite"])
                    #expect(try await bench.run("list", "1", "--json", environment: apart).output == list)
                    #expect(try await bench.run("subscriptions", environment: apart).output.contains("cat:7"))

                    let back = try await bench.run("fetch", "1/1-2", environment: here)
                    #expect(back.exitCode == 0, "\(round): \(back.errors)")
                    #expect(try Self.inside(bench).contains("store.sqlite"))
                    #expect(try await bench.run("list", "1", "--json", environment: here).output == list)
                    #expect(try await bench.run("subscriptions", environment: here).output.contains("cat:7"))
                }
                #expect(server.requests(path: "/audio/1.mp3").count == 1)
                #expect(server.record.audioBytesSent == 40_003)
            }
        }

        @Test func `positions are in the store at once, and in its copy when the server ends`() async throws {
            let catalog = ScriptedCatalog(episodes: 1, bytes: 20_000)
            try await withCatalog(catalog.script) { bench, _ in
                let (one, two) = (Self.machine("one", bench), Self.machine("two", bench))
                #expect(try await bench.run("fetch", "1", environment: one).exitCode == 0)
                let copy = bench.library.path + "/.booksync/store-copy.sqlite"
                func place() throws -> UInt64 { try #require(fileAttributes(copy)).inode }
                /// What a server says of where the user is.
                func position(_ environment: [String: String]) async throws -> Double? {
                    try await bench.serve(environment: environment) { try await Self.position(on: $0) }
                }
                let first = try place()
                for (signal, seconds) in [(SIGTERM, 10), (SIGKILL, 50)] {
                    let before = try place()
                    try await bench.serve(environment: one) { shelf in
                        for more in 1...4 {
                            let sent = seconds + more
                            let body =
                                #"{"position": {"source": "cat", "book_id": "1", "id": "9001", "seconds": \#(sent)}}"#
                            let answer = try await shelf.send(
                                "/api/v1/position", method: "POST",
                                ["Content-Type: application/json", "Content-Length: \(body.utf8.count)"], body: body)
                            #expect(answer.status == 200, "\(answer.text)")
                            #expect(try await Self.position(on: shelf) == Double(sent))
                            #expect(try place() == before)
                        }
                        shelf.product.send(signal: signal)
                        _ = try await shelf.product.result()
                    }
                    // Of one that was killed the store has it, on its own disk.
                    #expect(try (place() == before) == (signal == SIGKILL))
                    #expect(try await position(one) == Double(seconds + 4))
                }
                #expect(try place() != first)
                #expect(try await position(two) == 14)
                // The next run copies it.
                #expect(try await bench.run("fetch", "1", environment: one).exitCode == 0)
                #expect(try await position(two) == 54)
            }
        }

        @Test func `a server does not copy its store over the newer one of another machine's run`() async throws {
            let catalog = ScriptedCatalog(episodes: 2, bytes: 20_000)
            try await withCatalog(catalog.script) { bench, server in
                let (one, two) = (Self.machine("one", bench), Self.machine("two", bench))
                #expect(try await bench.run("fetch", "1", environment: one).exitCode == 0)
                try await bench.serve(environment: one) { shelf in
                    let body = #"{"position": {"source": "cat", "book_id": "1", "id": "9001", "seconds": 5}}"#
                    let answer = try await shelf.send(
                        "/api/v1/position", method: "POST",
                        ["Content-Type: application/json", "Content-Length: \(body.utf8.count)"], body: body)
                    #expect(answer.status == 200, "\(answer.text)")
                    #expect(try await bench.run("fetch", "1/1", environment: two).exitCode == 0)
                    #expect(try await bench.run("remove", "1/2", environment: two).exitCode == 0)
                    shelf.product.send(signal: SIGTERM)
                    _ = try await shelf.product.result()
                }
                // What was removed there stays removed for both.
                for machine in [one, two] {
                    #expect(try await bench.run("fetch", "1", environment: machine).exitCode == 0)
                }
                #expect(server.requests(path: "/audio/2.mp3").count == 1)
            }
        }

        private static func position(on shelf: ServedShelf) async throws -> Double? {
            let answer = try await shelf.send("/api/v1/positions/cat/1/9001").text
            return answer.firstMatch(of: /"seconds": ?([0-9.]+)/).flatMap { Double($0.1) }
        }

        @Test func `another machine goes on from the copy, and the first one from its copy in turn`() async throws {
            let catalog = ScriptedCatalog(episodes: 3, bytes: 20_000)
            try await withCatalog(catalog.script) { bench, server in
                let (one, two) = (Self.machine("one", bench), Self.machine("two", bench))
                #expect(try await bench.run("fetch", "1/1", environment: one).exitCode == 0)
                #expect(try await bench.run("fetch", "1/2", environment: two).exitCode == 0)
                // What the first one has is older: it reads the copy, and writes nothing of its own.
                let list = try await bench.run("list", "1", "--json", environment: one)
                #expect(try JSONObject.list(list.output).map { $0["state"] }.prefix(2) == ["finished", "finished"])
                #expect(try await bench.run("subscribe", "cat:7", environment: one).exitCode == 75)
                let third = try await bench.run("fetch", "1", environment: one)
                #expect(third.exitCode == 0 && third.errors.contains("1 fetched"), "\(third.errors)")
                #expect(try await bench.run("subscribe", "cat:7", environment: one).exitCode == 0)
                #expect(try await bench.run("fetch", "1", environment: one).exitCode == 0)
                let quiet = try await bench.run("fetch", "1", environment: two)
                #expect(quiet.exitCode == 0 && quiet.errors.contains("0 fetched, 3 kept"), "\(quiet.errors)")
                #expect(try await bench.run("subscriptions", environment: two).output.contains("cat:7"))
                #expect(server.record.audioBytesSent == catalog.totalBytes)
                #expect(try bench.digests() == catalog.digests)
            }
        }

        @Test
        func `a store that was never copied is set aside for the copy of a later run, and nothing is fetched again`()
            async throws
        {
            let gate = Gate()
            var catalog = ScriptedCatalog(episodes: 3, bytes: 20_000)
            catalog.items[1].deeds = [.stall(at: 10_000, until: gate), .wellBehaved]
            try await withCatalog(catalog.script) { bench, server in
                let (one, two) = (Self.machine("one", bench), Self.machine("two", bench))
                #expect(try await bench.run("fetch", "1/1", environment: one).exitCode == 0)
                try await bench.start("fetch", "1/2", environment: one) { run in
                    try await server.waitUntil { $0.bodyBytesSent(path: "/audio/2.mp3") >= 10_000 }
                    run.send(signal: SIGKILL)
                    #expect(try await run.result().signal == SIGKILL)
                }
                gate.open()
                #expect(try await bench.run("fetch", "1", environment: two).exitCode == 0)
                let next = try await bench.run("fetch", "1", environment: one)
                #expect(next.exitCode == 0 && next.errors.contains("0 fetched, 3 kept"), "\(next.errors)")
                #expect(next.errors.contains("did not come to copy its store"), "\(next.errors)")
                let kept = try FileManager.default.subpathsOfDirectory(atPath: bench.folder.path + "/one")
                #expect(kept.contains { $0.contains("store.sqlite.apart-") })
                #expect(server.requests(path: "/audio/1.mp3").count == 1)
                #expect(try bench.digests() == catalog.digests)
            }
        }

        @Test func `a first run that is killed leaves a store that another machine goes on from`() async throws {
            let gate = Gate()
            var catalog = ScriptedCatalog(episodes: 3, bytes: 20_000)
            catalog.items[1].deeds = [.stall(at: 10_000, until: gate), .wellBehaved]
            try await withCatalog(catalog.script) { bench, server in
                let (one, two) = (Self.machine("one", bench), Self.machine("two", bench))
                try await bench.start("fetch", "1", "--jobs", "1", environment: one) { run in
                    try await server.waitUntil { $0.bodyBytesSent(path: "/audio/2.mp3") >= 10_000 }
                    run.send(signal: SIGKILL)
                    #expect(try await run.result().signal == SIGKILL)
                }
                gate.open()
                let next = try await bench.run("fetch", "1", environment: two)
                #expect(next.exitCode == 0 && !next.errors.contains("lost"), "\(next.errors)")
                #expect(server.requests(path: "/audio/1.mp3").count == 1)
                #expect(try bench.digests() == catalog.digests)
            }
        }

        // Too large to be kept out of the journal, which the copy does not have; and small enough for that.
        @Test(arguments: [("two", 300_000), ("one", 20_000)])
        func `a first run that is killed is gone on from, on another machine and on its own`(
            machine: String, bytes: Int
        ) async throws {
            let gate = Gate()
            var catalog = ScriptedCatalog(episodes: 1, bytes: bytes)
            catalog.items[0].deeds = [.stall(at: 10_000, until: gate), .wellBehaved]
            try await withCatalog(catalog.script) { bench, server in
                try await bench.start("fetch", "1", "--jobs", "1", environment: Self.machine("one", bench)) { run in
                    try await bench.waitUntilHeld(10_000)
                    run.send(signal: SIGKILL)
                    #expect(try await run.result().signal == SIGKILL)
                }
                gate.open()
                let next = try await bench.run("fetch", "1", environment: Self.machine(machine, bench))
                #expect(next.exitCode == 0, "\(next.errors)")
                #expect(machine == "two" || !next.errors.contains("did not come to copy"), "\(next.errors)")
                #expect(server.requests(path: "/audio/1.mp3").map { $0.header("Range") } == [nil, "bytes=10000-"])
                #expect(try bench.digests() == catalog.digests)
            }
        }

        @Test func `a run that is killed before it copied its store goes on from it on the same machine`() async throws
        {
            let gate = Gate()
            var catalog = ScriptedCatalog(episodes: 2, bytes: 20_000)
            catalog.items[1].deeds = [.stall(at: 10_000, until: gate), .wellBehaved]
            try await withCatalog(catalog.script) { bench, server in
                let one = Self.machine("one", bench)
                #expect(try await bench.run("fetch", "1/1", environment: Self.machine(nil, bench)).exitCode == 0)
                try await bench.start("fetch", "1", environment: one) { run in
                    try await bench.waitUntilHeld(10_000)
                    run.send(signal: SIGKILL)
                    #expect(try await run.result().signal == SIGKILL)
                }
                gate.open()
                #expect(try await bench.run("fetch", "1", environment: one).exitCode == 0)
                #expect(server.requests(path: "/audio/2.mp3").map { $0.header("Range") } == [nil, "bytes=10000-"])
                #expect(try bench.digests() == catalog.digests)
            }
        }

        /// The steps of a move that a kill may come between; each is one rename.
        @Test(arguments: ["superseded", "copied", "half a copy"])
        func `a move that was killed in between is finished by the next run`(step: String) async throws {
            let catalog = ScriptedCatalog(episodes: 1, bytes: 20_000)
            try await withCatalog(catalog.script) { bench, server in
                let (here, one) = (Self.machine(nil, bench), Self.machine("one", bench))
                #expect(try await bench.run("fetch", "1", environment: one).exitCode == 0)
                #expect(try await bench.run("subscribe", "cat:7", environment: one).exitCode == 0)
                #expect(try await bench.run("fetch", "1", environment: here).exitCode == 0)
                let files = FileManager.default
                let store = "\(bench.folder.path)/one/" + (try #require(try Self.stores(of: "one", bench).first))
                let own = bench.library.path + "/.booksync/"
                try files.moveItem(atPath: store, toPath: store + ".superseded")
                if step != "superseded" {
                    try files.removeItem(atPath: own + "store-copy.sqlite")
                    try files.moveItem(atPath: own + "store.sqlite", toPath: own + "store-copy.sqlite")
                }
                if step == "half a copy" { try Data("half".utf8).write(to: URL(filePath: store + ".new")) }
                #expect(try await bench.run("subscriptions", environment: one).output.contains("cat:7"))
                let next = try await bench.run("fetch", "1", environment: one)
                #expect(next.exitCode == 0 && next.errors.contains("0 fetched, 1 kept"), "\(next.errors)")
                #expect(try await bench.run("subscriptions", environment: one).output.contains("cat:7"))
                #expect(server.requests(path: "/audio/1.mp3").count == 1)
            }
        }
    }
}
