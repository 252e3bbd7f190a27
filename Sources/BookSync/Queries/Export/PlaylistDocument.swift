import BookModel

/// A book as an extended M3U playlist: UTF-8 without byte order mark, paths relative to the playlist's folder.
///
/// Paths are written as they are, not percent-encoded: players take them for names of files. A path that a player would
/// take for a comment or for an address gets `./` in front. A name with a line end in it cannot be listed at all.
package enum PlaylistDocument {
    /// - Parameter folder: absolute; where the playlist is to lie.
    package static func text(of book: ExportedBook, in folder: String) -> String {
        var lines = ["#EXTM3U"]
        for (shelved, file) in book.files {
            let path = ExportPath.relative(book.absolutePath(of: file), from: folder)
            guard !path.contains(where: \.isNewline) else { continue }
            // -1 says that nobody knows.
            let seconds = shelved.duration.flatMap { Int(exactly: $0.rounded()) } ?? -1
            lines.append("#EXTINF:\(seconds > 0 ? seconds : -1),\(onOneLine(shelved.episode.name))")
            lines.append(isMistaken(path) ? "./" + path : path)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func isMistaken(_ path: String) -> Bool {
        guard let first = path.unicodeScalars.first else { return false }
        return first == "#" || first.properties.isWhitespace || path.prefix { $0 != "/" }.contains(":")
    }

    /// Line ends and whatever else would end a comment become spaces.
    static func onOneLine(_ text: String) -> String {
        let scalars = text.unicodeScalars.map { scalar -> Unicode.Scalar in
            let breaks = scalar.properties.generalCategory == .control || [0x2028, 0x2029].contains(scalar.value)
            return breaks ? " " : scalar
        }
        return String(String.UnicodeScalarView(scalars)).split(separator: " ").joined(separator: " ")
    }
}
