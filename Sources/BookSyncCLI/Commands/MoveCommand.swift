import ArgumentParser
import BookModel
import BookSync
import Settings

struct MoveCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "move",
        abstract: .words("Hand books over from one library to another; nothing is fetched."),
        discussion: .words(
            """
            With their files, begun downloads, subscriptions, positions and bookmarks. On one disk files only get another \
            place; else they are copied, read again and compared before the old ones go. A move that is interrupted is \
            finished or taken back by the next run in either library.
            """))

    @OptionGroup var common: CommonOptions

    @Argument(help: .words("The books.", valueName: "ref"), completion: .books)
    var references: [String] = []

    @Option(help: .words("The library that gets them, by its name in the configuration.", valueName: "name"))
    var to: String?

    @Flag(help: .words("Instead, move each book to the shard that it falls to, for mirror --shard."))
    var rebalance = false

    @OptionGroup var waiting: WaitOptions

    @Flag(help: .words("Print what would be moved and change nothing."))
    var dryRun = false

    func validate() throws {
        guard rebalance ? references.isEmpty && to == nil : !references.isEmpty && to != nil else {
            throw ValidationError(.words("move takes books and --to NAME, or --rebalance alone."))
        }
    }

    func perform(in program: Program) async throws -> ExitStatus {
        let configuration = try await program.libraryConfiguration(naming: references, isChanging: true)
        guard let to else { return try await rebalance(configuration, program) }
        let target = try configuration.library(named: to, askedBy: "--to")
        let books = try references.map { text in
            let reference = try BookReference(parsing: text)
            guard reference.filter.isEmpty else {
                throw Failure(
                    .usage, what: "'\(text)' names episodes", why: "only whole books are moved",
                    remedy: "name the book alone")
            }
            return try configuration.book(reference)
        }
        var all = configuration
        all.isOneLibraryChosen = false
        let locations = try await BookLocations(of: books, in: all, program.knownLibraries)
        var failures: [Failure] = []
        for book in books where program.interruption.exitStatus == nil {
            let origin = locations.places(of: book).first {
                $0 != target && configuration.libraries.contains($0)
            }
            let move = BookMove(
                book, from: origin ?? target, to: target, minFreeSpace: configuration.downloads.minFreeSpace,
                knownLibraries: program.knownLibraries)
            do {
                try locations.requireCertainty(about: book)
                if locations.places(of: book).isEmpty { throw Failure.notOnTheShelf(book) }
                let report =
                    origin == nil
                    ? BookMove.Report(isThere: true)
                    : dryRun ? try await move.plan() : try await move.execute(waitingFor: waiting.seconds)
                await tell(report, of: move, program)
            } catch let failure as Failure {
                failures.append(failure)
                await tell(BookMove.Report(), of: move, program, failure)
            }
        }
        return program.interruption.exitStatus ?? ExitStatus(of: failures)
    }

    private func rebalance(_ configuration: Configuration, _ program: Program) async throws -> ExitStatus {
        var failures: [Failure] = []
        for origin in try configuration.requireShards() {
            let moves = try await configuration.misplacedBooks(in: origin, knownLibraries: program.knownLibraries)
            for move in moves where program.interruption.exitStatus == nil {
                do {
                    let report = dryRun ? try await move.plan() : try await move.execute(waitingFor: waiting.seconds)
                    await tell(report, of: move, program)
                } catch let failure as Failure {
                    failures.append(failure)
                    await tell(BookMove.Report(), of: move, program, failure)
                }
            }
        }
        if failures.isEmpty, !dryRun, program.interruption.exitStatus == nil {
            try await configuration.recordShards()
        }
        return program.interruption.exitStatus ?? ExitStatus(of: failures)
    }

    private func tell(
        _ report: BookMove.Report, of move: BookMove, _ program: Program, _ failure: Failure? = nil
    ) async {
        let outcome =
            failure != nil ? "left" : report.isThere ? "unchanged" : dryRun ? "planned" : "moved"
        await program.printLine([
            "event": "moved", "source": .string(move.book.source), "id": .string(move.book.id),
            "from": .string(move.from.name), "to": .string(move.to.name), "files": .init(report.files),
            "bytes": .integer(report.bytes), "outcome": .string(outcome), "error": .init(failure?.description),
        ])
        if let failure { return await program.streams.writeError("booksync: \(failure)") }
        guard !program.options.quiet, !program.options.json else { return }
        let what: Message = "\(Message(report.files, "file")) (\(describeBytes(report.bytes)))"
        let sentence: Message =
            report.isThere
            ? "\(move.book) is in \(move.to.name) already"
            : dryRun
                ? "\(move.book) would go from \(move.from.name) to \(move.to.name): \(what)"
                : "\(move.book) moved from \(move.from.name) to \(move.to.name): \(what)"
        await program.streams.writeOutput([sentence])
    }
}
