import BookModel
import Foundation

/// Reads audio files with ffprobe and ffmpeg, each in a process that is limited in time, memory and output.
///
/// The programs open the file itself and nothing else: no network, no playlist, no list of other files, whatever the file says. All
/// calls throw a ``Failure`` where it cannot be read as audio, and `CancellationError`.
package struct MediaProbe: Sendable {
    /// Demuxers of audio files. None of them opens another file.
    static let formats =
        "mp3,mov,ogg,flac,matroska,aac,wav,w64,aiff,asf,ac3,eac3,amr,ape,wv,tta,mpc,mpc8,caf,dsf,au"

    let tools: MediaTools
    let limits: MediaLimits
    let slots: Slots

    package init(tools: MediaTools, limits: MediaLimits = MediaLimits()) {
        self.tools = tools
        self.limits = limits
        slots = Slots(count: limits.maxConcurrent)
    }

    /// What the file says of itself; only its headers are read.
    package func info(of path: String) async throws -> MediaInfo {
        try await slots.withSlot { try await readHeaders(path).info }
    }

    /// Decodes the first audio stream to its end, or to the first error.
    package func decode(_ path: String) async throws -> DecodeVerdict {
        try await slots.withSlot {
            let (info, declared) = try await readHeaders(path)
            // Two lines a second: no more than that is lost when the decoder stops at an error.
            let block = max(1, (info.sampleRate ?? 44100) / 2)
            let output = try await runFFmpeg(path, ["-af", "asetnsamples=n=\(block):p=0", "-f", "framecrc", "-"])
            guard let frames = DecodedFrames(output.bytes) else { throw ToolTrouble.unreadable.failure(path) }
            let seconds = frames.seconds
            if let trouble = output.trouble {
                guard trouble.kind == .exited, frames.unit != nil else { throw trouble.failure(path) }
                // Behind the audio of an MP3 there may be tags and padding, which are no frames.
                let isBehind = info.container == "mp3" && declared.map { $0 - seconds < 0.6 } == true
                return isBehind ? .whole(seconds: seconds) : .broken(at: seconds, why: trouble.why)
            }
            if let gap = frames.gap {
                return .broken(at: gap.start, why: "\(describeSeconds(gap.seconds)) of audio are missing")
            }
            // Encoders round, and count their own delay.
            if let declared, declared - seconds > 1 {
                let (has, says) = (describeSeconds(seconds), describeSeconds(declared))
                return .broken(at: seconds, why: "it has \(has) of audio, and its header says \(says)")
            }
            return .whole(seconds: seconds)
        }
    }

    /// SHA-256 of the first audio stream's packets: the same whatever the tags and the cover are.
    /// - Returns: 64 hexadecimal digits.
    package func streamHash(of path: String) async throws -> String {
        try await slots.withSlot {
            let output = try await runFFmpeg(path, ["-c", "copy", "-f", "streamhash", "-hash", "sha256", "-"])
            if let trouble = output.trouble { throw trouble.failure(path) }
            let text = String(decoding: output.bytes, as: UTF8.self)
            guard let match = text.wholeMatch(of: /0,a,SHA256=([0-9a-f]{64})\n/) else {
                throw ToolTrouble.unreadable.failure(path)
            }
            return String(match.1)
        }
    }

    /// The first bytes of a file; none where it cannot be read. Blocks on the disk.
    static func beginning(of path: String, _ count: Int) -> Data {
        let file = FileHandle(forReadingAtPath: path)
        defer { try? file?.close() }
        return (try? file?.read(upToCount: count)) ?? Data()
    }

    func readHeaders(_ path: String) async throws -> (info: MediaInfo, declared: Double?) {
        let shown =
            ["-of", "json=string_validation=ignore", "-show_format", "-show_streams", "-show_chapters"]
            + ["-show_data_hash", "sha256"]
        let output = try await run(tools.ffprobe, on: path, ["-v", "level+warning"], shown, limits.headers)
        if let trouble = output.trouble { throw trouble.failure(path) }
        guard let document = ProbeDocument.read(output.bytes) else { throw ToolTrouble.unreadable.failure(path) }
        let isEstimated = output.errors.contains("Estimating duration from bitrate")
        guard let info = document.info(isDurationEstimated: isEstimated) else {
            throw ToolTrouble(.file, "it has no audio").failure(path)
        }
        return (info, isEstimated ? nil : document.declaredAudio)
    }

    private func runFFmpeg(_ path: String, _ output: [String]) async throws -> ToolOutput {
        try await run(
            try ffmpeg(for: path), on: path, ["-v", "level+error", "-nostdin", "-xerror", "-threads", "1"],
            ["-map", "0:a:0"] + output, limits.wholeFile)
    }

    /// - Throws: ``Failure`` where it is not installed.
    func ffmpeg(for path: String) throws -> String {
        guard let ffmpeg = tools.ffmpeg else { throw ToolTrouble(.program, "ffmpeg is not installed").failure(path) }
        return ffmpeg
    }

    /// - Parameters:
    ///   - maxFileSize: bytes of a file that it may write.
    ///   - maxOutput: bytes; nil for what the limits say.
    ///   - formats: demuxers that it may use.
    func run(
        _ tool: String, on path: String, _ options: [String], _ output: [String], _ time: MediaLimits.Time,
        maxFileSize: Int64 = 0, maxOutput: Int? = nil, formats: String = Self.formats
    ) async throws -> ToolOutput {
        // A program would get only what is before it.
        guard !path.utf8.contains(0) else { throw ToolTrouble(.file, "there is no such file").failure(path) }
        let file = path.hasPrefix("/") ? path : "\(FileManager.default.currentDirectoryPath)/\(path)"
        let input = [
            "-hide_banner", "-protocol_whitelist", "file", "-format_whitelist", formats, "-i", "file:\(file)",
        ]
        let run = ToolRun(
            tool: tool, file: file, arguments: options + input + output, time: time,
            maxAddressSpace: limits.maxAddressSpace, maxOutput: maxOutput ?? limits.maxOutput, maxFileSize: maxFileSize)
        return try await run.run()
    }
}
