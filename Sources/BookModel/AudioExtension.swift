/// The file name extension of an episode's audio.
package enum AudioExtension {
    /// By extension, the MIME type that players expect (RFC 7845 §9 for Opus).
    private static let mediaTypes = [
        "mp3": "audio/mpeg", "m4a": "audio/mp4", "m4b": "audio/mp4", "aac": "audio/aac", "ogg": "audio/ogg",
        "oga": "audio/ogg", "opus": "audio/ogg", "flac": "audio/flac", "wav": "audio/wav", "wma": "audio/x-ms-wma",
        "amr": "audio/amr", "aif": "audio/aiff", "aiff": "audio/aiff",
    ]

    /// In lower case.
    package static let known = Set(mediaTypes.keys)

    /// From the address, else from the media type, else `mp3`. The address comes first because catalogs that give
    /// every file the same type are common, and servers that name a file by another format's extension are not.
    package static func of(_ episode: Episode) -> String {
        episode.address.flatMap(ofAddress) ?? episode.mediaType.flatMap(ofMediaType) ?? "mp3"
    }

    private static func ofAddress(_ address: ResourceAddress) -> String? {
        // Only the part before the query is looked at, and only a known extension leaves here: no secret can.
        var path = address.secretText.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        while path.last == UInt8(ascii: "/") { path.removeLast() }
        guard let dot = path.lastIndex(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "/") }),
            path[dot] == UInt8(ascii: ".")
        else { return nil }
        let text = String(Substring(path[path.index(after: dot)...])).lowercased()
        return known.contains(text) ? text : nil
    }

    private static func ofMediaType(_ mediaType: String) -> String? {
        let type = mediaType.prefix { $0 != ";" }.lowercased().filter { $0 != " " }
        return switch type {
        case "audio/mpeg", "audio/mp3", "audio/mpeg3", "audio/x-mp3", "audio/x-mpeg": "mp3"
        case "audio/mp4", "audio/m4a", "audio/x-m4a", "audio/mp4a-latm": "m4a"
        case "audio/x-m4b", "audio/m4b": "m4b"
        case "audio/aac", "audio/x-aac", "audio/aacp": "aac"
        case "audio/ogg", "application/ogg", "audio/vorbis": "ogg"
        case "audio/opus": "opus"
        case "audio/flac", "audio/x-flac": "flac"
        case "audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave": "wav"
        case "audio/x-ms-wma": "wma"
        case "audio/amr", "audio/amr-wb": "amr"
        case "audio/aiff", "audio/x-aiff": "aiff"
        default: nil
        }
    }

    /// The MIME type that players expect for a file of this name; nil where it is no audio.
    package static func knownMediaType(ofPath path: some StringProtocol) -> String? {
        path.lastIndex(of: ".").flatMap { mediaTypes[path[path.index(after: $0)...].lowercased()] }
    }

    /// The same, for what is known to be audio.
    package static func mediaType(ofPath path: String) -> String { knownMediaType(ofPath: path) ?? "audio/mpeg" }
}
