import ArgumentParser
import BookModel
import BookSync
import Foundation
import Settings

struct AdoptCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "adopt", abstract: .words("Recognise files that are already there as episodes of a book."),
        discussion: .words(
            """
            By the catalog's digest; by exact size and number; by number and name: each match says by which. What may be \
            several episodes, or none, is listed and left alone. Files in the library stay where they are unless a way \
            is said; files elsewhere need one.
            """))

    @OptionGroup var common: CommonOptions

    @Argument(
        help: .words("The folder that holds the files; those below it count.", valueName: "dir"),
        completion: .directory)
    var folder: String

    @Option(name: .customLong("book"), help: .words("The book.", valueName: "ref"), completion: .books)
    var book: String

    @OptionGroup var mode: ImportModeOptions

    @OptionGroup var waiting: WaitOptions

    @Flag(help: .words("Print what would be adopted and change nothing."))
    var dryRun = false

    func perform(in program: Program) async throws -> ExitStatus {
        let reference = try BookReference(parsing: book)
        guard reference.filter.isEmpty else {
            throw Failure(
                .usage, what: "'\(book)' names episodes", why: "files are recognised as any of a book's episodes",
                remedy: "name the book alone")
        }
        let all = try await program.recognising(
            [reference],
            try await program.findingTitles(in: [reference], try await program.configuration().configuration))
        let configuration = try await program.shares(of: [book], all)[0].configuration
        let identity = try configuration.book(reference)
        let title = try configuration.allSubscriptions(with: []).first { $0.book == identity }?.title
        let path = folder.fromCurrentFolder
        let request = AdoptionRequest(
            folder: path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path, book: identity,
            title: title, way: mode.way)
        let printer = EventPrinter(style: program.quietStyle, streams: program.streams)
        let report = try await program.withCatalogs(configuration, for: [identity]) { configuration in
            try await printer.printing { emit in
                let adoption = FolderAdoption(configuration: configuration, logger: program.logger, emit: emit)
                if dryRun { return try await adoption.plan(request) }
                try await adoption.check(request)
                return try await LibrarySession.withLibrary(
                    at: configuration.library, command: "adopt", waitingFor: waiting.seconds
                ) {
                    try await adoption.execute(request, in: $0)
                }
            }
        }
        await program.print(
            JSONDocument(report).event("adopted"), or: Self.table(report, program.words), then: [report.sentence])
        return ExitStatus(of: report.failures)
    }

    private static func table(_ report: AdoptionReport, _ words: Wordings) -> TextTable {
        var table = TextTable(columns: [
            .init(title: "section", alignment: .trailing), .init(title: "by"), .init(title: "file", isFlexible: true),
            .init(title: "path", isFlexible: true),
        ])
        table.rows =
            report.recognised.map { item in
                [
                    "\(item.episode.section)", words(Message(wording: item.failure == nil ? item.by : "failed")),
                    item.from,
                    item.path,
                ]
            }
            + report.ambiguous.map { file in
                [file.episodes.map { "\($0.section)" }.joined(separator: ","), words("ambiguous"), file.path, ""]
            }
            + report.unmatched.map { ["", words("unknown"), $0, ""] }
        return table
    }
}

extension JSONDocument {
    init(_ report: AdoptionReport) {
        self = [
            "book": .init(report.book),
            "way": .string(report.way.rawValue),
            "dry_run": .bool(report.isDryRun),
            "recognised": .array(
                report.recognised.map { item in
                    [
                        "section": .init(item.episode.section),
                        "id": .string(item.episode.identity.key),
                        "name": .name(item.episode.name),
                        "from": .string(item.from),
                        "path": .string(item.path),
                        "size": .integer(item.size),
                        "confidence": .string(item.by),
                        "error": .init(item.failure?.description),
                    ]
                }),
            "ambiguous": .array(
                report.ambiguous.map { file in
                    [
                        "from": .string(file.path),
                        "sections": .array(file.episodes.map { .init($0.section) }),
                    ]
                }),
            "unmatched": .array(report.unmatched.map(JSONDocument.string)),
            "totals": [
                "adopted": .init(report.adopted), "failed": .init(report.failures.count),
                "ambiguous": .init(report.ambiguous.count), "unmatched": .init(report.unmatched.count),
                "known": .init(report.known),
            ],
        ]
    }
}
