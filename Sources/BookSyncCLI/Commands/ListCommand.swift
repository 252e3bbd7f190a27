import ArgumentParser
import BookModel
import BookSync
import Settings

struct ListCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: .words("List the books of the library or, with a REF, its episodes; offline."),
        discussion: .words("On a terminal the books are numbered: until the next listing @3 is a REF of the third."))

    @OptionGroup var common: CommonOptions

    @Argument(help: .words("Books whose episodes to list.", valueName: "ref"), completion: .books)
    var references: [String] = []

    @Option(help: .words("Only episodes in this state; without a REF, books that have any.", valueName: "state"))
    var state: EpisodeState?

    @Option(
        help: .words(
            """
            In this order: \(ShelfOrder.ofBooks.map(\.rawValue).joined(separator: ", ")); with a REF \
            \(ShelfOrder.ofEpisodes.map(\.rawValue).joined(separator: ", ")). Names rise; of numbers and times the \
            greatest comes first.
            """, valueName: "key"))
    var sort: ShelfOrder?

    @Flag(help: .words("In the opposite order."))
    var reverse = false

    @Flag(help: .words("Only what is missing on disk."))
    var missing = false

    @Option(help: .words("So many at most, the first ones.", valueName: "n"))
    var limit: Int?

    func validate() throws {
        if let limit, limit < 1 {
            throw ValidationError(.words("--limit takes a number from 1 on, not \(limit)."))
        }
        let orders = references.isEmpty ? ShelfOrder.ofBooks : ShelfOrder.ofEpisodes
        if let sort, !orders.contains(sort) {
            let words = orders.map(\.rawValue).joined(separator: ", ")
            throw ValidationError(
                references.isEmpty
                    ? .words("Books are sorted by \(words), not by \(sort.rawValue).")
                    : .words("Episodes are sorted by \(words), not by \(sort.rawValue)."))
        }
    }

    func perform(in program: Program) async throws -> ExitStatus {
        let configuration = try await program.libraryConfiguration(naming: references)
        let references = try references.map(BookReference.init(parsing:))
        guard !references.isEmpty else {
            let (shelves, status) = try await program.items(of: configuration) {
                [state, limit, sort, missing, reverse] shelf in
                if let state { return try await shelf.books(withEpisodesIn: state) }
                if missing { return try await shelf.booksWithMissingEpisodes() }
                return try await shelf.books(first: sort == nil && !reverse ? limit : nil)
            }
            // An empty list is the right answer, but a mistyped folder should not go unnoticed.
            await program.note(shelves.isEmpty ? "there is no shelf at \(configuration.library) yet" : nil)
            // The books stay where they are: there may be very many.
            typealias Position = (shelf: Int, index: Int)
            let book = { @Sendable (position: Position) in shelves[position.shelf][position.index] }
            let isNamed = configuration.hasSeveralLibraries
            var books = shelves.indices.flatMap { shelf in shelves[shelf].indices.map { Position(shelf, $0) } }
            // Each library's are in order: sorting merges what is.
            if isNamed {
                books.sort { shelves[$0.shelf][$0.index].book.identity < shelves[$1.shelf][$1.index].book.identity }
            }
            if missing { books = books.filter { book($0).missing > 0 } }
            if let sort { books = sort.indices(of: books.count) { book(books[$0]) }.map { books[$0] } }
            if reverse { books.reverse() }
            if let limit { books = Array(books.prefix(limit)) }
            let style = program.outputStyle
            await program.print(
                books, of: book, as: { JSONDocument($0) },
                in: (isNamed ? [.init(title: "library") { $0.library ?? "" }] : []) + [
                    .init(title: "book") { "\($0.book.identity)" },
                    .init(title: "title", isFlexible: true) { $0.book.title },
                    .init(title: "author", isFlexible: true) { $0.book.author ?? "" },
                    .init(title: "on disk", .trailing) { "\($0.present)/\($0.episodes)" },
                    .init(title: "not here", .trailing, color: { $0 == "0" ? nil : .yellow }) { "\($0.missing)" },
                    .init(title: "locked", .trailing, isOptional: true) { "\($0.locked)" },
                    .init(title: "bytes", .trailing, isOptional: true) { describeBytes($0.bytes) },
                ])
            if style.width != nil, !program.options.json {
                await program.listedBooks?.remember(
                    books.map { "\(book($0).book.identity)" }, of: configuration.listedPlaces)
            }
            return status
        }
        let books = Set(try references.map(configuration.book))
        var episodes: [ShelfReader.EpisodeOnDisk] = []
        var titles: [BookIdentity: String] = [:]
        for (own, references) in try await program.shares(
            of: self.references, configuration, isReading: true)
        {
            let meant = try references.map(BookReference.init(parsing:)).map { (try own.book($0), $0.filter) }
            let found = try await ShelfReader.read(own.library) { shelf in
                var episodes: [ShelfReader.EpisodeOnDisk] = []
                for (book, filter) in meant { episodes += try await shelf.episodes(of: book, filter: filter) }
                return (episodes: episodes, titles: books.count > 1 ? try await shelf.titles(of: books) : [:])
            }
            guard let found else { throw Failure.emptyLibrary(own.library) }
            episodes += found.episodes.named(own, of: configuration)
            titles.merge(found.titles) { first, _ in first }
        }
        if let state { episodes = episodes.filter { $0.shelved.state == state } }
        if missing { episodes = episodes.filter(\.isMissing) }
        if let sort { episodes = episodes.sorted(by: sort) }
        if reverse { episodes.reverse() }
        if let limit { episodes = Array(episodes.prefix(limit)) }
        await program.print(
            .array(episodes.map { JSONDocument($0) }),
            or: Self.table(episodes, titles: books.count > 1 ? titles : nil, program.words))
        return .done
    }

    /// - Parameter titles: of the books, for a column of their own; nil for none.
    private static func table(
        _ episodes: [ShelfReader.EpisodeOnDisk], titles: [BookIdentity: String]?, _ words: Wordings
    ) -> TextTable {
        var columns: [TextTable.ItemColumn<ShelfReader.EpisodeOnDisk>] = [
            .init(title: "section", .trailing) { "\($0.shelved.episode.section)" },
            .init(title: "name", isFlexible: true) { $0.shelved.episode.name },
            .init(title: "state", color: EpisodeState.colors(in: words)) { words($0.shelved.stateWord) },
            .init(title: "bytes", .trailing) { $0.bytesText },
            .init(title: "path", isFlexible: true) { $0.shelved.file?.path ?? "" },
        ]
        if let titles { columns.insert(.book(titles), at: 0) }
        return episodes.table(columns).withLibraries(of: episodes)
    }
}

extension TextTable.ItemColumn<ShelfReader.EpisodeOnDisk> {
    /// The title of each episode's book, or the book's id.
    static func book(_ titles: [BookIdentity: String]) -> Self {
        .init(title: "book", isFlexible: true) { episode in
            let book = episode.shelved.episode.identity.book
            return titles[book] ?? book.id
        }
    }
}

extension EpisodeRecord {
    /// Its state for people: what no run was asked for does not wait.
    var stateWord: Message { state == .waiting && transfer == nil ? "not here" : Message(wording: state.rawValue) }
}

extension ShelfReader.EpisodeOnDisk {
    /// How long it is, as far as anybody knows.
    var total: Int64? { shelved.file?.size ?? shelved.transfer?.total ?? shelved.episode.size }

    /// `118.9 MB`, `2.0 MB/118.9 MB`.
    var bytesText: String {
        bytesDone > 0 && bytesDone != total
            ? "\(describeBytes(bytesDone))/\(total.map(describeBytes) ?? "?")" : total.map(describeBytes) ?? ""
    }
}

extension EpisodeState: ExpressibleByArgument {
    /// By its keyword, or by a word that is printed for it in any language.
    package init?(argument: String) {
        let words = Language.allCases.map(Wordings.init)
        let named = Self.allCases.first { state in
            words.contains { $0(Message(wording: state.rawValue)) == argument }
        }
        guard let state = words.contains(where: { $0("not here") == argument }) ? .waiting : named else { return nil }
        self = state
    }
}
extension ShelfOrder: ExpressibleByArgument {}
