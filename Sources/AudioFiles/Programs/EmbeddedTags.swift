import BookModel
import Foundation

/// What is written into an audio file beside its audio.
package struct EmbeddedTags: Sendable, Hashable {
    /// Name → text, by ffmpeg's names: `title`, `album_artist`. Of a date only the year may be kept.
    package var tags: [String: String]
    /// None leaves the file its own.
    package var chapters: [MediaInfo.Chapter]
    /// The absolute path of a picture; nil leaves the file its own.
    package var cover: String?

    package init(tags: [String: String], chapters: [MediaInfo.Chapter] = [], cover: String? = nil) {
        (self.tags, self.chapters, self.cover) = (tags, chapters, cover)
    }

    /// What a file lacks of it.
    /// - Returns: the names of tags, `chapters` and `cover`, in order.
    package func missing(in info: MediaInfo) -> [String] {
        var missing = tags.filter { name, text in
            let found = info.tags[name]
            return found != text && !(name == "date" && found == String(text.prefix(4)))
        }.map(\.key).sorted()
        let isSame =
            chapters.count == info.chapters.count
            && zip(chapters, info.chapters).allSatisfy { abs($0.start - $1.start) < 0.05 && $0.title == $1.title }
        if !chapters.isEmpty, !isSame { missing.append("chapters") }
        if cover != nil, !info.hasCover { missing.append("cover") }
        return missing
    }

    /// The chapters, and the tags given, as ffmpeg's `ffmetadata` has them.
    func document(with tags: [String: String] = [:]) -> String {
        func escaped(_ text: String) -> String { text.replacing(/[=;#\\\n]/) { "\\\($0.output)" } }
        var lines = [";FFMETADATA1"] + tags.map { "\(escaped($0.key))=\(escaped($0.value))" }.sorted()
        for chapter in chapters {
            let (start, end) = (Int(clamping: chapter.start * 1000), Int(clamping: chapter.end * 1000))
            lines += ["[CHAPTER]", "TIMEBASE=1/1000", "START=\(start)", "END=\(end)"]
            lines.append("title=\(escaped(chapter.title ?? ""))")
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension [MediaInfo.Chapter] {
    /// As Vorbis comments have them, which are read up to the thousandth.
    var comments: [String: String] {
        var comments: [String: String] = [:]
        for (index, chapter) in enumerated() {
            let time = Int(clamping: chapter.start * 1000)
            let clock = [time / 3_600_000, time / 60_000 % 60, time / 1000 % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
            let number = "CHAPTER" + "\(1000 + index)".dropFirst()
            comments[number] = clock.joined(separator: ":") + "." + "\(1000 + time % 1000)".dropFirst()
            comments[number + "NAME"] = chapter.title ?? ""
        }
        return comments
    }
}
