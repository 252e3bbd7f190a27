import Foundation
import Support
import Testing

extension ProductTests {
    /// What lets the user in is in no line that booksync writes, and in no file that it keeps.
    @Suite struct Secrets {
        private static let secrets = [
            "TOKEN-7f3a", "IMEI-86753", "SIGNING-c0ffee", "HEADER-9b1d", "URLPASSWORD-51", "AUDIOSIGN-2e2e",
            "HOOK-44aa",
        ]

        /// The alert is posted to the catalog's own server, which knows of none.
        private static func configuration(port: Int) -> String {
            """
            downloads: { retries: 0 }
            notify: { webhook: "http://127.0.0.1:\(port)/HOOK-44aa" }
            sources:
              cat:
                type: book-resource
                url: http://listener:URLPASSWORD-51@127.0.0.1:\(port)\(ScriptedCatalog.listPath)
                query: { imei: "IMEI-86753", token: "${KTING_TOKEN}", nwt: 1 }
                signature: { parameter: sc, algorithm: md5, secret: "SIGNING-c0ffee" }
                headers: { Authorization: "Bearer HEADER-9b1d", ClientVersion: "8.8.03" }
                allow-private-addresses: true
            """
        }

        private static func catalog() -> ScriptedCatalog {
            var catalog = ScriptedCatalog(episodes: 5, bytes: 4000)
            for index in catalog.items.indices {
                catalog.items[index].query = "?auth_key=AUDIOSIGN-2e2e&expires=1700000000"
            }
            catalog.items[1].deeds = [.instead(.notFound)]
            catalog.items[2].deeds = [.instead(.text("<html>TOKEN-7f3a</html>", type: "text/html"))]
            catalog.items[3].deeds = [.closeBeforeAnswer]
            return catalog
        }

        private static let commands = [
            ["plan", "1"], ["fetch", "1", "-v"], ["fetch", "1", "--json", "-v", "--force"], ["list", "--json"],
            ["list", "1"], ["list", "1", "--json"], ["show", "1"], ["show", "1", "--json"], ["show", "1/1"],
            ["show", "1/2", "--json"], ["config", "show"], ["config", "show", "--json"], ["config", "path"],
            ["subscribe", "1"], ["subscriptions", "--json"], ["mirror", "-v"], ["plan", "1", "--offline", "--json"],
            ["explain", "1/1-5"], ["explain", "1/1-5", "--json"], ["verify", "-v"], ["verify", "--json"], ["undo"],
            ["fetch", "1", "-vv", "--force"], ["mirror", "-vv", "--log-file", "booksync.log"],
            ["fetch", "1", "-vv", "--force", "--log-file", "booksync.log", "--log-format", "json"],
        ]

        private static func expectNoSecret(in text: String, of what: [String], besides digests: [String] = []) {
            for secret in secrets + digests {
                #expect(!text.contains(secret), "\(what): \(secret) in \(text.prefix(3000))")
            }
        }

        @Test func `secrets are in no output and in no file of the library`() async throws {
            try await withWorkbench { bench in
                let signatures = try await withServer(Self.catalog().script) { server in
                    try bench.configure(Self.configuration(port: server.port))
                    let environment = bench.configured.merging(["KTING_TOKEN": "TOKEN-7f3a"]) { $1 }
                    for command in Self.commands {
                        let result = try await bench.runBare(command + ["--library", "L"], environment: environment)
                        #expect(result.signal == nil)
                        let signatures = Set(server.record.requests.compactMap { $0.query["sc"] })
                        Self.expectNoSecret(
                            in: result.output + result.errors, of: command, besides: Array(signatures))
                    }
                    // They were sent where they belong.
                    let asked = try #require(server.requests(path: ScriptedCatalog.listPath).first)
                    #expect(asked.query["token"] == "TOKEN-7f3a")
                    #expect(asked.query["imei"] == "IMEI-86753")
                    #expect(asked.query["sc"] != nil)
                    #expect(asked.header("Authorization") == "Bearer HEADER-9b1d")
                    #expect(server.requests(path: "/audio/1.mp3").first?.query["auth_key"] == "AUDIOSIGN-2e2e")
                    return server.record.requests.compactMap { $0.query["sc"] }
                }
                #expect(try bench.files().count == 2)
                try Self.expectNoSecretOnDisk(bench.library, besides: signatures)
                let log = try String(contentsOf: bench.folder.appending(path: "booksync.log"), encoding: .utf8)
                #expect(log.contains("sending a request") && log.contains("\"message\":\"failed\""))
                Self.expectNoSecret(in: log, of: ["the log"], besides: signatures)
            }
        }

        @Test(arguments: [
            ScriptAnswer(status: 401, text: "{\"msg\":\"bad TOKEN-7f3a\"}"),
            ScriptAnswer(status: 200, text: "{\"status\":2,\"msg\":\"token TOKEN-7f3a已过期\"}"),
            ScriptAnswer(status: 200, text: "<html><a href='?token=TOKEN-7f3a&imei=IMEI-86753'>"),
            ScriptAnswer(status: 200, text: "{\"status\":1,\"msg\":\"TOKEN-7f3a IMEI-86753\"}"),
            ScriptAnswer(status: 302, text: ""),
        ])
        func `a catalog that echoes secrets in its refusal does not bring them out`(
            _ answer: ScriptAnswer
        ) async throws {
            try await withWorkbench { bench in
                let location = "http://elsewhere.invalid/login?token=TOKEN-7f3a"
                let script = ServerScript { _ in
                    .text(answer.text, status: answer.status, headers: ["Location": location])
                }
                try await withServer(script) { server in
                    try bench.configure(Self.configuration(port: server.port))
                    let environment = bench.configured.merging(["KTING_TOKEN": "TOKEN-7f3a"]) { $1 }
                    for command in [["fetch", "1", "-v"], ["fetch", "1", "--json"], ["plan", "1"]] {
                        let result = try await bench.runBare(command + ["--library", "L"], environment: environment)
                        #expect(result.exitCode != 0)
                        #expect(result.signal == nil)
                        Self.expectNoSecret(in: result.output + result.errors, of: command)
                    }
                }
                try Self.expectNoSecretOnDisk(bench.library)
            }
        }

        @Test func `an unset variable is named when the source is asked, and no sooner`() async throws {
            try await withWorkbench { bench in
                try bench.configure(Self.configuration(port: 9))
                #expect(try await bench.run("list", environment: bench.configured).exitCode == 0)
                let fetch = try await bench.run("fetch", "1", environment: bench.configured)
                #expect(fetch.exitCode == 78)
                #expect(fetch.errors.contains("KTING_TOKEN"))
                #expect(fetch.errors.contains("line 7"), "\(fetch.errors)")
            }
        }

        private static func expectNoSecretOnDisk(_ library: URL, besides signatures: [String] = []) throws {
            let below = try #require(
                FileManager.default.enumerator(at: library, includingPropertiesForKeys: [.isRegularFileKey]))
            for case let file as URL in below {
                guard try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else { continue }
                let bytes = try Data(contentsOf: file)
                for secret in secrets + signatures {
                    #expect(bytes.firstRange(of: Data(secret.utf8)) == nil, "\(secret) in \(file.path)")
                }
            }
        }
    }
}

struct ScriptAnswer: Sendable {
    var status: Int
    var text: String
}
