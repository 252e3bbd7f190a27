import BookModel
import Foundation
import Support
import Testing

@testable import AudioFiles

@Suite(.limitedConcurrency, .needs("ffmpeg", "ffprobe"))
struct DecodeTests {
    /// How to make a file, and whether its headers or its packets tell that the end is missing.
    enum Kind: String, CaseIterable {
        case mp3 = "mp3 -b:a 64k"
        case variableMP3 = "mp3 -q:a 4"
        case mp3WithoutXing = "mp3 -q:a 4 -write_xing 0"
        case m4b = "m4b -c:a aac -b:a 64k -movflags +faststart"
        case aac = "aac -c:a aac -b:a 64k"
        case flac = "flac -c:a flac"
        case mka = "mka -c:a libvorbis"
        case ogg = "ogg -c:a libvorbis"
        case opus = "opus -c:a libopus"
        case wav = "wav -c:a pcm_s16le"

        var isCutSeen: Bool { ![.mp3WithoutXing, .ogg, .opus].contains(self) }
        /// Vorbis and Opus in Matroska have no checksum, and decode to something else.
        var isGarbleSeen: Bool { ![.mka, .wav].contains(self) }
        var type: String { String(rawValue.prefix { $0 != " " }) }
        var arguments: String { String(rawValue.drop { $0 != " " }) }
    }

    private func make(_ kind: Kind, _ bench: AudioBench) async throws -> String {
        try await bench.sound(
            "a.\(kind.type)", kind.arguments, seconds: 20, sound: "anoisesrc=amplitude=0.3:seed=7")
    }

    @Test(arguments: Kind.allCases)
    func `a whole file is whole`(kind: Kind) async throws {
        try await AudioBench.with { bench in
            let verdict = try await bench.probe.decode(make(kind, bench))
            guard case .whole(let seconds) = verdict else {
                Issue.record("\(verdict)")
                return
            }
            #expect(abs(seconds - 20) < 0.2)
        }
    }

    /// In the middle of a frame.
    @Test(arguments: Kind.allCases)
    func `a file that is cut is broken at the cut, or shorter where nothing says how long it should be`(
        kind: Kind
    ) async throws {
        try await AudioBench.with { bench in
            _ = try await make(kind, bench)
            let bytes = try bench.bytes("a.\(kind.type)")
            let offset = bytes.count / 2 + 37
            let expected = try await bench.seconds(atByte: offset, of: "a.\(kind.type)")
            let cut = try bench.save(bytes.prefix(offset), named: "cut.\(kind.type)")
            switch try await bench.probe.decode(cut) {
            case .whole(let seconds):
                #expect(!kind.isCutSeen)
                #expect(abs(seconds - expected) < 1, "\(seconds) instead of \(expected)")
            case .broken(let seconds, let why):
                #expect(abs(seconds - expected) < 1, "\(seconds) instead of \(expected): \(why)")
                #expect(!why.description.isEmpty && !why.description.contains(bench.folder))
            }
        }
    }

    @Test func `tags and padding behind the audio of an MP3 are no damage`() async throws {
        try await AudioBench.with { bench in
            _ = try await make(.variableMP3, bench)
            let audio = try bench.bytes("a.mp3")
            let tag = Array("TAG".utf8) + [UInt8](repeating: 0x20, count: 125)
            let lyrics = Array("LYRICSBEGININD0000200LYR00005hello000034LYRICS200".utf8)
            for more in [tag, lyrics + tag, [UInt8](repeating: 0, count: 5000), Array(audio.prefix(45))] {
                let verdict = try await bench.probe.decode(bench.save(audio + more, named: "more.mp3"))
                guard case .whole(let seconds) = verdict else {
                    Issue.record("\(verdict) with \(more.count) bytes")
                    continue
                }
                #expect(abs(seconds - 20) < 0.6)
            }
        }
    }

    @Test(arguments: Kind.allCases.filter(\.isGarbleSeen))
    func `a file that is garbled is broken there`(kind: Kind) async throws {
        try await AudioBench.with { bench in
            _ = try await make(kind, bench)
            var bytes = try bench.bytes("a.\(kind.type)")
            let offset = bytes.count / 2
            let expected = try await bench.seconds(atByte: offset, of: "a.\(kind.type)")
            var random = SeededGenerator(seed: 5)
            for index in offset..<(offset + 4000) { bytes[index] = .random(in: 0...255, using: &random) }
            let garbled = try bench.save(bytes, named: "garbled.\(kind.type)")
            switch try await bench.probe.decode(garbled) {
            case .whole(let seconds): Issue.record("whole, with \(seconds) s")
            case .broken(let seconds, let why):
                #expect(abs(seconds - expected) < 1, "\(seconds) instead of \(expected): \(why)")
            }
        }
    }
}
