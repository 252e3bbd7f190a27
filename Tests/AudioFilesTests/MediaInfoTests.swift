import BookModel
import Foundation
import Support
import Testing

@testable import AudioFiles

@Suite(.limitedConcurrency, .needs("ffmpeg", "ffprobe"))
struct MediaInfoTests {
    private func isNear(_ seconds: Double?, _ expected: Double, within tolerance: Double = 0.2) -> Bool {
        seconds.map { abs($0 - expected) < tolerance } ?? false
    }

    @Test func `an MP3 of constant bit rate is read`() async throws {
        try await AudioBench.with { bench in
            let path = try await bench.sound(
                "a.mp3", "-b:a 64k -ac 2 -metadata title=第一回 -metadata artist=单田芳 -metadata track=1/120")
            let info = try await bench.probe.info(of: path)
            #expect(info.container == "mp3" && info.codec == "mp3")
            #expect(info.sampleRate == 44100 && info.channels == 2)
            #expect(abs((info.bitRate ?? 0) - 64000) < 1000)
            #expect(isNear(info.duration, 60) && !info.isDurationEstimated)
            #expect(info.tags["title"] == "第一回" && info.tags["artist"] == "单田芳" && info.tags["track"] == "1/120")
            #expect(info.chapters == [] && !info.hasCover)
        }
    }

    @Test(arguments: [true, false])
    func `an MP3 of variable bit rate has an exact duration only with a Xing header`(hasXing: Bool) async throws {
        try await AudioBench.with { bench in
            // Silence first: the bit rate of the beginning is not that of the rest.
            let path = try await bench.sound(
                "a.mp3", "-af volume=enable='lt(t,20)':volume=0 -q:a 4 -write_xing \(hasXing ? 1 : 0)",
                sound: "anoisesrc=amplitude=0.3")
            let info = try await bench.probe.info(of: path)
            #expect(info.isDurationEstimated == !hasXing)
            #expect(isNear(info.duration, 60) == hasXing)
            #expect(try await isWhole(bench.probe.decode(path)))
        }
    }

    private func isWhole(_ verdict: DecodeVerdict) -> Bool {
        if case .whole(let seconds) = verdict { isNear(seconds, 60) } else { false }
    }

    @Test(arguments: [
        "m4b -c:a aac", "opus -c:a libopus", "mka -c:a libvorbis", "mka -c:a libmp3lame",
    ])
    func `chapters and tags are read from every container that has them`(how: String) async throws {
        try await AudioBench.with { bench in
            let parts = how.split(separator: " ", maxSplits: 1)
            let chapters = try bench.chapters(300)
            let path = try await bench.make(
                "a.\(parts[0])",
                "-f lavfi -t 300 -i anullsrc=r=16000:cl=mono -i \(chapters) -map_metadata 1 \(parts[1]) -b:a 24k")
            let info = try await bench.probe.info(of: path)
            #expect(info.tags["title"] == "三国演义" && info.tags["artist"] == "单田芳")
            #expect(isNear(info.duration, 300) && !info.isDurationEstimated)
            #expect(info.chapters.count == 300)
            #expect(info.chapters.map(\.title) == (1...300).map { "第\($0)章" })
            #expect(
                info.chapters.enumerated().allSatisfy { isNear($1.start, Double($0)) && isNear($1.end, Double($0) + 1) }
            )
        }
    }

    @Test func `chapters of a FLAC are among its Vorbis comments`() async throws {
        try await AudioBench.with { bench in
            let comments = (0..<90).flatMap { number -> [String] in
                let key = "CHAPTER" + String("00\(number)".suffix(3))
                let time = String("0\(number / 60)".suffix(2)) + ":" + String("0\(number % 60)".suffix(2))
                return ["-metadata", "\(key)=00:\(time).000", "-metadata", "\(key)NAME=第\(number + 1)章"]
            }
            let path = try await bench.sound("a.flac", "-metadata ARTIST=单田芳", seconds: 90, more: comments)
            let info = try await bench.probe.info(of: path)
            #expect(info.tags["artist"] == "单田芳")
            #expect(info.chapters.map(\.title) == (1...90).map { "第\($0)章" })
            #expect(
                info.chapters.enumerated().allSatisfy { isNear($1.start, Double($0)) && isNear($1.end, Double($0) + 1) }
            )
        }
    }

    @Test func `of very many chapters the first are kept`() async throws {
        try await AudioBench.with { bench in
            let chapters = try bench.chapters(2500)
            let path = try await bench.make(
                "a.mka",
                "-f lavfi -t 2500 -i anullsrc=r=8000:cl=mono -i \(chapters) -map_metadata 1 -c:a libmp3lame -b:a 8k")
            let info = try await bench.probe.info(of: path)
            #expect(info.chapters.count == MediaInfo.maxChapters && info.chapters.last?.title == "第2000章")
        }
    }

    @Test func `AAC without a container has an estimated duration`() async throws {
        try await AudioBench.with { bench in
            let info = try await bench.probe.info(of: bench.sound("a.aac", "-c:a aac -b:a 64k"))
            #expect(info.container == "aac" && info.codec == "aac" && info.isDurationEstimated)
            #expect(isNear(info.duration, 60, within: 3))
        }
    }

    @Test(arguments: ["mp3", "m4a", "flac"])
    func `a cover of several megabytes is seen, and is not the audio`(type: String) async throws {
        try await AudioBench.with { bench in
            let cover = try await bench.make(
                "cover.png", "-f lavfi -i color=gray:s=1500x1200,noise=alls=100:allf=t,format=rgb24 -frames:v 1")
            #expect(try bench.bytes("cover.png").count > 4_000_000)
            try await bench.sound("plain.\(type)", "-b:a 64k")
            let path = try await bench.make(
                "a.\(type)",
                "-i \(bench.path("plain.\(type)")) -i \(cover) -map 0:a -map 1:v -c copy -disposition:v attached_pic")
            let info = try await bench.probe.info(of: path)
            #expect(info.hasCover && isNear(info.duration, 60))
            #expect(try await isWhole(bench.probe.decode(path)))
            #expect(
                try await bench.probe.streamHash(of: path) == bench.probe.streamHash(of: bench.path("plain.\(type)")))
        }
    }

    @Test func `26 hours are no trouble`() async throws {
        try await AudioBench.with { bench in
            let minute = try await bench.sound("a.m4a", "-c:a aac -b:a 8k", sound: "anullsrc=r=8000:cl=mono")
            let path = try await bench.make("long.m4b", "-stream_loop 1559 -i \(minute) -c copy")
            let info = try await bench.probe.info(of: path)
            #expect(isNear(info.duration, 26 * 3600, within: 100))
        }
    }

    @Test func `GBK in ID3v1 and in Latin-1 frames becomes Chinese, and true Latin-1 stays`() async throws {
        try await AudioBench.with { bench in
            try await bench.sound("a.mp3", "-b:a 64k -id3v2_version 0", seconds: 2)
            let audio = try bench.bytes("a.mp3")
            let title = Array("\u{B9}\u{ED}\u{B4}\u{B5}\u{B5}\u{C6}".unicodeScalars.map { UInt8($0.value) })
            let artist = Array("Ren\u{E9} Goscinny".unicodeScalars.map { UInt8($0.value) })
            func padded(_ text: [UInt8]) -> [UInt8] { text + [UInt8](repeating: 0, count: 30 - text.count) }
            let first =
                Array("TAG".utf8) + padded(title) + padded(artist) + padded([]) + [UInt8](repeating: 0, count: 34) + [
                    12
                ]
            let old = try await bench.probe.info(of: bench.save(audio + first, named: "1.mp3"))
            #expect(old.tags["title"] == "鬼吹灯" && old.tags["artist"] == "René Goscinny")

            func frame(_ name: String, _ text: [UInt8]) -> [UInt8] {
                Array(name.utf8) + [0, 0, 0, UInt8(text.count + 1), 0, 0, 0] + text
            }
            let frames = frame("TIT2", title) + frame("TPE1", artist)
            let second = Array("ID3".utf8) + [3, 0, 0, 0, 0, 0, UInt8(frames.count)] + frames
            let new = try await bench.probe.info(of: bench.save(second + audio, named: "2.mp3"))
            #expect(new.tags["title"] == "鬼吹灯" && new.tags["artist"] == "René Goscinny")
        }
    }

    @Test func `the hash of the audio does not depend on its tags`() async throws {
        try await AudioBench.with { bench in
            let one = try await bench.sound("a.mp3", "-b:a 64k -metadata title=One", seconds: 5)
            let two = try await bench.make("b.mp3", "-i \(one) -c copy -metadata title=Two")
            let three = try await bench.sound("c.mp3", "-b:a 64k", seconds: 5, sound: "sine=frequency=331")
            let hash = try await bench.probe.streamHash(of: one)
            #expect(hash.count == 64)
            #expect(try await bench.probe.streamHash(of: two) == hash)
            #expect(try await bench.probe.streamHash(of: three) != hash)
        }
    }

    @Test func `without ffmpeg only the headers are read`() async throws {
        try await AudioBench.with { bench in
            let path = try await bench.sound("a.mp3", "-b:a 64k", seconds: 2)
            let tools = try #require(AudioBench.tools)
            let probe = MediaProbe(tools: MediaTools(ffprobe: tools.ffprobe, ffmpeg: nil))
            #expect(try await probe.info(of: path).codec == "mp3")
            #expect(await bench.complaint { _ = try await probe.decode(path) }.contains("ffmpeg is not installed"))
            #expect(await bench.complaint { _ = try await probe.streamHash(of: path) }.contains("install ffmpeg"))
        }
    }

    @Test func `a picture alone is no audio`() async throws {
        try await AudioBench.with { bench in
            let path = try await bench.make("a.m4a", "-f lavfi -i color=gray:s=64x64 -frames:v 1 -c:v mjpeg -f mp4")
            #expect(await bench.complaint { _ = try await bench.probe.info(of: path) }.contains("it has no audio"))
        }
    }
}
