import ArgumentParser
import BookModel
import BookSync
import Settings

struct ExplainCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: .words("Say why an episode is, or is not, to be fetched; offline."),
        discussion: .words(
            """
            Which identity it has, what the catalog said when it was last asked, what is on disk and how it came there, \
            what failed, and what the next run would do. REF/7 for one episode, REF/7-9 or REF/latest:3 for several.
            """))

    @OptionGroup var common: CommonOptions

    @Argument(help: .words("The episode: REF/12, REF/12-40.", valueName: "ref"), completion: .books)
    var reference: String

    func perform(in program: Program) async throws -> ExitStatus {
        let reference = try BookReference(parsing: reference)
        guard !reference.filter.isEmpty else {
            throw Failure(
                .usage, what: "'\(reference)' names a book", why: "episodes are explained, not books",
                remedy: "name one of its episodes, as in \(BookReference.example(12, of: reference)); "
                    + "booksync show \(reference) tells of the book")
        }
        let configuration = try await program.libraryConfiguration(naming: [self.reference])
        var documents: [JSONDocument] = []
        var paragraphs: [[Message]] = []
        for (own, _) in try await program.shares(of: [self.reference], configuration, isReading: true) {
            let explanations = try await own.explain(
                try own.book(reference), filter: reference.filter, logger: program.logger)
            let name = configuration.hasSeveralLibraries ? own.place.name : nil
            documents += explanations.map { JSONDocument($0).adding(name) }
            paragraphs += explanations.map { explanation in
                [name.map { "in the library \($0): \(explanation.paragraph)" } ?? explanation.paragraph]
            }
        }
        await program.print(
            .one(of: documents, if: reference.filter.namesOneEpisode),
            or: Array(paragraphs.joined(separator: [""])))
        return .done
    }
}
