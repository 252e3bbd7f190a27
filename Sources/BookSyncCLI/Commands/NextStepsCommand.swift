import ArgumentParser
import BookModel
import BookSync
import Foundation
import Settings

/// What `booksync` alone says on a terminal: what is there, and what one might do next.
struct NextStepsCommand: Subcommand {
    static let configuration = CommandConfiguration(commandName: "next-steps")

    @OptionGroup var common: CommonOptions

    /// A command that fits what is there, and what it does.
    fileprivate typealias Step = (command: String, effect: Message)

    /// What the library and the configuration say.
    fileprivate struct Situation {
        var books: [BookSummary] = []
        var failed: [BookSummary] = []
        var subscriptions: [BookIdentity: Subscription] = [:]
        var lastRun: ShownRun?
    }

    func perform(in program: Program) async throws -> ExitStatus {
        let configuration = try await program.libraryConfiguration()
        let (found, status) = try await program.ask(configuration) { configuration, _ in
            try await ShelfReader.read(configuration.library) { shelf in
                Situation(
                    books: try await shelf.books(), failed: try await shelf.books(withEpisodesIn: .failed),
                    subscriptions: Self.byBook(try await shelf.subscriptions()),
                    lastRun: try await shelf.runs(last: 1).first)
            }
        }
        var situation = Situation(subscriptions: Self.byBook(try configuration.allSubscriptions(with: [])))
        for one in found.answers.compactMap(\.value) {
            situation.books += one.books
            situation.failed += one.failed
            situation.subscriptions.merge(one.subscriptions) { configured, _ in configured }
            situation.lastRun = [situation.lastRun, one.lastRun].compactMap(\.self)
                .max { $0.record.startedAt < $1.record.startedAt }
        }
        await program.streams.writeOutput(situation.lines)
        await program.output(.pairs(situation.steps.map { ["  " + $0.command, program.words($0.effect)] }))
        return status
    }

    private static func byBook(_ subscriptions: [Subscription]) -> [BookIdentity: Subscription] {
        Dictionary(subscriptions.map { ($0.book, $0) }, uniquingKeysWith: { first, _ in first })
    }
}

extension NextStepsCommand.Situation {
    fileprivate var lines: [Message] {
        guard !books.isEmpty else { return ["The library is empty. To begin:"] }
        // Of what is subscribed to in part, only a plan knows what is wanted.
        let missing = books.filter { subscriptions[$0.book.identity]?.wantsAll ?? true }.saturatedSum(of: \.missing)
        let present = books.saturatedSum(of: \.present)
        let bytes = describeBytes(books.saturatedSum(of: \.bytes))
        var lines: [Message] = [
            missing == 0
                ? "\(Message(books.count, "book")), \(Message(present, "episode")) on disk (\(bytes)), nothing missing."
                : "\(Message(books.count, "book")), \(Message(present, "episode")) on disk (\(bytes)), \(missing) missing."
        ]
        if let lastRun, let end = lastRun.record.endedAt {
            let ago = describeSeconds(Date().timeIntervalSince(end).rounded())
            lines.append(
                lastRun.record.error.map { "The last run, \(lastRun.record.command), ended \(ago) ago: \($0)" }
                    ?? "The last run, \(lastRun.record.command), ended well \(ago) ago.")
        }
        return lines
    }

    private var unsubscribed: [BookSummary] { books.filter { subscriptions[$0.book.identity] == nil } }

    fileprivate var steps: [NextStepsCommand.Step] {
        var steps: [NextStepsCommand.Step] = []
        if lastRun?.state == .underWay { steps.append(("booksync queue --watch", "watch the run that is under way")) }
        if let book = failed.first?.book.identity {
            steps.append(("booksync list \(book) --state failed", "see what failed, and why with booksync explain"))
        }
        if books.isEmpty {
            steps.append(("booksync init", "choose a folder, follow a first book, mirror it every night"))
            steps.append(
                ("booksync fetch https://example.org/feed.xml", "download a podcast, without any configuration"))
            if subscriptions.isEmpty { steps.append(("booksync fetch 30776", "try it with the built-in demo catalog")) }
        } else if let book = unsubscribed.max(by: { $0.missing < $1.missing }), book.missing > 0 {
            steps.append(("booksync fetch \(book.book.identity)", "download what is missing of \(book.book.title)"))
        }
        if !subscriptions.isEmpty {
            steps.append(("booksync mirror", "download what is new of \(Message(subscriptions.count, "subscription"))"))
        } else if let book = books.first?.book.identity {
            steps.append(("booksync subscribe \(book)", "have mirror download its new episodes"))
        }
        if !books.isEmpty {
            steps.append(("booksync serve", "listen in a browser, or in a podcast app"))
            steps.append(("booksync list", "list the books"))
        }
        steps.append(("booksync help", "list all commands"))
        return steps
    }
}

extension Subscription {
    fileprivate var wantsAll: Bool { filter.isEmpty && keep == nil && limits == RunLimits() }
}
