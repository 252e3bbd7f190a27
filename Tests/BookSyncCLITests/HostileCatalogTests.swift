import Foundation
import Support
import Testing

extension ProductTests {
    /// Catalogs that would crash a careless reader: a sentence or the right number, never a signal.
    @Suite struct HostileCatalogs {
        @Test func `nesting 100,000 deep is 65`() async throws {
            let deep = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
            for answer in [deep, "{\"status\":0,\"list\":[{\"id\":1,\"name\":\"a\",\"odd\":\(deep)}],\"sections\":1}"] {
                try await withCatalog(.always(.text(answer))) { bench, _ in
                    let result = try await bench.run("fetch", "1", environment: bench.configured)
                    #expect(result.signal == nil)
                    #expect(result.exitCode == 65)
                    #expect(result.errors.utf8.count < 2000)
                }
            }
        }

        @Test func `names that steer terminals or leave the folder do neither`() async throws {
            var catalog = ScriptedCatalog(episodes: 4, bytes: 2000)
            catalog.items[0].name = "red\u{1B}[31m\u{07}bell\r\n"
            catalog.items[1].name = "../../../../etc/passwd"
            catalog.items[2].name = "\u{9B}2J\u{202E}gnp.exe"
            catalog.items[3].name = "fails\u{1B}]0;title\u{07}"
            catalog.items[3].deeds = [.instead(.text("\u{1B}[2Jno", status: 404))]
            try await withCatalog(catalog.script, more: "downloads: { retries: 0 }") { bench, _ in
                let environment = bench.configured
                for arguments in [
                    ["plan", "1"], ["fetch", "1", "-v"], ["fetch", "1", "--json", "--force"], ["list"], ["list", "1"],
                    ["list", "1", "--json"], ["show", "1/1"], ["show", "1/4"], ["show", "1/4", "--json"],
                    ["plan", "1", "--json"],
                ] {
                    let result = try await bench.runBare(arguments + ["--library", "L"], environment: environment)
                    #expect(result.controlCharacters.isEmpty, "\(arguments): \(result.output)\(result.errors)")
                    #expect(result.signal == nil)
                }
                let files = try bench.files(in: bench.folder)
                #expect(files.keys.filter { $0.hasSuffix(".mp3") }.allSatisfy { $0.hasPrefix("L/") })
                #expect(try bench.files().count == 3)
            }
        }
    }
}
