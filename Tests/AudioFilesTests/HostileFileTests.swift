import BookModel
import Foundation
import Support
import Testing

@testable import AudioFiles

@Suite(.limitedConcurrency, .needs("ffmpeg", "ffprobe"))
struct HostileFileTests {
    /// What each of the three says of the file.
    private func complaints(_ bench: AudioBench, _ path: String) async -> [String] {
        [
            await bench.complaint { _ = try await bench.probe.info(of: path) },
            await bench.complaint { _ = try await bench.probe.decode(path) },
            await bench.complaint { _ = try await bench.probe.streamHash(of: path) },
        ]
    }

    @Test func `what is no audio is a failure that names the file and says why`() async throws {
        try await AudioBench.with { bench in
            let empty = try bench.save([], named: "empty.mp3")
            let page = try bench.save(
                Array("<!DOCTYPE html><html><body>Log in</body></html>\n".utf8), named: "page.mp3")
            for (path, why) in [
                (empty, "the file is empty"), (page, ""), (bench.path("none.mp3"), "there is no such file"),
                (bench.folder, "it is not a regular file"), ("/dev/zero", "it is not a regular file"),
                (empty + "\0.mp3", "there is no such file"),
            ] {
                for complaint in await complaints(bench, path) {
                    #expect(complaint.hasPrefix("\(path) cannot be read as audio: \(why)"))
                    #expect(complaint.hasSuffix("; check the disk and the file, or download it again"))
                }
            }
        }
    }

    @Test func `a FIFO is not opened`() async throws {
        try await AudioBench.with { bench in
            #expect(mkfifo(bench.path("a.mp3"), 0o600) == 0)
            for complaint in await complaints(bench, bench.path("a.mp3")) {
                #expect(complaint.contains("it is not a regular file"))
            }
        }
    }

    @Test func `a playlist named as audio opens neither an address nor another file`() async throws {
        try await AudioBench.with { bench in
            try await withServer(answering: { _ in .text("no") }) { server async throws in
                try await bench.sound("other.mp3", "-b:a 64k", seconds: 2)
                let master = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000\n"
                let list = "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n"
                for (index, text) in [
                    list + server.url("/a.ts") + "\n#EXT-X-ENDLIST\n", list + "other.mp3\n#EXT-X-ENDLIST\n",
                    master + server.url("/b.m3u8") + "\n",
                    "ffconcat version 1.0\nfile '\(server.url("/c.mp3"))'\n",
                    "ffconcat version 1.0\nfile 'other.mp3'\n",
                    "ffconcat version 1.0\nfile '/etc/passwd'\n",
                ].enumerated() {
                    let path = try bench.save(Array(text.utf8), named: "\(index).mp3")
                    for complaint in await complaints(bench, path) {
                        #expect(complaint.contains("Format not on whitelist"), "\(text)\(complaint)")
                    }
                }
                #expect(server.record.connectionsAccepted == 0)
            }
        }
    }

    @Test(arguments: [
        "a b.mp3", "it's \"quoted\".mp3", "two\nlines.mp3", "-version.mp3", "100% %d %s.mp3", "http:x.mp3",
        "concat:a|b.mp3",
        "$(touch x);`id`.mp3", "第一回 ？.mp3", "\\back\\.mp3", "[a]*?.mp3", "\u{1B}[31m.mp3", "e\u{301}.mp3",
    ])
    func `a path is a path, whatever is in it`(name: String) async throws {
        try await AudioBench.with { bench in
            try await bench.sound("plain.mp3", "-b:a 64k", seconds: 2)
            let path = try bench.save(bench.bytes("plain.mp3"), named: name)
            #expect(try await bench.probe.info(of: path).codec == "mp3")
            guard case .whole = try await bench.probe.decode(path) else {
                Issue.record("not whole")
                return
            }
            #expect(try await bench.probe.streamHash(of: path).count == 64)
            // A tool's complaint is one line, without the path.
            let broken = try bench.save(Array("<html>".utf8), named: name)
            let failure = await bench.failure { _ = try await bench.probe.info(of: broken) }
            let why = try #require(failure).why.description
            #expect(!why.contains("\n") && !why.contains(name) && !why.isEmpty)
        }
    }

    @Test func `mutated files give a value or a failure, and never hang`() async throws {
        try await AudioBench.with { bench in
            let chapters = try bench.chapters(2)
            var originals: [[UInt8]] = []
            for how in ["mp3", "m4b", "opus", "flac", "mka", "aac", "ogg", "wav"] {
                try await bench.make(
                    "a.\(how)", "-f lavfi -t 2 -i sine=frequency=330 -i \(chapters) -map_metadata 1 -b:a 32k -ar 24000")
                originals.append(try bench.bytes("a.\(how)"))
            }
            var random = SeededGenerator(seed: 11)
            for number in 0..<Tier.choose(full: 48, long: 304) {
                let bytes = mutate(originals[number % originals.count], &random)
                let path = try bench.save(bytes, named: "mutated.mp3")
                async let info = Result.of { try await bench.probe.info(of: path) as Any? }
                async let verdict = Result.of { try await bench.probe.decode(path) as Any? }
                for case .failure(let error) in [await info, await verdict] {
                    #expect(error is Failure, "\(number): \(error)")
                }
            }
        }
    }

    private func mutate(_ original: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = original
        // Headers are where it matters.
        let end = Bool.random(using: &random) ? bytes.count : min(bytes.count, 600)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: bytes.removeSubrange(Int.random(in: 0..<end, using: &random)...)
        case 1:
            let start = Int.random(in: 0..<end, using: &random)
            bytes.removeSubrange(start..<min(bytes.count, start + Int.random(in: 1..<2000, using: &random)))
        case 2:
            let start = Int.random(in: 0..<end, using: &random)
            bytes.insert(contentsOf: bytes.prefix(Int.random(in: 1..<2000, using: &random)), at: start)
        default:
            for _ in 0..<Int.random(in: 1..<60, using: &random) {
                let value: UInt8 =
                    [0, 0xFF, 0x7F, 0x80, .random(in: 0...255, using: &random)].randomElement(using: &random) ?? 0
                bytes[Int.random(in: 0..<end, using: &random)] = value
            }
        }
        return bytes
    }
}
