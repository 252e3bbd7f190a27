import ArgumentParser
import BookModel
import BookSync
import Foundation
import LibraryFiles
import Logging

@main
struct BookSyncCommand: AsyncParsableCommand {
    static let version = ProgramVersion.version

    static let configuration = CommandConfiguration(
        commandName: "booksync",
        abstract: .words("Keep a shelf of audiobooks in step with the catalogs they come from."),
        discussion: .words(
            """
            A REF names a book: ID (in the default source), SOURCE:ID, or the address of a feed, an archive item, a \
            LibriVox book or a directory; for a book of the library or of a subscription also its title, the beginning of it, or \
            the initials of its pinyin. REF/12, REF/12-40,55 and REF/latest:5 name episodes of it, and behind an address #12, \
            as in URL#12. Without a configuration, fetch --book 30776 downloads a book of the built-in demo catalog.

            --config, --library, --quiet, --verbose, --json, --no-color, --log-format and --log-file may stand before or \
            after the command.
            """),
        version: version,
        subcommands: [
            InitCommand.self, FindCommand.self,
            FetchCommand.self, CatalogCommand.self, PlanCommand.self, MirrorCommand.self, SubscribeCommand.self,
            UnsubscribeCommand.self,
            SubscriptionsCommand.self, RunsCommand.self, ListCommand.self, SearchCommand.self, ShowCommand.self,
            ExplainCommand.self,
            QueueCommand.self, PauseCommand.self, ResumeCommand.self, CancelCommand.self, RemoveCommand.self,
            TrashCommand.self,
            AdoptCommand.self, ImportCommand.self, VerifyCommand.self, UndoCommand.self, ExportCommand.self,
            TagCommand.self, JoinCommand.self, MoveCommand.self,
            ServeCommand.self,
            DemoCommand.self,
            DoctorCommand.self, ConfigCommand.self,
        ])

    static func main() async {
        openStandardStreams()
        // Dispatch tells the system's log of each thread whose nice value an ordinary user may not set.
        setenv("LIBDISPATCH_LOG", "NO", 0)
        // A reader that goes away is noticed at the next write, not by dying.
        signal(SIGPIPE, SIG_IGN)
        let interruption = Interruption()
        let given = Array(CommandLine.arguments.dropFirst())
        let arguments = ArgumentOrder.withCommonOptionsBehindTheCommand(given)
        if arguments.prefix(while: { $0 != "--" }).contains("--version") {
            StandardStreams.write("\(version)\n", to: STDOUT_FILENO)
            return
        }
        let subcommand: any Subcommand
        do {
            let isAlone = arguments.isEmpty && isatty(STDOUT_FILENO) == 1
            // Nothing but options that every command takes.
            var command = isAlone ? try NextStepsCommand.parse(given) : try await parse(arguments, named(by: arguments))
            guard let own = command as? any Subcommand else { return try command.run() }
            subcommand = own
        } catch {
            ParserOutput.exit(withError: error, of: Self.self, arguments)
        }
        // The main task's own priority would put the program before others' where root runs it, and whoever awaits a task
        // lends it its own.
        let status = await withCheckedContinuation { continuation in
            Task.detached(priority: .medium) { continuation.resume(returning: await run(subcommand, interruption)) }
        }
        Foundation.exit(status.rawValue)
    }

    /// Parses the arguments by the command that they name. Where the parser looks for that itself it lists what each command on the
    /// way takes several times, which takes long; but what is wrong, and what helps, it says of the whole program.
    private static func parse(
        _ arguments: [String], _ named: (command: any ParsableCommand.Type, words: Int)
    ) async throws -> any ParsableCommand {
        let itself = Array(arguments.dropFirst(named.words))
        let parsed = try? await (named.command as? any Subcommand.Type)?.asyncParseAsRoot(itself)
        return if let parsed = parsed as? any Subcommand { parsed } else { try await asyncParseAsRoot(arguments) }
    }

    /// A process that was started with its standard streams closed would get its next file as one of them, and print
    /// into it.
    private static func openStandardStreams() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
            // The lowest free descriptor is taken, which is this one.
            _ = open("/dev/null", O_RDWR)
        }
    }

    /// Runs the command so that signals end it cleanly, and turns whatever it throws into one sentence and a code.
    private static func run(_ command: any Subcommand, _ interruption: Interruption) async -> ExitStatus {
        let streams = StandardStreams(Language(environment: ProcessInfo.processInfo.environment))
        let log: LogOutput
        do {
            try OpenFileLimit.raise()
            let options = command.common
            log = try await runBlocking {
                try LogOutput(
                    file: options.logFile, format: options.logFormat, verbosity: options.verbose,
                    minLevel: options.quiet ? .error : type(of: command).minLogLevel)
            }
        } catch {
            let failure = Failure.of(error)
            await streams.writeError("booksync: \(failure)")
            return ExitStatus(failure.kind)
        }
        let name = type(of: command)._commandName
        log.logger.info(
            "begins", metadata: ["command": "\(name)", "version": "\(version)", "process": "\(getpid())"])
        let status = await run(command, streams: streams, log: log, interruption)
        log.logger.info("ends", metadata: ["command": "\(name)", "exit_code": "\(status.rawValue)"])
        guard let failure = await log.close() else { return status }
        await streams.writeError("booksync: \(failure)")
        return status == .done ? ExitStatus(failure.kind) : status
    }

    private static func run(
        _ command: any Subcommand, streams: StandardStreams, log: LogOutput, _ interruption: Interruption
    ) async -> ExitStatus {
        let program = Program(
            options: command.common, streams: streams, environment: ProcessInfo.processInfo.environment,
            interruption: interruption, log: log)
        let red: TerminalColor? = program.capabilities(of: STDERR_FILENO).usesColor ? .red : nil
        return await interruption.cancelling {
            do {
                var status = try await StorePlaces.$current.withValue(program.stores) {
                    try await command.perform(in: program)
                }
                if let failure = await streams.outputFailure {
                    await streams.writeError("booksync: \(failure)", firstWordIn: red)
                    if status == .done { status = ExitStatus(failure.kind) }
                }
                return interruption.exitStatus ?? status
            } catch is CancellationError {
                return interruption.exitStatus ?? .interrupted
            } catch {
                let failure = Failure.of(error)
                if log.isFile { log.logger.error("failed", metadata: ["error": "\(failure)"]) }
                log.logger.debug("why", metadata: ["error": "\((error as? Failure)?.detail ?? "\(error)")"])
                await streams.writeError("booksync: \(failure)", firstWordIn: red)
                return ExitStatus(failure.kind)
            }
        }
    }
}
