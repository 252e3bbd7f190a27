import ArgumentParser
import BookModel
import BookSync
import LibraryFiles
import Settings

/// What `pause`, `resume`, `cancel` and `remove` are about.
struct ScopeArguments: ParsableArguments {
    @Argument(help: .words("Books or episodes: REF, REF/12, REF/12-40.", valueName: "ref"), completion: .books)
    var references: [String] = []

    @Flag(help: .words("Everything in the library (pause, resume and cancel: in the queue)."))
    var all = false

    func validate() throws {
        if all != references.isEmpty {
            throw ValidationError(
                all ? .words("Name episodes or say --all, not both.") : .words("Name episodes, or say --all."))
        }
    }

    /// - Parameters:
    ///   - references: those of the library that the configuration is for.
    ///   - everything: what `--all` means.
    func scope(
        _ references: [String], _ configuration: Configuration, all everything: TransferControl.Scope
    ) throws -> TransferControl.Scope {
        try all ? everything : .books(configuration.books(naming: references))
    }
}

extension Configuration {
    /// The books that the references name, each with the episodes meant.
    func books(naming references: [String]) throws -> [(book: BookIdentity, filter: EpisodeFilter)] {
        try references.map(BookReference.init(parsing:)).map { reference in
            (book: try book(reference), filter: reference.filter)
        }
    }
}

extension Program {
    /// Does something to the scope in each library, and says to how many episodes; where it was none, why.
    /// - Parameters:
    ///   - event: the word for it in `--json`.
    ///   - rule: which episodes it can be done to.
    ///   - ruleOfRun: the same while a run is under way; nil for the same.
    func control(
        _ arguments: ScopeArguments, _ event: String, all everything: TransferControl.Scope = .queue(of: nil),
        only rule: Message, inRun ruleOfRun: Message? = nil, saying sentence: @Sendable (Message) -> Message,
        action: @Sendable (_ library: String, TransferControl.Scope) async throws -> Int
    ) async throws -> ExitStatus {
        try await inLibraries(naming: arguments.references, isChanging: true) { configuration, references in
            let library = configuration.library
            let scope = try arguments.scope(references, configuration, all: everything)
            let isRunUnderWay = try await LibraryLock.isHeld(in: library)
            let count = try await action(library, scope)
            if options.json {
                let document: JSONDocument = ["episodes": .init(count)]
                await streams.writeOutput(document.event(event).text(isIndented: true))
            }
            guard !options.quiet else { return .done }
            let outcome = sentence(Message(count, "episode"))
            let states = count > 0 ? nil : try await TransferControl.meant(scope, in: library).countedStates
            let why = isRunUnderWay ? ruleOfRun ?? rule : rule
            let told: Message = states.map { "\(outcome) (\($0)): \(why)" } ?? outcome
            await streams.writeError(told)
            return .done
        }
    }
}

extension [EpisodeRecord] {
    /// `finished: 3, not here: 1`, in the words of `list`; nil where there are none.
    fileprivate var countedStates: Message? {
        guard !isEmpty else { return nil }
        let counts = Dictionary(grouping: self, by: \.stateWord).mapValues(\.count)
        let words = ["not here"] + EpisodeState.allCases.map { Message(wording: $0.rawValue) }
        return words.compactMap { word in counts[word].map { "\(word): \($0)" } }.joined(separator: ", ")
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
        try await program.control(
            scope, "paused", only: "only what waits or is being fetched can be paused"
        ) {
            "\($0) paused"
        } action: {
            try await TransferControl.open(in: $0) { [scope = $1] in try await $0.pause(scope) }
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
        try await program.control(
            scope, "resumed", only: "only what is paused, failed or cancelled can be resumed"
        ) {
            "\($0) resumed"
        } action: {
            try await TransferControl.open(in: $0) { [scope = $1] in try await $0.resume(scope) }
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
        try await program.control(
            scope, "cancelled", only: "only transfers that have begun can be cancelled",
            inRun: "only transfers that have begun can be cancelled, and the run under way begins none of these"
        ) {
            "\($0) cancelled"
        } action: {
            try await TransferControl.cancel($1, in: $0)
        }
    }
}
