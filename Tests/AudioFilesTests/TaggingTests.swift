import BookModel
import Foundation
import Support
import Testing

@testable import AudioFiles

@Suite(.limitedConcurrency, .needs("ffmpeg", "ffprobe"))
struct TaggingTests {
    static let kinds = [
        ("mp3", "-c:a libmp3lame"), ("m4a", "-c:a aac"), ("opus", "-c:a libopus"), ("ogg", "-c:a libvorbis"),
        ("flac", "-c:a flac"), ("mka", "-c:a aac"),
    ]

    @Test(arguments: kinds)
    func `many chapters and a cover of 5 MB are read back, and the audio is the same`(kind: (String, String))
        async throws
    {
        try await AudioBench.with { bench in
            let (name, codec) = kind
            // A table of contents of ID3 holds 255 (ID3v2 Chapter Frame Addendum, §3.2).
            let count = name == "mp3" ? 300 : Tier.choose(full: 30, long: 300)
            let file = try await bench.sound("in.\(name)", codec + " -ac 1 -ar 16000", seconds: count + 1)
            let cover = try await bench.make(
                "cover.png", "-f rawvideo -pix_fmt rgb24 -s 1300x1300 -i /dev/urandom -frames:v 1")
            #expect(try bench.bytes("cover.png").count > 4_000_000)
            let chapters = (0..<count).map {
                MediaInfo.Chapter(start: Double($0), end: Double($0 + 1), title: "第\($0)章; #=\\ 'x'")
            }
            let tags = EmbeddedTags(tags: ["title": "题=;#\\目", "artist": "A\"B'C"], chapters: chapters, cover: cover)
            try await bench.probe.tag(
                file, bench.probe.info(of: file), with: tags, to: bench.path("out.\(name)"))
            let info = try await bench.probe.info(of: bench.path("out.\(name)"))
            #expect(tags.missing(in: info) == [])
            #expect(info.chapters.count == count)
            #expect(
                try await bench.probe.streamHash(of: file) == bench.probe.streamHash(of: bench.path("out.\(name)")))
            // With other tags it keeps chapters and cover.
            let title = EmbeddedTags(tags: ["title": "Another"])
            try await bench.probe.tag(bench.path("out.\(name)"), info, with: title, to: bench.path("again.\(name)"))
            let again = try await bench.probe.info(of: bench.path("again.\(name)"))
            #expect(again.tags["title"] == "Another" && again.tags["artist"] == "A\"B'C")
            #expect(again.hasCover && again.chapters.map(\.title) == info.chapters.map(\.title))
        }
    }

    @Test func `2,000 mutated ID3 tags are read to their end, and come out as tags`() async throws {
        try await AudioBench.with { bench in
            try await bench.sound("a.mp3", "-c:a libmp3lame -metadata comment=c -id3v2_version 4", seconds: 1)
            var tag = ID3Tag()
            let chapters = (0..<300).map { MediaInfo.Chapter(start: Double($0), end: Double($0 + 1), title: "\($0)") }
            tag.set(EmbeddedTags(tags: ["title": "题", "series": "s"], chapters: chapters), cover: [0xff, 0xd8, 0xff])
            var random = SystemRandomNumberGenerator()
            for (name, bytes) in [("v3", tag.bytes), ("v4", try bench.bytes("a.mp3"))] {
                for number in 0..<1000 {
                    var mutated = bytes
                    for _ in 0...Int.random(in: 0..<6, using: &random) {
                        // Most where the sizes are.
                        let end = Bool.random(using: &random) ? min(60, mutated.count) : mutated.count
                        mutated[Int.random(in: 3..<end, using: &random)] = UInt8.random(in: 0...255, using: &random)
                    }
                    if number % 5 == 0 { mutated.removeLast(Int.random(in: 0..<mutated.count - 10, using: &random)) }
                    let path = try bench.save(mutated, named: "\(name).mp3")
                    let file = try FileHandle(forReadingFrom: URL(filePath: path))
                    defer { try? file.close() }
                    guard var read = try ID3Tag.read(file, at: 0).tag else { continue }
                    read.set(EmbeddedTags(tags: ["title": "t", "series": "u"]), cover: nil)
                    try bench.save(read.bytes, named: "out.mp3")
                    let out = try FileHandle(forReadingFrom: URL(filePath: bench.path("out.mp3")))
                    defer { try? out.close() }
                    let (found, length) = try ID3Tag.read(out, at: 0)
                    #expect(length == read.bytes.count, "\(name) \(number)")
                    #expect(found?.frames.map(\.id) == read.frames.map(\.id), "\(name) \(number)")
                }
            }
        }
    }

    @Test func `a cut or garbled file is left, and nothing stops`() async throws {
        try await AudioBench.with { bench in
            for (name, codec) in Self.kinds {
                try await bench.sound("in.\(name)", codec, seconds: 3)
                let bytes = try bench.bytes("in.\(name)")
                for number in 0..<8 {
                    var mutated = number < 4 ? Array(bytes.prefix(bytes.count * (number + 1) / 5)) : bytes
                    if number >= 4 {
                        for place in stride(from: number, to: mutated.count, by: 97) { mutated[place] ^= 0xa5 }
                    }
                    let path = try bench.save(mutated, named: "bad.\(name)")
                    let tags = EmbeddedTags(tags: ["title": "t"])
                    let outcome = await Result.of {
                        try await bench.probe.tag(
                            path, bench.probe.info(of: path), with: tags, to: bench.path("o.\(name)"))
                    }
                    if case .failure(let error) = outcome { #expect(error is Failure, "\(error)") }
                }
            }
        }
    }
}
