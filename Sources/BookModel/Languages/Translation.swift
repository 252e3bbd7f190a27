/// A translation of the program's texts, read from a gettext PO file (`Resources/zh.po`): entries with an optional context, strings over
/// several lines, and comments. Plural forms and obsolete entries are not supported.
package struct Translation: Sendable {
    /// Keyed by the English text, in which `{1}` is the first part.
    private(set) var messages: [String: String] = [:]
    /// Texts of the web pages, keyed by name.
    package private(set) var phrases: [String: Phrase] = [:]

    package struct Phrase: Sendable {
        package var english: String
        package var translated: String
    }

    package static let chinese = Translation(EmbeddedFile.bytes("zh.po"))

    init(_ file: [UInt8]) {
        var entry: [Field: String] = [:]
        var field = Field.translated
        for line in file.split(separator: UInt8(ascii: "\n")) {
            guard line.first != UInt8(ascii: "#"), let start = line.firstIndex(of: UInt8(ascii: "\"")) else { continue }
            if let next = Field(rawValue: String(decoding: line[..<start], as: UTF8.self)) {
                if entry[.translated] != nil {
                    add(entry)
                    entry = [:]
                }
                field = next
            }
            entry[field, default: ""] += Self.unescaped(line[(start + 1)..<(line.endIndex - 1)])
        }
        add(entry)
    }

    private enum Field: String {
        case context = "msgctxt "
        case english = "msgid "
        case translated = "msgstr "
    }

    private mutating func add(_ entry: [Field: String]) {
        // The entry without English is the file's header.
        guard let english = entry[.english], !english.isEmpty, let translated = entry[.translated] else { return }
        if let name = entry[.context] {
            phrases[name] = Phrase(english: english, translated: translated)
        } else {
            messages[english] = translated
        }
    }

    private static func unescaped(_ text: ArraySlice<UInt8>) -> String {
        guard text.contains(UInt8(ascii: "\\")) else { return String(decoding: text, as: UTF8.self) }
        var (plain, rest) = ([UInt8](), text)
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() else {
                plain.append(byte)
                continue
            }
            plain.append(escaped == UInt8(ascii: "n") ? UInt8(ascii: "\n") : escaped)
        }
        return String(decoding: plain, as: UTF8.self)
    }
}
