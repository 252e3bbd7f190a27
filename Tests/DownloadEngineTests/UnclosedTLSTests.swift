import BookModel
import DownloadEngine
import Support
import Testing
import Transport

/// Case 27a of the download cases: HTTPS servers that end a connection without closing TLS on it (close_notify).
@Suite(.limitedConcurrency) struct UnclosedTLSTests {
    private let bytes = sampleMP3(bytes: 120_000)

    /// Bodies that end with their connection, of which the first so many bytes come, response by response.
    private func cut(_ lengths: [Int], etag: String? = nil, ranges: Bool = false) -> ServerScript {
        .file(
            bytes, etag: etag, lastModified: nil, ranges: ranges,
            lengths.map { length in
                Deed.change { reply, _ in
                    reply.body = Array(reply.body.prefix(length))
                    if reply.status == 200 { reply.framing = .untilClose }
                }
            })
    }

    private func fetch(
        _ script: ServerScript, size: Int64? = nil, retries: Int = 3,
        _ body: (MisbehavingServer, EngineReport, [UInt8]?, LocalFile?) -> Void
    ) async throws {
        try await withBench(script, retries: retries) { bench in
            try await SecureServer.before(bench.server, endsRudely: true) { port in
                var episode = bench.episode(size: size)
                episode.address = ResourceAddress("https://localhost:\(port)/a.mp3")
                var request = try await bench.request(episode)
                let authorities = try TrustedAuthorities(pem: Array(SecureServer.certificateText.utf8))
                request.access = SourceAccess(authorities: authorities)
                let report = await bench.run([request])
                body(bench.server, report, try bench.file(), try await bench.recordedFile(of: episode))
            }
        }
    }

    @Test(arguments: [Reply.Framing.length, .chunked()])
    func `case 27a: a body whose end is told otherwise is whole`(framing: Reply.Framing) async throws {
        try await fetch(.file(bytes, [.both(.framing(framing), .ending(.close))])) { server, report, file, recorded in
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            #expect(server.record.requests.count == 1)
            #expect(file == bytes)
        }
    }

    @Test func `case 27a: a body of the catalog's size is whole`() async throws {
        try await fetch(cut([120_000]), size: 120_000) { server, report, file, recorded in
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            #expect(report.receipts.first?.remarks == [])
            #expect(server.record.requests.count == 1)
            #expect(recorded?.verification == .length)
        }
    }

    @Test(arguments: [nil, 99_000, 130_000] as [Int64?])
    func `case 27a: a body of unknown length is taken when the same comes twice, and that is told`(size: Int64?)
        async throws
    {
        try await fetch(cut([120_000]), size: size) { server, report, file, recorded in
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            #expect(report.receipts.first?.remarks.last?.description.contains("120000 bytes came twice") == true)
            #expect(ranges(server) == [nil, nil])
            #expect(file == bytes)
            #expect(recorded?.verification == .unverified)
        }
    }

    @Test func `case 27a: bodies of different lengths are no whole file`() async throws {
        try await fetch(cut([60_000, 70_000])) { server, report, file, recorded in
            #expect(
                report.sentences.first?.contains("ended it after 60000 bytes, and after 70000 the next time") == true)
            #expect(server.record.requests.count == 2)
            #expect(file == nil)
        }
    }

    @Test(arguments: [50_000, 120_000])
    func `case 27a: a server with ranges is asked for what is behind the doubtful end`(length: Int) async throws {
        try await fetch(cut([length, 120_000], etag: "\"v1\"", ranges: true)) { server, report, file, recorded in
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            #expect(ranges(server) == [nil, "bytes=\(length)-"])
            #expect(server.bodyBytesSent(path: "/a.mp3") == 120_000)
            #expect(file == bytes)
            #expect(recorded?.verification == .length)
        }
    }

    @Test func `case 27a: a body that is shorter than its length was cut`() async throws {
        try await fetch(.file(bytes, [.cut(at: 50_000), .wellBehaved])) { server, report, file, recorded in
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            #expect(ranges(server) == [nil, "bytes=50000-"])
            #expect(file == bytes)
        }
    }
}
