import BookModel
import CFileSystem
import Foundation

/// What a file says of itself beside its bytes, in one extended attribute: it goes where the file goes, also with `cp -a` and
/// `rsync -X`. Not every filesystem keeps such attributes.
package struct FileNote: Sendable, Hashable {
    /// Each has a line of its own: its name, a blank, and the value; one with a line break is left out.
    package enum Field: String, CaseIterable, Sendable {
        // Of a published file: whose it is, and what it was before it got tags (``FileMark``).
        case episode, sha256, address, original
        // Of a partial file: which answer its bytes are of, which of them are there, and of which file, changed last when, that was
        // written.
        case boot, total, age, modified, tag, synced, written, changed
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
        if values[.written] != nil, mayLackBytes(descriptor) { (values[.written], values[.synced]) = ("", nil) }
    }

    /// Whether the file is a copy that was made while bytes came: its time of change is of before its bytes then, and the note of
    /// after them.
    private func mayLackBytes(_ descriptor: CInt) -> Bool {
        var status = stat()
        let words = (values[.changed] ?? "").split(separator: " ")
        guard fstat(descriptor, &status) == 0, words.count == 2, let time = Int64(words[1]) else { return true }
        let found = FileAttributes(status).modificationTime
        // Some disks keep seconds, or hundreds of nanoseconds.
        let precision: Int64 = found % 1_000_000_000 == 0 ? 1_000_000_000 : 100
        return words[0] != "\(status.st_ino)" && found / precision < time / precision
    }

    /// - Returns: whether the filesystem keeps it.
    @discardableResult
    package func write(to descriptor: CInt) -> Bool {
        var (values, status) = (values, stat())
        if values[.written] != nil, fstat(descriptor, &status) == 0 {
            values[.changed] = "\(status.st_ino) \(FileAttributes(status).modificationTime)"
        }
        let lines = Field.allCases.compactMap { field in
            values[field].flatMap { $0.utf8.contains { $0 == 10 || $0 == 13 } ? nil : "\(field.rawValue) \($0)\n" }
        }
        var text = lines.joined()
        return text.withUTF8 { booksync_set_attribute(descriptor, Self.attribute, $0.baseAddress, $0.count) == 0 }
    }

    package static func remove(from descriptor: CInt) { _ = booksync_remove_attribute(descriptor, attribute) }
}
