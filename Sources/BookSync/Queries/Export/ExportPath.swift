import BookModel

/// The relative path from one file to another, and the URLs of files.
enum ExportPath {
    /// The path of a file as seen from a folder; both absolute.
    static func relative(_ path: String, from folder: String) -> String {
        let target = path.split(separator: "/")
        let base = folder.split(separator: "/")
        let shared = zip(target, base).prefix { $0.utf8.elementsEqual($1.utf8) }.count
        // A file is below its folder at least.
        let common = min(shared, target.count - 1)
        return ([Substring](repeating: "..", count: base.count - common) + target[common...]).joined(separator: "/")
    }

    /// `file:` with the bytes that RFC 3986 §3.3 does not let stand in a path percent-encoded.
    static func fileAddress(_ path: String) -> String {
        "file://" + percentEncoded(path.utf8) { $0.isUnreserved || $0 == UInt8(ascii: "/") }
    }
}
