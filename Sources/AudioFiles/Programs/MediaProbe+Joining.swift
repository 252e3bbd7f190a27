import BookModel
import Foundation
import LibraryFiles

/// What the files of a book are joined into.
package enum JoinFormat: String, Sendable, CaseIterable {
    case m4b, mp3, mka

    var container: MediaContainer {
        switch self {
        case .m4b: .mp4
        case .mp3: .mp3
        case .mka: .matroska
        }
    }

    /// Whether it holds packets of the codec as they are.
    func takes(_ codec: String) -> Bool {
        switch self {
        case .m4b: codec == "aac" || codec == "alac"
        case .mp3: codec == "mp3"
        case .mka: true
        }
    }
}

/// How audio is encoded that cannot be copied.
package struct JoinEncoding: Sendable, Hashable {
    package let format: JoinFormat
    /// Bits a second.
    package let bitRate: Int
    package let sampleRate: Int
    package let channels: Int
    /// Loudness to reach, in LUFS (EBU R128); nil leaves it as it is.
    package let loudness: Double?

    /// Takes the highest sample rate and channel count of the files, as far as all players know them.
    /// - Parameter bitRate: nil for 64 kbit/s mono and 96 kbit/s stereo.
    package init(of parts: [AudioPart], as format: JoinFormat, bitRate: Int?, loudness: Double?) {
        (self.format, self.loudness) = (format, loudness)
        channels = parts.contains { $0.info.channels ?? 2 > 1 } ? 2 : 1
        self.bitRate = bitRate ?? (channels == 1 ? 64_000 : 96_000)
        let highest = parts.compactMap(\.info.sampleRate).max() ?? 44100
        // Opus knows no other.
        let known = format == .mka ? [48000] : [16000, 22050, 24000, 32000, 44100]
        sampleRate = known.first { $0 >= highest } ?? 48000
    }

    var encoder: (codec: String, format: String) {
        switch format {
        case .m4b: ("aac", "ipod")
        case .mp3: ("libmp3lame", "mp3")
        case .mka: ("libopus", "matroska")
        }
    }
}

/// A file whose audio is joined with that of others.
package struct AudioPart: Sendable {
    package var path: String
    package let info: MediaInfo
    /// Of all its packets: some milliseconds more than is heard, for what encoders put before and behind it. Nothing less exact
    /// adds up over hundreds of files.
    package let seconds: Double
    /// What must be the same in two files for the packets of one to follow those of the other.
    fileprivate let parameters: String

    /// Whether the packets of all of them go into one stream as they are.
    package static func canCopy(_ parts: [AudioPart], into format: JoinFormat) -> Bool {
        Set(parts.map(\.parameters)).count == 1 && parts.allSatisfy { format.takes($0.info.codec) }
    }
}

extension MediaProbe {
    /// - Parameters:
    ///   - path: absolute.
    ///   - known: what was read of the file before.
    ///   - trustsHeader: whether a header is believed that says how many packets follow; else they are counted.
    package func part(_ path: String, known: MediaInfo? = nil, trustsHeader: Bool = true) async throws -> AudioPart {
        try await slots.withSlot {
            let isKnown = known.map { $0.container == "mp3" || $0.setup != nil } == true
            let info: MediaInfo = if isKnown, let known { known } else { try await readHeaders(path).info }
            var parameters = "\(info.codec) \(info.sampleRate ?? 0) \(info.channels ?? 0)"
            if info.codec == "flac" {
                // What it has there counts and hashes the whole file; only the size of its blocks matters.
                parameters += " \(try await packets(of: path, "duration_time", ["-read_intervals", "%+#1"]))"
            } else if info.container != "mp3" {
                parameters += " \(info.setup ?? "")"
            }
            var seconds = trustsHeader ? info.packetSeconds : nil
            if seconds == nil {
                let times = try await packets(of: path, "pts_time")
                guard let first = times.first, let last = times.last, times.count > 1 else {
                    throw ToolTrouble(.file, "it has no audio").failure(path)
                }
                seconds = (last - first) * Double(times.count) / Double(times.count - 1)
            }
            return AudioPart(path: path, info: info, seconds: seconds ?? 0, parameters: parameters)
        }
    }

    /// Of the audio's packets, which are not decoded; of all of them unless the options say otherwise.
    private func packets(of path: String, _ entry: String, _ options: [String] = []) async throws -> [Double] {
        let output = try await run(
            tools.ffprobe, on: path, ["-v", "level+error"],
            ["-select_streams", "a:0", "-show_entries", "packet=\(entry)", "-of", "csv=p=0"] + options,
            limits.wholeFile,
            // A line of some 12 bytes a packet: three days of audio.
            maxOutput: 128 << 20)
        if let trouble = output.trouble { throw trouble.failure(path) }
        return output.bytes.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: ",") }
            .compactMap { Double(String(decoding: $0, as: UTF8.self)) }
    }

    /// Writes the audio of a file in another encoding, without its tags, chapters and pictures.
    /// - Parameter output: absolute; what is there is overwritten.
    package func encode(_ part: AudioPart, as encoding: JoinEncoding, to output: String) async throws {
        let written = try await slots.withSlot {
            let filter = encoding.loudness.map { ["-af", "loudnorm=I=\($0):TP=-2:LRA=11"] } ?? []
            return try await run(
                try ffmpeg(for: part.path), on: part.path, ["-v", "level+error", "-nostdin", "-y"],
                ["-map", "0:a:0"] + filter + ["-ar", "\(encoding.sampleRate)", "-ac", "\(encoding.channels)"]
                    + ["-c:a", encoding.encoder.codec, "-b:a", "\(encoding.bitRate)"]
                    + ["-map_metadata", "-1", "-map_chapters", "-1", "-fflags", "+bitexact"]
                    + ["-f", encoding.encoder.format, "file:\(output)"],
                limits.wholeFile.longer(by: part.seconds),
                maxFileSize: Int64(clamping: part.seconds * Double(encoding.bitRate) / 4).addingSaturated(64 << 20))
        }
        guard let trouble = written.trouble else { return }
        // Whether it could not read or not write does not follow from what it says.
        if trouble.kind == .exited, case .whole = try await decode(part.path) { throw trouble.failure(writing: output) }
        throw trouble.failure(part.path)
    }

    /// Writes the packets of all parts behind each other.
    /// - Parameters:
    ///   - pictureOf: a file whose picture becomes the cover where the tags have none.
    ///   - output: absolute; what is there is overwritten.
    /// - Returns: seconds of the file, as its header has them: fewer than those of the parts where one could not be read.
    package func join(
        _ parts: [AudioPart], as format: JoinFormat, with tags: EmbeddedTags, pictureOf first: AudioPart?,
        to output: String
    ) async throws -> Double {
        let (list, document) = (output + ".list", output + ".chapters")
        var leftovers = [list, document, output + ".jpg", output + ".png"]
        defer { for file in leftovers { unlink(file) } }
        var tags = tags
        try await slots.withSlot {
            if tags.cover == nil, let first, first.info.hasCover {
                let picture = try await extractCover(of: first.path, to: output)
                let beginning = try await runBlocking { Self.beginning(of: picture, 2) }
                tags.cover = [[0xff, 0xd8], [0x89, 0x50]].contains(Array(beginning)) ? picture : nil
            }
            var lines = "ffconcat version 1.0\n"
            for (index, part) in parts.enumerated() {
                var path = part.path
                // A line of the list ends there, whatever is around it.
                if path.contains(where: \.isNewline) {
                    path = "\(output).\(index)"
                    leftovers.append(path)
                    unlink(path)
                    try systemCall("\(path) cannot be made") { symlink(part.path, path) }
                }
                lines += "file 'file:\(path.replacing("'", with: #"'\''"#))'\nduration \(part.seconds)\n"
            }
            try await runBlocking { [lines, tags] in
                // The only one of the allowed formats that opens other files.
                for part in parts where Self.beginning(of: part.path, 8).elementsEqual("ffconcat".utf8) {
                    throw ToolTrouble(.file, "it is a list of other files").failure(part.path)
                }
                do throws(SystemError) {
                    try createFile(at: list, with: Array(lines.utf8), mode: 0o600)
                    try createFile(at: document, with: Array(tags.document().utf8), mode: 0o600)
                } catch {
                    throw Failure.file("\(output) cannot be written", errno: error.code)
                }
            }
            let seconds = parts.reduce(0) { $0 + $1.seconds }
            let size = try await runBlocking { parts.saturatedSum { fileSize($0.path) ?? 0 } }
            // In threads, as ffmpeg reads several inputs by itself, packets as small as these take three times as long.
            let inline = ["-thread_queue_size", "0"]
            // ffmpeg's own tag has no list of its chapters.
            let tag = format == .mp3 ? try await runBlocking { [tags] in try ID3Tag(tags).bytes } : nil
            var tagging = [
                "-metadata_header_padding", "\(tag?.count ?? 0)", "-map", "0:a:0", "-c", "copy", "-f", "mp3",
            ]
            if tag == nil {
                let target = MediaInfo(container: format.container.rawValue, codec: parts.first?.info.codec ?? "")
                tagging =
                    inline + ["-f", "ffmetadata", "-i", "file:\(document)"]
                    + format.container.output(tags, cover: tags.cover, of: target, isJoined: true)
            }
            let written = try await run(
                try ffmpeg(for: output), on: list,
                ["-v", "level+error", "-nostdin", "-y"] + inline + ["-f", "concat", "-safe", "0"],
                tagging + ["file:\(output)"], limits.wholeFile.longer(by: seconds),
                maxFileSize: size.multipliedSaturated(by: 2).addingSaturated(64 << 20),
                formats: "concat," + Self.formats)
            if let trouble = written.trouble { throw trouble.failure(writing: output) }
            if let tag { try await runBlocking { try ID3Tag.replaceTag(of: output, with: tag) } }
        }
        return try await info(of: output).duration ?? 0
    }
}

extension MediaInfo {
    /// How long all packets of the audio take by the header; nil where it does not say so exactly.
    fileprivate var packetSeconds: Double? {
        if container == "mp3" { return isDurationEstimated ? nil : duration }
        guard container.hasPrefix("mov"), let duration, let packets, let sampleRate, packets > 0 else { return nil }
        // An edit list may leave out some of them. Whoever is wrong about a file of a few packets is wrong by milliseconds.
        let samples = duration * Double(sampleRate) / Double(packets)
        let nearest = [480, 512, 960, 1024, 1920, 2048, 4096].min { abs($0 - samples) < abs($1 - samples) } ?? 1024
        return nearest * Double(packets) / Double(sampleRate)
    }
}

extension MediaLimits.Time {
    /// For what takes longer the longer the audio is. Encoders are faster than it is heard.
    func longer(by seconds: Double) -> Self {
        Self(
            seconds: self.seconds + seconds, processorSeconds: processorSeconds.addingSaturated(Int(clamping: seconds)))
    }
}
