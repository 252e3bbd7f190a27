import ArgumentParser
import BookModel
import Logging

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
