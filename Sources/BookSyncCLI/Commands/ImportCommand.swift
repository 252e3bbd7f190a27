import ArgumentParser
import BookModel
import BookSync
import Settings

extension OtherProgram: ExpressibleByArgument {}

struct ImportCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: .words("Take over what another program fetched, so that it is not fetched again."),
        discussion: .words(
            """
            gpodder, audiobookshelf and castget know their feeds: each is subscribed to, and its files are taken into the \
            library. The archives of yt-dlp and podcast-dl do not: name the books, or have them subscribed to before. What \
            was fetched and has no file any more is not fetched again; remove --forget takes that back. Nothing of the \
            other program is changed, but for files that --move takes away.
            """))

    @OptionGroup var common: CommonOptions

    @Argument(help: .words("The program."))
    var program: OtherProgram

    @Argument(
        help: .words(
            "Its records: an archive file, a database, .castgetrc, or the folder that holds it.", valueName: "path"),
        completion: .file())
    var path: String?

    @Option(
        name: .customLong("book"), help: .words("Take over this book alone; repeat it for several.", valueName: "ref"),
        completion: .books)
    var books: [String] = []

    @Option(help: .words("Where its files are, if not where it says.", valueName: "dir"), completion: .directory)
    var files: String?

    @OptionGroup var mode: ImportModeOptions

    @Flag(help: .words("Subscribe to nothing."))
    var noSubscribe = false

    @OptionGroup var waiting: WaitOptions

    @Flag(help: .words("Print what would be taken over and change nothing."))
    var dryRun = false

    func perform(in program: Program) async throws -> ExitStatus {
        guard let path = path ?? self.program.usualPath(environment: program.environment) else {
            throw Failure(
                .usage, what: "nothing to take over", why: "\(self.program.rawValue) keeps its records where you chose",
                remedy: "name the file")
        }
        let references = try books.map(BookReference.init(parsing:))
        let configuration = try await program.findingTitles(
            in: references, try await program.configuration().configuration
        ).recognising(references, logger: program.logger)
        let request = LibraryImport.Request(
            program: self.program, path: path.fromCurrentFolder,
            books: references.isEmpty ? nil : try references.map(configuration.book),
            files: files?.fromCurrentFolder, way: mode.way, subscribes: !noSubscribe)
        let printer = EventPrinter(style: program.quietStyle, streams: program.streams)
        let stored = try await ShelfReader.read(configuration.library) { try await $0.subscriptions() } ?? []
        let asked = try request.books ?? configuration.allSubscriptions(with: stored).map(\.book)
        let outcomes = try await program.withCatalogs(configuration, for: asked) { configuration in
            try await printer.printing { emit in
                let work = LibraryImport(configuration: configuration, logger: program.logger, emit: emit)
                if dryRun { return try await work.plan(request, environment: program.environment) }
                return try await work.execute(
                    request, environment: program.environment, knownLibraries: program.knownLibraries,
                    waitingFor: waiting.seconds)
            }
        }
        let status = ExitStatus(of: outcomes.flatMap(\.failures))
        let document: JSONDocument = [
            "event": "imported", "program": .string(self.program.rawValue), "path": .string(request.path),
            "dry_run": .bool(dryRun),
            "books": .array(outcomes.map { JSONDocument($0) }), "exit_code": .init(Int(status.rawValue)),
        ]
        await program.print(document, or: program.options.quiet ? [] : outcomes.map(\.sentence))
        for outcome in outcomes {
            for failure in outcome.failures { await program.streams.writeError("\(failure)") }
        }
        return status
    }
}

extension LibraryImport.Outcome {
    fileprivate var failures: [Failure] {
        var failures: [Failure] = []
        if case .refused(let failure) = subscription { failures.append(failure) }
        switch adoption {
        case .success(let report): failures += report.failures
        case .failure(let failure): failures.append(failure)
        }
        return failures
    }

    fileprivate var sentence: Message {
        guard case .success(let report) = adoption else { return "\(book) \(title ?? ""): not taken over" }
        return subscription == .subscribed ? "\(report.sentence), subscribed" : report.sentence
    }
}

extension JSONDocument {
    fileprivate init(_ outcome: LibraryImport.Outcome) {
        let subscription: String? =
            switch outcome.subscription {
            case .subscribed: "subscribed"
            case .followedAlready: "already"
            case .refused: "refused"
            case nil: nil
            }
        let report = try? outcome.adoption.get()
        self = [
            "source": .string(outcome.book.source), "id": .string(outcome.book.id), "title": .init(outcome.title),
            "subscription": .init(subscription),
            "error": .init(outcome.failures.first?.description),
            "adoption": report.map { JSONDocument($0) } ?? .null,
            "not_fetched_again": .array(
                (report?.fetchedBefore ?? []).map {
                    ["section": .init($0.section), "id": .string($0.identity.key), "name": .name($0.name)]
                }),
            "unlisted": .init(report?.unlisted ?? 0),
        ]
    }
}
