import Foundation
import Support
import Testing

extension ProductTests {
    /// A library that was killed in the middle of a run, and one of a version before the first release.
    @Suite struct RecordedLibraries {
        private static func sections(of book: String, in requests: [ServerRequest]) -> Set<Int> {
            Set(
                requests.compactMap { request in
                    let parts = request.path.split(separator: "/")
                    guard parts.count == 3, parts[0] == "audio", parts[1] == book else { return nil }
                    return Int(parts[2].dropLast(4))
                })
        }

        /// Every file by its path, with its inode and the digest of its bytes.
        private static func files(of bench: Workbench) throws -> [String: String] {
            try bench.files().mapValues { file in
                let inode = try FileManager.default.attributesOfItem(atPath: file.path)[.systemFileNumber] as? Int
                return "\(inode ?? -1) \(try sha256(ofFileAt: file.path))"
            }
        }

        @Test func `nothing that is there is fetched again or renamed`() async throws {
            try await withWorkbench { bench in
                _ = try await RecordedLibrary.killed.unpack(into: bench.folder)
                let before = try Self.files(of: bench)
                try await withServer(RecordedCatalog.script) { server in
                    try bench.configure(RecordedCatalog.configuration(port: server.port))
                    let mirror = try await bench.run("mirror", "--json", environment: bench.configured)
                    // Episode 7 of book 30 is still missing, and book 99 never was.
                    #expect(mirror.exitCode == 66, "\(mirror.errors)")
                    let summary = try mirror.summary()
                    for none in ["fetched", "resumed", "replaced", "renamed", "bytes_received"] {
                        #expect(summary.number(none) == 0, "\(none)")
                    }
                    #expect(summary.number("kept") == 84)
                    #expect(try Self.files(of: bench) == before)
                    #expect(Self.sections(of: "20", in: server.record.requests).isEmpty)
                    #expect(Self.sections(of: "30", in: server.record.requests).isSubset(of: [7]))

                    let book = try await bench.run("fetch", "10/1-40", "--json", environment: bench.configured)
                    #expect(book.exitCode == 0, "\(book.errors)")
                    #expect(try book.summary().number("kept") == 40)
                    #expect(try Self.files(of: bench) == before)
                    #expect(Self.sections(of: "10", in: server.record.requests).isEmpty)
                }
            }
        }

        @Test func `a run that was killed is finished`() async throws {
            try await withWorkbench { bench in
                _ = try await RecordedLibrary.killed.unpack(into: bench.folder)
                let before = try Self.files(of: bench)
                try await withServer(RecordedCatalog.script) { server in
                    try bench.configure(RecordedCatalog.configuration(port: server.port))
                    let run = try await bench.run("fetch", "40/1-28", "--json", environment: bench.configured)
                    #expect(run.exitCode == 0, "\(run.errors)")
                    let summary = try run.summary()
                    #expect(summary.number("kept") == 24)
                    #expect((summary.number("fetched") ?? 0) + (summary.number("resumed") ?? 0) == 4)
                    #expect(Self.sections(of: "40", in: server.record.requests) == Set(RecordedCatalog.begun))
                    let after = try Self.files(of: bench)
                    #expect(before.allSatisfy { after[$0.key] == $0.value })
                    let new = try Set(
                        after.filter { before[$0.key] == nil }.values.map {
                            try #require($0.split(separator: " ").last)
                        })
                    #expect(new == Set(RecordedCatalog.begun.map { sha256(RecordedCatalog.audio("40", $0))[...] }))
                    #expect(try bench.partialFiles.isEmpty)
                }
            }
        }

        @Test func `a store before the first release is refused, and once it is moved away its audio is recognised`()
            async throws
        {
            try await withWorkbench { bench in
                let store = try await RecordedLibrary.prerelease.unpack(into: bench.folder)
                let before = try Self.files(of: bench)
                try await withServer(RecordedCatalog.script) { server in
                    try bench.configure(RecordedCatalog.configuration(port: server.port))
                    let stored = try Data(contentsOf: URL(filePath: store))
                    for command in [["mirror"], ["fetch", "10/1-40"], ["list"]] {
                        let run = try await bench.runBare(command + ["--library", "L"], environment: bench.configured)
                        #expect(run.exitCode == 78, "\(command): \(run.exitCode)")
                        let said = run.output + run.errors
                        #expect(said.contains("was made by a booksync before its first release"), "\(command): \(said)")
                        #expect(try Data(contentsOf: URL(filePath: store)) == stored)
                    }
                    #expect(server.record.requests.isEmpty)
                    let doctor = try await bench.run("doctor", environment: bench.configured)
                    #expect(
                        doctor.output.contains("was made by a booksync before its first release"), "\(doctor.output)")
                    for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: store + suffix) {
                        try FileManager.default.moveItem(
                            atPath: store + suffix, toPath: bench.folder.path + "/old.sqlite" + suffix)
                    }
                    let run = try await bench.run("fetch", "10/1-40", "--json", environment: bench.configured)
                    #expect(run.exitCode == 0, "\(run.errors)")
                    #expect(try run.summary().number("adopted") == 40 && run.summary().number("fetched") == 0)
                    #expect(Self.sections(of: "10", in: server.record.requests).isEmpty)
                    #expect(try Self.files(of: bench) == before)
                }
            }
        }

        @Test func `feeds of several kinds go on without a fetch, a rename or a lost removal`() async throws {
            let kinds = ["expiring", "none", "numbered", "plain", "rotating"]
            try await withWorkbench { bench in
                let newest = Watched((number: 8, token: 1))
                let script = ServerScript { request in
                    guard request.path.hasSuffix(".xml") else {
                        let kind = kinds.firstIndex { request.path.hasPrefix("/\($0)/") } ?? 0
                        let number = request.query["id"].flatMap { Int($0) } ?? 0
                        return Reply(body: sampleMP3(bytes: 4000 + 100 * kind + number))
                    }
                    let (kind, night) = (request.path.dropFirst().dropLast(4), newest.value)
                    return .text(
                        Self.feed(of: kind, to: night.number, token: night.token, host: request.header("Host") ?? ""),
                        type: "application/rss+xml")
                }
                try await withServer(script) { server in
                    try bench.configure(
                        """
                        downloads: { min-free-space: 1M }
                        sources:
                          feeds: { type: feed, url: "http://127.0.0.1:\(server.port)/{id}.xml", allow-private-addresses: true }
                        subscriptions: [\(kinds.map { "{ book: \($0) }" }.joined(separator: ", "))]
                        """)
                    #expect(try await bench.run("mirror", environment: bench.configured).exitCode == 0)
                    for removed in ["plain/2", "none/7", "expiring/5"] {
                        let run = try await bench.run("remove", "feeds:\(removed)", environment: bench.configured)
                        #expect(run.exitCode == 0, "\(run.errors)")
                    }
                    let before = try Self.files(of: bench)
                    #expect(before.count == 37)
                    newest.update { $0.token = 2 }
                    for _ in 1...2 {
                        let mirror = try await bench.run("mirror", "--json", environment: bench.configured)
                        #expect(mirror.exitCode == 0, "\(mirror.errors)")
                        let summary = try mirror.summary()
                        for none in ["fetched", "resumed", "replaced", "renamed", "bytes_received"] {
                            #expect(summary.number(none) == 0, "\(none)")
                        }
                        #expect(summary.number("kept") == 37)
                        #expect(try Self.files(of: bench) == before)
                    }
                    newest.update { $0.number = 9 }
                    let mirror = try await bench.run("mirror", "--json", environment: bench.configured)
                    #expect(try mirror.summary().number("fetched") == 5, "\(mirror.errors)")
                    let after = try Self.files(of: bench)
                    #expect(before.allSatisfy { after[$0.key] == $0.value })
                    #expect(
                        after.keys.filter { before[$0] == nil }.sorted() == kinds.map { "\($0)/009 第9集.mp3" })
                    #expect(server.record.requests.count { !$0.path.hasSuffix(".xml") } == 45)
                }
            }
        }

        /// Items without guids, with guids that look as if they changed, and with such that do.
        private static func feed(of kind: some StringProtocol, to newest: Int, token: Int, host: String) -> String {
            let items = (1...newest).reversed().map { number in
                let guid =
                    switch kind {
                    case "plain": "g\(number)"
                    case "numbered": "n\(number)"
                    case "expiring": "http://x.example/?e=\(number)"
                    case "rotating": "http://x.example/\(number)?token=\(token)\(number)"
                    default: ""
                    }
                return """
                    <item>\(guid.isEmpty ? "" : "<guid>\(guid)</guid>")<title>第\(number)集</title>\
                    \(kind == "numbered" && number != 3 ? "<itunes:episode>\(number)</itunes:episode>" : "")\
                    <pubDate>\(number < 10 ? "0" : "")\(number) Sep 2010 10:00:00 GMT</pubDate>\
                    <enclosure url="http://\(host)/\(kind)/\(number).mp3?page=1&amp;id=\(number)" type="audio/mpeg"/></item>
                    """
            }
            return """
                <rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"><channel>\
                <title>\(kind)</title>\(items.joined())</channel></rss>
                """
        }
    }
}
