import BookModel
import Foundation
import Support
import Testing

@testable import AudioFiles

/// Programs in place of ffprobe that do what no program should.
@Suite(.limitedConcurrency) struct ToolLimitTests {
    /// Calls `body` with a probe whose ffprobe and ffmpeg are that shell script, and a file that stands for audio.
    private func withTool(
        _ script: String, _ limits: MediaLimits = Self.limits(),
        _ body: (MediaProbe, AudioBench, String) async throws -> Void
    ) async throws {
        try await withTemporaryPath { folder async throws in
            let tool = "\(folder)/tool"
            try write("#!/bin/sh\n\(script.replacing("FOLDER", with: folder))\n", to: tool)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: tool)
            try write("audio", to: "\(folder)/a.mp3")
            let probe = MediaProbe(tools: MediaTools(ffprobe: tool, ffmpeg: tool), limits: limits)
            try await body(probe, AudioBench(folder: folder, probe: probe), "\(folder)/a.mp3")
            #if os(Linux)
                try await waitUntil("no process is left") { try processes(naming: folder).isEmpty }
            #endif
        }
    }

    private static func limits(seconds: Double = 300, _ change: (inout MediaLimits) -> Void = { _ in }) -> MediaLimits {
        var limits = MediaLimits()
        limits.headers.seconds = seconds
        limits.wholeFile.seconds = seconds
        limits.maxOutput = 1 << 20
        change(&limits)
        return limits
    }

    @Test(
        arguments: [
            ("echo '[error] Invalid data found' >&2; exit 1", false),
            ("echo '[error] No space left on device' >&2; exit 1", nil), ("kill -KILL $$", nil),
        ] as [(String, Bool?)])
    func `a picture counts as one that cannot be read only where the program says so of it`(
        script: String, isShrunk: Bool?
    ) async throws {
        try await withTool(script) { probe, _, file in
            if let isShrunk {
                let made = try await probe.shrink(file, to: 480, at: file + ".jpg")
                #expect(made == isShrunk)
            } else {
                await #expect(throws: Failure.self) { _ = try await probe.shrink(file, to: 480, at: file + ".jpg") }
            }
        }
    }

    @Test(arguments: [
        // Hangs; ignores SIGTERM; and has children that do.
        "exec tail -f FOLDER/a.mp3", "trap '' TERM INT HUP; tail -f FOLDER/a.mp3",
        "(trap '' TERM; tail -f FOLDER/a.mp3) & (tail -f FOLDER/a.mp3) & wait",
        // Says much about it.
        "yes FOLDER >&2",
    ])
    func `a program that does not end is ended`(script: String) async throws {
        try await withTool(script, Self.limits(seconds: 0.3)) { probe, bench, path async throws in
            let complaint = await bench.complaint { _ = try await probe.info(of: path) }
            #expect(complaint.contains("tool did not finish within"))
            #expect(await bench.complaint { _ = try await probe.streamHash(of: path) }.contains("did not finish"))
        }
    }

    @Test func `a program that writes without end is ended`() async throws {
        try await withTool("yes FOLDER") { probe, bench, path async throws in
            #expect(
                await bench.complaint { _ = try await probe.info(of: path) }.contains(
                    "tool wrote more than 1.0 MB"))
        }
    }

    @Test(arguments: [
        ("kill -SEGV $$", "tool was ended by signal 11"), ("exit 3", "tool failed with exit code 3"),
        (
            "echo '[mp3 @ 0x1] [warning] Hm' >&2; echo '[mp3 @ 0x1] [error] Header missing' >&2; exit 1",
            ": Header missing;"
        ),
        ("echo hello", "the output of the program cannot be understood"), ("exit 0", "cannot be understood"),
        ("echo '{\"streams\":[{\"channels\":\"two\"}]}'", "cannot be understood"), ("echo '{}'", "it has no audio"),
        ("head -c 200000 /dev/zero | tr '\\0' '['", "cannot be understood"),
        ("printf '{\"format\":{\"tags\":{\"a\":\"\\377\\\\'", "cannot be understood"),
        // Output that a child keeps open does not hold anybody up.
        ("tail -f FOLDER/a.mp3 & exit 4", "failed with exit code 4"),
    ])
    func `a program that fails is the file's failure`(script: String, complaint: String) async throws {
        try await withTool(script) { probe, bench, path async throws in
            let failure = try #require(await bench.failure { _ = try await probe.info(of: path) })
            #expect(failure.description.contains(complaint), "\(failure)")
            #expect(failure.kind == .inputOutput && failure.disposition == .skip)
        }
    }

    @Test(arguments: [
        "echo hello", "echo '#tb 0: 1/0'; echo '0, 0, 0, 1, 1, 0'",
        "echo '0, 0, 0, 1, 1, 0'", "echo '#tb 0: 1/44100'; echo '0, 0, 0, 99999999999999999999999, 1, 0'",
    ])
    func `frames that cannot be read are the file's failure`(frames: String) async throws {
        let json = "{\"format\":{\"format_name\":\"mp3\"},\"streams\":[{\"codec_type\":\"audio\"}]}"
        try await withTool("case \"$*\" in *framecrc*) \(frames);; *) echo '\(json)';; esac") {
            probe, bench, path async throws in
            #expect(try await probe.info(of: path).container == "mp3")
            let complaint = await bench.complaint { _ = try await probe.decode(path) }
            #expect(complaint.contains("the output of the program cannot be understood"))
        }
    }

    @Test func `a program has so much processor time, memory and no files`() async throws {
        let limits = Self.limits {
            $0.headers.processorSeconds = 1
            $0.maxAddressSpace = 512 << 20
        }
        try await withTool("while :; do :; done", limits) { probe, bench, path async throws in
            let complaint = await bench.complaint { _ = try await probe.info(of: path) }
            #expect(complaint.contains("tool used more than 1 s of processor time"))
        }
        let told = "echo $(ulimit -t) $(ulimit -v) $(ulimit -c) $(ulimit -f) >&2; exit 1"
        try await withTool(told, limits) { probe, bench, path async throws in
            #expect(await bench.complaint { _ = try await probe.info(of: path) }.contains(": 1 524288 0 0;"))
        }
    }

    @Test func `a program sees nothing of our environment and of our input`() async throws {
        try await withTool("echo $(env | cut -d= -f1 | sort) / $(cat) >&2; exit 1") { probe, bench, path async throws in
            let failure = await bench.failure { _ = try await probe.info(of: path) }
            let names = try #require(failure).why.description.split(separator: " ").map(String.init)
            // The shell adds some.
            #expect(Set(names).subtracting(["PWD", "OLDPWD", "SHLVL", "_"]) == ["LC_ALL", "/"])
        }
    }

    @Test func `a program that is missing is not the file's failure`() async throws {
        try await withTool("exit 0") { _, bench, path async throws in
            let probe = MediaProbe(tools: MediaTools(ffprobe: "\(bench.folder)/none", ffmpeg: nil))
            let failure = try #require(await bench.failure { _ = try await probe.info(of: path) })
            #expect(failure.kind == .configuration && failure.disposition == .stop)
            #expect(failure.description.contains("none cannot be run"))
        }
    }

    @Test func `a cancelled call ends its programs, and one that waits for its turn ends at once`() async throws {
        let script = "trap '' TERM; : > FOLDER/started; tail -f FOLDER/a.mp3"
        try await withTool(script, Self.limits { $0.maxConcurrent = 1 }) { probe, bench, path async throws in
            let first = Task { try await probe.info(of: path) }
            try await waitUntil("it has started") { FileManager.default.fileExists(atPath: bench.path("started")) }
            let second = Task { try await probe.info(of: path) }
            second.cancel()
            await #expect(throws: CancellationError.self) { try await second.value }
            first.cancel()
            await #expect(throws: CancellationError.self) { try await first.value }
        }
    }

    @Test func `no more than so many run at once`() async throws {
        let slots = Slots(count: 2)
        let counts = Watched((now: 0, most: 0, all: 0))
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    _ = await Result.of {
                        try await slots.withSlot {
                            counts.update { $0 = ($0.now + 1, max($0.most, $0.now + 1), $0.all + 1) }
                            for _ in 0..<10 { await Task.yield() }
                            counts.update { $0.now -= 1 }
                            if number % 3 == 0 { throw CancellationError() }
                        }
                    }
                }
            }
        }
        #expect(counts.value.most == 2 && counts.value.all == 200)
    }

    @Test func `the programs are found in the folders of PATH`() async throws {
        try await withTemporaryPath { folder async throws in
            for (name, mode) in [("1/ffprobe", 0o644), ("2/ffprobe", 0o755), ("3/ffmpeg", 0o755), ("3/ffprobe", 0o755)]
            {
                try write("", to: "\(folder)/\(name)")
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: "\(folder)/\(name)")
            }
            try FileManager.default.createDirectory(atPath: "\(folder)/0/ffprobe", withIntermediateDirectories: true)
            func find(_ path: String?) -> [String?]? { MediaTools.find(in: path).map { [$0.ffprobe, $0.ffmpeg] } }
            #expect(find("relative::\(folder)/0:\(folder)/1:\(folder)/2") == ["\(folder)/2/ffprobe", nil])
            #expect(find("\(folder)/2:\(folder)/3") == ["\(folder)/2/ffprobe", "\(folder)/3/ffmpeg"])
            #expect(find("\(folder)/1") == nil && find(nil) == nil && find("") == nil)
        }
    }
}
