/// Puts the environment's values in the place of `${NAME}`. `$${NAME}` stands for a literal `${NAME}`; a `$` before
/// anything else is itself.
enum VariableExpansion {
    /// - Returns: the text, in which a variable that is not set is left as it stands, and the names of those.
    static func expand(_ text: String, environment: [String: String]) -> (text: String, unset: [String]) {
        guard text.utf8.contains(UInt8(ascii: "$")) else { return (text, []) }
        var result = ""
        var unset: [String] = []
        var rest = text[...]
        while let dollar = rest.firstIndex(of: "$") {
            result += rest[..<dollar]
            rest = rest[dollar...]
            if rest.hasPrefix("$${") {
                result += "${"
                rest = rest.dropFirst(3)
            } else if let name = variable(at: rest) {
                if let value = environment[name] {
                    result += value
                } else {
                    unset.append(name)
                    result += "${\(name)}"
                }
                rest = rest.dropFirst(name.count + 3)
            } else {
                result += "$"
                rest = rest.dropFirst()
            }
        }
        return (result + rest, unset)
    }

    private static func variable(at text: Substring) -> String? {
        guard text.hasPrefix("${") else { return nil }
        let name = text.dropFirst(2).prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
        guard let first = name.first, !first.isNumber, text[name.endIndex...].first == "}" else { return nil }
        return String(name)
    }
}
