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

    /// JSON in one line.
    package var jsonText: String {
        switch self {
        case .text(let text): Self.quoted(text)
        case .number(let number): Self.digits(number)
        case .flag(let flag): flag ? "true" : "false"
        case .list(let items): "[" + items.map(\.jsonText).joined(separator: ",") + "]"
        case .settings(let entries):
            Self.object(entries.map { Entry($0.key.replacing("-", with: "_"), $0.value) })
        case .named(let entries): Self.object(entries)
        }
    }

    private static func object(_ entries: [Entry]) -> String {
        "{" + entries.map { quoted($0.key) + ":" + $0.value.jsonText }.joined(separator: ",") + "}"
    }

    private func writeYAML(to text: inout String, indent: String) {
        switch self {
        case .text(let value): text += Self.yamlScalar(value)
        case .number, .flag: text += jsonText
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

    private static func digits(_ number: Double) -> String {
        Int64(exactly: number).map(String.init) ?? "\(number)"
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
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\" + String(scalar)
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            case "\r": result += "\\r"
            case _ where scalar.properties.generalCategory == .control || scalar.value == 0xFEFF:
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
