import Foundation
import Support
import Testing

extension ProductTests {
    /// Servers that declare more bytes than any file has.
    @Suite struct AbsurdLengthTests {
        private static let lengths = ["9223372036854775807", "1125899906842624"]

        private static func reply(declaring length: String) -> Reply {
            let head =
                "HTTP/1.1 200 OK\r\nContent-Type: audio/mpeg\r\nETag: \"a\"\r\nContent-Length: \(length)\r\n\r\n"
            return .raw(Array(head.utf8), body: sampleMP3(bytes: 3000), then: .close)
        }

        @Test(arguments: lengths)
        func `an absurd length is the episode's failure, and no later run's`(length: String) async throws {
            var catalog = ScriptedCatalog(episodes: 3, bytes: 3000)
            catalog.items[1].deeds = [.instead(Self.reply(declaring: length)), .wellBehaved]
            try await withCatalog(catalog.script, more: "downloads: { retries: 0 }") { bench, _ in
                let environment = bench.configured
                let first = try await bench.run("fetch", "1", "--json", environment: environment)
                #expect(first.exitCode == 75, "\(first.errors)")
                #expect(try first.summary().number("fetched") == 2)
                let explained = try await bench.run("explain", "1/2", environment: environment)
                #expect(explained.output.contains("declares \(length) bytes"), "\(explained.output)")
                for arguments in [["plan", "1"], ["list", "1"], ["queue"], ["subscribe", "1"], ["mirror"]] {
                    let result = try await bench.runBare(arguments + ["--library", "L"], environment: environment)
                    #expect(result.exitCode == 0, "\(arguments): \(result.errors)")
                }
                let last = try await bench.run("fetch", "1", "--force", environment: environment)
                #expect(last.exitCode == 0, "\(last.errors)")
                #expect(try bench.digests() == catalog.digests)
            }
        }

        @Test(
            .needs("sqlite3"),
            arguments: lengths)
        func `an absurd length that an earlier version took down stands in no run's way`(length: String) async throws {
            var catalog = ScriptedCatalog(episodes: 3, bytes: 3000)
            catalog.items[1].deeds = [.cut(at: 1000), .wellBehaved]
            try await withCatalog(catalog.script, more: "downloads: { retries: 0 }") { bench, _ in
                let environment = bench.configured
                let first = try await bench.run("fetch", "1", environment: environment)
                #expect(first.exitCode == 75, "\(first.errors)")
                let statement = "UPDATE transfer SET total = \(length); SELECT changes()"
                let changed = try await ForeignProgram.run(
                    "sqlite3", ["L/.booksync/store.sqlite", statement], in: bench)
                #expect(changed.output == "1\n")
                for arguments in [["plan", "1"], ["explain", "1/2"], ["list", "1"], ["show", "1/2"]] {
                    let result = try await bench.runBare(arguments + ["--library", "L"], environment: environment)
                    #expect(result.exitCode == 0, "\(arguments): \(result.errors)")
                }
                let last = try await bench.run("fetch", "1", "--force", environment: environment)
                #expect(last.exitCode == 0, "\(last.errors)")
                #expect(try bench.digests() == catalog.digests)
            }
        }
    }
}
