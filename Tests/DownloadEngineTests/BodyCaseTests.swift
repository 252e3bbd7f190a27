import BookModel
import CatalogStore
import Crypto
import DownloadEngine
import Foundation
import Support
import Testing

/// Cases 14–18, 21 and 22 of the download cases: bodies that end too early, too late or not at all, and bodies that are
/// not what was promised.
@Suite(.limitedConcurrency) struct BodyCaseTests {
    private let bytes = sampleMP3(bytes: 120_000)
    private let other = sampleMP3(bytes: 120_000, seed: 2)

    @Test(arguments: [0, 1, 2, 3, 100, 511, 512, 513, 4096, 16_384, 30_543, 65_536, 100_001, 119_999])
    func `case 14: a connection cut at any byte resumes from there`(cut: Int) async throws {
        try await withBench(.file(bytes, [.cut(at: cut), .wellBehaved])) { bench in
            let report = try await bench.fetch(bench.episode())
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            #expect(try bench.file() == bytes)
            #expect(bench.server.bodyBytesSent(path: "/a.mp3") == 120_000)
            #expect(report.bytesReceived == 120_000)
            #expect(ranges(bench.server) == [nil, cut == 0 ? nil : "bytes=\(cut)-"])
        }
    }

    @Test(
        arguments: [
            [1, 1, 1, 1, 1], [30_000, 1, 20_000, 511, 40_000], [119_990, 1, 1, 1], [512, 512, 512], [100, 400, 20_000],
        ])
    func `case 14: several cuts in a row fetch no byte twice`(cuts: [Int]) async throws {
        try await withBench(.file(bytes, cuts.map { Deed.cut(at: $0) } + [.wellBehaved]), retries: 1) { bench in
            let report = try await bench.fetch(bench.episode())
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            #expect(try bench.file() == bytes)
            #expect(bench.server.bodyBytesSent(path: "/a.mp3") == 120_000)
            #expect(report.bytesReceived == 120_000)
            // None of it is of an earlier run.
            #expect(report.receipts.first?.bytesReused == 0)
        }
    }

    @Test func `case 14: progress resets the retry budget, its absence uses it up`() async throws {
        let deeds: [Deed] = [
            .cut(at: 10_000), .closeAfterHead, .cut(at: 10_000), .closeAfterHead, .cut(at: 10_000), .closeAfterHead,
            .closeAfterHead, .closeAfterHead,
        ]
        try await withBench(.file(bytes, deeds), retries: 2) { bench in
            let episode = bench.episode()
            let report = try await bench.fetch(episode)
            #expect(report.receipts.isEmpty)
            #expect(
                ranges(bench.server) == [
                    nil, "bytes=10000-", "bytes=10000-", "bytes=20000-", "bytes=20000-", "bytes=30000-", "bytes=30000-",
                ])
            #expect(try bench.partial(of: episode) == Array(bytes[..<30_000]))
        }
    }

    @Test(arguments: [1, 600, 70_000])
    func `case 14: a reset connection resumes`(bytesBefore: Int) async throws {
        try await withBench(.file(bytes, [.reset(at: bytesBefore), .reset(at: bytesBefore), .wellBehaved])) { bench in
            let report = try await bench.fetch(bench.episode())
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            #expect(try bench.file() == bytes)
            // Bytes that the kernel still held when the reset came are gone; none of those received is fetched again.
            #expect(report.bytesReceived == 120_000)
        }
    }

    @Test func `case 14: what one run received the next one resumes`() async throws {
        try await withBench(.file(bytes, [.cut(at: 50_000), .closeAfterHead, .wellBehaved]), retries: 1) { bench in
            let episode = bench.episode()
            let first = try await bench.fetch(episode)
            #expect(first.failures.count == 1)
            #expect(first.bytesReceived == 50_000)
            let record = try #require(try await bench.record(of: episode))
            #expect(record.state == .failed)
            #expect(record.committedLength == 50_000)
            let second = try await bench.fetch(episode)
            #expect(second.outcomes == [.resumed])
            #expect(second.bytesReceived == 70_000)
            #expect(second.receipts.first?.bytesReused == 50_000)
            #expect(bench.server.bodyBytesSent(path: "/a.mp3") == 120_000)
            #expect(try bench.file() == bytes)
        }
    }

    @Test func `case 14: a server that cuts at the same byte and cannot be resumed from fails in each run`()
        async throws
    {
        try await withBench(.file(bytes, ranges: false, [.cut(at: 50_000)]), retries: 1) { bench in
            let episode = bench.episode()
            for attempts in 1...3 {
                let report = try await bench.fetch(episode)
                #expect(report.failures.count == 1)
                #expect(try await bench.record(of: episode)?.attempts == attempts)
            }
        }
    }

    @Test(arguments: [Reply.Framing.declared(120_000), .chunked(finished: false)])
    func `case 15: a body shorter than its length, or without its last chunk, resumes`(
        framing: Reply.Framing
    ) async throws {
        let short = Deed.change { reply, _ in
            reply.body = Array(reply.body[..<60_000])
            reply.framing = framing
        }
        try await expectResume(after: short)
    }

    private func expectResume(after deed: Deed) async throws {
        try await withBench(.file(bytes, [deed, .wellBehaved])) { bench in
            let report = try await bench.fetch(bench.episode())
            #expect(report.outcomes == [.fetched])
            #expect(ranges(bench.server) == [nil, "bytes=60000-"])
            #expect(bench.server.bodyBytesSent(path: "/a.mp3") == 120_000)
            #expect(try bench.file() == bytes)
        }
    }

    @Test func `case 16: what comes behind the length is left, and so is the connection`() async throws {
        let long = ServerScript.file(bytes, [.header("Content-Length", "100000")])
        try await withBench(.paths(["/a.mp3": long, "/b.mp3": .file(other)]), jobs: 1) { bench in
            let report = try await bench.fetch(bench.episode(1), bench.episode(2, at: "/b.mp3"))
            #expect(report.outcomes == [.fetched, .fetched], "\(report.sentences)")
            #expect(try bench.file() == Array(bytes[..<100_000]))
            #expect(try bench.file("Book/2.mp3") == other)
            #expect(bench.server.record.requests.map(\.connection) == [0, 1])
        }
    }

    @Test(arguments: [Reply.Framing.untilClose, .chunked(size: 7000)])
    func `case 17: a body without any length is complete at a clean end, and unverified`(framing: Reply.Framing)
        async throws
    {
        try await withBench(.file(bytes, [.framing(framing)])) { bench in
            let episode = bench.episode()
            let report = try await bench.fetch(episode)
            #expect(report.outcomes == [.fetched])
            #expect(try bench.file() == bytes)
            #expect(try await bench.recordedFile(of: episode)?.verification == .unverified)
        }
    }

    @Test func `case 17: a fitting size or digest verifies a body without any length`() async throws {
        try await withBench(.file(bytes, [.framing(.untilClose)])) { bench in
            let sized = bench.episode(1, size: 120_000)
            let digested = bench.episode(
                2, digest: ContentDigest(algorithm: .sha256, hexadecimal: sha256(bytes).uppercased()))
            let missized = bench.episode(3, size: 119_999)
            let report = try await bench.fetch(sized, digested, missized)
            #expect(report.outcomes == [.fetched, .fetched, .fetched])
            #expect(try await bench.recordedFile(of: sized)?.verification == .length)
            #expect(try await bench.recordedFile(of: digested)?.verification == .digest)
            #expect(try await bench.recordedFile(of: missized)?.verification == .unverified)
        }
    }

    /// Bodies without a length of which the first so many bytes come, answer by answer.
    private func cut(_ lengths: [Int], _ framing: Reply.Framing = .untilClose) -> ServerScript {
        .file(
            bytes,
            lengths.map { length in
                Deed.change { reply, _ in
                    reply.body = Array(reply.body[..<length])
                    reply.framing = framing
                }
            })
    }

    @Test(arguments: [Reply.Framing.untilClose, .chunked(size: 7000)])
    func `case 17: a body without any length that ends before the catalog's size is asked for once more`(
        framing: Reply.Framing
    ) async throws {
        try await withBench(cut([60_000, 120_000], framing)) { bench in
            let episode = bench.episode(size: 120_000)
            let report = try await bench.fetch(episode)
            #expect(report.outcomes == [.fetched])
            #expect(ranges(bench.server) == [nil, nil])
            #expect(try bench.file() == bytes)
            #expect(try await bench.recordedFile(of: episode)?.verification == .length)
        }
    }

    @Test func `case 17: a body without any length that ends twice at one place is taken, and told of`() async throws {
        try await withBench(cut([60_000])) { bench in
            let episode = bench.episode(size: 120_000)
            let report = try await bench.fetch(episode)
            #expect(report.outcomes == [.fetched])
            #expect(
                report.receipts.first?.remarks.map(\.description) == [
                    "the catalog says 120000 bytes, the server sent 60000"
                ])
            #expect(ranges(bench.server) == [nil, nil])
            #expect(try bench.file() == Array(bytes[..<60_000]))
            #expect(try await bench.recordedFile(of: episode)?.verification == .unverified)
        }
    }

    @Test func `case 17: a body without any length that ends here and there is a failure`() async throws {
        try await withBench(cut([60_000, 70_000])) { bench in
            let report = try await bench.fetch(bench.episode(size: 120_000))
            #expect(report.outcomes == [])
            let sentence = try #require(report.sentences.first)
            #expect(sentence.contains("ended it after 60000 bytes, and after 70000 the next time"), "\(sentence)")
            #expect(ranges(bench.server) == [nil, nil])
            #expect(try bench.file() == nil)
        }
    }

    @Test(arguments: [nil, 120_000] as [Int64?])
    func `case 18: an empty file is a failure`(size: Int64?) async throws {
        try await withBench(.file([UInt8]())) { bench in
            let episode = bench.episode(size: size)
            let report = try await bench.fetch(episode)
            #expect(report.sentences.first?.contains("the server sent an empty file") == true)
            #expect(ranges(bench.server) == [nil])
            #expect(try bench.file() == nil)
            #expect(try await bench.record(of: episode)?.state == .failed)
        }
    }

    @Test func `case 18: an empty body without a length is a failure`() async throws {
        try await withBench(.file([UInt8](), [.framing(.chunked())])) { bench in
            let report = try await bench.fetch(bench.episode())
            #expect(report.sentences.first?.contains("the server sent an empty file") == true)
            #expect(try bench.file() == nil)
        }
    }

    @Test func `case 18: an empty file that the catalog calls empty is one`() async throws {
        try await withBench(.file([UInt8]())) { bench in
            let report = try await bench.fetch(bench.episode(size: 0))
            #expect(report.outcomes == [.fetched])
            #expect(try bench.file() == [])
        }
    }

    @Test func `case 21: the server's length outranks the catalog's size, which is noted`() async throws {
        try await withBench(.file(bytes)) { bench in
            let episode = bench.episode(size: 99_000)
            let report = try await bench.fetch(episode)
            #expect(report.outcomes == [.fetched])
            #expect(
                report.receipts.first?.remarks.map(\.description) == [
                    "the catalog says 99000 bytes, the server sent 120000"
                ])
            let file = try #require(try await bench.recordedFile(of: episode))
            #expect(file.size == 120_000)
            // A claim that was never true says nothing when it changes.
            #expect(file.catalogSize == nil)
            #expect(try bench.file() == bytes)
        }
    }

    @Test func `case 22: a digest that does not fit restarts once, then fails with both values`() async throws {
        let digest = ContentDigest(algorithm: .md5, hexadecimal: "d41d8cd98f00b204e9800998ecf8427e")
        try await withBench(.file(bytes)) { bench in
            let episode = bench.episode(digest: digest)
            for run in 1...3 {
                let report = try await bench.fetch(episode)
                #expect(report.receipts.isEmpty)
                let sentence = try #require(report.sentences.first)
                let found = Insecure.MD5.hash(data: bytes).hexadecimal
                #expect(sentence.contains("its md5 is \(found), the catalog says \(digest.hexadecimal)"))
                #expect(try bench.file() == nil)
                // Every run counts: bytes that have to be thrown away again are no progress.
                #expect(try await bench.record(of: episode)?.attempts == run)
            }
            // Two in the first run; the later ones begin with what is held.
            #expect(ranges(bench.server) == [nil, nil, nil, nil])
        }
    }

    @Test(arguments: ContentDigest.Algorithm.allCases)
    func `case 22: bad bytes are replaced by good ones`(algorithm: ContentDigest.Algorithm) async throws {
        let hexadecimal =
            switch algorithm {
            case .md5: Insecure.MD5.hash(data: bytes).hexadecimal
            case .sha1: Insecure.SHA1.hash(data: bytes).hexadecimal
            case .sha256: SHA256.hash(data: bytes).hexadecimal
            }
        let other = other
        let bad = Deed.change { reply, _ in reply.body = other }
        try await withBench(.file(bytes, [bad, .wellBehaved])) { bench in
            let episode = bench.episode(digest: ContentDigest(algorithm: algorithm, hexadecimal: hexadecimal))
            let report = try await bench.fetch(episode)
            #expect(report.outcomes == [.fetched])
            #expect(report.bytesReceived == 240_000)
            #expect(try bench.file() == bytes)
            #expect(try await bench.recordedFile(of: episode)?.verification == .digest)
        }
    }

    @Test(arguments: [(120_000, 300), (nil, 300), (120_000, nil)] as [(Int64?, Double?)])
    func `case 19a: audio that is far too little is not published, and its server is left alone, by all books`(
        size: Int64?, duration: Double?
    ) async throws {
        let stub = sampleMP3(bytes: 2000)
        let bytes = bytes
        let script = ServerScript { ServedFile($0.path == "/1.mp3" ? bytes : stub).answer(to: $0) }
        try await withBench(script, jobs: 1) { bench in
            var requests: [TransferRequest] = []
            for section in 1...5 {
                var episode = bench.episode(section, at: "/\(section).mp3", size: size)
                episode.duration = duration
                requests.append(try await bench.request(episode))
            }
            let other = BookIdentity(source: EngineBench.book.source, id: "another")
            var episode = Episode.sample(6, book: other, address: bench.server.url("/6.mp3"), size: size)
            episode.duration = duration
            _ = try await bench.store.merge([episode], startingAt: 0, of: other)
            requests.append(TransferRequest(episode: episode, path: "Other/6.mp3"))
            let report = await bench.run(requests)
            #expect(
                report.receipts.map(\.section) == [1] && report.failures.map(\.section) == [2, 3], "\(report.sentences)"
            )
            #expect(report.left == 3)
            #expect(report.sentences.first?.contains("of audio in place of the episode") == true)
            #expect(bench.server.record.requests.count == 3)
            #expect(try bench.partialNames() == [])
        }
    }

    @Test func `case 19a: a wrong claim costs its own episode only`() async throws {
        let trailer = sampleMP3(bytes: 30_000)
        let bytes = bytes
        let script = ServerScript { ServedFile($0.path == "/2.mp3" ? trailer : bytes).answer(to: $0) }
        try await withBench(script, jobs: 1) { bench in
            var requests: [TransferRequest] = []
            for section in 1...4 {
                requests.append(
                    try await bench.request(bench.episode(section, at: "/\(section).mp3", size: 12_345_678)))
            }
            let report = await bench.run(requests)
            #expect(
                report.receipts.map(\.section) == [1, 3, 4] && report.failures.map(\.section) == [2],
                "\(report.sentences)")
        }
    }

    @Test func `case 19a: small audio is an episode where the catalog says so`() async throws {
        try await withBench(.file(Array(bytes.prefix(2000)))) { bench in
            var episode = bench.episode(size: 2000)
            episode.duration = 300
            let report = try await bench.fetch(episode)
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
        }
    }

    @Test(arguments: [12_345, 30_000, 36_000] as [Int64])
    func `case 19b: a size in other units than bytes refuses no audio`(size: Int64) async throws {
        let long = sampleMP3(bytes: 3 << 20)
        try await withBench(.file(long, [.framing(.chunked())])) { bench in
            let report = try await bench.fetch(bench.episode(size: size))
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
        }
    }

    @Test(
        arguments: [(99_000, nil), (130_000, 300), (nil, 20), (33, 300), (300, 300)]
            as [(Int64?, Double?)])
    func `case 19b: an absurd claim says nothing, and a body without a length is taken up to what is plausible`(
        size: Int64?, duration: Double?
    ) async throws {
        try await withBench(.file(bytes, [.framing(.chunked())])) { bench in
            var episode = bench.episode(size: size)
            episode.duration = duration
            let report = await bench.run([try await bench.request(episode)])
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            #expect(try bench.file() == bytes)
        }
    }

    @Test(arguments: [(1_000_000, nil), (nil, 10.0)] as [(Int64?, Double?)])
    func `case 19b: a stream without an end is given up after little, and not asked for by the next runs`(
        size: Int64?, duration: Double?
    ) async throws {
        let stream = Reply(body: sampleMP3(bytes: 20 << 20), framing: .chunked())
        try await withBench(.always(stream)) { bench in
            var episode = bench.episode(size: size)
            episode.duration = duration
            let report = await bench.run([try await bench.request(episode)])
            #expect(report.failures.count == 1 && report.bytesReceived < 6 << 20)
            #expect(report.failures.first?.failure.remedy == nil)
            #expect(try await bench.record(of: episode)?.waits(at: Date()) == true)
            #expect(try bench.partialNames() == [])
        }
    }

    @Test func `case 19b: a station is refused by its head`() async throws {
        let station = Reply(headers: ["icy-name": "Radio"], body: sampleMP3(bytes: 1 << 20), framing: .untilClose)
        try await withBench(.always(station)) { bench in
            let report = try await bench.fetch(bench.episode())
            #expect(report.sentences.first?.contains("a live stream") == true && report.bytesReceived == 0)
            #expect(try await bench.record(of: bench.episode())?.waits(at: Date()) == true)
        }
    }
}
