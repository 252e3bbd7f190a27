import ArgumentParser
import BookModel
import BookSync
import Settings

struct SearchCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "search",
        abstract: .words("Find books and episodes by title, author, announcer and name; offline."),
        discussion: .words(
            """
            All words must be found: Latin ones at the beginning of words, without capitals and accents; numbers as \
            numbers, so that 第1集 finds 第001集; Chinese and its like anywhere. The best come first.
            """))

    @OptionGroup var common: CommonOptions

    @Argument(help: .words("What to search for; any two Chinese characters will do.", valueName: "text"))
    var text: [String]

    @Option(help: .words("So many at most; 0 for all.", valueName: "n"))
    var limit = 50

    func validate() throws {
        if limit < 0 { throw ValidationError(.words("--limit takes a number from 0 on, not \(limit).")) }
    }

    func perform(in program: Program) async throws -> ExitStatus {
        let configuration = try await program.libraryConfiguration()
        let (text, wanted) = (text.joined(separator: " "), limit == 0 ? nil : limit)
        let (found, status) = try await program.ask(configuration) { configuration, _ in
            try await ShelfReader.search(configuration.library, for: text, limit: wanted)
        }
        let (items, hasMore) = try found.best(for: text, limit: wanted)
        await program.print(
            .array(items.map { JSONDocument($0) }), or: Self.table(items, program.words))
        if !found.answers.contains(where: { $0.value != nil }) {
            await program.note("there is no shelf at \(configuration.library) yet")
        } else if hasMore {
            await program.note("there is more than these \(limit); --limit 0 prints all")
        } else if items.isEmpty {
            await program.note("no matches")
        }
        return status
    }

    private static func table(_ items: [FoundItem], _ words: Wordings) -> TextTable {
        let columns: [TextTable.Column] = [
            .init(title: "ref"), .init(title: "name", isFlexible: true), .init(title: "of", isFlexible: true),
            .init(title: "state", color: EpisodeState.colors(in: words)),
        ]
        let rows = items.map { item in
            switch item {
            case .book(let shelved):
                return [
                    "\(shelved.book.identity)", shelved.book.title, shelved.book.author ?? "",
                    "\(shelved.present)/\(shelved.episodes)",
                ]
            case .episode(let episode, let book):
                return [
                    BookReference.example(episode.shelved.episode.section, of: book.identity),
                    episode.shelved.episode.name, book.title,
                    words(episode.shelved.stateWord),
                ]
            }
        }
        return TextTable(columns: columns, rows: rows).withLibraries(of: items)
    }
}
