import Foundation
import Support
import Testing

extension ProductTests {
    @Suite(.needs(python: "sqlite3"))
    struct LockedStore {
        static let taking = """
            import sqlite3, time
            store = sqlite3.connect('L/.booksync/store.sqlite', isolation_level=None, timeout=60)
            store.execute('BEGIN EXCLUSIVE')
            print('held', flush=True)
            time.sleep(3600)
            """

        @Test func `a run whose store another process keeps locked ends with 75 and keeps what it received`()
            async throws
        {
            let gate = Gate()
            var catalog = ScriptedCatalog(episodes: 40, bytes: 70_000)
            for index in 1..<40 { catalog.items[index].deeds = [.stall(at: 10_000, until: gate)] }
            try await withCatalog(catalog.script) { bench, server in
                let python = try #require(await ForeignProgram.python(having: "sqlite3"))
                let received = try await bench.start("fetch", "1", "--json", environment: bench.configured) { run in
                    try await run.waitForOutput(containing: "\"event\":\"finished\"")
                    try await server.waitUntil { record in
                        (2...5).allSatisfy { record.bodyBytesSent(path: "/audio/\($0).mp3") >= 10_000 }
                    }
                    return try await withProduct(["-c", Self.taking], in: bench.folder, executable: python) { holder in
                        try await holder.waitForOutput(containing: "held")
                        gate.open()
                        let result = try await run.result()
                        #expect(result.exitCode == 75, "\(result)")
                        #expect(result.errors.contains("another process has been writing to"), "\(result.errors)")
                        return try #require(try result.summary().number("bytes_received"))
                    }
                }
                let next = try await bench.run("fetch", "1", "--json", environment: bench.configured)
                #expect(next.exitCode == 0, "\(next.errors)")
                #expect(try bench.digests().sorted() == catalog.digests.sorted())
                #expect(try next.summary().number("bytes_received") == catalog.totalBytes - received)
            }
        }
    }
}
