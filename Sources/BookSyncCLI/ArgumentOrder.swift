import ArgumentParser

/// The common options may stand before the command's name as well as behind it, while the parser knows them only
/// behind it: those in front are moved there.
enum ArgumentOrder {
    private static let flags: Set<String> = ["-q", "--quiet", "-v", "--verbose", "--json", "--no-color"]
    private static let options: Set<String> = ["--config", "--library", "--log-format", "--log-file"]

    static func withCommonOptionsBehindTheCommand(_ arguments: [String]) -> [String] {
        var common: [String] = []
        var rest = arguments[...]
        while let argument = rest.first {
            let isPair = options.contains(argument) && rest.count > 1
            let isWhole = flags.contains(argument) || options.contains { argument.hasPrefix($0 + "=") }
            // `-vv`, `-qv`.
            let isShort = argument.count > 2 && argument.first == "-" && argument.dropFirst().allSatisfy("qv".contains)
            guard isPair || isWhole || isShort else { break }
            common += rest.prefix(isPair ? 2 : 1)
            rest = rest.dropFirst(isPair ? 2 : 1)
        }
        // Without a command there is nothing to move them behind: what they would do is moot, and the parser must not
        // call them unknown.
        // Help takes none of them.
        guard let command = rest.first, !command.hasPrefix("-"), command != "help" else { return Array(rest) }
        // `config show` and its like are two words.
        let hasCommands = BookSyncCommand.subcommand(command)?.configuration.subcommands.isEmpty == false
        let words = rest.prefix(hasCommands ? 2 : 1).prefix { !$0.hasPrefix("-") }
        return words + common + rest.dropFirst(words.count)
    }
}
