import BookModel
import Support
import Testing

@testable import AudioFiles

@Suite(.limitedConcurrency, .needs("ffmpeg", "ffprobe")) struct PictureTests {
    @Test(arguments: [
        ("7000x7000", "a.png", true), ("7000x7000", "a.jpg", true), ("9000x6000", "a.png", false),
        ("9000x6000", "a.jpg", false), ("300x400", "50%03d.png", true),
    ])
    func `a picture is made smaller, unless it has more than 50 megapixels`(
        size: String, name: String, isShrunk: Bool
    ) async throws {
        try await AudioBench.with { bench in
            let arguments = "-f lavfi -i color=c=gray:s=\(size) -frames:v 1 -pix_fmt gray"
            let picture = try await bench.make(name, arguments, more: ["-update", "1"])
            let output = bench.path("small.jpg")
            #expect(try await bench.probe.shrink(picture, to: 480, at: output) == isShrunk)
            if isShrunk {
                let bytes = try bench.bytes("small.jpg")
                #expect(bytes.starts(with: [0xFF, 0xD8]) && bytes.count < 20_000)
            }
        }
    }

    @Test func `what is not a picture by itself is not opened`() async throws {
        try await AudioBench.with { bench in
            try write("ffconcat version 1.0\nfile a.png\n", to: bench.path("b.png"))
            try await bench.make("a.png", "-f lavfi -i color=s=100x100 -frames:v 1", more: ["-update", "1"])
            #expect(try await !bench.probe.shrink(bench.path("b.png"), to: 480, at: bench.path("small.jpg")))
        }
    }
}
