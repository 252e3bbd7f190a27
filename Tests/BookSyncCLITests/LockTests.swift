import Foundation
import Support
import Testing

extension ProductTests {
    @Suite struct Lock {
        /// A run that is held at its second episode until the gate opens.
        private static func catalog(heldBy gate: Gate) -> ScriptedCatalog {
            var catalog = ScriptedCatalog(episodes: 3, bytes: 30_000)
            catalog.items[1].deeds = [.stall(at: 10_000, until: gate)]
            return catalog
        }

        private static func isHeld(_ record: ServerRecord) -> Bool {
            record.bodyBytesSent(path: "/audio/2.mp3") >= 10_000
        }

        @Test func `case 38: of two runs one works, and the other names it and exits with 75`() async throws {
            let gate = Gate()
            let catalog = Self.catalog(heldBy: gate)
            try await withCatalog(catalog.script, more: "subscriptions: [{ book: \"cat:1\" }]") { bench, server in
                try await bench.start("mirror", environment: bench.configured) { first in
                    try await server.waitUntil { Self.isHeld($0) }
                    for arguments in [["mirror"], ["mirror", "--wait", "200ms"], ["fetch", "1"]] {
                        let second = try await bench.runBare(
                            arguments + ["--library", "L"], environment: bench.configured)
                        #expect(second.exitCode == 75)
                        let said = arguments[0] == "fetch" ? "or the next one fetches " : "\(first.processIdentifier)"
                        #expect(second.errors.contains(said), "\(second.errors)")
                        #expect(second.output == "")
                    }
                    gate.open()
                    let result = try await first.result()
                    #expect(result.exitCode == 0)
                    #expect(try bench.digests() == catalog.digests)
                }
            }
        }

        @Test func `an episode that the run under way was not to fetch is fetched by it`() async throws {
            let gate = Gate()
            var catalog = ScriptedCatalog(episodes: 5, bytes: 30_000)
            catalog.items[0].deeds = [.stall(at: 10_000, until: gate)]
            try await withCatalog(catalog.script, more: "downloads: { jobs: 1 }") { bench, server in
                let environment = bench.configured
                try await bench.start("fetch", "1/1-2", environment: environment) { first in
                    try await server.waitUntil { $0.bodyBytesSent(path: "/audio/1.mp3") >= 10_000 }
                    let second = try await bench.run("fetch", "1/4", environment: environment)
                    #expect(second.exitCode == 75)
                    #expect(
                        second.errors.contains("another run is under way: it or the next one fetches 1 episode"),
                        "\(second.errors)")
                    try await first.waitForErrors(containing: "1 episode of ")
                    gate.open()
                    let result = try await first.result()
                    #expect(result.exitCode == 0 && result.errors.contains("3 fetched"), "\(result.errors)")
                }
                let audio = server.record.requests.map(\.path).filter { $0.hasPrefix("/audio/") }
                #expect(audio == [1, 4, 2].map { "/audio/\($0).mp3" })
            }
        }

        @Test func `an episode that is named while another run is under way goes to its front`() async throws {
            let gate = Gate()
            var catalog = ScriptedCatalog(episodes: 5, bytes: 30_000)
            catalog.items[0].deeds = [.stall(at: 10_000, until: gate)]
            try await withCatalog(
                catalog.script, more: "subscriptions: [{ book: \"cat:1\" }]\ndownloads: { jobs: 1 }"
            ) { bench, server in
                let environment = bench.configured
                try await bench.start("mirror", "--json", environment: environment) { first in
                    try await server.waitUntil { $0.bodyBytesSent(path: "/audio/1.mp3") >= 10_000 }
                    let second = try await bench.run("fetch", "--book", "1/4,3", environment: environment)
                    #expect(second.exitCode == 75)
                    #expect(second.errors.contains("it or the next one fetches 2 episodes"), "\(second.errors)")
                    // Of what is in no store yet the run asks the catalog.
                    let unknown = try await bench.run("fetch", "2/1", environment: environment)
                    #expect(unknown.exitCode == 75 && unknown.errors.contains(" next"))
                    try await first.waitForErrors(containing: "2 episodes moved to the front")
                    gate.open()
                    #expect(try await first.result().exitCode == 0)
                }
                let audio = server.record.requests.map(\.path).filter { $0.hasPrefix("/audio/") }
                #expect(audio == [1, 3, 4, 1, 2, 5].map { "/audio/\($0).mp3" })
            }
        }

        @Test func `a run that waits begins when the other ends`() async throws {
            let gate = Gate()
            let catalog = Self.catalog(heldBy: gate)
            try await withCatalog(catalog.script, more: "subscriptions: [{ book: \"cat:1\" }]") { bench, server in
                let environment = bench.configured
                try await bench.start("mirror", environment: environment) { first in
                    try await server.waitUntil { Self.isHeld($0) }
                    let lists = server.requests(path: ScriptedCatalog.listPath).count
                    try await bench.start("mirror", "--wait", "30s", "--json", environment: environment) { second in
                        // It must have come to the lock before the first is let go; a third run sees neither.
                        let third = try await bench.run("mirror", environment: environment)
                        #expect(third.exitCode == 75)
                        #expect(server.requests(path: ScriptedCatalog.listPath).count == lists)
                        gate.open()
                        #expect(try await first.result().exitCode == 0)
                        let result = try await second.result()
                        #expect(result.exitCode == 0)
                        #expect(try result.summary().number("kept") == 3)
                        #expect(try result.summary().number("bytes_received") == 0)
                    }
                }
            }
        }

        @Test func `--wait is taken wherever the lock is needed`() async throws {
            let gate = Gate()
            let catalog = Self.catalog(heldBy: gate)
            try await withCatalog(catalog.script) { bench, server in
                let environment = bench.configured
                try FileManager.default.createDirectory(
                    at: bench.library.appending(path: "old"), withIntermediateDirectories: true)
                try await bench.start("fetch", "1", environment: environment) { first in
                    try await server.waitUntil { Self.isHeld($0) }
                    for arguments in [
                        ["fetch", "1"], ["adopt", "L/old", "--book", "1"], ["undo"], ["export", "m3u8"],
                        ["trash", "restore", "--all"], ["trash", "empty"], ["verify", "--repair"],
                    ] {
                        let odd = try await bench.runBare(
                            arguments + ["--wait", "soon", "--library", "L"], environment: environment)
                        #expect(odd.exitCode == 64 && odd.errors.contains("not 'soon'"), "\(odd.errors)")
                        // What is whole already needs no repair, and so no lock.
                        guard arguments[0] != "verify" else { continue }
                        let second = try await bench.runBare(
                            arguments + ["--wait", "200ms", "--library", "L"], environment: environment)
                        #expect(second.exitCode == 75, "\(arguments): \(second.errors)")
                        let said = arguments[0] == "fetch" ? "or the next one fetches " : "\(first.processIdentifier)"
                        #expect(second.errors.contains(said), "\(second.errors)")
                    }
                    try await bench.start("trash", "empty", "--wait", "300s", environment: environment) { second in
                        gate.open()
                        let codes = [try await first.result().exitCode, try await second.result().exitCode]
                        #expect(codes == [0, 0])
                    }
                }
            }
        }

        @Test func `list, show, plan and subscribe work while a run is under way`() async throws {
            let gate = Gate()
            let catalog = Self.catalog(heldBy: gate)
            try await withCatalog(catalog.script) { bench, server in
                let environment = bench.configured
                try await bench.start("fetch", "1", environment: environment) { run in
                    try await server.waitUntil { Self.isHeld($0) }
                    try await run.waitForErrors(containing: "fetched")
                    try await waitUntil("others see what is being fetched") {
                        try await bench.run("queue", environment: environment).output.contains("downloading")
                    }
                    let list = try await bench.run("list", "1", "--json", environment: environment)
                    #expect(list.exitCode == 0)
                    let states = try JSONObject.list(list.output).compactMap { $0["state"] }
                    #expect(states.count == 3)
                    #expect(states[1] == "downloading")
                    #expect(try await bench.run("show", "1/1", environment: environment).exitCode == 0)
                    #expect(try await bench.run("plan", "1", "--offline", environment: environment).exitCode == 0)
                    #expect(try await bench.run("subscribe", "2", environment: environment).exitCode == 0)
                    let subscriptions = try await bench.run("subscriptions", environment: environment)
                    #expect(subscriptions.output.contains("cat:2"))
                    let doctor = try await bench.run("doctor", environment: environment)
                    let lock = "ok       lock: held: process \(run.processIdentifier) on this machine"
                    #expect(doctor.exitCode == 0 && doctor.output.contains(lock), "\(doctor.output)")
                    #expect(doctor.output.contains("not looked for: a run is under way"), "\(doctor.output)")
                    gate.open()
                    #expect(try await run.result().exitCode == 0)
                }
                #expect(try bench.digests() == catalog.digests)
            }
        }

        @Test func `a plan knows what a killed run has of a small file, which no transaction was made for`()
            async throws
        {
            let gate = Gate()
            var catalog = ScriptedCatalog(episodes: 1, bytes: 30_000)
            catalog.items[0].deeds = [.stall(at: 10_000, until: gate)]
            try await withCatalog(catalog.script) { bench, server in
                try await bench.start("fetch", "1", environment: bench.configured) { run in
                    try await waitUntil("a part is there") { try bench.partialSizes == [10_000] }
                    run.send(signal: SIGKILL)
                    #expect(try await run.result().signal == SIGKILL)
                }
                gate.open()
                let plan = try await bench.run("plan", "1", environment: bench.configured)
                #expect(plan.output.contains("1 to resume"), "\(plan)")
                let doctor = try await bench.run("doctor", environment: bench.configured)
                let line = try #require(doctor.outputLines.first { $0.contains(" leftovers: ") })
                #expect(line.hasPrefix("ok ") && line.contains("1 file of an unfinished download (10.0 kB), kept"))
                #expect(doctor.exitCode == 0)
                #expect(try await bench.run("fetch", "1", environment: bench.configured).exitCode == 0)
                let ranges = server.requests(path: "/audio/1.mp3").map { $0.header("Range") }
                #expect(ranges == [nil, "bytes=10000-"])
                #expect(try bench.digests() == catalog.digests)
            }
        }
    }
}
