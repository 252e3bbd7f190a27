import Foundation
import Support
import Testing

@testable import LibraryFiles

@Suite(.full, .limitedConcurrency)
struct FileDeltaTests {
    /// Bytes as random as those of audio, the same each time.
    private static func noise(_ count: Int, seed: UInt64) -> [UInt8] {
        var state = seed
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(state >> 56)
        }
    }

    /// - Returns: what the original became again, and bytes of the delta.
    private func roundTrip(_ original: [UInt8], _ file: [UInt8]) async throws -> (restored: [UInt8], size: Int) {
        try await withTemporaryPath { folder in
            let paths = ["original", "file", "delta", "restored"].map { "\(folder)/\($0)" }
            try Data(original).write(to: URL(filePath: paths[0]))
            try Data(file).write(to: URL(filePath: paths[1]))
            try FileDelta.write(of: paths[0], from: paths[1], to: paths[2])
            try FileDelta.restore(paths[2], from: paths[1], to: paths[3])
            let read = { (path: String) in Array(try Data(contentsOf: URL(filePath: path))) }
            return (try read(paths[3]), try read(paths[2]).count)
        }
    }

    @Test func `what two files share is not kept again, wherever it stands`() async throws {
        let audio = Self.noise(3_000_000, seed: 1)
        let (head, tail) = (Self.noise(1234, seed: 2), Self.noise(77, seed: 3))
        for (original, file, most) in [
            (audio, audio, 64), (head + audio + tail, Self.noise(40_000, seed: 4) + audio, 4000),
            (audio, audio + tail, 64), (audio, Array(audio.suffix(1_000_000) + audio.prefix(2_000_000)), 2000),
            // As when Ogg pages get other headers.
            (audio, audio.indices.map { $0 % 4000 < 27 ? 0 : audio[$0] }, 800_000),
        ] {
            let (restored, size) = try await roundTrip(original, file)
            #expect(restored == original)
            #expect(size < most, "\(size)")
        }
    }

    @Test func `files that share nothing, and short and empty ones, come back too`() async throws {
        let noise = Self.noise(1_100_000, seed: 5)
        for original in [[], [1], Array(noise.prefix(511)), Array(noise.prefix(512)), Array(noise.prefix(513)), noise] {
            for file in [
                [], [2], Array(noise.prefix(512)), Self.noise(1_100_000, seed: 6), [UInt8](repeating: 0, count: 3000),
            ] {
                #expect(try await roundTrip(original, file).restored == original)
            }
        }
        let zeros = [UInt8](repeating: 0, count: 2_000_000)
        #expect(try await roundTrip(zeros + noise, noise + zeros).restored == zeros + noise)
    }

    @Test func `a damaged delta makes another file, and no trouble`() async throws {
        try await withTemporaryPath { folder in
            let path = { (name: String) in URL(filePath: "\(folder)/\(name)") }
            let audio = Self.noise(50_000, seed: 7)
            try Data(audio).write(to: path("file"))
            try Data(Self.noise(900, seed: 8) + audio).write(to: path("original"))
            try FileDelta.write(of: path("original").path, from: path("file").path, to: path("delta").path)
            let delta = Array(try Data(contentsOf: path("delta")))
            for place in delta.indices where place < 16 || place >= delta.count - 16 {
                for value: UInt8 in [0, 0x7f, 0x80, 0xff] {
                    var damaged = delta
                    damaged[place] = value
                    try Data(damaged).write(to: path("damaged"))
                    _ = Result {
                        try FileDelta.restore(path("damaged").path, from: path("file").path, to: path("made").path)
                    }
                    let size = try FileManager.default.attributesOfItem(atPath: path("made").path)[.size] as? Int
                    #expect(try #require(size) <= audio.count + delta.count)
                }
            }
        }
    }
}
