import ArgumentParser
import BookModel
import BookSync

extension ParsableCommand {
    /// The command of that name below this one; nil when there is none.
    static func subcommand(_ name: String) -> (any ParsableCommand.Type)? {
        configuration.subcommands.first { $0._commandName == name }
    }
}

extension BookSyncCommand {
    /// The parser itself takes a word that is no command for an argument too many, and help for such a word for help.
    ///
    /// - Parameter arguments: in the order that ``ArgumentOrder`` gives them.
    /// - Returns: the command that they name, and how many of them are its name.
    /// - Throws: `ValidationError` when a word stands where the name of a command belongs and is none.
    static func named(by arguments: [String]) throws -> (command: any ParsableCommand.Type, words: Int) {
        var words = arguments.prefix { !$0.hasPrefix("-") }
        let isHelp = words.first == "help"
        if isHelp { words.removeFirst() }
        var command: any ParsableCommand.Type = Self.self
        for (count, word) in words.enumerated() {
            // Behind the name of a command without others below it stand its own arguments.
            if !isHelp, command.configuration.subcommands.isEmpty { return (command, count) }
            guard let next = command.subcommand(word) else { throw unknown(word, below: command) }
            command = next
        }
        return (isHelp ? Self.self : command, isHelp ? 0 : words.count)
    }

    private static func unknown(_ word: String, below command: any ParsableCommand.Type) -> ValidationError {
        if word.contains(":") || word.allSatisfy(\.isNumber), let book = try? BookReference(parsing: word) {
            return ValidationError(.words("'\(book)' is a book: booksync fetch \(book)"))
        }
        let name = command == Self.self ? word : "\(command._commandName) \(word)"
        let near = nearest(to: word, among: command.configuration.subcommands.map { $0._commandName })
        return ValidationError(
            near.map { .words("there is no command '\(name)'; did you mean \($0)?") }
                ?? .words("there is no command '\(name)'; booksync help lists them"))
    }
}
