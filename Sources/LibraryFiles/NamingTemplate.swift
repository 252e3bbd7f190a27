import BookModel

/// How the files of the library are named: `{author}/{title}/{section} {name}.{ext}`.
///
/// Fields are `{author}`, `{title}`, `{series}`, `{section}`, `{name}`, `{year}`, `{published}` (a day, `2024-05-31`),
/// `{id}` (the catalog's key of the episode) and `{ext}`, which stands at the end or is added there. `{section:4}` has
/// at least four digits. A field that the catalog does not fill vanishes with its brackets and its separator, a
/// folder that is empty vanishes altogether.
package struct NamingTemplate: Sendable, Hashable, CustomStringConvertible {
    enum Field: String, Sendable, CaseIterable {
        case author, title, series, section, name, ext, year, id, published
    }

    enum Part: Sendable, Hashable {
        case literal(String)
        case field(Field, width: Int?)

        var field: Field? {
            guard case .field(let field, _) = self else { return nil }
            return field
        }
    }

    /// The template as it was written.
    package let description: String
    let folders: [[Part]]
    /// The last component without its `.{ext}`.
    let stem: [Part]
    /// Whether a name depends on the day of publication, which is costly to write out.
    let usesDay: Bool

    package static let standardText = "{author}/{title}/{section} {name}.{ext}"

    /// What ``standardText`` says.
    package static let standard = NamingTemplate(
        description: standardText, folders: [[.field(.author, width: nil)], [.field(.title, width: nil)]],
        stem: [.field(.section, width: nil), .literal(" "), .field(.name, width: nil)])

    private init(description: String, folders: [[Part]], stem: [Part]) {
        self.description = description
        self.folders = folders
        self.stem = stem
        self.usesDay = (folders.joined() + stem).contains { [.year, .published].contains($0.field) }
    }

    /// - Throws: ``Failure`` of kind `configuration` when files could not be told apart, or would leave the library.
    package init(parsing text: String) throws {
        do {
            var components = try text.split(separator: "/", omittingEmptySubsequences: false).map {
                try Self.parts(of: String($0))
            }
            guard !text.hasPrefix("/"), !text.hasPrefix("~") else {
                throw Problem(why: "it must be relative to the library")
            }
            guard components.count <= 8 else { throw Problem(why: "it has more than 8 levels") }
            guard !text.split(separator: "/").contains(where: { $0 == ".." || $0 == "." }) else {
                throw Problem(why: "'.' and '..' would leave the book's folder")
            }
            guard !components.contains([]) else { throw Problem(why: "there is nothing between two of its slashes") }
            var last = components.removeLast()
            try Self.takeExtension(from: &last)
            guard last.contains(where: { [.section, .name, .id].contains($0.field) }) else {
                throw Problem(
                    why: "nothing in its last part tells one episode from the next: "
                        + "it needs {section}, {name} or {id}")
            }
            guard !(components.joined() + last).contains(where: { $0.field == .ext }) else {
                throw Problem(why: "{ext} belongs at the very end, after a dot")
            }
            self.init(description: text, folders: components, stem: last)
        } catch let problem as Problem {
            throw Failure(
                .configuration, disposition: .stop, what: "the naming '\(text)' cannot be used", why: problem.why,
                remedy: "write for example \(Self.standardText)")
        }
    }

    private struct Problem: Error {
        let why: Message
    }

    /// `.{ext}` at the end goes, because the extension is added to whatever the rest comes to.
    private static func takeExtension(from parts: inout [Part]) throws {
        if case .literal(let text)? = parts.last, let dot = text.lastIndex(of: "."),
            AudioExtension.known.contains(text[dot...].dropFirst().lowercased())
        {
            throw Problem(why: "it ends in \(text[dot...]), and the extension is that of the file: write .{ext}")
        }
        guard parts.last?.field == .ext else { return }
        parts.removeLast()
        guard case .literal(let text)? = parts.last, text.hasSuffix(".") else {
            throw Problem(why: "{ext} belongs at the very end, after a dot")
        }
        parts.removeLast()
        if text.count > 1 { parts.append(.literal(String(text.dropLast()))) }
    }

    private static func parts(of component: String) throws -> [Part] {
        var parts: [Part] = []
        var rest = component[...]
        var literalBytes = 0
        while let first = rest.first {
            if first == "{" {
                guard let end = rest.firstIndex(of: "}") else { throw Problem(why: "a brace is not closed") }
                let part = try field(named: rest[rest.index(after: rest.startIndex)..<end])
                guard !parts.contains(where: { $0.field == part.field }) else {
                    throw Problem(why: "one of its parts has the same field twice")
                }
                parts.append(part)
                rest = rest[rest.index(after: end)...]
            } else {
                let raw = rest.prefix { $0 != "{" }
                guard !raw.contains("}") else { throw Problem(why: "there is a } without its {") }
                let literal = SafeName.text(String(raw), trimmed: false)
                literalBytes += literal.utf8.count
                parts.append(.literal(literal))
                rest = rest[raw.endIndex...]
            }
        }
        guard literalBytes <= 80 else { throw Problem(why: "more than 80 bytes of fixed text leave names no room") }
        return parts
    }

    private static func field(named text: Substring) throws -> Part {
        let pieces = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let names = Field.allCases.map(\.rawValue)
        guard let field = Field(rawValue: pieces[0]) else {
            let hint = nearest(to: pieces[0], among: names).map { "; did you mean {\($0)}?" } ?? ""
            throw Problem(
                why: "there is no field {\(pieces[0])}\(hint) (fields: \(names.joined(separator: ", ")))")
        }
        guard pieces.count == 2 else { return .field(field, width: nil) }
        guard field == .section else { throw Problem(why: "only {section} takes a width") }
        guard let width = Int(pieces[1]), (1...12).contains(width) else {
            throw Problem(why: "the width of {section} is a number from 1 to 12")
        }
        return .field(field, width: width)
    }
}
