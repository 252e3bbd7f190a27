import BookModel
import BookSync
import Settings

extension Program {
    /// The configuration with the books that the references name by title, or by their number in the last listing.
    ///
    /// What is an id on the shelf stays one, and so does a number. Of several books with such a title the user is asked on a
    /// terminal.
    /// - Throws: ``Failure`` of kind `usage` where nobody can be asked, or there was no such listing.
    /// - Parameters:
    ///   - isChanging: whether the command takes something away: then a part of a title is no name where nobody can be asked.
    ///   - isTrial: whether a number is a book of the demo catalog where there is no source and no subscription.
    func findingTitles(
        in references: [BookReference], _ configuration: Configuration, isChanging: Bool = false, isTrial: Bool = false
    ) async throws -> Configuration {
        var configuration = configuration
        for case .id(let text) in references.map(\.target) where text.hasPrefix("@") {
            guard let number = Int(text.dropFirst()), let listed = listedBooks else { continue }
            let reference = try BookReference(
                parsing: try await listed.reference(number, of: configuration.listedPlaces))
            configuration.named[text] = try configuration.book(reference)
        }
        let open = references.filter { $0.mayBeTitle(in: configuration) }
        guard !open.isEmpty else { return configuration }
        let (shelf, subscriptions) = try await titles(configuration)
        let (known, index) = (Set(shelf.map(\.book)), TitleIndex(shelf))
        for text in open.map(\.description) where configuration.named[text] == nil {
            let source = configuration.defaultSource ?? (configuration.usesDemoCatalog ? Configuration.demoSource : nil)
            let id = source.map { BookIdentity(source: $0, id: text) }
            // A store that cannot be read may have books of the demo catalog, whose ids are numbers.
            let isDemo = text.allSatisfy(\.isNumber) && subscriptions.map { isTrial && $0 == 0 } ?? true
            if let id, known.contains(id) || configuration.defaultSource == nil && isDemo {
                configuration.named[text] = id
                continue
            }
            let matches = index.matches(text)
            guard !matches.isEmpty else { continue }
            let isSure = matches.count == 1 && (!isChanging || matches[0].title == text)
            let match = isSure ? matches[0] : try await choice(among: matches, for: text)
            configuration.named[text] = match.book
            if match.title != text { await note("\(text): \(match.book) \(match.title)") }
        }
        return configuration
    }

    /// What was last listed on a terminal.
    var listedBooks: ListedBooks? { ListedBooks(environment: environment, logger: logger) }

    /// Of the shelf, and of what is subscribed to.
    /// - Returns: with the number of subscriptions, which is nil where the store cannot be read. Who works with it says what is
    ///   wrong with it, or puts it right.
    private func titles(
        _ configuration: Configuration
    ) async throws -> (titles: [TitleIndex.Entry], subscriptions: Int?) {
        var subscribed = try configuration.allSubscriptions(with: [])
        var books: [Book] = []
        var isReadable = true
        do {
            let answers = try await LibraryAnswers.of(configuration, nil) { configuration, _ in
                try await ShelfReader.read(configuration.library) {
                    (try await $0.books().map(\.book), try await $0.subscriptions())
                } ?? ([], [])
            }.answers
            books = answers.flatMap(\.value.0)
            subscribed += answers.flatMap(\.value.1)
        } catch is Failure {
            isReadable = false
        }
        let titles = Dictionary(
            books.map { ($0.identity, $0.title) } + subscribed.map { ($0.book, $0.title ?? $0.book.id) },
            uniquingKeysWith: { first, _ in first }
        ).map { TitleIndex.Entry(book: $0, title: $1) }.sorted { ($0.title, "\($0.book)") < ($1.title, "\($1.book)") }
        return (titles, isReadable ? subscribed.count : nil)
    }

    private static let maxChoices = 9

    private func choice(among matches: [TitleIndex.Entry], for text: String) async throws -> TitleIndex.Entry {
        let shown = matches.prefix(Self.maxChoices)
        let names: Message =
            shown.map { "\($0.book) \($0.title)" }.joined(separator: ", ")
            + (matches.count > shown.count ? ", …" : "")
        let ambiguous = Failure(
            .usage, disposition: .stop,
            what: matches.count == 1
                ? "'\(text)' is not the whole title of a book" : "'\(text)' names \(matches.count) books",
            why: matches.count == 1 ? "what changes a library takes no less; it fits \(names)" : names,
            remedy: "name one of them by its REF, as in \(matches[0].book)")
        guard StandardInput.isInteractive, matches.count <= Self.maxChoices else { throw ambiguous }
        for (number, match) in shown.enumerated() {
            await streams.writeError("\(number + 1)  \(match.book) \(match.title)")
        }
        let question: Message =
            matches.count == 1 ? "Do you mean this one? [1]" : "Which one do you mean? [1-\(matches.count)]"
        let answer = try await answer(to: question)
        guard let number = Int(answer), number > 0, number <= matches.count else { throw ambiguous }
        return matches[number - 1]
    }
}

extension BookReference {
    /// Whether it may be a title: words in place of an id, or a title with a colon, whose beginning is no source.
    fileprivate func mayBeTitle(in configuration: Configuration) -> Bool {
        switch target {
        case .id(let text): !text.hasPrefix("@") && (configuration.usesDemoCatalog || text.contains(where: \.isLetter))
        case .book(let book):
            // A short name of a source is one as well.
            configuration.source(named: configuration.withSource(book).source) == nil
                && book.source != Configuration.demoSource
        case .address: false
        }
    }
}
