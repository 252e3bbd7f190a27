import Foundation
import Support
import Testing

extension ProductTests {
    /// Case 33 of the download cases, where names can be given addresses: a catalog out in the world, which a proxy plays,
    /// and names that lead into the user's own network.
    @Suite(
        .enabled("giving names addresses of one's own takes root and unshare") { await OwnHosts.arePossible() })
    struct PrivateAddresses {
        private static let hosts = "127.0.0.1 localhost\n127.0.0.1 private.example\n"

        /// A catalog whose first episode is at a private name, the second and third lead there, and the fourth is its own.
        private static func script(_ catalog: ScriptedCatalog, _ port: Watched<Int>) -> ServerScript {
            ServerScript { request in
                let isPublic = request.header("Host")?.hasPrefix("catalog.example:") == true
                switch request.path {
                case ScriptedCatalog.listPath:
                    var reply = catalog.script.answer(request)
                    let text = String(decoding: reply.body, as: UTF8.self)
                    reply.body = Array(
                        text.replacing("\"/audio/1.mp3", with: "\"http://private.example:\(port.value)/audio/1.mp3")
                            .utf8)
                    return reply
                case "/audio/2.mp3" where isPublic:
                    return .reply(
                        status: 302, headers: ["Location": "http://private.example:\(port.value)/audio/2.mp3"])
                case "/audio/3.mp3" where isPublic:
                    return .reply(status: 302, headers: ["Location": "http://127.0.0.1:\(port.value)/audio/3.mp3"])
                default: return catalog.script.answer(request)
                }
            }
        }

        @Test func `case 33: a public catalog leads to no name or address of the private network, unless it may`()
            async throws
        {
            let catalog = ScriptedCatalog(episodes: 4)
            let port = Watched(0)
            try await withProxy(.http) { proxy in
                try await withCatalog(Self.script(catalog, port)) { bench, server in
                    port.update { $0 = server.port }
                    let source = """
                        sources:
                          cat: { type: book-resource, url: "http://catalog.example:\(server.port)\(ScriptedCatalog.listPath)" }
                        """
                    let environment = [
                        "http_proxy": "http://127.0.0.1:\(proxy.port)", "no_proxy": "private.example,127.0.0.1",
                    ]
                    try bench.configure(source)
                    let refused = try await bench.run("fetch 1 --json", hosts: Self.hosts, environment: environment)
                    #expect(refused.exitCode == 75, "\(refused.errors)")
                    #expect(try refused.finishedSections() == [4])
                    let failed = try refused.events().filter { $0["event"] == "failed" }
                    #expect(failed.compactMap { $0.number("section") }.sorted() == [1, 2, 3])
                    for event in failed {
                        #expect(event["error"]?.contains("allow-private-addresses") == true, "\(event.members)")
                    }
                    // What went out went to the public name, and nothing was tried twice.
                    let asked = server.record.requests.filter { $0.path.hasPrefix("/audio/") }
                    #expect(asked.map(\.path).sorted() == ["/audio/2.mp3", "/audio/3.mp3", "/audio/4.mp3"])
                    #expect(Set(asked.map { $0.header("Host") }) == ["catalog.example:\(server.port)"])

                    try bench.configure(
                        source.replacing("url:", with: "allow-private-addresses: true, url:"))
                    let allowed = try await bench.run("fetch 1 --json", hosts: Self.hosts, environment: environment)
                    #expect(allowed.exitCode == 0, "\(allowed.errors)")
                    #expect(try allowed.finishedSections() == [1, 2, 3])
                    #expect(try bench.digests() == catalog.digests)
                }
            }
        }
    }
}
