import ArgumentParser
import BookModel
import BookSync
import LibraryFiles
import Settings

struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: .words("Show and check the settings in force."),
        subcommands: [ConfigShowCommand.self, ConfigCheckCommand.self, ConfigPathCommand.self])
}

struct ConfigShowCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: .words("Print the settings in force and where each comes from, secrets masked."))

    @OptionGroup var common: CommonOptions

    func perform(in program: Program) async throws -> ExitStatus {
        let loaded = try await runBlocking { try program.loadedConfiguration() }
        await program.print(
            loaded.document, or: [Message(verbatim: String(loaded.yamlText(in: program.words).dropLast()))])
        return .done
    }
}

struct ConfigCheckCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: .words("Tell what is wrong with the configuration, without asking any server."),
        discussion: .words(
            "Exits with 78 when something is. Secrets that others on this machine can read are warned of."))

    @OptionGroup var common: CommonOptions

    func perform(in program: Program) async throws -> ExitStatus {
        let check = try await runBlocking {
            try ConfigurationCheck { try program.loadedConfiguration(toleratesFaults: true) }
        }
        for failure in check.errors where !program.options.json {
            await program.streams.writeError("error: \(failure)")
        }
        for warning in check.warnings where !program.options.json {
            await program.streams.writeError("warning: \(warning.message)")
        }
        let rest: Message = "\(Message(check.sources, "source")), \(Message(check.subscriptions, "subscription"))"
        let counts: Message =
            switch check.libraries {
            case 0: rest
            case 1: "1 library, \(rest)"
            default: "\(check.libraries) libraries, \(rest)"
            }
        let subject =
            check.path.map(Message.init(verbatim:)) ?? "no configuration file: the built-in settings are in force"
        await program.print(JSONDocument(check), or: check.isGood ? ["ok: \(subject) (\(counts))"] : [])
        return check.isGood ? .done : .configuration
    }
}

struct ConfigPathCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "path", abstract: .words("Print where the configuration was read from."))

    @OptionGroup var common: CommonOptions

    func perform(in program: Program) async throws -> ExitStatus {
        let origin = try await program.configuration().origin
        await program.print(["path": .init(origin)], or: [origin].compactMap(\.self).map(Message.init(verbatim:)))
        if origin == nil {
            await program.streams.writeError(
                """
                no configuration file: the built-in settings are in force; it would be read from \
                \(program.configurationPath)
                """)
        }
        return .done
    }
}
