import Foundation
import Support
import Testing

extension ProductTests {
    /// Case 31 of the download cases, where a name can be given two addresses of which one swallows packets.
    @Suite struct Unreachable {
        private static func isPossible() async -> Bool {
            guard SwallowingListener.isPossibleOnIPv6 else { return false }
            return await OwnHosts.arePossible()
        }

        @Test(.needs("root, unshare and IPv6 on loopback") { await isPossible() })
        func `case 31: an IPv6 address that swallows packets costs no try beside a good IPv4 one`() async throws {
            let catalog = ScriptedCatalog(episodes: 3)
            try await withCatalog(catalog.script) { bench, server in
                let swallowing = try SwallowingListener(isIPv6: true, port: server.port)
                // Who waits for the first address alone has no second try.
                let configuration = ScriptedCatalog.configuration(
                    port: swallowing.port, more: "downloads: { retries: 0 }")
                try bench.configure(configuration.replacingOccurrences(of: "127.0.0.1", with: "audio.example"))
                let result = try await bench.run(
                    "fetch 1 --json", hosts: "::1 audio.example\n127.0.0.1 audio.example\n")
                #expect(result.exitCode == 0, "\(result.errors)")
                #expect(try bench.digests() == catalog.digests)
                #expect(server.record.requests.first?.header("Host") == "audio.example:\(server.port)")
            }
        }
    }
}
