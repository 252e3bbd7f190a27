import ArgumentParser
import BookModel
import BookSync
import CatalogFetcher
import Foundation
import LibraryFiles
import Settings

struct CatalogCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "catalog",
        abstract: .words("Print what a catalog lists now, or what a saved answer lists; stores nothing."),
        discussion: .words(
            """
            What names a file that is there is read as a saved answer, several at once; everything else is a REF, or the \
            address of a feed, an archive item, a LibriVox book or a directory. With --json each is one line.
            """))

    @OptionGroup var common: CommonOptions

    @Argument(help: .words("Books, or files of saved answers.", valueName: "ref|file"), completion: .booksAndFiles)
    var subjects: [String]

    @Option(
        help: .words(
            "What the answers are: \(SourceKind.allCases.map(\.rawValue).joined(separator: ", ")).", valueName: "type"))
    var type: SourceKind?

    func perform(in program: Program) async throws -> ExitStatus {
        let configuration = try await program.configuration().configuration
        var failures: [Failure] = []
        for subject in subjects {
            do {
                try await show(try await preview(subject, configuration, program), program)
            } catch var failure as Failure {
                if failure.kind == .usage, subject.wholeMatch(of: /[.\/].*|[^\/]*\.(json|xml)/) != nil {
                    failure.remedy = "check the name: there is no such file"
                }
                failures.append(failure)
                try await tell(failure, about: subject, program)
            }
        }
        return ExitStatus(of: failures)
    }

    private func preview(
        _ subject: String, _ configuration: Configuration, _ program: Program
    ) async throws -> CatalogPreview {
        if try await runBlocking({ FileManager.default.fileExists(atPath: subject) && !isFolder(at: subject) }) {
            return try await CatalogPreview(file: subject, kind: type, configuration: configuration)
        }
        let reference = try BookReference(parsing: subject)
        var configuration = configuration
        if let type { configuration.take(reference, as: type) }
        configuration = try await program.recognising(
            [reference], try await program.findingTitles(in: [reference], configuration))
        let book = try configuration.book(reference)
        return try await program.withCatalogs(configuration, for: [book]) { configuration in
            try await program.showingWaits { emit in
                emit(.waiting(.book(book), Wait(asking: book.id)))
                return try await CatalogPreview(of: book, configuration: configuration, logger: program.logger)
            }
        }
    }

    private func show(_ preview: CatalogPreview, _ program: Program) async throws {
        await program.printLine(JSONDocument(preview))
        if program.options.json { return }
        await program.streams.writeOutput([preview.sentence])
        await program.output(preview.table(program.words))
        for warning in preview.proof.warnings { await program.note(warning) }
    }

    /// With several subjects one that cannot be read takes none of the others along.
    private func tell(_ failure: Failure, about subject: String, _ program: Program) async throws {
        // An address may hold a token.
        let address = subject.firstRange(of: /[a-z]+:\/\//).map { subject[$0.lowerBound...] } ?? ""
        let shown = subject.dropLast(address.count) + ResourceAddress(String(address)).withoutSecrets
        await program.printLine(["file": .string(String(shown)), "error": .string(failure.description)])
        guard subjects.count > 1 else { throw failure }
        if !program.options.json { await program.streams.writeError("\(shown): \(failure)") }
    }
}

extension SourceKind: ExpressibleByArgument {}

extension CatalogPreview {
    fileprivate func table(_ words: Wordings) -> TextTable {
        episodes.table([
            .init(title: "section", .trailing) { "\($0.section)" },
            .init(title: "name", isFlexible: true) { $0.name },
            .init(title: "bytes", .trailing) { $0.size.map(describeBytes) ?? "" },
            .init(title: "seconds", .trailing, isOptional: true) { $0.duration.map { "\(Int(clamping: $0))" } ?? "" },
            .init(title: "type", isOptional: true) { $0.mediaType ?? "" },
            .init(title: "address", isFlexible: true) { $0.address?.withoutSecrets ?? words("locked") },
        ])
    }

    fileprivate var sentence: Message {
        let counted = Message(episodes.count, "episode")
        let proven: Message = proof.isComplete ? "complete" : "incomplete"
        let author: Message = book.author.map { " by \($0)" } ?? ""
        return "\(book.identity) \(book.title)\(author): \(counted), \(proven) (\(kind.rawValue))"
    }
}
