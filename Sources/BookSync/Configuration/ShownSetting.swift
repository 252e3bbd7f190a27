import Foundation

/// A setting as `config show` prints it: ordered, secrets masked, ready for any format.
package indirect enum ShownSetting: Sendable, Hashable {
    case text(String)
    case number(Double)
    case flag(Bool)
    case list([ShownSetting])
    /// Keys of ours, which JSON spells in snake_case.
    case settings([Entry])
    /// Names that are the listener's or the catalog's, never respelled.
    case named([Entry])

    package struct Entry: Sendable, Hashable {
        package var key: String
        package var value: ShownSetting

        package init(_ key: String, _ value: ShownSetting) {
            self.key = key
            self.value = value
        }
    }

    /// YAML that reads back as what it shows, but for what is masked. Ends with a newline.
    package var yamlText: String {
        var text = ""
        writeYAML(to: &text, indent: "")
        return text.hasSuffix("\n") ? text : text + "\n"
    }

    /// As a JSON document, our keys in snake_case.
    package var document: JSONDocument {
        switch self {
        case .text(let text): .string(text)
        case .number(let number): .number(number)
        case .flag(let flag): .bool(flag)
        case .list(let items): .array(items.map(\.document))
        case .settings(let entries):
            .object(entries.map { .init(key: $0.key.replacing("-", with: "_"), value: $0.value.document) })
        case .named(let entries): .object(entries.map { .init(key: $0.key, value: $0.value.document) })
        }
    }

    private func writeYAML(to text: inout String, indent: String) {
        switch self {
        case .text(let value): text += Self.yamlScalar(value)
        case .number, .flag: text += document.text()
        case .list(let items):
            for item in items {
                var inner = ""
                item.writeYAML(to: &inner, indent: indent + "  ")
                text += indent + "- " + inner.drop { $0 == " " } + (inner.hasSuffix("\n") ? "" : "\n")
            }
        case .settings(let entries), .named(let entries):
            for entry in entries {
                text += indent + Self.yamlScalar(entry.key) + ":"
                entry.value.writeBelow(to: &text, indent: indent + "  ")
            }
        }
    }

    private func writeBelow(to text: inout String, indent: String) {
        switch self {
        case .list([]): text += " []\n"
        case .settings([]), .named([]): text += " {}\n"
        case .list, .settings, .named:
            text += "\n"
            writeYAML(to: &text, indent: indent)
        case .text, .number, .flag:
            text += " "
            writeYAML(to: &text, indent: indent)
            text += "\n"
        }
    }

    /// Plain where nobody could take it for anything but a word, else quoted.
    private static func yamlScalar(_ text: String) -> String {
        let isWord = text.allSatisfy { $0.isLetter || $0.isNumber || "-_./".contains($0) }
        let begins = text.first.map { $0.isLetter || $0 == "/" } ?? false
        let words: Set = ["true", "false", "yes", "no", "on", "off", "null", "y", "n"]
        return isWord && begins && !words.contains(text.lowercased()) ? text : quoted(text)
    }

    /// As JSON, which YAML reads as well.
    private static func quoted(_ text: String) -> String {
        JSONDocument.string(text).text()
    }
}
