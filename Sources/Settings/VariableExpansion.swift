/// Puts the environment's values in the place of `${NAME}`. `$${NAME}` stands for a literal `${NAME}`; a `$` before
/// anything else is itself.
enum VariableExpansion {
    /// - Returns: the text, in which a variable that is not set is left as it stands, and the names of those.
    static func expand(_ text: String, environment: [String: String]) -> (text: String, unset: [String]) {
        guard text.utf8.contains(UInt8(ascii: "$")) else { return (text, []) }
        var unset: [String] = []
        let expanded = text.replacing(/\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}/) { match -> String in
            guard let name = match.1.map(String.init) else { return "${" }
            if let value = environment[name] { return value }
            unset.append(name)
            return "${\(name)}"
        }
        return (expanded, unset)
    }
}
