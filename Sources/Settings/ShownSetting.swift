import BookModel
import Foundation

/// A setting as `config show` prints it: ordered, secrets masked, ready for any format.
package indirect enum ShownSetting: Sendable, Hashable {
    case text(String)
    case number(Double)
    case flag(Bool)
    case list([ShownSetting])
    /// Keys of ours, which JSON spells in snake_case.
    case settings([Entry])
    /// Names that are the user's or the catalog's, never respelled.
    case named([Entry])

    package struct Entry: Sendable, Hashable {
        package var key: String
        package var value: ShownSetting

        package init(_ key: String, _ value: ShownSetting) {
            self.key = key
            self.value = value
        }
    }

    /// Numbers, flags, the words of choices and lists of these as what they are; anything else by its description.
    init(_ value: Any) {
        self =
            switch value {
            case let number as Int: .number(Double(number))
            case let number as Int64: .number(Double(number))
            case let number as Double: .number(number)
            case let flag as Bool: .flag(flag)
            case let choice as any RawRepresentable<String>: .text(choice.rawValue)
            case let items as [Any]: .list(items.map { ShownSetting($0) })
            default: .text("\(value)")
            }
    }

    /// YAML that reads back as what it shows, but for what is masked. Ends with a newline.
    package var yamlText: String { yamlText(origins: nil) }

    /// The same with a remark behind each value.
    ///
    /// - Parameter origins: the remark for the setting of that key path; nil for none at all.
    func yamlText(origins: ((_ keyPath: String) -> String)?) -> String {
        var text = ""
        writeYAML(to: &text, indent: "", keyPath: "", origins: origins)
        return text.hasSuffix("\n") ? text : text + "\n"
    }

    /// The key paths of all single values: as they are in the configuration, and with our keys as JSON spells them.
    var keyPaths: [(keyPath: String, shown: String)] { keyPaths(at: "", shownAs: "") }

    private func keyPaths(at keyPath: String, shownAs shown: String) -> [(keyPath: String, shown: String)] {
        func join(_ keyPath: String, _ key: String) -> String { keyPath.isEmpty ? key : "\(keyPath).\(key)" }
        switch self {
        case .settings(let entries):
            return entries.flatMap {
                $0.value.keyPaths(at: join(keyPath, $0.key), shownAs: join(shown, $0.key.replacing("-", with: "_")))
            }
        case .named(let entries):
            return entries.flatMap { $0.value.keyPaths(at: join(keyPath, $0.key), shownAs: join(shown, $0.key)) }
        case .list(let items) where !isListOfWords:
            return items.enumerated().flatMap {
                $0.element.keyPaths(at: "\(keyPath)[\($0.offset)]", shownAs: "\(shown)[\($0.offset)]")
            }
        case .text, .number, .flag, .list: return [(keyPath, shown)]
        }
    }

    /// Such a list is one value.
    private var isListOfWords: Bool {
        guard case .list(let items) = self else { return false }
        return items.allSatisfy { if case .text = $0 { true } else { false } }
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

    private typealias Origins = (_ keyPath: String) -> String

    private func writeYAML(to text: inout String, indent: String, keyPath: String, origins: Origins?) {
        switch self {
        case .text(let value): text += Self.yamlScalar(value)
        case .number, .flag: text += document.text()
        case .list(let items):
            for (index, item) in items.enumerated() {
                var inner = ""
                item.writeYAML(
                    to: &inner, indent: indent + "  ", keyPath: "\(keyPath)[\(index)]", origins: origins)
                text += indent + "- " + inner.drop { $0 == " " } + (inner.hasSuffix("\n") ? "" : "\n")
            }
        case .settings(let entries), .named(let entries):
            for entry in entries {
                text += indent + Self.yamlScalar(entry.key) + ":"
                let inner = keyPath.isEmpty ? entry.key : "\(keyPath).\(entry.key)"
                entry.value.writeBelow(to: &text, indent: indent + "  ", keyPath: inner, origins: origins)
            }
        }
    }

    private func writeBelow(to text: inout String, indent: String, keyPath: String, origins: Origins?) {
        let remark = origins.map { "  # \($0(keyPath))" } ?? ""
        switch self {
        case .list([]): text += " []\(remark)\n"
        case .settings([]), .named([]): text += " {}\n"
        case .list, .settings, .named:
            text += isListOfWords ? "\(remark)\n" : "\n"
            writeYAML(to: &text, indent: indent, keyPath: keyPath, origins: origins)
        case .text, .number, .flag:
            text += " "
            writeYAML(to: &text, indent: indent, keyPath: keyPath, origins: origins)
            text += "\(remark)\n"
        }
    }

    /// Plain where nobody could take it for anything but a word, else quoted as in JSON, which YAML reads as well.
    private static func yamlScalar(_ text: String) -> String {
        let isWord = text.allSatisfy { $0.isLetter || $0.isNumber || "-_./".contains($0) }
        let begins = text.first.map { $0.isLetter || $0 == "/" } ?? false
        let words: Set = ["true", "false", "yes", "no", "on", "off", "null", "y", "n"]
        return isWord && begins && !words.contains(text.lowercased()) ? text : JSONDocument.string(text).text()
    }
}
