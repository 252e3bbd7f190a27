import BookModel
import Foundation
import Support

@testable import AudioFiles

/// Makes audio files with ffmpeg, in a folder of a test's own.
struct AudioBench {
    static let tools = MediaTools.find(in: "/usr/local/bin:/usr/bin:/opt/homebrew/bin")

    let folder: String
    let probe: MediaProbe

    static func with(_ body: (AudioBench) async throws -> Void) async throws {
        guard let tools else { throw ToolMissing(name: "ffprobe") }
        try await withTemporaryPath { try await body(AudioBench(folder: $0, probe: MediaProbe(tools: tools))) }
    }

    func path(_ name: String) -> String { "\(folder)/\(name)" }

    /// Runs ffmpeg with these arguments, separated by blanks, and the file that it is to make.
    @discardableResult
    func make(_ name: String, _ arguments: String, more: [String] = []) async throws -> String {
        try await ffmpeg(arguments.split(separator: " ").map(String.init) + more + ["-y", "file:" + path(name)])
        return path(name)
    }

    /// - Parameter sound: as ffmpeg's lavfi describes it.
    @discardableResult
    func sound(
        _ name: String, _ arguments: String, seconds: Int = 60, sound: String = "sine=frequency=330",
        more: [String] = []
    ) async throws -> String {
        try await make(name, "-f lavfi -t \(seconds) -i \(sound) \(arguments)", more: more)
    }

    private func ffmpeg(_ arguments: [String]) async throws {
        guard let ffmpeg = Self.tools?.ffmpeg else { throw ToolMissing(name: "ffmpeg") }
        let result = try await run(ffmpeg, ["-v", "error", "-nostdin"] + arguments)
        guard result.exitCode == 0 else { throw ToolFailed(errors: result.errors) }
    }

    private func run(_ program: String, _ arguments: [String]) async throws -> ProductRunner.Result {
        try await withProduct(arguments, in: URL(filePath: folder), executable: URL(filePath: program)) {
            try await $0.result()
        }
    }

    /// Chapters of a second each, as ffmpeg reads them.
    func chapters(_ count: Int) throws -> String {
        let chapters = (0..<count).map {
            "[CHAPTER]\nTIMEBASE=1/1000\nSTART=\($0 * 1000)\nEND=\($0 * 1000 + 1000)\ntitle=第\($0 + 1)章\n"
        }
        try write(";FFMETADATA1\ntitle=三国演义\nartist=单田芳\n" + chapters.joined(), to: path("chapters"))
        return path("chapters")
    }

    func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path(name)))) }

    @discardableResult
    func save(_ bytes: some Sequence<UInt8>, named name: String) throws -> String {
        try Data(bytes).write(to: URL(filePath: path(name)))
        return path(name)
    }

    /// Where the packet with that byte begins, in seconds, by ffprobe's own list.
    func seconds(atByte offset: Int, of name: String) async throws -> Double {
        guard let tools = Self.tools else { throw ToolMissing(name: "ffprobe") }
        let list = try await run(
            tools.ffprobe,
            [
                "-v", "error", "-select_streams", "a:0", "-show_entries", "packet=pts_time,pos", "-of", "csv=p=0",
                path(name),
            ])
        let packets = list.outputLines.map { $0.split(separator: ",").map { Double($0) } }
        let before = packets.filter { $0.count >= 2 && ($0[1] ?? .infinity) <= Double(offset) }
        guard let seconds = before.last?[0] else { throw ToolFailed(errors: list.errors) }
        return seconds
    }

    /// How the call failed.
    func failure(_ body: () async throws -> Void) async -> Failure? {
        if case .failure(let error) = await Result.of(body) { error as? Failure } else { nil }
    }

    /// The text of a failure; empty where there is none.
    func complaint(_ body: () async throws -> Void) async -> String { await failure(body)?.description ?? "" }
}

struct ToolMissing: Error {
    let name: String
}

struct ToolFailed: Error {
    let errors: String
}
