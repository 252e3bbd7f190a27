import Foundation
import Support
import Testing

extension ForeignProgramTests {
    /// Folders and feeds behind the web servers that people have, judged by `sha256sum`.
    @Suite(.full) struct RealServers {
        /// A shelf on a server, and the library beside it.
        private struct Scene {
            let bench: Workbench
            let server: RealServer
            var root: URL { bench.folder.appending(path: "www") }
            var book: URL { root.appending(path: "a book & more") }
            var own: URL { bench.folder.appending(path: "server") }

            init(_ bench: Workbench, _ server: RealServer) throws {
                (self.bench, self.server) = (bench, server)
                try FileManager.default.createDirectory(at: book, withIntermediateDirectories: true)
                for (place, name) in server.names.enumerated() {
                    try write(sampleMP3(bytes: 9_000 + place, seed: UInt64(place)), to: fileName(place, name))
                }
                try list()
            }

            func fileName(_ place: Int, _ name: String) -> String { String(format: "%03d ", place + 1) + name + ".mp3" }

            /// - Parameter hoursAgo: of a file that was just written no server promises that it stays as it is.
            func write(_ bytes: [UInt8], to name: String, hoursAgo: Double = 2) throws {
                let file = book.appending(path: name)
                try Data(bytes).write(to: file)
                try setTime(file, hoursAgo)
                // webfs reads a folder again when its time is another one.
                try setTime(book, hoursAgo)
            }

            private func setTime(_ file: URL, _ hoursAgo: Double) throws {
                try FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSinceNow: -3600 * hoursAgo)], ofItemAtPath: file.path)
            }

            private static func encoded(_ name: String) -> String {
                name.utf8.map { byte in
                    UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                        ? String(UnicodeScalar(byte)) : String(format: "%%%02X", Int(byte))
                }.joined()
            }

            /// Writes the index, for a server that makes none, and a feed of all files.
            func list(server address: String = "") throws {
                let names = try FileManager.default.contentsOfDirectory(atPath: book.path)
                    .filter { $0.hasSuffix(".mp3") }.sorted()
                if !server.hasIndex {
                    let rows = names.map { "<a href=\"\(Self.encoded($0))\">file</a>\n" }.joined()
                    try Data("<html><head><title>Index of /</title></head><body>\(rows)</body></html>".utf8)
                        .write(to: book.appending(path: "index.html"))
                }
                let items = names.enumerated().map { place, name in
                    "<item><title>\(place)</title><guid>\(place)</guid><enclosure type=\"audio/mpeg\" url=\""
                        + "\(address)/a%20book%20%26%20more/\(Self.encoded(name))\"/></item>"
                }
                let feed = root.appending(path: "feed.xml")
                try Data("<rss version=\"2.0\"><channel><title>Feed</title>\(items.joined())</channel></rss>".utf8)
                    .write(to: feed)
                try setTime(feed, 2)
            }

            /// The digests of all audio in a folder, by another program.
            private func digests(of folder: URL) async throws -> [String] {
                let command =
                    "find \"$0\" -name .booksync -prune -o -name '*.mp3' -exec sha256sum {} + | cut -c1-65 | tr -d '\\\\'"
                let result = try await withProduct(
                    ["-c", command, folder.path], in: bench.folder, executable: URL(filePath: "/bin/sh")
                ) { try await $0.result() }
                return result.output.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces).prefix(64) }
                    .map(String.init).sorted()
            }

            /// Fetches the book, and looks whether it is what the server has.
            /// - Parameter counts: of the summary.
            func fetch(_ reference: String, _ counts: String...) async throws {
                let result = try await bench.run("fetch", reference, "--json", environment: bench.configured)
                #expect(result.exitCode == 0, "\(result.errors)")
                for count in counts { #expect(result.output.contains(count), "\(result.output.suffix(600))") }
                let (kept, served) = (try await digests(of: bench.library), try await digests(of: root))
                #expect(kept == served && !kept.isEmpty)
            }

            func killDuringLargeFile(_ reference: String) async throws {
                let arguments = ["fetch", reference, "--limit-rate", "1M", "--library", "L"]
                try await withProduct(arguments, environment: bench.configured, in: bench.folder) { run in
                    try await waitUntil("a part is there") { try bench.partialSizes.reduce(0, +) > 600_000 }
                    run.send(signal: SIGKILL)
                    _ = try await run.result()
                }
            }

            /// All that may happen to a book: new, nothing new, another version of a file, a kill, and the rest.
            func follow(_ reference: String) async throws {
                let count = server.names.count
                try await fetch(reference, "\"fetched\":\(count),")
                try await fetch(reference, "\"kept\":\(count),", "\"bytes_received\":0,")
                try write(sampleMP3(bytes: 9_777, seed: 77), to: fileName(0, server.names[0]), hoursAgo: 1)
                if !server.listsFacts { try await forget(reference + "/1") }
                try await fetch(
                    reference, "\"\(server.listsFacts ? "replaced" : "fetched")\":1,", "\"bytes_received\":9777,")
                try write(sampleMP3(bytes: 4_000_000, seed: 99), to: "099 large.mp3")
                try list()
                try await killDuringLargeFile(reference)
                try await fetch(reference, server.hasRanges ? "\"resumed\":1," : "\"fetched\":1,")
            }

            /// Has an episode fetched anew.
            private func forget(_ episode: String) async throws {
                for arguments in [
                    ["remove", episode, "--yes"], ["trash", "empty", "--yes"], ["remove", episode, "--forget"],
                ] {
                    let result = try await bench.runBare(
                        arguments + ["--library", "L"], environment: bench.configured)
                    #expect(result.exitCode == 0, "\(result.errors)")
                }
            }

            /// - Parameter more: of the source's settings.
            func configure(_ address: String, _ more: String = "") throws {
                try bench.configure(
                    """
                    sources:
                      files: { type: directory, url: "\(address)/", allow-private-addresses: true\(more) }
                      feeds: { type: feed, url: "\(address)/{id}.xml", allow-private-addresses: true\(more) }
                    """)
            }
        }

        private static let reference = "files:a book & more"

        @Test(
            .needs("a web server") { !RealServer.installed.isEmpty }, arguments: RealServer.installed)
        func `a folder is kept byte for byte, asked for once, and gone on with after a kill`(_ server: RealServer)
            async throws
        {
            try await withWorkbench { bench in
                let scene = try Scene(bench, server)
                try await server.serve(scene.root, in: scene.own) { address in
                    try scene.configure(address)
                    try await scene.follow(Self.reference)
                    // What is listed by a feed of the same server: asked for once more, and then a 304 says all.
                    try scene.list(server: address)
                    let feed = try await bench.run("fetch", "feeds:feed", environment: bench.configured)
                    #expect(feed.exitCode == 0, "\(feed.errors)")
                    let again = try await bench.run("fetch", "feeds:feed", "-vv", environment: bench.configured)
                    #expect(again.errors.contains("status=304"), "\(again.errors.suffix(2000))")
                    #expect(again.errors.contains(" 0 fetched, \(server.names.count + 1) kept"))
                }
            }
        }

        @Test(
            .needs("openssl"),
            arguments: RealServer.installed.filter(\.canGuard))
        func `so is one with a password, over HTTPS where the server has it`(_ server: RealServer) async throws {
            try await withWorkbench { bench in
                let scene = try Scene(bench, server)
                try await server.serve(scene.root, .guarded, in: scene.own) { address in
                    try scene.configure(address)
                    let refused = try await bench.run("fetch", Self.reference, environment: bench.configured)
                    #expect(refused.exitCode == (address.hasPrefix("https") ? 69 : 77), "\(refused.errors)")
                    let access =
                        ", user: \(RealServer.user), password: \"\(RealServer.password)\", ca-file: server/cert.pem"
                    try scene.configure(address, access)
                    try await scene.follow(Self.reference)
                }
            }
        }

        @Test(
            .needs("a proxy, and nginx") { !RealProxy.installed.isEmpty && RealServer.installed.contains(.nginx) },
            arguments: RealProxy.installed, RealServer.Way.allCases)
        func `so is one behind a proxy`(_ proxy: RealProxy, _ way: RealServer.Way) async throws {
            try await withWorkbench { bench in
                let scene = try Scene(bench, .nginx)
                let own = bench.folder.appending(path: "proxy")
                try await proxy.run(in: own) { through in
                    try await RealServer.nginx.serve(scene.root, way, in: scene.own) { address in
                        let access =
                            ", user: \(RealServer.user), password: \"\(RealServer.password)\", ca-file: server/cert.pem"
                        try scene.configure(address, ", proxy: \"\(through)\"" + (way == .guarded ? access : ""))
                        try await scene.follow(Self.reference)
                    }
                }
                let log = try String(contentsOf: own.appending(path: "access"), encoding: .utf8)
                #expect(log.contains(way == .guarded ? "CONNECT" : "GET"))
            }
        }

        /// What a client asked a server for, through a proxy that writes it down, to go on with a file after a kill.
        private func requests(
            of client: String, for address: String, in bench: Workbench
        ) async throws -> [String] {
            let file = bench.folder.appending(path: "\(client).mp3")
            return try await withProxy(.http) { proxy in
                let environment = ["http_proxy": "http://127.0.0.1:\(proxy.port)", "HOME": bench.folder.path]
                let arguments =
                    client == "curl"
                    ? ["-sS", "-C", "-", "-o", file.path, address] : ["-q", "-c", "-O", file.path, address]
                let pace = client == "curl" ? ["--limit-rate", "1M"] : ["--limit-rate=1m"]
                try await withProduct(
                    pace + arguments, environment: environment, in: bench.folder,
                    executable: ForeignProgram.path(client)
                ) { run in
                    try await waitUntil("a part is there") { (try? Data(contentsOf: file).count) ?? 0 > 600_000 }
                    run.send(signal: SIGKILL)
                    _ = try await run.result()
                }
                let begun = proxy.record.requests.count
                // curl is cut off by rclone now and then, and goes on when it is asked again.
                for _ in 1...3 {
                    let result = try await ForeignProgram.run(
                        client, arguments, environment: environment, in: bench)
                    if result.exitCode == 0 { break }
                }
                return proxy.record.heads.dropFirst(begun).filter { $0.contains("large") }
            }
        }

        @Test(
            .needs("curl", "wget"),
            // The proxy that writes down what is asked for hangs with webfs.
            arguments: RealServer.installed.filter { $0.hasRanges && $0 != .webfs })
        func `after a kill no more is asked for than curl and wget ask for, and nothing that is there`(
            _ server: RealServer
        ) async throws {
            try await withWorkbench { bench in
                let scene = try Scene(bench, server)
                try await server.serve(scene.root, in: scene.own) { address in
                    try scene.configure(address)
                    try await scene.fetch(Self.reference)
                    try scene.write(sampleMP3(bytes: 4_000_000, seed: 99), to: "099 large.mp3")
                    try scene.list()
                    try await scene.killDuringLargeFile(Self.reference)
                    let there = try bench.partialSizes.reduce(0, +)
                    let ours = try await withProxy(.http) { proxy in
                        try scene.configure(address, ", proxy: \"http://127.0.0.1:\(proxy.port)\"")
                        try await scene.fetch(
                            Self.reference, "\"resumed\":1,", "\"bytes_received\":\(4_000_000 - there),")
                        return proxy.record.heads.filter { $0.contains("large") }
                    }
                    #expect(ours.count == 1)
                    #expect(ours.first?.lowercased().contains("range: bytes=\(there)-") == true, "\(ours)")
                    for client in ["curl", "wget"] {
                        let theirs = try await requests(
                            of: client, for: address + "/a%20book%20%26%20more/099%20large.mp3", in: bench)
                        #expect(ours.count <= theirs.count, "\(client): \(theirs)")
                        let theirFile = bench.folder.appending(path: "\(client).mp3")
                        #expect(try Data(contentsOf: theirFile) == Data(sampleMP3(bytes: 4_000_000, seed: 99)))
                    }
                }
            }
        }
    }
}
