import BookModel
import Foundation

/// What ffprobe prints of a file, as JSON.
struct ProbeDocument: Decodable {
    private struct Format: Decodable {
        var formatName, duration, bitRate: String?
        var tags: [String: String]?
    }

    private struct Stream: Decodable {
        var codecType, codecName, duration, bitRate, sampleRate, extradataHash, nbFrames: String?
        var index, channels: Int?
        var tags: [String: String]?
        var disposition: [String: Int]?

        var isAudio: Bool { codecType == "audio" }
        var isPicture: Bool { disposition?["attached_pic"] == 1 }
    }

    private struct Chapter: Decodable {
        var startTime, endTime: String?
        var tags: [String: String]?
    }

    private var format: Format?
    private var streams: [Stream]?
    private var chapters: [Chapter]?

    /// - Parameter json: a line for each value.
    /// - Returns: nil for what is no such document.
    static func read(_ json: [UInt8]) -> ProbeDocument? {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try? decoder.decode(ProbeDocument.self, from: Data(withLatin1(json)))
    }

    /// ffprobe passes on the bytes of tags that are not UTF-8, so that they are not lost. They are read as Latin-1 here, as
    /// ffprobe does with tags that declare it.
    static func withLatin1(_ json: [UInt8]) -> [UInt8] {
        guard String(validating: json, as: UTF8.self) == nil else { return json }
        let lines = json.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
            String(validating: line, as: UTF8.self).map { Array($0.utf8) }
                ?? line.flatMap { Array(String(UnicodeScalar($0)).utf8) }
        }
        return Array(lines.joined(separator: [UInt8(ascii: "\n")]))
    }

    private var audio: Stream? { streams?.first(where: \.isAudio) }

    /// - Returns: nil where there is no audio.
    func info(isDurationEstimated: Bool) -> MediaInfo? {
        guard let audio else { return nil }
        return MediaInfo(
            container: format?.formatName ?? "", codec: audio.codecName ?? "",
            bitRate: (audio.bitRate ?? format?.bitRate).flatMap { Int($0) },
            sampleRate: audio.sampleRate.flatMap { Int($0) }, channels: audio.channels,
            duration: seconds(audio.duration) ?? seconds(format?.duration), isDurationEstimated: isDurationEstimated,
            tags: tags(audio), chapters: sortedChapters, hasCover: streams?.contains(where: \.isPicture) ?? false,
            setup: "\(audio.index ?? 0) \(audio.extradataHash ?? "")", packets: audio.nbFrames.flatMap { Int($0) })
    }

    /// Seconds that the audio should have by its headers; nil where they say only how long the file is, and it has more than
    /// the audio.
    var declaredAudio: Double? {
        let isAlone = streams?.count { !$0.isPicture } == 1
        return seconds(audio?.duration) ?? (isAlone ? seconds(format?.duration) : nil)
    }

    private func tags(_ audio: Stream) -> [String: String] {
        let all = [format?.tags, audio.tags].compactMap { $0?.sorted { $0.key < $1.key } }.joined()
        return Dictionary(all.map { ($0.key.lowercased(), TagEncoding.repaired($0.value)) }) { first, _ in first }
    }

    private var sortedChapters: [MediaInfo.Chapter] {
        let all = (chapters ?? []).compactMap { chapter -> MediaInfo.Chapter? in
            guard let start = seconds(chapter.startTime), let end = seconds(chapter.endTime) else { return nil }
            let title = chapter.tags?.filter { $0.key.lowercased() == "title" }.min { $0.key < $1.key }
            return MediaInfo.Chapter(start: start, end: end, title: title.map { TagEncoding.repaired($0.value) })
        }
        return Array(all.sorted { ($0.start, $0.end) < ($1.start, $1.end) }.prefix(MediaInfo.maxChapters))
    }

    private func seconds(_ text: String?) -> Double? {
        text.flatMap { Double($0) }.flatMap { (0...ListeningPosition.maximum).contains($0) ? $0 : nil }
    }
}
