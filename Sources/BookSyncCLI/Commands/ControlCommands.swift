import ArgumentParser
import BookModel
import BookSync
import Settings

/// What `pause`, `resume`, `cancel` and `remove` are about.
struct ScopeArguments: ParsableArguments {
    @Argument(help: .words("Books or episodes: REF, REF/12, REF/12-40.", valueName: "ref"), completion: .books)
    var references: [String] = []

    @Flag(help: .words("Everything in the library."))
    var all = false

    func validate() throws {
        if all != references.isEmpty {
            throw ValidationError(
                all ? .words("Name episodes or say --all, not both.") : .words("Name episodes, or say --all."))
        }
    }

    func scope(_ configuration: Configuration) throws -> TransferControl.Scope {
        guard !all else { return .everything }
        return .books(
            try references.map { text in
                let reference = try BookReference(parsing: text)
                return (book: try configuration.book(reference), filter: reference.filter)
            })
    }
}

extension Program {
    /// Does something to the scope, and says to how many episodes.
    /// - Parameter event: the word for it in `--json`.
    func control(
        _ arguments: ScopeArguments, _ event: String, saying sentence: @Sendable (Message) -> Message,
        action: @Sendable (TransferControl, TransferControl.Scope) async throws -> Int
    ) async throws -> ExitStatus {
        let configuration = try await libraryConfiguration(naming: arguments.references, isChanging: true)
        let scope = try arguments.scope(configuration)
        return await tell(
            try await TransferControl.open(in: configuration.library) { try await action($0, scope) }, event, sentence)
    }

    /// Says to how many episodes something was done.
    fileprivate func tell(_ count: Int, _ event: String, _ sentence: (Message) -> Message) async -> ExitStatus {
        if options.json {
            let document: JSONDocument = ["episodes": .init(count)]
            await streams.writeOutput(document.event(event).text(isIndented: true))
        }
        if !options.quiet { await streams.writeError(sentence(Message(count, "episode"))) }
        return .done
    }
}

struct PauseCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: .words("Have transfers wait until they are resumed, also over runs."),
        discussion: .words(
            "A run that is under way, in another process too, stops them within a second and keeps what they have."))

    @OptionGroup var common: CommonOptions
    @OptionGroup var scope: ScopeArguments

    func perform(in program: Program) async throws -> ExitStatus {
        try await program.control(scope, "paused") {
            "\($0) paused"
        } action: {
            try await $0.pause($1)
        }
    }
}

struct ResumeCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: .words("Let paused, failed and cancelled transfers be fetched by the next run."))

    @OptionGroup var common: CommonOptions
    @OptionGroup var scope: ScopeArguments

    func perform(in program: Program) async throws -> ExitStatus {
        try await program.control(scope, "resumed") {
            "\($0) resumed"
        } action: {
            try await $0.resume($1)
        }
    }
}

struct CancelCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: .words("Cancel transfers and discard partial files."),
        discussion: .words("The next run fetches the episodes anew; to be rid of them, use remove."))

    @OptionGroup var common: CommonOptions
    @OptionGroup var scope: ScopeArguments

    func perform(in program: Program) async throws -> ExitStatus {
        let configuration = try await program.libraryConfiguration(naming: scope.references, isChanging: true)
        let scope = try scope.scope(configuration)
        return await program.tell(
            try await TransferControl.cancel(scope, in: configuration.library), "cancelled"
        ) { "\($0) cancelled" }
    }
}
