import BookModel

/// How the files of the library are named: `{author}/{title}/{section} {name}.{ext}`.
///
/// Fields are `{author}`, `{narrator}`, `{title}`, `{series}` and `{part}` (as the title says them), `{disc}` (or season),
/// `{section}`, `{name}`, `{filename}` (at the source), `{year}`, `{published}` (a day, `2024-05-31`), `{id}` (the
/// catalog's key of the episode) and `{ext}`, which stands at the end or is added there. `{section:4}` has at least four
/// digits. A field that the catalog does not fill vanishes with its brackets and its separator, a folder that is empty
/// vanishes altogether. `{disc?CD{disc}/}` is a condition: its text is there only where the field is filled.
package struct NamingTemplate: Sendable, Hashable, CustomStringConvertible {
    enum Field: String, Sendable, CaseIterable {
        case author, narrator, title, series, part, disc, section, name, filename, ext, year, id, published

        /// Whether the catalog always fills it.
        var isAlwaysFilled: Bool { self == .title || self == .section }

        var isCommon: Bool { [.author, .title, .section, .name, .ext, .id].contains(self) }
    }

    enum Part: Sendable, Hashable {
        case literal(String)
        case field(Field, width: Int?)
        case slash
        /// Parts that are there only where the field is filled; none of them is a condition.
        case condition(Field, [Part])

        var field: Field? {
            guard case .field(let field, _) = self else { return nil }
            return field
        }
    }

    /// The template once its conditions are decided.
    struct Layout: Sendable, Hashable {
        let folders: [[Part]]
        /// The last component without its `.{ext}`.
        let stem: [Part]
    }

    /// The template as it was written.
    package let description: String
    /// The fields of its conditions.
    let conditions: [Field]
    /// One for each set of conditions that hold, so that no book can get a name that was not checked: bit n of the index
    /// stands for `conditions[n]`.
    let layouts: [Layout]
    let fields: Set<Field>
    /// Whether a name takes more than ``Field/isCommon`` fields, some of which are costly to write out.
    let usesMore: Bool

    package static let standardText = "{author}/{title}/{section} {name}.{ext}"

    /// What ``standardText`` says.
    package static let standard = NamingTemplate(
        description: standardText,
        layouts: [
            Layout(
                folders: [[.field(.author, width: nil)], [.field(.title, width: nil)]],
                stem: [.field(.section, width: nil), .literal(" "), .field(.name, width: nil)])
        ])

    private init(description: String, conditions: [Field] = [], layouts: [Layout]) {
        self.description = description
        self.conditions = conditions
        self.layouts = layouts
        self.fields = Set(layouts.flatMap { ($0.folders.joined() + $0.stem).compactMap(\.field) })
        self.usesMore = !conditions.isEmpty || fields.contains { !$0.isCommon }
    }

    /// - Throws: ``Failure`` of kind `configuration` when files could not be told apart, or would leave the library.
    package init(parsing text: String) throws {
        do {
            guard !text.hasPrefix("/"), !text.hasPrefix("~") else {
                throw Problem(why: "it must be relative to the library")
            }
            var rest = text[...]
            let parts = try Self.parts(&rest)
            let conditions = Self.conditions(of: parts)
            guard conditions.count <= 6 else { throw Problem(why: "it has conditions on more than 6 fields") }
            let layouts = try (0..<1 << conditions.count).map { index in
                let missing = conditions.enumerated().filter { index & 1 << $0.offset == 0 }.map(\.element)
                do {
                    return try Layout(parts, without: missing)
                } catch let problem as Problem where !missing.isEmpty {
                    let names = missing.map { "{\($0.rawValue)}" }.joined(separator: ", ")
                    throw Problem(why: "\(problem.why) (where \(names) is empty)")
                }
            }
            self.init(description: text, conditions: conditions, layouts: layouts)
        } catch let problem as Problem {
            throw Failure(
                .configuration, disposition: .stop, what: "the naming '\(text)' cannot be used", why: problem.why,
                remedy: "write for example \(Self.standardText)")
        }
    }

    private static func conditions(of parts: [Part]) -> [Field] {
        var conditions: [Field] = []
        for case .condition(let field, _) in parts where !field.isAlwaysFilled && !conditions.contains(field) {
            conditions.append(field)
        }
        return conditions
    }

    fileprivate struct Problem: Error {
        let why: Message
    }
}

extension NamingTemplate {
    /// - Parameter condition: that the text stands in; its end is left.
    private static func parts(_ rest: inout Substring, in condition: Field? = nil) throws -> [Part] {
        var parts: [Part] = []
        while let first = rest.first {
            switch first {
            case "}":
                guard condition != nil else { throw Problem(why: "there is a } without its {") }
                return parts
            case "/":
                rest.removeFirst()
                parts.append(.slash)
            case "{":
                rest.removeFirst()
                parts.append(try fieldOrCondition(&rest, in: condition))
            default:
                let raw = rest.prefix { !"{}/".contains($0) }
                parts.append(.literal(SafeName.text(String(raw), trimmed: false)))
                rest = rest[raw.endIndex...]
            }
        }
        if let condition { throw Problem(why: "the condition {\(condition.rawValue)? is not closed by a }") }
        return parts
    }

    /// - Parameter rest: begins behind the brace.
    private static func fieldOrCondition(_ rest: inout Substring, in outer: Field?) throws -> Part {
        let name = rest.prefix { !"{}?".contains($0) }
        rest = rest[name.endIndex...]
        switch rest.popFirst() {
        case "}": return try field(named: name)
        case "?":
            guard case .field(let field, nil) = try self.field(named: name) else {
                throw Problem(why: "the condition {\(name)? takes no width")
            }
            if let outer {
                throw Problem(
                    why: "the condition {\(name)? stands within {\(outer.rawValue)?, and conditions cannot be nested")
            }
            let parts = try parts(&rest, in: field)
            rest.removeFirst()
            guard !parts.isEmpty else { throw Problem(why: "the condition {\(name)?} has no text") }
            return .condition(field, parts)
        default: throw Problem(why: "a brace is not closed")
        }
    }

    private static func field(named text: Substring) throws -> Part {
        let pieces = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let names = Field.allCases.map(\.rawValue)
        guard let field = Field(rawValue: pieces[0]) else {
            let hint: Message = nearest(to: pieces[0], among: names).map { "; did you mean {\($0)}?" } ?? ""
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

extension NamingTemplate.Layout {
    /// - Parameter missing: the fields whose conditions do not hold. A folder that is left without any text is none.
    fileprivate init(_ parts: [NamingTemplate.Part], without missing: [NamingTemplate.Field]) throws {
        let flat = parts.flatMap { part in
            guard case .condition(let field, let inner) = part else { return [part] }
            return missing.contains(field) ? [] : inner
        }
        var components = flat.split(separator: .slash, omittingEmptySubsequences: false).map(Array.init)
        let isWhole = missing.isEmpty
        guard let final = components.last, !final.isEmpty, !isWhole || !components.contains([]) else {
            throw NamingTemplate.Problem(why: "there is nothing between two of its slashes")
        }
        components.removeAll(where: \.isEmpty)
        guard components.count <= 8 else { throw NamingTemplate.Problem(why: "it has more than 8 levels") }
        try components.forEach(Self.check)
        var last = components.removeLast()
        try Self.takeExtension(from: &last)
        guard last.contains(where: { [.section, .name, .filename, .id].contains($0.field) }) else {
            throw NamingTemplate.Problem(
                why: "nothing in its last part tells one episode from the next: "
                    + "it needs {section}, {name}, {filename} or {id}")
        }
        guard !(components.joined() + last).contains(where: { $0.field == .ext }) else {
            throw NamingTemplate.Problem(why: "{ext} belongs at the very end, after a dot")
        }
        self.init(folders: components, stem: last)
    }

    private static func check(_ component: [NamingTemplate.Part]) throws {
        let fields = component.compactMap(\.field)
        guard Set(fields).count == fields.count else {
            throw NamingTemplate.Problem(why: "one of its parts has the same field twice")
        }
        let text = component.map { if case .literal(let text) = $0 { text } else { "" } }.joined()
        guard !fields.isEmpty || text != "." && text != ".." else {
            throw NamingTemplate.Problem(why: "'.' and '..' would leave the book's folder")
        }
        guard text.utf8.count <= 80 else {
            throw NamingTemplate.Problem(why: "more than 80 bytes of fixed text leave names no room")
        }
    }

    /// `.{ext}` at the end goes, because the extension is added to whatever the rest comes to.
    private static func takeExtension(from parts: inout [NamingTemplate.Part]) throws {
        if case .literal(let text)? = parts.last, let dot = text.lastIndex(of: "."),
            AudioExtension.known.contains(text[dot...].dropFirst().lowercased())
        {
            throw NamingTemplate.Problem(
                why: "it ends in \(text[dot...]), and the extension is that of the file: write .{ext}")
        }
        guard parts.last?.field == .ext else { return }
        parts.removeLast()
        guard case .literal(let text)? = parts.last, text.hasSuffix(".") else {
            throw NamingTemplate.Problem(why: "{ext} belongs at the very end, after a dot")
        }
        parts.removeLast()
        if text.count > 1 { parts.append(.literal(String(text.dropLast()))) }
    }
}
