import BookModel

/// Puts the hash of a password into the text of a configuration, where that can be done without touching anything else.
///
/// The text is changed line by line, so that comments and form stay; then both texts are read, and but for
/// `serve.password` they must say the same. What is written in another way than line by line is left to its writer.
package struct PasswordEntry: Sendable, Hashable {
    /// The lines to put into a configuration that has no `serve:`.
    package let lines: [String]
    private let line: String

    package init(_ hash: PasswordHash) {
        line = "password: \"\(hash.secretText)\""
        lines = ["serve:", "  " + line]
    }

    /// - Parameters:
    ///   - text: of a configuration; empty where there is none.
    ///   - file: the name to show.
    /// - Returns: nil where the entry cannot be made so.
    /// - Throws: ``Failure`` of kind `configuration` when the text is no YAML.
    package func entered(into text: String, file: String) throws -> String? {
        let before = try YAMLText.parse(text, file: file)?.content ?? .nothing
        guard let changed = changed(text, before) else { return nil }
        let after: SettingNode.Content
        do {
            after = try YAMLText.parse(changed, file: file)?.content ?? .nothing
        } catch is Failure {
            return nil
        }
        guard case .map(let entries) = after, let serve = entries.first(where: { $0.key == "serve" }),
            case .map(let settings) = serve.value.content,
            case .text(let entered)? = settings.first(where: { $0.key == "password" })?.value.content,
            line == "password: \"\(entered)\"", Self.rest(of: before) == Self.rest(of: after)
        else { return nil }
        return changed
    }

    private func changed(_ text: String, _ content: SettingNode.Content) -> String? {
        let entries: [SettingNode.Entry]
        switch content {
        case .nothing: entries = []
        case .map(let found): entries = found
        case .text, .list: return nil
        }
        let ending = text.unicodeScalars.contains("\r") ? "\r" : ""
        guard let serve = entries.first(where: { $0.key == "serve" }) else {
            let isEnded = text.isEmpty || text.utf8.last == UInt8(ascii: "\n")
            let before = isEnded ? "" : ending + "\n"
            return lines.reduce(text + before) { $0 + $1 + ending + "\n" }
        }
        // By bytes: a carriage return and a line feed are one character.
        var lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        // YAML counts other ends of lines as well.
        guard serve.line <= lines.count else { return nil }
        switch serve.value.content {
        case .text, .list: return nil
        case .nothing: lines.insert("  " + line + ending, at: serve.line)
        case .map(let settings):
            // A value and its file cannot both count.
            guard let first = settings.first, !settings.contains(where: { $0.key == "password-file" }) else {
                return nil
            }
            let old = settings.first { $0.key == "password" }
            let index = (old ?? first).line - 1
            guard lines.indices.contains(index), index >= serve.line else { return nil }
            let indent = String(lines[index].prefix { $0 == " " })
            if old == nil {
                lines.insert(indent + line + ending, at: index)
            } else {
                guard let rest = Self.rest(behindPasswordIn: lines[index].dropFirst(indent.count)) else { return nil }
                lines[index] = indent + line + rest
            }
        }
        return lines.joined(separator: "\n")
    }

    /// What stands behind the value: a remark with the white space before it, and the end of the line.
    /// - Returns: nil where the line is not a key with one value.
    private static func rest(behindPasswordIn line: Substring) -> Substring? {
        line.wholeMatch(of: /password:[ \t]*(?:"[^"]*"|'[^']*'|[^ \t#"'\r].*?|)([ \t]*(?:[ \t]#.*)?\r?)/)?.output.1
    }

    // MARK: What must stay

    /// Everything but the entry, with the kind of each thing.
    private static func rest(of content: SettingNode.Content) -> [String] {
        // A file without content and one with `serve:` alone have maps once the entry is in them.
        let maps: Set = ["", "\0{}", "\0serve", "\0serve\0{}"]
        return flat(content, at: "").filter { !maps.contains($0) && !($0 + "\0").hasPrefix("\0serve\0password\0") }
    }

    private static func flat(_ content: SettingNode.Content, at path: String) -> [String] {
        switch content {
        case .nothing: [path]
        case .text(let text): [path + "\0=" + text]
        case .list(let items):
            [path + "\0[]"] + items.enumerated().flatMap { flat($0.element.content, at: "\(path)\0\($0.offset)") }
        case .map(let entries):
            [path + "\0{}"] + entries.flatMap { flat($0.value.content, at: path + "\0" + $0.key) }
        }
    }
}
