import BookModel
import Yams

/// Reads YAML into ``SettingNode``s. The only place that knows the YAML library.
///
/// Anchors and aliases are refused: a configuration does not need them, and a few lines of them can stand for more
/// nodes than memory holds.
enum YAMLText {
    /// A file larger than this is no configuration.
    static let byteLimit = 1_000_000
    private static let depthLimit = 12

    /// - Parameter file: the name to show.
    /// - Returns: nil for a file without content.
    /// - Throws: ``Failure`` of kind `configuration` with file, line and what is wrong. Nothing of the file's content
    ///   is quoted but keys and anchors' names.
    static func parse(_ text: String, file: String) throws -> SettingNode? {
        if let (name, line) = firstAlias(in: text) {
            throw badYAML(
                file, line, "it uses the alias '*\(name)', and aliases are not read", "write the value out, or quote it"
            )
        }
        do {
            // Composed rather than loaded, for the sake of the line numbers.
            // Of what type a plain scalar would be is not asked: that is told of each by its setting.
            // The byte order mark that some editors write is not looked for when the encoding is given.
            let content = text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
            guard let node = try Parser(yaml: content, resolver: .basic, encoding: .utf8).singleRoot() else {
                return nil
            }
            return try convert(node, file: file, depth: 0)
        } catch let error as YamlError {
            throw failure(for: error, file: file)
        }
    }

    private static func convert(_ node: Node, file: String, depth: Int) throws -> SettingNode {
        let line = node.mark?.line ?? 1
        guard depth < depthLimit else {
            throw badYAML(file, line, "it is nested more than \(depthLimit) levels deep", nil)
        }
        switch node {
        case .scalar(let scalar):
            let isPlain = scalar.style == .plain
            let isNothing = isPlain && ["", "null", "Null", "NULL"].contains(scalar.string)
            return SettingNode(content: isNothing ? .nothing : .text(scalar.string), line: line)
        case .sequence(let sequence):
            let items = try sequence.map { try convert($0, file: file, depth: depth + 1) }
            return SettingNode(content: .list(items), line: line)
        case .mapping(let mapping):
            let entries = try mapping.map { key, value in
                let keyLine = key.mark?.line ?? line
                guard let name = key.scalar?.string else {
                    throw badYAML(file, keyLine, "a key is a list or a map", "keys are words")
                }
                return SettingNode.Entry(
                    key: name, line: keyLine, value: try convert(value, file: file, depth: depth + 1))
            }
            var seen: [String: Int] = [:]
            for entry in entries {
                if let first = seen.updateValue(entry.line, forKey: entry.key) {
                    throw duplicate(entry.key, file: file, line: first)
                }
            }
            return SettingNode(content: .map(entries), line: line)
        case .alias:
            throw badYAML(file, line, "it uses an alias, and aliases are not read", "write the value out")
        }
    }

    /// A word that is written as an anchor in one place and as an alias in another. Seen in the text, because the
    /// library has already expanded (and, for keys, hashed) them when it hands nodes out. Comments and quoted text are
    /// looked at as well: to be mistaken takes the same word after & and after *.
    private static func firstAlias(in text: String) -> (name: String, line: Int)? {
        var anchors: Set<String> = []
        var aliases: [(name: String, line: Int)] = []
        var line = 1
        var before: Unicode.Scalar = "\n"
        let scalars = text.unicodeScalars
        var index = scalars.startIndex
        while index < scalars.endIndex {
            let scalar = scalars[index]
            index = scalars.index(after: index)
            defer { before = scalar }
            if scalar == "\n" { line += 1 }
            guard scalar == "&" || scalar == "*", !isWord(before), before != "." else { continue }
            let name = String(scalars[index...].prefix(while: isWord))
            guard !name.isEmpty else { continue }
            if scalar == "&" { anchors.insert(name) } else { aliases.append((name, line)) }
        }
        return aliases.first { anchors.contains($0.name) }
    }

    private static func isWord(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || scalar == "-" || scalar == "_"
    }

    private static func failure(for error: YamlError, file: String) -> Failure {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            let (why, remedy) = words(for: problem)
            return badYAML(file, mark.line, why, remedy)
        case .reader(_, let offset, _, let yaml):
            let line = 1 + yaml.prefix(offset ?? 0).count { $0.isNewline }
            return badYAML(file, line, "there is a character that YAML does not allow", "remove control characters")
        case .duplicatedKeysInMapping(let duplicates, let context):
            return duplicate(duplicates.first ?? "?", file: file, line: context.mark.line)
        case .memory:
            // What the library says at a depth of 1,000 as well.
            return badYAML(file, nil, "it is nested too deeply", nil)
        default: return badYAML(file, nil, "the file is not YAML", nil)
        }
    }

    private static func duplicate(_ key: String, file: String, line: Int) -> Failure {
        badYAML(file, line, "the key '\(key)' is set twice in the same place", "keep one of the two")
    }

    private static func badYAML(_ file: String, _ line: Int?, _ why: Message, _ remedy: Message?) -> Failure {
        let place: Message = line.map { ", line \($0)" } ?? ""
        return Failure(
            .configuration, disposition: .stop, what: "\(file)\(place): the configuration cannot be read", why: why,
            remedy: remedy)
    }

    /// The library's problems in words for the user.
    private static func words(for problem: String) -> (why: Message, remedy: Message?) {
        switch problem {
        case "mapping values are not allowed in this context":
            ("a ':' stands where no key can be", "check the indentation, and quote values that hold ': '")
        case "did not find expected key", "did not find expected '-' indicator":
            ("the indentation does not fit the lines above", "begin the keys of one group in the same column")
        case "could not find expected ':'": ("a key has no ':' after it", "write 'key: value'")
        case "did not find expected ',' or '}'":
            ("a '{' is not closed, or a comma is missing", "quote values such as \"${NAME}\" inside { }")
        case "did not find expected ',' or ']'":
            ("a '[' is not closed, or a comma is missing", "quote values that hold brackets")
        case "found unexpected end of stream": ("a quotation mark is not closed", nil)
        case "found character that cannot start any token",
            _ where problem.contains("tab character"):
            ("a tab, '@', '`' or '%' stands where a value begins", "indent with spaces, and quote such values")
        case "found unknown escape character":
            ("a \\ in double quotes begins no known escape", "use single quotes")
        case "block sequence entries are not allowed in this context":
            ("a '-' stands where no list can be", "begin the list on a line of its own")
        case "but found another document": ("it holds more than one document", "remove the line ---")
        case "found undefined alias": ("a value begins with '*'", "quote it")
        case _ where problem.hasPrefix("Maximum nesting level"): ("it is nested too deeply", nil)
        default: ("it is not YAML", "check the indentation, the quotation marks and the brackets there")
        }
    }
}
