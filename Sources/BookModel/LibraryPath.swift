/// Whether a relative path names something in a library, with `/` between its parts: no part is empty, `.` or `..`, and it is
/// nothing of what booksync keeps for itself. A path that comes from outside the program (the store's file, a client) is
/// held against this before anything is opened by it.
package func isLibraryPath(_ path: String) -> Bool {
    var (length, dots) = (0, 0)
    var isName: Bool { length > 2 || length > dots }
    for byte in path.utf8 {
        switch byte {
        case 0: return false
        case UInt8(ascii: "/"):
            guard isName else { return false }
            (length, dots) = (0, 0)
        default:
            length += 1
            if byte == UInt8(ascii: ".") { dots += 1 }
        }
    }
    return isName && !path.utf8.starts(with: ".booksync".utf8)
}

/// The folder and the name of a library-relative path; the folder of a bare name is "".
package func splitLibraryPath(_ path: String) -> (folder: Substring, name: String) {
    // By bytes, as the system reads paths.
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return ("", path) }
    return (path[..<slash], String(path[path.utf8.index(after: slash)...]))
}

extension Unicode.Scalar {
    /// Whether it is a control character of ASCII or Latin-1, or separates lines or paragraphs: nothing that a line shows.
    package var isControl: Bool {
        switch value {
        case 0..<0x20, 0x7F..<0xA0, 0x2028...0x2029: true
        default: false
        }
    }

    /// Whether it has readers see another text than there is: bidirectional embeddings, overrides and isolates (UAX #9 §2),
    /// tag characters, and byte order marks inside a text.
    package var isMisleading: Bool {
        switch value {
        case 0x202A...0x202E, 0x2066...0x2069, 0xFEFF, 0xE0000...0xE007F: true
        default: false
        }
    }
}
