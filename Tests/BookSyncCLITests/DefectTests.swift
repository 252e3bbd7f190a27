import Foundation
import Support
import Testing

extension ProductTests {
    /// Exit code 70: what booksync itself does wrong. The store's schema refuses records that must not be; here it refuses
    /// right ones, which to the program is all the same.
    @Suite(.needs("sqlite3"))
    struct Defects {
        private func sql(_ statement: String, in bench: Workbench) async throws {
            let result = try await ForeignProgram.run("sqlite3", ["L/.booksync/store.sqlite", statement], in: bench)
            try #require(result.exitCode == 0, "\(result.errors)")
        }

        @Test(arguments: ["transfer", "local_file"])
        func `a record that the store refuses is told as a defect with 70, and nothing is lost or fetched twice`(
            table: String
        ) async throws {
            let catalog = ScriptedCatalog(episodes: 2)
            try await withCatalog(catalog.script) { bench, server in
                let environment = bench.configured
                _ = try await bench.run("fetch", "1/1", "-q", environment: environment)
                // An index that cannot be kept of any row but the first; with a trigger the store would not be opened.
                try await sql(
                    "CREATE INDEX refusal ON \(table) (abs(-9223372036854775807 - 1 + episode_id * 0)) "
                        + "WHERE episode_id <> 1", in: bench)
                let result = try await bench.run("fetch", "1", "--json", environment: environment)
                #expect(result.exitCode == 70)
                #expect(try result.summary().number("exit_code") == 70)
                #expect(try result.summary().number("failed") == 1)
                let failed = try #require(try result.events().first { $0["event"] == "failed" })
                #expect(failed["kind"] == "defect")
                #expect(failed["error"]?.contains("SQL logic error") == true)
                #expect(result.errors.contains("SQL logic error"), "\(result.errors)")
                let plain = try await bench.run("fetch", "1", "-q", environment: environment)
                #expect(plain.exitCode == 70 && plain.errors.contains("SQL logic error"), "\(plain.errors)")

                try await sql("DROP INDEX refusal", in: bench)
                let next = try await bench.run("fetch", "1", "--json", environment: environment)
                #expect(next.exitCode == 0, "\(next.errors)")
                #expect(try bench.digests() == catalog.digests)
                #expect(server.record.audioBytesSent == catalog.totalBytes)
            }
        }
    }
}
