import ArgumentParser
import BookModel
import BookSync

struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Show the settings in force.",
        subcommands: [ConfigShowCommand.self, ConfigPathCommand.self])
}

struct ConfigShowCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Print the settings in force, secrets masked.")

    @OptionGroup var common: CommonOptions

    func perform(in program: Program) async throws -> ExitStatus {
        let configuration = try await program.configuration().configuration
        let shown = configuration.effectiveDescription
        await program.print(shown.document, or: [String(shown.yamlText.dropLast())])
        return .done
    }
}

struct ConfigPathCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "path", abstract: "Print where the configuration was read from.")

    @OptionGroup var common: CommonOptions

    func perform(in program: Program) async throws -> ExitStatus {
        let origin = try await program.configuration().origin
        if let origin {
            await program.print(["path": .string(origin)], or: [origin])
        } else {
            await program.print(["path": .null], or: [])
            await program.streams.writeError("no configuration file: the built-in settings are in force")
        }
        return .done
    }
}
