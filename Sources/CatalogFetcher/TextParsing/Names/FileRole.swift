import BookModel

/// What a file that lies in a book's folder is for, told from its name.
package enum FileRole: Equatable {
    case audio(mediaType: String)
    case picture
    case text
    case other

    package init(ofName name: some StringProtocol) {
        let ending = Self.ending(of: name)
        if !ending.isEmpty, let mediaType = AudioExtension.knownMediaType(ofPath: name) {
            self = .audio(mediaType: mediaType)
        } else if Self.pictures.contains(ending) {
            self = .picture
        } else if Self.texts.contains(ending) {
            self = .text
        } else {
            self = .other
        }
    }

    /// MIME type; nil for what is no audio.
    package var mediaType: String? {
        guard case .audio(let mediaType) = self else { return nil }
        return mediaType
    }

    package var isAudio: Bool { mediaType != nil }

    /// The name without the ending that says what kind of file it is, where it has one that is known.
    package static func bareName(_ name: String) -> String {
        guard FileRole(ofName: name) != .other, let dot = name.lastIndex(of: "."), dot != name.startIndex else {
            return name
        }
        return String(name[..<dot])
    }

    /// The name of a recording, without what only says how it is encoded: `galaxy_01_smith_64kb.mp3` and
    /// `galaxy_01_smith.ogg` are both `galaxy_01_smith`.
    package static func recordingName(_ name: String) -> String {
        let bare = bareName(name)
        guard let mark = bare.lastIndex(of: "_"), mark != bare.startIndex else { return bare }
        let quality = bare[bare.index(after: mark)...].lowercased()
        let rate = quality.hasSuffix("kb") ? quality.dropLast(2) : ""
        let isRate = (2...3).contains(rate.count) && rate.utf8.allSatisfy(\.isDigit)
        return isRate || quality == "vbr" ? String(bare[..<mark]) : bare
    }

    private static func ending(of name: some StringProtocol) -> String {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return "" }
        return name[name.index(after: dot)...].lowercased()
    }

    private static let pictures: Set = ["jpg", "jpeg", "png", "webp", "gif"]
    private static let texts: Set = [
        "txt", "md", "nfo", "pdf", "epub", "opf", "json", "html", "htm", "m3u", "m3u8", "cue", "log", "xml",
    ]
}
