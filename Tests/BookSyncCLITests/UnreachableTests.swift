import Foundation
import Support
import Testing

extension ProductTests {
    /// Case 31 of the download cases, where a name can be given two addresses of which one swallows packets.
    @Suite struct Unreachable {
        /// Whether a process may have a hosts file of its own.
        private static func mayMount() async -> Bool {
            guard geteuid() == 0, SwallowingListener.isPossibleOnIPv6 else { return false }
            return await ProductRunner.succeeds(
                URL(filePath: "/bin/sh"), ["-c", "unshare -m mount --bind /dev/null /etc/hosts"])
        }

        @Test(.enabled("giving a name two addresses takes root, unshare and IPv6 on loopback") { await mayMount() })
        func `case 31: an IPv6 address that swallows packets costs no try beside a good IPv4 one`() async throws {
            let catalog = ScriptedCatalog(episodes: 3)
            try await withCatalog(catalog.script) { bench, server in
                let swallowing = try SwallowingListener(isIPv6: true, port: server.port)
                let hosts = bench.folder.appending(path: "hosts")
                try Data("::1 audio.example\n127.0.0.1 audio.example\n".utf8).write(to: hosts)
                // Who waits for the first address alone has no second try.
                let configuration = ScriptedCatalog.configuration(
                    port: swallowing.port, more: "downloads: { retries: 0 }")
                try bench.configure(configuration.replacingOccurrences(of: "127.0.0.1", with: "audio.example"))
                let result = try await bench.shell(
                    """
                    exec unshare -m sh -c 'mount --bind hosts /etc/hosts && \
                    exec "$BOOKSYNC" fetch 1 --json --library L --config booksync.yaml'
                    """)
                #expect(result.exitCode == 0, "\(result.errors)")
                #expect(try bench.digests() == catalog.digests)
                #expect(server.record.requests.first?.header("Host") == "audio.example:\(server.port)")
            }
        }
    }
}
