import BookModel
import DownloadEngine
import Foundation
import Support
import Testing

/// Case 19 of the download cases: the first bytes of an answer against what its name and type promise.
@Suite(.limitedConcurrency) struct FirstBytesCaseTests {
    /// A file of a format: what it begins with, and noise behind.
    struct Format: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var ending: String
        var head: [UInt8]

        var bytes: [UInt8] { head + sampleMP3(bytes: 30_000 - head.count) }
    }

    private static let formats = [
        Format(testDescription: "an MP3 frame", ending: "mp3", head: [0xFF, 0xFB, 0x90, 0x64]),
        Format(testDescription: "an MP3 frame of MPEG 2", ending: "mp3", head: [0xFF, 0xF3, 0x40, 0xC0]),
        Format(testDescription: "ID3", ending: "mp3", head: Array("ID3\u{4}\u{0}\u{0}".utf8)),
        Format(testDescription: "MP4", ending: "m4a", head: [0, 0, 0, 0x20] + Array("ftypM4A ".utf8)),
        Format(testDescription: "an MP4 book", ending: "m4b", head: [0, 0, 0, 0x1C] + Array("ftypM4B ".utf8)),
        Format(testDescription: "Ogg", ending: "ogg", head: Array("OggS\u{0}\u{2}".utf8)),
        Format(testDescription: "Opus", ending: "opus", head: Array("OggS\u{0}\u{2}".utf8)),
        Format(testDescription: "FLAC", ending: "flac", head: Array("fLaC\u{0}\u{0}\u{0}\u{22}".utf8)),
        Format(testDescription: "WAV", ending: "wav", head: Array("RIFF$u\u{0}\u{0}WAVEfmt ".utf8)),
        Format(testDescription: "AAC ADTS", ending: "aac", head: [0xFF, 0xF1, 0x50, 0x80]),
        Format(testDescription: "AMR", ending: "amr", head: Array("#!AMR\n".utf8)),
        Format(
            testDescription: "WMA", ending: "wma",
            head: [0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11, 0xA6, 0xD9, 0x00, 0xAA, 0x00, 0x62, 0xCE, 0x6C]),
    ]

    private static let types = ["audio/mpeg", "audio/mp4", "video/mp4", "application/octet-stream", nil]
    private static let wrongTypes = [
        "text/html; charset=utf-8", "text/plain", "text/xml", "application/json", "application/rss+xml", "image/jpeg",
        "multipart/byteranges", "x",
    ]

    private static func path(_ format: Format, _ index: Int) -> String { "/\(index).\(format.ending)" }

    /// Runs a bench that answers each path, `/0.ENDING` and so on, with one of the replies; no answer is asked for twice.
    private func fetch(
        _ replies: [Reply], as format: Format, _ body: (EngineBench, EngineReport) async throws -> Void
    ) async throws {
        let scripts = replies.enumerated().map { (Self.path(format, $0), ServerScript.always($1)) }
        try await withBench(.paths(Dictionary(uniqueKeysWithValues: scripts))) { bench in
            var requests: [TransferRequest] = []
            for index in replies.indices {
                let episode = bench.episode(index + 1, at: Self.path(format, index))
                requests.append(try await bench.request(episode, path: "Book/\(index + 1).\(format.ending)"))
            }
            let report = await bench.run(requests)
            for index in replies.indices {
                #expect(bench.server.requests(path: Self.path(format, index)).count == 1)
            }
            #expect(try bench.partialNames() == [])
            try await body(bench, report)
        }
    }

    @Test(arguments: formats)
    func `case 19: audio of each format is taken under its name, whatever type the server gives it`(
        format: Format
    ) async throws {
        let replies = (Self.types + Self.wrongTypes).map { type in
            var reply = Reply(body: format.bytes)
            reply.setHeader("Content-Type", type)
            return reply
        }
        try await fetch(replies, as: format) { bench, report in
            #expect(report.receipts.count == replies.count, "\(report.sentences)")
            for index in replies.indices {
                let file = try bench.file("Book/\(index + 1).\(format.ending)")
                #expect(file == format.bytes)
            }
        }
    }

    private static let page =
        "\r\n<!DOCTYPE html>\n<html><head><title>欢迎使用无线网络</title></head><body>"
        + String(repeating: "请先登录。", count: 100)

    @Test(arguments: Tier.current == .quick ? [formats[0]] : formats)
    func `case 19: a page is refused under each name and type, be its length right or wrong`(
        format: Format
    ) async throws {
        let framings: [Reply.Framing] = [
            .length, .declared(30_000), .declared(600), .chunked(size: 700), .untilClose,
        ]
        let replies = (Self.types + ["text/html; charset=utf-8"]).flatMap { type in
            framings.map { framing in
                var reply = Reply(body: Array(Self.page.utf8), framing: framing)
                reply.setHeader("Content-Type", type)
                return reply
            }
        }
        try await fetch(replies, as: format) { bench, report in
            #expect(report.receipts.isEmpty)
            #expect(report.failures.count == replies.count)
            for failure in report.failures.map(\.failure) {
                #expect(failure.why.description.contains("instead of audio"), "\(failure)")
                #expect(failure.remedy != nil)
            }
            let book = bench.library.appending(path: "Book").path
            #expect(!FileManager.default.fileExists(atPath: book))
        }
    }

    private static let early: [UInt8] = [0xD0, 0xE0, 0xED, 0xED, 0xFF, 0xFF]

    /// What is sent in the place of audio, and what it is called then.
    private static let others: [([UInt8], String)] = [
        ([0xCF, 0xB5, 0xCD, 0xB3, 0xB7, 0xB1, 0xC3, 0xA6], "text"),
        (Array(repeating: [0xCF, 0xB5, 0xCD, 0xB3, 0x0A], count: 2000).flatMap(\.self), "text"),
        ([0xFF, 0xFE] + page.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }, "text"),
        ("<html>busy</html>".utf16.flatMap { [0, UInt8($0)] }, "text"),
        ([UInt8](repeating: 0, count: 700), "nothing but zeros"),
        ([UInt8](repeating: 0, count: 1 << 16), "nothing but zeros"),
        ([UInt8](repeating: 0, count: 200_000), "nothing but zeros"),
        ([UInt8](repeating: 0, count: 600) + Array(page.utf8), "an HTML page"),
        (Array("#EXTM3U\r\nhttp://127.0.0.1/a.mp3\r\n".utf8), "a playlist"),
        ([0xFF, 0xD8, 0xFF, 0xE0] + sampleMP3(bytes: 5000).dropFirst(4), "an image"),
        // "Ранняя" in windows-1251, where я is 0xFF, in a page and by itself.
        (Array("<!doctype html><title>".utf8) + early + Array("</title>".utf8), "an HTML page"),
        (early + Array(" ".utf8) + early, "text"),
    ]

    @Test(arguments: others.indices)
    func `case 19: text of any encoding, zeros, playlists and images are refused before the partial is touched`(
        index: Int
    ) async throws {
        let (body, found) = Self.others[index]
        let bytes = Self.formats[0].bytes
        try await withBench(.file(body, etag: "\"v2\"")) { bench in
            let episode = bench.episode()
            try await bench.leave(bytes[..<10_000], of: episode, total: 30_000)
            let report = try await bench.fetch(episode)
            let why = try #require(report.failures.first?.failure.why.description)
            #expect(why.hasPrefix("the server sent \(found) instead of audio"), "\(why)")
            #expect(try bench.partial(of: episode) == Array(bytes[..<10_000]))
            #expect(try bench.file() == nil)
        }
    }

    @Test func `case 19: zeros before the audio are taken with it`() async throws {
        let bytes = [UInt8](repeating: 0, count: 30_000) + sampleMP3(bytes: 50_000)
        try await withBench(.file(bytes)) { bench in
            let report = try await bench.fetch(bench.episode())
            #expect(report.outcomes == [.fetched], "\(report.sentences)")
            #expect(try bench.file() == bytes)
        }
    }
}
