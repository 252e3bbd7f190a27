import ArgumentParser
import BookModel
import Logging
import Settings

/// A command of `booksync`.
protocol Subcommand: AsyncParsableCommand, Sendable {
    var common: CommonOptions { get }

    /// Of what the log tells on standard error when nothing is said of it.
    static var minLogLevel: Logger.Level { get }

    /// Does the work and tells how it ended. Throws ``Failure`` for what keeps it from being done at all.
    func perform(in program: Program) async throws -> ExitStatus
}

extension Subcommand {
    static var minLogLevel: Logger.Level { .error }
}

/// A command that is done in the libraries of the books that it names, one after the other.
protocol BookSubcommand: Subcommand {
    var references: [String] { get }

    /// Whether it changes a library, even where none is begun.
    var isChanging: Bool { get }

    /// - Parameter references: those of this library.
    func perform(
        _ references: [String], in configuration: Configuration, _ program: Program
    ) async throws -> ExitStatus
}

extension BookSubcommand {
    var isChanging: Bool { false }

    func perform(in program: Program) async throws -> ExitStatus {
        try await program.inLibraries(naming: references, isChanging: isChanging) {
            try await perform($1, in: $0, program)
        }
    }
}
