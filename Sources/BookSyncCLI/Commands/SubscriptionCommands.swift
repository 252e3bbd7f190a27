import ArgumentParser
import BookModel
import BookSync
import Foundation

struct SubscribeCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "subscribe", abstract: "Have mirror follow a book.",
        discussion: "REF/latest:5 and REF/12-40 follow only these episodes.")

    @OptionGroup var common: CommonOptions

    @Argument(help: ArgumentHelp("The books.", valueName: "ref"))
    var references: [String]

    func perform(in program: Program) async throws -> ExitStatus {
        let references = try references.map(BookReference.init(parsing:))
        let configuration = try await program.configuration().configuration
            .recognising(references, logger: program.logger)
        let subscriptions = try references.map { reference in
            let book = try configuration.book(reference)
            try configuration.requireSource(of: book)
            return Subscription(book: book, filter: reference.filter, subscribedAt: .now)
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

struct UnsubscribeCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "unsubscribe", abstract: "Have mirror follow a book no longer; its files are kept.")

    @OptionGroup var common: CommonOptions

    @Argument(help: ArgumentHelp("The books.", valueName: "ref"))
    var references: [String]

    func perform(in program: Program) async throws -> ExitStatus {
        let configuration = try await program.configuration().configuration
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
