import BookModel
import Foundation
import Support
import Testing

@testable import AudioFiles

@Suite(.limitedConcurrency, .needs("ffmpeg", "ffprobe"))
struct JoiningTests {
    private func join(
        _ paths: [String], as format: JoinFormat, in bench: AudioBench, trustsHeader: Bool = true
    ) async throws -> (parts: [AudioPart], seconds: Double, path: String) {
        var parts: [AudioPart] = []
        for path in paths { parts.append(try await bench.probe.part(path, trustsHeader: trustsHeader)) }
        let path = bench.path("joined.\(format.rawValue)")
        let tags = EmbeddedTags(tags: ["title": "T"])
        return (
            parts, try await bench.probe.join(parts, as: format, with: tags, pictureOf: parts.first, to: path), path
        )
    }

    /// SHA-256 of what is heard.
    private func heard(_ path: String, in bench: AudioBench) async throws -> Double {
        guard case .whole(let seconds) = try await bench.probe.decode(path) else { throw ToolFailed(errors: "broken") }
        return seconds
    }

    private static let kinds: [(kind: String, encoder: String, format: JoinFormat)] = [
        ("flac", "-c:a flac", JoinFormat.mka), ("opus", "-c:a libopus", .mka), ("ogg", "-c:a libvorbis", .mka),
        ("m4a", "-c:a aac", .m4b), ("m4a", "-c:a aac", .mka), ("aac", "-c:a aac", .m4b),
        ("mp3", "-c:a libmp3lame -q:a 5", .mp3),
        ("mp3", "-c:a libmp3lame -q:a 5 -write_xing 0", .mp3), ("mp3", "-c:a libmp3lame -q:a 5", .mka),
    ]

    @Test(arguments: kinds)
    func `one kind is copied, whole, whatever the files are called`(
        kind: String, encoder: String, format: JoinFormat
    ) async throws {
        try await AudioBench.with { bench in
            var paths: [String] = []
            for (number, name) in ["it's", "two\nlines", "'\\ %41 \r", "三"].enumerated() {
                paths.append(
                    try await bench.sound("\(name).\(kind)", encoder, seconds: 3 + number, sound: "anoisesrc=a=0.2"))
            }
            let (parts, seconds, path) = try await join(paths, as: format, in: bench)
            #expect(AudioPart.canCopy(parts, into: format))
            #expect(abs(seconds - parts.reduce(0) { $0 + $1.seconds }) < 0.2)
            let heard = try await heard(path, in: bench)
            #expect(heard > 17.9 && heard < 18.5, "\(heard)")
            let names = try FileManager.default.contentsOfDirectory(atPath: bench.folder)
            #expect(names.filter { $0.hasPrefix("joined") } == ["joined.\(format.rawValue)"], "\(names)")
        }
    }

    @Test func `what differs in rate, channels, codec or setup is not copied, nor what the format does not take`()
        async throws
    {
        try await AudioBench.with { bench in
            let base = try await bench.probe.part(bench.sound("a.m4a", "-c:a aac -ar 44100 -ac 1", seconds: 2))
            for (name, encoder) in [
                ("b.m4a", "-c:a aac -ar 22050 -ac 1"), ("c.m4a", "-c:a aac -ar 44100 -ac 2"),
                ("d.m4a", "-c:a alac -ar 44100 -ac 1"),
                ("e.aac", "-c:a aac -ar 44100 -ac 1"),
            ] {
                let other = try await bench.probe.part(bench.sound(name, encoder, seconds: 2))
                #expect(!AudioPart.canCopy([base, other], into: .m4b), "\(name)")
            }
            #expect(AudioPart.canCopy([base], into: .m4b) && !AudioPart.canCopy([base], into: .mp3))
        }
    }

    @Test func `MP3 files with and without a header for their delay follow each other`() async throws {
        try await AudioBench.with { bench in
            let with = try await bench.sound("a.mp3", "-c:a libmp3lame -q:a 7", seconds: 5)
            let without = try await bench.sound("b.mp3", "-c:a libmp3lame -q:a 7 -write_xing 0", seconds: 5)
            for format in [JoinFormat.mka, .mp3] {
                let (parts, seconds, _) = try await join([without, with, without, with], as: format, in: bench)
                #expect(abs(seconds - parts.reduce(0) { $0 + $1.seconds }) < 0.2, "\(seconds)")
            }
        }
    }

    @Test func `the length of an MP3 is counted where its header does not have it, or is not believed`() async throws {
        try await AudioBench.with { bench in
            let exact = try await bench.probe.part(
                bench.sound("a.mp3", "-c:a libmp3lame -q:a 7", seconds: 30, sound: "anoisesrc=a=0.1"))
            let counted = try await bench.probe.part(exact.path, trustsHeader: false)
            let without = try await bench.probe.part(
                bench.sound("b.mp3", "-c:a libmp3lame -q:a 7 -write_xing 0", seconds: 30, sound: "anoisesrc=a=0.1"))
            #expect(abs(exact.seconds - counted.seconds) < 0.001)
            #expect(abs(exact.seconds - without.seconds) < 0.03, "\(exact.seconds) \(without.seconds)")
            // One that was cut, whose header speaks of all of it.
            let cut = try bench.save(try bench.bytes("a.mp3").prefix(100_000), named: "c.mp3")
            let (parts, seconds, _) = try await join([cut, exact.path], as: .mp3, in: bench)
            #expect(abs(seconds - parts.reduce(0) { $0 + $1.seconds }) > 1)
            let (measured, sum, _) = try await join([cut, exact.path], as: .mp3, in: bench, trustsHeader: false)
            #expect(abs(sum - measured.reduce(0) { $0 + $1.seconds }) < 0.1)
        }
    }

    @Test(.long) func `26 hours of silence are encoded within the limits`() async throws {
        try await AudioBench.with { bench in
            let path = try await bench.sound(
                "a.mp3", "-c:a libmp3lame -b:a 8k -ar 8000", seconds: 26 * 3600, sound: "anullsrc=r=8000:cl=mono")
            let part = try await bench.probe.part(path)
            let encoding = JoinEncoding(of: [part], as: .m4b, bitRate: 16000, loudness: nil)
            try await bench.probe.encode(part, as: encoding, to: bench.path("b.m4b"))
            let made = try await bench.probe.part(bench.path("b.m4b"))
            #expect(abs(made.seconds - part.seconds) < 0.2)
            let (_, seconds, _) = try await join([made.path, made.path], as: .m4b, in: bench)
            #expect(abs(seconds - 2 * part.seconds) < 0.5)
        }
    }

    @Test func `a part that is no audio any more fails, and lists of other files are not read`() async throws {
        try await AudioBench.with { bench in
            let path = try await bench.sound("a.m4a", "-c:a aac", seconds: 2)
            let other = try await bench.sound("b.m4a", "-c:a aac", seconds: 2)
            let first = try await bench.probe.part(path)
            let second = try await bench.probe.part(other)
            try bench.save(Array("ffconcat version 1.0\nfile a.m4a\n".utf8), named: "b.m4a")
            await #expect(throws: Failure.self) { try await bench.probe.part(other) }
            await #expect(throws: Failure.self) {
                let tags = EmbeddedTags(tags: [:])
                let output = bench.path("j.m4b")
                _ = try await bench.probe.join([first, second], as: .m4b, with: tags, pictureOf: nil, to: output)
            }
        }
    }
}
