import ArgumentParser
import BookModel
import BookSync
import CatalogFetcher
import Foundation
import LibraryFiles
import Settings
import Transport

struct SubscribeCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "subscribe",
        abstract: .words("Subscribe to a book or a list of books: mirror downloads what is new."),
        discussion: .words(
            """
            REF/latest:5 and REF/12-40 follow only these episodes, and win over --latest and --only. Subscribing \
            again replaces the earlier options. Of a list of books (archive:collection:NAME, archive:search:QUERY, \
            librivox:author:NAME, librivox:language:NAME) mirror brings every book whose title and date pass --match, \
            --exclude and --since, and those that are added; booksync plan tells how many there are.
            """))

    @OptionGroup var common: CommonOptions

    @Argument(help: .words("The books.", valueName: "ref"), completion: .books)
    var references: [String]

    @OptionGroup var selection: SelectionOptions

    @OptionGroup var wishes: SubscriptionOptions

    @OptionGroup var books: CollectionOptions

    func perform(in program: Program) async throws -> ExitStatus {
        let configuration = try await program.recognising(
            try references.map(BookReference.init(parsing:)), goesOn: true,
            try await program.libraryConfiguration(naming: references))
        return try await program.inLibraries(of: references, configuration) {
            try await subscribe($1, in: $0, program)
        }
    }

    private func subscribe(
        _ references: [String], in configuration: Configuration, _ program: Program
    ) async throws -> ExitStatus {
        let filter = try selection.filter()
        let named = try references.map(BookReference.init(parsing:))
        var (references, failures) = ([BookReference](), [Failure]())
        for reference in named {
            guard let failure = configuration.failure(naming: reference) else {
                references.append(reference)
                continue
            }
            failures.append(failure)
            await program.tell(nil, "failed", "not subscribed", try configuration.book(reference), failure)
        }
        // Opening the library would make one for nothing.
        if references.isEmpty { return ExitStatus(of: failures) }
        try program.requireNotConfigured(try references.map { try configuration.book($0) }, configuration, "subscribed")
        let subscriptions = try references.map { reference in
            let book = try configuration.book(reference)
            try configuration.requireSource(of: book)
            return Subscription(
                book: book,
                address: try reference.address.flatMap { try configuration.addressToRecord(of: book, at: $0) },
                title: wishes.title, filter: filter.overridden(by: reference.filter), order: wishes.order,
                limits: wishes.limits, naming: try wishes.naming.map(NamingTemplate.init(option:))?.description,
                keep: try wishes.keepRule(), collection: books.collection, subscribedAt: .now)
        }
        try await withHTTPTransport(options: configuration.transportOptions, logger: program.logger) { transport in
            for subscription in subscriptions { try configuration.requireMeaning(of: subscription, over: transport) }
        }
        try await SubscriptionBook.open(of: configuration, knownLibraries: program.knownLibraries) { subscribed in
            for subscription in subscriptions {
                let book = subscription.book
                let (outcome, notice) = try await subscribed.subscribe(subscription)
                let sentence: Message =
                    switch outcome {
                    case .subscribed: "subscribed to \(book)"
                    case .changed: "already subscribed to \(book); options changed"
                    case .already: "already subscribed to \(book)"
                    }
                await program.tell(sentence, "subscribed", outcome.rawValue, book)
                await program.note(notice)
            }
            await program.note(configuration.privacyNotice(of: subscriptions.map(\.book)))
        }
        return ExitStatus(of: failures)
    }
}

/// What a subscription says beside its episodes.
struct SubscriptionOptions: ParsableArguments {
    @Option(help: .words("What to call the book, instead of what the catalog does.", valueName: "title"))
    var title: String?

    @Option(help: .words("Which episodes come first.", valueName: "order"))
    var order: TransferOrder?

    @Option(help: .words("Start at most N episodes of it in a run.", valueName: "n"))
    var maxEpisodes: Int?

    @Option(help: .words("Start at most N bytes of it in a run, as in 2G.", valueName: "bytes"))
    var maxBytes: String?

    @Option(
        help: .words("How to name its files, instead of as the configuration does.", valueName: "template"))
    var naming: String?

    @Option(
        help: .words(
            "Keep only these on disk: last 20, 30d, unheard, or several; mirror moves the others to the trash.",
            valueName: "rule"))
    var keep: String?

    @Option(help: .words("Keep no more than so many bytes of it on disk, as in 5G.", valueName: "bytes"))
    var maxSize: String?

    func keepRule() throws -> KeepRule? {
        try KeepRule(storedText: keep, maxBytes: maxSize.flatMap(parseByteCount))
    }

    var limits: RunLimits { RunLimits(episodes: maxEpisodes, bytes: maxBytes.flatMap(parseByteCount)) }

    func validate() throws {
        if let title, title.isEmpty { throw ValidationError(.words("--title takes a title.")) }
        if let maxEpisodes, maxEpisodes < 1 {
            throw ValidationError(.words("--max-episodes takes a number from 1 on, not \(maxEpisodes)."))
        }
        if let maxBytes, parseByteCount(maxBytes) ?? 0 < 1 {
            throw ValidationError(.words("--max-bytes takes bytes, as in 2G, not '\(maxBytes)'."))
        }
        if let maxSize, parseByteCount(maxSize) ?? 0 < 1 {
            throw ValidationError(.words("--max-size takes bytes, as in 5G, not '\(maxSize)'."))
        }
    }
}

/// Which books of a list are meant.
struct CollectionOptions: ParsableArguments {
    @Option(help: .words("Of a list: only books in this language, as in zh or Chinese.", valueName: "language"))
    var language: String?

    @Option(help: .words("Of a list: no books that are known to play for less.", valueName: "hours"))
    var minHours: Double?

    @Option(help: .words("Of a list: the first N books.", valueName: "n"))
    var maxBooks: Int?

    var collection: CollectionFilter {
        CollectionFilter(
            language: language.flatMap(CatalogText.languageAlone),
            minHours: minHours, maxBooks: maxBooks)
    }

    func validate() throws {
        if let language { try requireLanguage(language) }
        if let minHours, !(minHours > 0) {
            throw ValidationError(.words("--min-hours takes hours above 0, not \("\(minHours)")."))
        }
        if let maxBooks, maxBooks < 1 {
            throw ValidationError(.words("--max-books takes a number from 1 on, not \(maxBooks)."))
        }
    }
}

/// What `--language` takes.
/// - Throws: `ValidationError`.
func requireLanguage(_ text: String) throws {
    guard CatalogText.languageAlone(text) == nil else { return }
    throw ValidationError(.words("--language takes a language, as in zh or Chinese, not '\(text)'."))
}

struct UnsubscribeCommand: BookSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "unsubscribe", abstract: .words("Unsubscribe from a book; its files are kept."))

    @OptionGroup var common: CommonOptions

    @Argument(help: .words("The books.", valueName: "ref"), completion: .books)
    var references: [String]

    var isChanging: Bool { true }

    func perform(
        _ references: [String], in configuration: Configuration, _ program: Program
    ) async throws -> ExitStatus {
        let books = try references.map { try configuration.book(BookReference(parsing: $0)) }
        try program.requireNotConfigured(books, configuration, "unsubscribed")
        // Opening the library would make one where there is none.
        _ = try await LibraryFolder.requireStore(in: configuration.library)
        return try await SubscriptionBook.open(of: configuration, knownLibraries: program.knownLibraries) {
            subscribed in
            var failures: [Failure] = []
            for book in books {
                if try await subscribed.unsubscribe(book) {
                    await program.tell("unsubscribed from \(book)", "unsubscribed", "unsubscribed", book)
                    continue
                }
                let failure = Failure(
                    .unknownBook, what: "\(book) cannot be unsubscribed", why: "nothing is subscribed under that name",
                    remedy: "booksync subscriptions lists what is")
                failures.append(failure)
                await program.tell(nil, "failed", "was not subscribed", book, failure)
            }
            return ExitStatus(of: failures)
        }
    }
}

extension NamingTemplate {
    /// A template that the command line gives.
    init(option text: String) throws {
        do {
            try self.init(parsing: text)
        } catch let failure as Failure {
            throw Failure(.usage, what: failure.what, why: failure.why, remedy: failure.remedy)
        }
    }
}

extension Program {
    /// What the configuration subscribes to is changed there: it wins over what the library says.
    /// - Parameter action: what was to be done with the books.
    fileprivate func requireNotConfigured(
        _ books: [BookIdentity], _ configuration: Configuration, _ action: Message
    ) throws {
        let configured = Set(try configuration.allSubscriptions(with: []).map(\.book))
        guard let book = books.first(where: configured.contains) else { return }
        throw Failure(
            .configuration, what: "\(book) cannot be \(action)", why: "the configuration subscribes to it",
            remedy: "change it in \(configurationPath)")
    }

    /// Says what became of the subscription to a book.
    /// - Parameter sentence: for people; nil where the failure tells them.
    fileprivate func tell(
        _ sentence: Message?, _ event: String, _ outcome: String, _ book: BookIdentity, _ failure: Failure? = nil
    ) async {
        await printLine([
            "event": .string(event), "source": .string(book.source), "id": .string(book.id),
            "outcome": .string(outcome), "error": .init(failure?.description),
        ])
        await note(sentence)
        if let failure { _ = await report([failure]) }
    }
}
