import ArgumentParser
import BookModel
import BookSync
import Foundation

struct SubscribeCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "subscribe", abstract: "Have mirror follow a book.",
        discussion: """
            REF/latest:5 and REF/12-40 follow only these episodes, and win over --latest and --only. Subscribing anew \
            replaces what was said before.
            """)

    @OptionGroup var common: CommonOptions

    @Argument(help: ArgumentHelp("The books.", valueName: "ref"))
    var references: [String]

    @OptionGroup var selection: SelectionOptions

    @OptionGroup var wishes: SubscriptionOptions

    func perform(in program: Program) async throws -> ExitStatus {
        let filter = try selection.filter()
        let references = try references.map(BookReference.init(parsing:))
        let configuration = try await program.libraryConfiguration()
            .recognising(references, logger: program.logger)
        let subscriptions = try references.map { reference in
            let book = try configuration.book(reference)
            try configuration.requireSource(of: book)
            if case .address(let address) = reference.target { try configuration.requireStorable(book, at: address) }
            return Subscription(
                book: book, title: wishes.title, filter: filter.overridden(by: reference.filter), order: wishes.order,
                limits: wishes.limits, subscribedAt: .now)
        }
        try await SubscriptionBook.open(in: configuration.library, notes: program.notes) { subscribed in
            for subscription in subscriptions {
                let isNew = try await subscribed.subscribe(subscription)
                guard !program.options.quiet else { continue }
                await program.streams.writeError(
                    isNew
                        ? "mirror follows \(subscription.book) now"
                        : "mirror follows \(subscription.book) already; changed")
            }
        }
        return .done
    }
}

/// What a subscription says beside its episodes.
struct SubscriptionOptions: ParsableArguments {
    @Option(help: ArgumentHelp("What to call the book, instead of what the catalog does.", valueName: "title"))
    var title: String?

    @Option(help: ArgumentHelp("Which episodes come first.", valueName: "order"))
    var order: TransferOrder?

    @Option(help: ArgumentHelp("Begin no more than so many episodes of it in a run.", valueName: "n"))
    var maxEpisodes: Int?

    @Option(help: ArgumentHelp("Begin no more than so many bytes of it in a run, as in 2G.", valueName: "bytes"))
    var maxBytes: String?

    var limits: RunLimits { RunLimits(episodes: maxEpisodes, bytes: maxBytes.flatMap(parseByteCount)) }

    func validate() throws {
        if let title, title.isEmpty { throw ValidationError("--title takes a title.") }
        if let maxEpisodes, maxEpisodes < 1 {
            throw ValidationError("--max-episodes takes a number from 1 on, not \(maxEpisodes).")
        }
        if let maxBytes, parseByteCount(maxBytes) ?? 0 < 1 {
            throw ValidationError("--max-bytes takes bytes, as in 2G, not '\(maxBytes)'.")
        }
    }
}

struct UnsubscribeCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "unsubscribe", abstract: "Have mirror follow a book no longer; its files are kept.")

    @OptionGroup var common: CommonOptions

    @Argument(help: ArgumentHelp("The books.", valueName: "ref"))
    var references: [String]

    func perform(in program: Program) async throws -> ExitStatus {
        let configuration = try await program.libraryConfiguration()
        let books = try references.map { try configuration.book(BookReference(parsing: $0)) }
        let configured = try configuration.allSubscriptions(with: []).map(\.book)
        try await SubscriptionBook.open(in: configuration.library, notes: program.notes) { subscribed in
            for book in books {
                guard try await subscribed.unsubscribe(book) else {
                    throw configured.contains(book)
                        ? Failure(
                            .configuration, what: "\(book) cannot be unsubscribed",
                            why: "the configuration subscribes to it",
                            remedy: "take it out of the configuration file")
                        : Failure(
                            .unknownBook, what: "\(book) cannot be unsubscribed",
                            why: "nothing is subscribed under that name",
                            remedy: "booksync subscriptions lists what is")
                }
            }
        }
        return .done
    }
}
