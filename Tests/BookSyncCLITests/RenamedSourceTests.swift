import Support
import Testing

extension ProductTests {
    /// A source whose name was changed in the configuration.
    @Suite struct RenamedSource {
        private static func configuration(_ sources: [String], port: Int) -> String {
            let entries = sources.map { name in
                """
                  \(name):
                    type: book-resource
                    url: http://127.0.0.1:\(port)\(ScriptedCatalog.listPath)
                    allow-private-addresses: true
                """
            }
            return "sources:\n" + entries.joined(separator: "\n") + "\nsubscriptions: [{ book: \"\(sources[0]):1\" }]\n"
        }

        @Test func `its books are not fetched again beside their files, unless that is asked for`() async throws {
            let catalog = ScriptedCatalog(episodes: 3)
            try await withCatalog(catalog.script) { bench, server in
                #expect(try await bench.run("fetch", "1", environment: bench.configured).exitCode == 0)
                let brought = server.record.audioBytesSent
                try bench.configure(Self.configuration(["dog"], port: server.port))
                // Told in every run, and of the plan as well.
                for command in [["mirror", "--json"], ["mirror", "-q"], ["fetch", "1"], ["plan", "1"]] {
                    let result = try await bench.runBare(command + ["--library", "L"], environment: bench.configured)
                    #expect(result.exitCode == 78, "\(command)")
                    #expect(result.errors.contains("dog:1 is not fetched: cat:1 has the same id"), "\(result.errors)")
                    #expect(result.errors.contains("call the source 'cat' again"), "\(result.errors)")
                }
                #expect(server.record.audioBytesSent == brought)
                try bench.configure(Self.configuration(["dog", "cat"], port: server.port))
                #expect(try await bench.run("fetch", "cat:1", environment: bench.configured).exitCode == 0)
                #expect(server.record.audioBytesSent == brought)
                try bench.configure(Self.configuration(["dog"], port: server.port))
                #expect(try await bench.run("fetch", "1", "--force", environment: bench.configured).exitCode == 0)
                #expect(server.record.audioBytesSent == 2 * brought)
                // From here on the book has files of its own.
                #expect(try await bench.run("mirror", environment: bench.configured).exitCode == 0)
                #expect(server.record.audioBytesSent == 2 * brought)
            }
        }
    }
}
