import ArgumentParser
import BookModel
import BookSync
import CatalogFetcher
import Foundation
import Settings
import Transport

struct FindCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "find",
        abstract: .words("Find books in catalogs by title and author, to subscribe to or to fetch."),
        discussion: .words(
            """
            Asks the configured sources that can be searched, archive.org, LibriVox, Apple's podcasts and fyyd side by side, \
            and looks on the shelf; find.sources in the configuration names those that are asked without being \
            configured. The best come first, a work of several sources once. On a terminal the books are numbered: a \
            number subscribes, f and a number fetches, and until the next listing @3 is a REF of the third. With --next the \
            sources of the books on the shelf are asked for other books by their authors.
            """))

    @OptionGroup var common: CommonOptions

    @Argument(help: .words("What to look for in titles, authors and narrators.", valueName: "text"))
    var text: [String] = []

    @Option(help: .words("Ask only this source; may be repeated.", valueName: "name"))
    var source: [String] = []

    @Option(help: .words("Books by this author first.", valueName: "name"))
    var author: String?

    @Option(help: .words("Only books in this language, as in zh or Chinese.", valueName: "language"))
    var language: String?

    @Option(help: .words("So many at most.", valueName: "n"))
    var limit = 20

    @Flag(help: .words("Other parts and books by the authors on the shelf."))
    var next = false

    /// Each is asked for by itself.
    private static let maxAuthors = 10

    private static let limits = 1...200

    func validate() throws {
        guard Self.limits.contains(limit) else {
            throw ValidationError(.words("--limit takes a number from 1 to \(Self.limits.upperBound), not \(limit)."))
        }
        if next, !text.isEmpty || author != nil {
            throw ValidationError(.words("--next takes no text and no --author: it is about those on the shelf."))
        }
        if text.isEmpty, author == nil, !next {
            throw ValidationError(.words("Say what to look for, as in: booksync find 兽医"))
        }
        if let language { try requireLanguage(language) }
    }

    func perform(in program: Program) async throws -> ExitStatus {
        let configuration = try await program.configuration().configuration
        let query = CatalogQuery(
            text: text.joined(separator: " "), author: author,
            language: language.flatMap(CatalogText.languageAlone), limit: limit)
        let found = try await withHTTPTransport(options: configuration.transportOptions, logger: program.logger) {
            transport -> FoundBooks? in
            let search = try configuration.catalogSearch(in: source, over: transport)
            guard next else { return try await program.showing(search, for: query) }
            var found: FoundBooks?
            for (author, sources) in try await Self.authors(on: configuration.library, in: search.sources) {
                var query = query
                query.author = author
                let more = try await program.showing(
                    try configuration.catalogSearch(in: sources, over: transport), for: query)
                found = found?.adding(more) ?? more
            }
            found?.isWithoutLibrary = true
            found?.query = query
            return found
        }
        guard let found else {
            throw Failure(
                .unknownBook, what: "no author can be asked for",
                why: "no book on the shelf has an author and a source that can be searched",
                remedy: "booksync find TEXT finds books by title")
        }
        let books = found.books
        let style = program.outputStyle
        await program.print(JSONDocument(found), or: Self.table(books).numbered(style))
        for (_, failure) in found.unanswered { await program.streams.writeError(failure.message) }
        guard !books.isEmpty else {
            await program.note("no matches")
            return ExitStatus(of: found.unanswered.map(\.failure))
        }
        guard style.width != nil, !program.options.json else { return .done }
        await program.listedBooks?.remember(books.map(\.entry.reference), of: configuration.listedPlaces)
        return StandardInput.isInteractive ? try await offer(books, in: program) : .done
    }

    /// The authors of the books on the shelf, those first of whose books something changed last.
    /// - Parameter searchable: sources that can be searched.
    /// - Returns: each with those that have a book of theirs, and the library.
    private static func authors(
        on library: String, in searchable: [String]
    ) async throws -> [(author: String, sources: [String])] {
        let books = try await ShelfReader.read(library) { try await $0.books() } ?? []
        var authors: [(author: String, sources: [String])] = []
        for book in books.sorted(by: { $0.updatedAt > $1.updatedAt }).map(\.book) {
            guard let author = book.author, searchable.contains(book.identity.source) else { continue }
            if let index = authors.firstIndex(where: { $0.author == author }) {
                if !authors[index].sources.contains(book.identity.source) {
                    authors[index].sources.append(book.identity.source)
                }
            } else if authors.count < maxAuthors {
                authors.append((author, [CatalogSearch.librarySource, book.identity.source]))
            }
        }
        return authors
    }

    /// Asks which of the books to take.
    private func offer(_ books: [FoundBook], in program: Program) async throws -> ExitStatus {
        let question: Message = "Subscribe to which one? Its number, f and the number to fetch it, or Enter for none:"
        let answer = try await program.answer(to: question)
        if answer.allSatisfy(\.isWhitespace) { return .done }
        guard let match = answer.wholeMatch(of: /\s*(f?)\s*([0-9]{1,4})\s*/), let number = Int(match.2),
            books.indices.contains(number - 1)
        else {
            throw Failure(
                .usage, disposition: .stop,
                what: "'\(CatalogText.quotation(answer, length: 40))' names none of the books",
                why: "they have the numbers from 1 to \(books.count)",
                remedy: "find them again, or name one by its REF")
        }
        let entry = books[number - 1].entry
        var program = program
        // A catalog named the address, and not the user.
        program.trustsReferences = false
        let reference = [entry.address?.secretText ?? entry.reference]
        guard match.1.isEmpty else { return try await FetchCommand.asyncParse(reference).perform(in: program) }
        return try await SubscribeCommand.asyncParse(reference).perform(in: program)
    }

    private static func table(_ books: [FoundBook]) -> TextTable {
        books.table([
            .init(title: "title", isFlexible: true) { $0.entry.title },
            .init(title: "author", isFlexible: true) { $0.entry.author ?? "" },
            .init(title: "narrator", isFlexible: true) { $0.entry.narrator ?? "" },
            .init(title: "language", isOptional: true) { $0.entry.language ?? "" },
            .init(title: "episodes", .trailing, isOptional: true) { $0.entry.episodes.map(String.init) ?? "" },
            .init(title: "hours", .trailing, isOptional: true) { book in
                book.entry.seconds.map { String(format: "%.1f", $0 / 3600) } ?? ""
            },
            .init(title: "size", .trailing, isOptional: true) { $0.entry.size.map(describeBytes) ?? "" },
            .init(title: "ref", isFlexible: true) { $0.entry.reference },
            .init(title: "found in", isOptional: true) { $0.sources.joined(separator: ", ") },
        ])
    }
}

extension Program {
    /// Searches, and shows meanwhile who is waited for.
    fileprivate func showing(_ search: CatalogSearch, for query: CatalogQuery) async throws -> FoundBooks {
        try await showingWaits { emit in
            @Sendable func wait(for source: String, _ wait: Wait?) {
                emit(.waiting(.book(BookIdentity(source: source, id: "")), wait))
            }
            emit(.asking(catalogs: search.sources.count))
            for source in search.sources { wait(for: source, Wait(asking: source)) }
            return try await search.search(query) { answer, _ in wait(for: answer.source, nil) }
        }
    }
}
