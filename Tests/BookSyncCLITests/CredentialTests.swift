import Foundation
import Support
import Testing

extension ProductTests {
    /// What the configuration lets in with, from the file to the wire.
    @Suite struct Credentials {
        private static let password = "PASSWORD-4c1d"
        private static let cookie = "COOKIE-77e0"

        private static func basic(_ pair: String) -> String { "Basic " + Data(pair.utf8).base64EncodedString() }

        /// A catalog that lets in only who is right; its third episode is on another server, its fourth leads there.
        private func withGuardedCatalog(
            for isLetIn: @escaping @Sendable (ServerRequest) -> Bool,
            _ body: (Workbench, _ own: MisbehavingServer, _ other: MisbehavingServer, ScriptedCatalog) async throws ->
                Void
        ) async throws {
            let catalog = ScriptedCatalog(episodes: 4)
            try await withServer(catalog.script) { other in
                let script = ServerScript { request in
                    guard isLetIn(request) else { return .text("go away \(request.headers)", status: 401) }
                    if request.path == ScriptedCatalog.listPath {
                        var reply = catalog.script.answer(request)
                        let text = String(decoding: reply.body, as: UTF8.self)
                        reply.body = Array(
                            text.replacing("\"/audio/3.mp3", with: "\"\(other.url("/audio/3.mp3"))").utf8)
                        return reply
                    }
                    if request.path == "/audio/4.mp3" {
                        return .reply(status: 302, headers: ["Location": other.url("/audio/4.mp3")])
                    }
                    return catalog.script.answer(request)
                }
                try await withWorkbench { bench in
                    try await withServer(script) { own in try await body(bench, own, other, catalog) }
                }
            }
        }

        private func expectNothing(at other: MisbehavingServer) {
            #expect(other.record.requests.map(\.path).sorted() == ["/audio/3.mp3", "/audio/4.mp3"])
            for request in other.record.requests {
                for name in ["Authorization", "Cookie"] { #expect(request.header(name) == nil) }
            }
        }

        private func expectNoSecret(below folder: URL) throws {
            let below = try #require(
                FileManager.default.enumerator(at: folder, includingPropertiesForKeys: [.isRegularFileKey]))
            for case let file as URL in below {
                guard try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else { continue }
                let bytes = try Data(contentsOf: file)
                for secret in [Self.password, Self.cookie] {
                    #expect(bytes.firstRange(of: Data(secret.utf8)) == nil, "\(secret) in \(file.path)")
                }
            }
        }

        private func files(of bench: Workbench) throws -> [String: String] {
            let folder = bench.folder
            try Data("\(Self.password)\n".utf8).write(to: folder.appending(path: "password"))
            try Data("127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\t\(Self.cookie)\n".utf8)
                .write(to: folder.appending(path: "cookies.txt"))
            return bench.configured
        }

        @Test(arguments: ["    user: me\n    password-file: password", "    bearer-file: password"])
        func `case 23: user, password, token and cookies go to the catalog and its own audio, and to nobody else`(
            keys: String
        ) async throws {
            let expected =
                keys.contains("bearer") ? "Bearer \(Self.password)" : Self.basic("me:\(Self.password)")
            let isLetIn = { @Sendable (request: ServerRequest) in
                request.header("Authorization") == expected && request.header("Cookie") == "sid=\(Self.cookie)"
            }
            try await withGuardedCatalog(for: isLetIn) { bench, own, other, catalog in
                let environment = try files(of: bench)
                try bench.configure(
                    ScriptedCatalog.configuration(port: own.port, more: "\(keys)\n    cookies: cookies.txt"))
                let result = try await bench.run("fetch", "1", "-v", environment: environment)
                #expect(result.exitCode == 0, "\(result.errors)")
                #expect(try bench.digests() == catalog.digests)
                #expect(own.record.requests.count == 4)
                expectNothing(at: other)
                try expectNoSecret(below: bench.library)
                for arguments in [["config", "show"], ["config", "show", "--json"], ["config", "check"]] {
                    let shown = try await bench.runBare(arguments, environment: environment)
                    for secret in [Self.password, Self.cookie] {
                        #expect(!(shown.output + shown.errors + result.output + result.errors).contains(secret))
                    }
                }
            }
        }

        @Test func `case 23: the netrc lets in where nothing else is set, and its password goes nowhere else`()
            async throws
        {
            let isLetIn = { @Sendable (request: ServerRequest) in
                request.header("Authorization") == Self.basic("net:\(Self.password)")
            }
            try await withGuardedCatalog(for: isLetIn) { bench, own, other, catalog in
                try bench.configure(ScriptedCatalog.configuration(port: own.port))
                let netrc = "default login d password d\nmachine 127.0.0.1\n login net\n password \(Self.password)\n"
                try Data(netrc.utf8).write(to: bench.folder.appending(path: ".netrc"))
                let result = try await bench.run("fetch", "1", environment: bench.configured)
                #expect(result.exitCode == 0, "\(result.errors)")
                #expect(try bench.digests() == catalog.digests)
                expectNothing(at: other)
                let without = try await bench.run(
                    "fetch", "1", environment: bench.configured.merging(["BOOKSYNC_NETRC": "none"]) { $1 })
                #expect(without.exitCode == 77)
            }
        }

        @Test func `who is not let in exits with 77, and what the server says back holds no secret`() async throws {
            let nobody = { @Sendable (_: ServerRequest) in false }
            try await withGuardedCatalog(for: nobody) { bench, own, _, _ in
                let environment = try files(of: bench)
                try bench.configure(
                    ScriptedCatalog.configuration(
                        port: own.port, more: "    bearer-file: password\n    cookies: cookies.txt"))
                let result = try await bench.run("fetch", "1", "-v", environment: environment)
                #expect(result.exitCode == 77, "\(result.errors)")
                #expect(own.record.requests.first?.header("Authorization") == "Bearer \(Self.password)")
                for secret in [Self.password, Self.cookie] { #expect(!result.errors.contains(secret)) }
            }
        }

        @Test(arguments: [401, 403])
        func `audio that is refused to the user exits with 77`(status: Int) async throws {
            var catalog = ScriptedCatalog(episodes: 2)
            catalog.items[1].deeds = [.instead(.text("no", status: status))]
            try await withCatalog(catalog.script) { bench, _ in
                let result = try await bench.run("fetch", "1", environment: bench.configured)
                #expect(result.exitCode == 77, "\(result.errors)")
                #expect(try bench.files().count == 1)
            }
        }
    }
}
