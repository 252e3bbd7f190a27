import CFileSystem

/// What a file says of itself beside its bytes, in one extended attribute: it goes where the file goes, also with `cp -a` and
/// `rsync -X`. Not every filesystem keeps such attributes.
package struct FileNote: Sendable, Hashable {
    /// Each has a line of its own: its name, a blank, and the value; one with a line break is left out.
    package enum Field: String, CaseIterable, Sendable {
        // Of a published file: whose it is, and what it was before it got tags (``FileMark``).
        case episode, sha256, address, original
        // Of a partial file: which answer its bytes are of, and which of them are there.
        case boot, total, age, modified, tag, synced, written
    }

    private static let attribute = "user.booksync"

    private var values: [Field: String] = [:]

    package init() {}

    package subscript(field: Field) -> String? {
        get { values[field] }
        set { values[field] = newValue }
    }

    /// The note of an open file; nil where it has none that can be read.
    package init?(of descriptor: CInt) {
        let size = booksync_get_attribute(descriptor, Self.attribute, nil, 0)
        guard size > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: size)
        guard booksync_get_attribute(descriptor, Self.attribute, &bytes, size) == size,
            let text = String(validating: bytes, as: UTF8.self)
        else { return nil }
        for line in text.split(separator: "\n") {
            guard let blank = line.firstIndex(of: " "), let field = Field(rawValue: String(line[..<blank])) else {
                continue
            }
            values[field] = String(line[blank...].dropFirst())
        }
    }

    /// - Returns: whether the filesystem keeps it.
    @discardableResult
    package func write(to descriptor: CInt) -> Bool {
        let lines = Field.allCases.compactMap { field in
            values[field].flatMap { $0.utf8.contains { $0 == 10 || $0 == 13 } ? nil : "\(field.rawValue) \($0)\n" }
        }
        var text = lines.joined()
        return text.withUTF8 { booksync_set_attribute(descriptor, Self.attribute, $0.baseAddress, $0.count) == 0 }
    }

    package static func remove(from descriptor: CInt) { _ = booksync_remove_attribute(descriptor, attribute) }
}
