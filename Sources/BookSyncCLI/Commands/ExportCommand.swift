import ArgumentParser
import BookModel
import BookSync
import Settings

struct ExportCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: .words("Write what players and library servers read of books."),
        discussion: .words(
            """
            m3u8: a playlist. opf: metadata.opf with title, author and reader. metadata: metadata.json for Audiobookshelf, \
            which outranks all else there. rss: feed.xml, a podcast feed of the files. csv: a table of all episodes. \
            cover: the picture that the catalog names. opml: the subscriptions, for other programs; it goes to standard \
            output, or to --output.

            Without --output each goes into its book's folder, whole or not at all, and only when it would change. A file \
            that booksync did not write, or that was changed since, is left as it is. Users, passwords and queries with \
            secrets are left out of addresses; a secret in the path of an address is not recognised, and stays.
            """))

    @OptionGroup var common: CommonOptions

    @Argument(help: .words("What to write.", valueName: "kind"))
    var kind: ExportChoice

    @Argument(
        help: .words("Books, or episodes of them. Default: all books.", valueName: "ref"), completion: .books)
    var references: [String] = []

    @Option(
        help: .words(
            "Write to this file, to this folder (one for each book in it), or with - to standard output.",
            valueName: "path"), completion: .file())
    var output: String?

    @Flag(help: .words("Overwrite files in the book folders that booksync did not write."))
    var force = false

    @OptionGroup var waiting: WaitOptions

    func validate() throws {
        if kind == .ofBooks(.cover), output != nil {
            throw ValidationError(.words("A cover goes into its book's folder only."))
        }
        if output == "" { throw ValidationError(.words("--output takes a path, or - for standard output.")) }
        if force, output != nil {
            throw ValidationError(.words("--force is for the book folders; --output overwrites."))
        }
    }

    func perform(in program: Program) async throws -> ExitStatus {
        let configuration = try await program.libraryConfiguration(naming: references)
        guard case .ofBooks(let kind) = kind else {
            let books = try references.map { try configuration.book(BookReference(parsing: $0)) }
            return try await program.exportSubscriptions(of: configuration, books: books, to: output ?? "-") { [$0] }
        }
        guard let output else {
            return try await program.inLibraries(of: references, configuration) {
                try await exportIntoFolders(kind, of: $1, in: $0, program)
            }
        }
        var books: [ExportedBook] = []
        for (own, references) in try await program.shares(
            of: references, configuration, isReading: true)
        {
            // A library that was never begun has no books, where there are others.
            if references.isEmpty, configuration.hasSeveralLibraries {
                guard try await ShelfReader.read(own.library, { _ in true }) != nil else { continue }
            }
            books += try await own.exportedBooks(of: try own.books(naming: references))
        }
        guard output != "-" else {
            await program.streams.writeOutput(bytes: try books.document(kind))
            return .done
        }
        let written = try await books.write(kind, to: output)
        await program.print(
            .array(
                written.map { .exported(kind.rawValue, to: $0.path, isWritten: $0.isWritten) }),
            or: written.filter(\.isWritten).map { "wrote \($0.path)" })
        return .done
    }

    private func exportIntoFolders(
        _ kind: ExportKind, of references: [String], in configuration: Configuration, _ program: Program
    ) async throws -> ExitStatus {
        let items = try configuration.books(naming: references)
        let outcomes = try await configuration.exportIntoFolders(
            kind, of: items, force: force, waitingFor: waiting.seconds, knownLibraries: program.knownLibraries,
            logger: program.logger)
        await program.print(
            .array(outcomes.map { JSONDocument($0) }),
            or: outcomes.compactMap { outcome in
                guard case .written = outcome.result, let path = outcome.path else { return nil }
                return "wrote \(path)"
            })
        for outcome in outcomes {
            if let failure = outcome.failure { await program.streams.writeError("\(failure)") }
            if case .nothing(let why) = outcome.result { await program.note(why) }
        }
        return ExitStatus(of: outcomes.compactMap(\.failure))
    }
}

/// What the command writes: something of each book, or the list of subscriptions.
enum ExportChoice: Equatable, ExpressibleByArgument {
    case ofBooks(ExportKind)
    case opml

    init?(argument: String) {
        if argument == "opml" {
            self = .opml
        } else if let kind = ExportKind(rawValue: argument) {
            self = .ofBooks(kind)
        } else {
            return nil
        }
    }

    static var allValueStrings: [String] { ExportKind.allCases.map(\.rawValue) + ["opml"] }
    static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }

    var defaultValueDescription: String {
        switch self {
        case .ofBooks(let kind): kind.rawValue
        case .opml: "opml"
        }
    }
}

extension JSONDocument {
    /// A file that was written where the user said, of one book or of several.
    static func exported(_ kind: String, to path: String, isWritten: Bool) -> JSONDocument {
        [
            "event": "exported", "source": .null, "book_id": .null, "kind": .string(kind), "path": .string(path),
            "outcome": isWritten ? "written" : "unchanged", "error": .null,
        ]
    }

    fileprivate init(_ outcome: ExportOutcome) {
        self = [
            "event": "exported", "source": .string(outcome.book.source), "book_id": .string(outcome.book.id),
            "kind": .string(outcome.kind.rawValue), "path": .init(outcome.path),
            "outcome": .string(outcome.result.keyword), "error": .init(outcome.failure?.description),
        ]
    }
}
