import Foundation
import Support
import Testing

private let opensslProgram = URL(filePath: "/usr/bin/openssl")

extension ProductTests {
    /// HTTPS with a certificate that only an authority of the user's own vouches for, made for the test by openssl.
    @Suite struct Authorities {
        @discardableResult
        private func openssl(_ words: String, in folder: URL) async throws -> ProductRunner.Result {
            let result = try await withProduct(
                words.split(separator: " ").map(String.init), in: folder, executable: opensslProgram
            ) { try await $0.result() }
            try #require(result.exitCode == 0, "\(result.errors)")
            return result
        }

        /// An authority (`ca.pem`), and a server's key and certificate for localhost that it signed.
        private func makeCertificates(in folder: URL) async throws {
            let newKey = "req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
            try await openssl(
                "\(newKey) -x509 -days 2 -subj /CN=Authority -keyout ca.key -out ca.pem", in: folder)
            try await openssl("\(newKey) -subj /CN=localhost -keyout server.key -out server.csr", in: folder)
            try Data("subjectAltName=DNS:localhost\n".utf8).write(to: folder.appending(path: "extensions"))
            try await openssl(
                "x509 -req -days 2 -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -extfile extensions "
                    + "-out server.pem", in: folder)
        }

        /// A file as `openssl s_server -HTTP` sends it: with its head.
        private func serve(_ body: [UInt8], type: String, as name: String, in folder: URL) throws {
            let head = "HTTP/1.0 200 OK\r\nContent-Type: \(type)\r\nContent-Length: \(body.count)\r\n\r\n"
            try (Data(head.utf8) + Data(body)).write(to: folder.appending(path: name))
        }

        @Test(.needs("openssl"))
        func `an authority of one's own is trusted where ca-file names it, and nowhere else`() async throws {
            let audio = sampleMP3(bytes: 30_000)
            try await withWorkbench { bench in
                let folder = bench.folder.appending(path: "server")
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                try await makeCertificates(in: folder)
                let server = [
                    "s_server", "-accept", "127.0.0.1:0", "-HTTP", "-cert", "server.pem", "-key", "server.key",
                ]
                try await withProduct(server, in: folder, executable: opensslProgram) { running in
                    let said = try await running.waitForOutput(containing: "ACCEPT 127.0.0.1:")
                    let port = said.split(separator: "ACCEPT 127.0.0.1:").last?.prefix(while: \.isNumber) ?? ""
                    let origin = "https://localhost:\(port)"
                    let feed = """
                        <rss><channel><title>F</title><item><title>One</title><guid>1</guid>
                        <enclosure url="\(origin)/1.mp3" type="audio/mpeg"/></item></channel></rss>
                        """
                    try serve(Array(feed.utf8), type: "application/rss+xml", as: "feed", in: folder)
                    try serve(audio, type: "audio/mpeg", as: "1.mp3", in: folder)

                    let source = "sources:\n  own:\n    type: feed\n    url: \(origin)/feed\n"
                    try bench.configure("downloads: { retries: 0 }\n" + source)
                    let refused = try await bench.run("fetch", "\(origin)/feed", environment: bench.configured)
                    #expect(refused.exitCode == 69, "\(refused.errors)")
                    #expect(refused.errors.contains("no secure connection"), "\(refused.errors)")

                    try bench.configure(source + "    ca-file: server/ca.pem\n")
                    let fetched = try await bench.run("fetch", "\(origin)/feed", environment: bench.configured)
                    #expect(fetched.exitCode == 0, "\(fetched.errors)")
                    #expect(try bench.digests() == [sha256(audio)])

                    try bench.configure("ca-file: server/ca.pem\n")
                    let again = try await bench.runBare(
                        ["fetch", "\(origin)/feed", "--library", "M"], environment: bench.configured)
                    #expect(again.exitCode == 0, "\(again.errors)")
                }
            }
        }

        @Test(.needs("openssl"))
        func `case 27: a certificate that nobody trusts is not tried again`() async throws {
            try await withWorkbench { bench in
                let folder = bench.folder.appending(path: "server")
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                try await makeCertificates(in: folder)
                try serve(sampleMP3(bytes: 30_000), type: "audio/mpeg", as: "1.mp3", in: folder)
                let arguments = [
                    "s_server", "-accept", "127.0.0.1:0", "-HTTP", "-cert", "server.pem", "-key", "server.key",
                ]
                try await withProduct(arguments, in: folder, executable: opensslProgram) { running in
                    let said = try await running.waitForOutput(containing: "ACCEPT 127.0.0.1:")
                    let port = said.split(separator: "ACCEPT 127.0.0.1:").last?.prefix(while: \.isNumber) ?? ""
                    let feed = """
                        <rss><channel><title>F</title><item><title>One</title><guid>1</guid>
                        <enclosure url="https://localhost:\(port)/1.mp3" type="audio/mpeg"/></item></channel></rss>
                        """
                    let script = ServerScript.paths(["/feed": .always(.text(feed, type: "application/rss+xml"))])
                    try await withServer(script) { catalog in
                        // It counts the connections that are asked of it.
                        try await withProxy(.http) { proxy in
                            let result = try await bench.run(
                                "fetch", catalog.url("/feed"), "--json",
                                environment: ["https_proxy": "http://127.0.0.1:\(proxy.port)"])
                            #expect(result.exitCode == 75, "\(result.errors)")
                            #expect(result.errors.contains("no secure connection"), "\(result.errors)")
                            let asked = proxy.record.requests
                            #expect(asked.map { $0.hasPrefix("CONNECT localhost:\(port) ") } == [true], "\(asked)")
                            #expect(try bench.files().isEmpty)
                            #expect(try bench.partialFiles == [])
                        }
                    }
                }
            }
        }
    }
}
