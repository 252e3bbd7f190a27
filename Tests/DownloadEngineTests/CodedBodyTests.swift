import BookModel
import Crypto
import Foundation
import NIOCore
import Support
import Testing
import Transport

@testable import DownloadEngine

/// Case 13 of the download cases: bodies that come coded although identity was asked for.
@Suite(.limitedConcurrency) struct CodedBodyTests {
    private let bytes = sampleMP3(bytes: 120_000)

    private func coded(_ body: [UInt8], _ coding: String, framing: Reply.Framing = .length) -> Reply {
        var reply = Reply(body: body, framing: framing)
        reply.setHeader("Content-Type", "audio/mpeg")
        reply.setHeader("Content-Encoding", coding)
        reply.setHeader("ETag", "\"coded\"")
        return reply
    }

    @Test(
        arguments: [
            ("gzip", .gzip), ("x-gzip", .gzip), ("GZip", .gzip), ("deflate", .zlib), ("deflate", .bare),
            ("identity, gzip", .gzip),
        ] as [(String, DeflateFormat)],
        [Reply.Framing.length, .chunked(), .untilClose])
    func `case 13: a coded 200 is stored decoded, and sized by what came out`(
        coding: (String, DeflateFormat), framing: Reply.Framing
    ) async throws {
        let body = deflated(bytes, coding.1)
        #expect(body.count != bytes.count && body.count > 1000)
        try await withBench(.always(coded(body, coding.0, framing: framing)), retries: 0) { bench in
            let episode = bench.episode()
            let report = try await bench.fetch(episode)
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            #expect(try bench.file() == bytes)
            #expect(report.bytesReceived == Int64(body.count))
            #expect(bench.server.record.requests.first?.header("Accept-Encoding") == "identity")
            let file = try #require(try await bench.recordedFile(of: episode))
            #expect(file.size == 120_000)
            // The coding's own checksum and length fitted.
            #expect(file.verification == .length)
        }
    }

    @Test(arguments: [1, 10, 40_000, 119_000, -8, -1])
    func `case 13: a coded body that is cut starts over, and is never taken for whole`(cut: Int) async throws {
        let body = deflated(bytes)
        let place = cut < 0 ? body.count + cut : min(cut, body.count - 9)
        for (framing, ending) in [
            (Reply.Framing.length, Reply.Ending.cutAfter(bytes: place)), (.untilClose, .cutAfter(bytes: place)),
        ] {
            var first = coded(body, "gzip", framing: framing)
            first.ending = ending
            try await withBench(.replies([first, coded(body, "gzip")]), retries: 1) { bench in
                let report = try await bench.fetch(bench.episode())
                #expect(report.outcomes == [.fetched], "\(report.sentences)")
                #expect(try bench.file() == bytes)
                #expect(ranges(bench.server) == [nil, nil])
                #expect(bench.server.record.requests.allSatisfy { $0.header("If-Range") == nil })
                #expect(report.bytesReceived == Int64(place + body.count))
            }
        }
    }

    @Test func `case 13: a coded body that is always cut is given up`() async throws {
        var reply = coded(deflated(bytes), "gzip")
        reply.ending = .cutAfter(bytes: 50_000)
        try await withBench(.always(reply), retries: 3) { bench in
            let report = try await bench.fetch(bench.episode())
            #expect(report.failures.count == 1)
            #expect(bench.server.record.requests.count == 4)
            #expect(try bench.file() == nil)
        }
    }

    @Test(arguments: ["crc", "length", "middle", "header", "garbage behind"])
    func `case 13: a coded body that is damaged is not published`(what: String) async throws {
        let whole = deflated(bytes)
        var body = whole
        switch what {
        case "crc": body[body.count - 8] ^= 1
        case "length": body[body.count - 4] ^= 1
        case "middle": for index in 50_000..<50_100 { body[index] ^= 0x55 }
        case "header": body[0] = 0x49
        default: body += Array("more".utf8)
        }
        let damaged = coded(body, "gzip")
        try await withBench(.always(damaged), retries: 1) { bench in
            let report = try await bench.fetch(bench.episode())
            #expect(report.receipts.isEmpty)
            #expect(report.sentences.first?.contains("damaged") == true, "\(report.sentences)")
            #expect(try bench.file() == nil)
        }
        // Another time it may come whole.
        try await withBench(.replies([damaged, coded(whole, "gzip")]), retries: 1) { bench in
            let report = try await bench.fetch(bench.episode())
            let published = try bench.file()
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            #expect(published == bytes)
        }
    }

    @Test func `case 13: several members and padding are one body`() async throws {
        let body = deflated(Array(bytes[..<70_000])) + deflated(Array(bytes[70_000...])) + [0, 0, 0]
        try await withBench(.always(coded(body, "gzip")), retries: 0) { bench in
            let report = try await bench.fetch(bench.episode())
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            #expect(try bench.file() == bytes)
        }
    }

    @Test(arguments: ["br", "zstd", "gzip, br", "compress"])
    func `case 13: a coding not known is refused in words`(coding: String) async throws {
        try await withBench(.always(coded(Array(bytes.dropFirst(1000)), coding)), retries: 1) { bench in
            let failure = try #require(try await bench.fetch(bench.episode()).failures.first?.failure)
            #expect(failure.why.description.hasPrefix("the server sends the audio compressed ("), "\(failure)")
            #expect(bench.server.record.requests.count == 1)
        }
    }

    @Test(arguments: [
        "UTF-8", "none", "aws-chunked", "binary", "8bit", "x(y)", "identity, utf-8", "", "gzip", "deflate", "br",
        "zstd",
    ])
    func `case 13: audio whose label says that it is coded is taken as it is, and resumed where the name is no coding`(
        label: String
    ) async throws {
        let isCoding = ["gzip", "deflate", "br", "zstd"].contains(label)
        let labelled = Deed.header("Content-Encoding", label)
        let deeds = isCoding ? [labelled] : [.both(labelled, .cut(at: 50_000)), labelled]
        try await withBench(.file(bytes, deeds), retries: 1) { bench in
            let report = try await bench.fetch(bench.episode())
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            #expect(ranges(bench.server) == (isCoding ? [nil] : [nil, "bytes=50000-"]))
            #expect(try bench.file() == bytes)
            let file = try #require(try await bench.recordedFile(of: bench.episode()))
            #expect(file.validator.entityTag == "\"v1\"" && file.verification == .length)
        }
    }

    @Test func `case 13: a page inside is seen before what is held is touched`() async throws {
        let page = Array(("<!DOCTYPE html><html>" + String(repeating: "login ", count: 400)).utf8)
        try await withBench(.always(coded(deflated(page), "gzip"))) { bench in
            let episode = bench.episode()
            try await bench.leave(bytes[..<50_000], of: episode)
            let report = try await bench.fetch(episode)
            #expect(report.sentences.first?.contains("instead of audio") == true, "\(report.sentences)")
            #expect(try bench.partial(of: episode) == Array(bytes[..<50_000]))
        }
    }

    @Test func `case 13: an answer that grows without measure is stopped`() async throws {
        let silence = sampleMP3(bytes: 1000) + [UInt8](repeating: 0, count: 80 << 20)
        let bomb = deflated(silence)
        #expect(bomb.count < 1 << 20)
        for size in [nil, Int64(3_000_000)] {
            try await withBench(.always(coded(bomb, "gzip")), retries: 3) { bench in
                let episode = bench.episode(size: size)
                let failure = try #require(try await bench.fetch(episode).failures.first?.failure)
                #expect(failure.why.description.hasPrefix("the answer is longer than "), "\(failure)")
                #expect(bench.server.record.requests.count == 1)
                // What was written on the way is gone from the disk.
                let held = try bench.partial(of: episode)?.count ?? 0
                #expect(held == 0)
            }
        }
    }

    @Test(
        arguments: [
            (0, nil, 64 << 20), (1 << 20, nil, 100 << 20), (1 << 20, 1000, 2000 + (1 << 20)), (1 << 20, 0, 100 << 20),
            (1 << 30, 1 << 40, 100 << 30), (.max, .max, .max),
        ] as [(Int64, Int64?, Int64)])
    func `case 13: what may come out of a coded body is bounded`(received: Int64, promised: Int64?, maximum: Int64) {
        #expect(DecodedBody.maxLength(ofReceived: received, promisedSize: promised) == maximum)
    }

    @Test func `case 13: the server's digest is of the coded bytes, the catalog's of the file`() async throws {
        let body = deflated(bytes)
        var reply = coded(body, "gzip")
        reply.setHeader("Repr-Digest", "sha-256=:\(Data(SHA256.hash(data: body)).base64EncodedString()):")
        let digest = ContentDigest(algorithm: .sha256, hexadecimal: sha256(bytes))
        try await withBench(.always(reply), retries: 0) { bench in
            let episode = bench.episode(digest: digest)
            let report = try await bench.fetch(episode)
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            #expect(try await bench.recordedFile(of: episode)?.verification == .digest)
        }
    }

    @Test(arguments: [1, 7, 4096], [1, 13, 128 << 10])
    func `case 13: bytes are decoded however they are cut up`(pieceIn: Int, pieceOut: Int) throws {
        let silence = [UInt8](repeating: 7, count: pieceOut == 1 ? 3000 : 300_000)
        let inflater = Inflater(.gzip)
        var rest = deflated(silence)[...]
        var decoded = 0
        while !rest.isEmpty {
            var input = ByteBuffer(bytes: rest.prefix(pieceIn))
            rest = rest.dropFirst(pieceIn)
            while input.readableBytes > 0 || inflater.hasMore {
                decoded += try inflater.decode(&input, upTo: pieceOut).readableBytes
            }
        }
        #expect(decoded == silence.count)
        #expect(inflater.isAtEnd)
    }
}
