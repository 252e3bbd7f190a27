import BookModel

/// A kind of file that ffmpeg writes with tags, chapters and a cover.
package enum MediaContainer: String, Sendable, CaseIterable {
    case mp3, mp4, ogg, flac, matroska

    /// - Returns: nil where tags are not written into such a file.
    package init?(_ info: MediaInfo) {
        let names = info.container.split(separator: ",").map(String.init)
        guard let found = Self.allCases.first(where: { names.contains($0.rawValue) }) else { return nil }
        self = found
    }

    /// What is written of tags: under the names that this kind of file has for them.
    package func writable(_ tags: EmbeddedTags) -> EmbeddedTags {
        guard self == .mp4 else { return tags }
        var tags = tags
        // As library servers read them.
        if let series = tags.tags.removeValue(forKey: "series") { tags.tags["show"] = series }
        if let part = tags.tags.removeValue(forKey: "series-part") { tags.tags["episode_id"] = part }
        return tags
    }

    /// Whether ffmpeg takes the cover for a stream; else it is written as a tag, or as an attachment, and the cover that a file has must
    /// be given anew to be kept.
    var hasCoverStream: Bool { self != .ogg && self != .matroska }

    /// Whether tags and chapters are Vorbis comments. ffmpeg takes them all from its second input then: it writes chapters into
    /// some of these files only.
    var hasComments: Bool { self == .ogg || self == .flac }

    /// ffmpeg's arguments for a file of this kind with the tags.
    ///
    /// Its first input is tagged itself, the second has the chapters and, as comments, the tags.
    /// - Parameters:
    ///   - cover: an absolute path; nil where the first input's pictures stay.
    ///   - isJoined: whether the first input is many files, of which nothing but the audio is wanted.
    func output(_ tags: EmbeddedTags, cover: String?, of info: MediaInfo, isJoined: Bool = false) -> [String] {
        var arguments = [String]()
        if hasCoverStream, let cover { arguments += ["-protocol_whitelist", "file", "-i", "file:\(cover)"] }
        // ffmpeg takes what stands before the file that it writes for options of that: no input may follow.
        arguments += ["-map", "0:a:0", "-c", "copy", "-fflags", "+bitexact"]
        if isJoined { arguments += ["-map_metadata:s", "-1"] }
        if hasCoverStream, cover != nil || !isJoined {
            arguments += cover == nil ? ["-map", "0:v?"] : ["-map", "2:v:0", "-disposition:v:0", "attached_pic"]
        }
        if hasComments {
            let target = self == .ogg ? "-map_metadata:s:a:0" : "-map_metadata"
            arguments += ["-map_metadata", "-1", target, "1:g", "-map_chapters", "-1"]
        } else {
            // What claims another encoding was read as what it is.
            let repaired = info.tags.filter { !$0.value.utf8.allSatisfy { $0 < 0x80 } }
            for (name, text) in repaired.merging(tags.tags, uniquingKeysWith: { $1 }).sorted(by: { $0.key < $1.key }) {
                let isOfStream = name == "language" && (self == .mp4 || self == .matroska)
                arguments += [isOfStream ? "-metadata:s:a:0" : "-metadata", "\(name)=\(text)"]
            }
        }
        if !tags.chapters.isEmpty, !hasComments { arguments += ["-map_chapters", "1"] }
        switch self {
        case .mp4:
            // iTunes' own list of chapters ends with the 255th.
            let isLong = max(tags.chapters.count, info.chapters.count) > 255
            arguments += ["-movflags", "+faststart" + (isLong ? "+disable_chpl" : "")]
        case .matroska:
            if !isJoined { arguments += ["-map", "0:t?"] }
            if let cover {
                let isPNG = cover.hasSuffix(".png")
                arguments += ["-attach", cover, "-metadata:s:t", "mimetype=image/\(isPNG ? "png" : "jpeg")"]
                arguments += ["-metadata:s:t", "filename=cover.\(isPNG ? "png" : "jpg")"]
            }
        case .mp3, .ogg, .flac: break
        }
        let isAudioOnly = self == .mp4 && ["aac", "alac"].contains(info.codec)
        return arguments + ["-f", isAudioOnly ? "ipod" : rawValue]
    }
}
