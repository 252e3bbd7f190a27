import Foundation
import Support
import Testing

extension ProductTests {
    /// Case 32 of the download cases: proxies, as the environment and the configuration name them.
    @Suite struct Proxies {
        @Test func `case 32: catalog and audio come through the environment's proxy`() async throws {
            let catalog = ScriptedCatalog(episodes: 2)
            try await withProxy(.http) {
                $0.credentials = "me:PROXYPASSWORD"
            } _: { proxy in
                try await withCatalog(catalog.script) { bench, server in
                    let environment = bench.configured.merging([
                        "http_proxy": "http://me:PROXYPASSWORD@127.0.0.1:\(proxy.port)"
                    ]) { $1 }
                    let result = try await bench.run("fetch", "1", "-v", environment: environment)
                    #expect(result.exitCode == 0, "\(result.errors)")
                    #expect(try bench.digests() == catalog.digests)
                    #expect(proxy.record.requests.count == server.record.requests.count)
                    #expect(proxy.record.requests.contains { $0.hasPrefix("GET \(server.url("/audio/1.mp3")) ") })
                    #expect(!(result.output + result.errors).contains("PROXYPASSWORD"))
                }
            }
        }

        @Test func `case 32: a source's own proxy counts, and none means none`() async throws {
            let catalog = ScriptedCatalog(episodes: 1)
            try await withProxy(.socks) { proxy in
                try await withDeadProxyAndCatalog(catalog.script) { bench, server, deadProxy in
                    let configuration = ScriptedCatalog.configuration(port: server.port)
                    let dead = bench.configured.merging(["all_proxy": deadProxy]) { $1 }
                    try bench.configure(configuration + "    proxy: none\n")
                    let direct = try await bench.run("fetch", "1", environment: dead)
                    #expect(direct.exitCode == 0, "\(direct.errors)")
                    #expect(proxy.record.connectionsAccepted == 0)
                    try bench.configure(
                        configuration + "    proxy: socks5h://127.0.0.1:\(proxy.port)\n")
                    let through = try await bench.run("fetch", "1", "--force", environment: dead)
                    #expect(through.exitCode == 0, "\(through.errors)")
                    #expect(proxy.record.requests.first == "SOCKS 127.0.0.1:\(server.port)")
                    try bench.configure(configuration + "    proxy: http://u:PROXYPASSWORD@127.0.0.1:1\n")
                    let shown = try await bench.run("config", "show", environment: bench.configured)
                    #expect(shown.output.contains("http://***@127.0.0.1:1"), "\(shown.output)")
                    #expect(!shown.output.contains("PROXYPASSWORD"))
                }
            }
        }

        @Test func `case 32: the built-in demo is reached whatever the environment says`() async throws {
            try await withDeadProxyAndCatalog(.always(.notFound)) { bench, _, deadProxy in
                let environment = ["http_proxy": deadProxy, "all_proxy": deadProxy]
                let result = try await bench.run("fetch", "30776/1", environment: environment)
                #expect(result.exitCode == 0, "\(result.errors)")
                #expect(try bench.files().count == 1)
            }
        }

        @Test func `case 32: a proxy that is not there, or wants a password, is what the message is about`()
            async throws
        {
            try await withProxy(.http) {
                $0.credentials = "me:pw"
            } _: { proxy in
                try await withDeadProxyAndCatalog(
                    ScriptedCatalog(episodes: 1).script, more: "downloads: { retries: 0 }"
                ) { bench, server, deadProxy in
                    let wanting = bench.configured.merging(["http_proxy": "127.0.0.1:\(proxy.port)"]) { $1 }
                    let refused = try await bench.run("fetch", "1", environment: wanting)
                    #expect(refused.exitCode != 0)
                    #expect(refused.errors.contains("wants a user and a password (407)"), "\(refused.errors)")
                    #expect(refused.errors.contains("not the source's"), "\(refused.errors)")
                    let dead = bench.configured.merging(["http_proxy": deadProxy.replacing("http://", with: "")]) { $1 }
                    let missing = try await bench.run("fetch", "1", environment: dead)
                    #expect(missing.errors.contains("the proxy \(deadProxy) refuses"), "\(missing.errors)")
                    #expect(server.record.connectionsAccepted == 0)
                }
            }
        }
    }
}

/// A catalog, and the address of a proxy that refuses every connection.
private func withDeadProxyAndCatalog(
    _ script: ServerScript, more: String = "", isolation: isolated (any Actor)? = #isolation,
    _ body: (Workbench, MisbehavingServer, String) async throws -> Void
) async throws {
    try await withRefusingPort { port in
        try await withCatalog(script, more: more) { try await body($0, $1, "http://127.0.0.1:\(port)") }
    }
}
