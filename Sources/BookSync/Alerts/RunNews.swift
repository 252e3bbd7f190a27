import BookModel
import CatalogStore
import DownloadEngine
import Foundation

/// What happened in a run that somebody may want to be told.
///
/// Each thing is told once: an episode when it was fetched; a failure of an episode in the first run that gives it up, and
/// not again while later ones do; what fails as a whole (a server that is down, credentials that are rejected, a full
/// disk) when it begins, and when it is over; a book that is overdue once until its next episode appears. What could not
/// be delivered counts as not told where that is remembered: outages and overdue books come again with the next alert.
struct RunNews: Sendable {
    /// Episodes and failures that are listed by name; of more there is only the count.
    static let maxList = 100

    /// At most ``maxList``.
    private(set) var fetched: [TransferReceipt] = []
    /// Failures of episodes that had not failed in the run before; at most ``maxList``.
    private(set) var failures: [FailureReport] = []
    private(set) var fetchedCount = 0
    private(set) var newlyFailed = 0
    /// What failed as a whole in this run, whenever it began.
    var outages: [Outage] = []
    /// Subjects of outages that cannot go on: they were met, and were well.
    var answered: Set<String> = []
    /// Outages that are over with this run, of which the user was told.
    var ended: [Outage] = []
    var overdue: [PublicationWatch] = []
    /// Books of followed lists whose first episodes this run brought; of ``fetched``.
    var newBooks: [ListedBook] = []
    /// Books whose catalog brought a listing, and those of which it said that nothing changed.
    var listed: [BookIdentity] = []
    var unchanged: [BookIdentity] = []

    /// Outages that the user does not know of yet.
    var begun: [Outage] { outages.filter { !$0.isReported } }

    var isWorthTelling: Bool {
        fetchedCount > 0 || newlyFailed > 0 || !begun.isEmpty || !ended.isEmpty || !overdue.isEmpty
    }

    /// - Parameter failedBefore: episodes that earlier runs gave up.
    mutating func record(_ report: EngineReport, failedBefore: Set<EpisodeIdentity>) {
        let brought = report.receipts.filter { $0.outcome != .unchanged }
        fetchedCount += brought.count
        fetched += brought.prefix(max(0, Self.maxList - fetched.count))
        for failure in report.failures { record(failure, failedBefore: failedBefore) }
    }

    mutating func record(_ failure: FailureReport, failedBefore: Set<EpisodeIdentity> = []) {
        guard let episode = failure.episode, !failedBefore.contains(episode) else { return }
        newlyFailed += 1
        if failures.count < Self.maxList { failures.append(failure) }
    }
}

extension JSONDocument {
    /// What an alert carries: the summary of the run, and behind it what is new.
    init(_ news: RunNews, of record: RunRecord) {
        let summary = JSONDocument(.summarised(record.summary), exitCode: record.exitCode ?? 0) ?? [:]
        self = summary.adding([
            "command": .string(record.command),
            "started_at": .init(record.startedAt),
            "text": .string(
                record.summary.sentence.description
                    + (news.newBooks.isEmpty ? "" : "; new: " + news.newBooks.map(\.title).joined(separator: ", "))),
            "new_books": .array(
                news.newBooks.map { new in
                    [
                        "source": .string(new.book.source), "id": .string(new.book.id), "title": .string(new.title),
                        "list": .string(new.list.description),
                    ]
                }),
            "fetched_episodes": .array(
                news.fetched.map { receipt in
                    Self.episode(receipt.file.episode, section: receipt.section, name: receipt.name).adding([
                        "path": .string(receipt.file.path), "size": .integer(receipt.file.size),
                    ])
                }),
            "newly_failed": .init(news.newlyFailed),
            "failed_episodes": .array(
                news.failures.map { failure in
                    Self.episode(failure.episode, section: failure.section, name: failure.name).adding([
                        "error": .string(failure.failure.description)
                    ])
                }),
            "outages": .array(news.begun.map(Self.outage)),
            "recovered": .array(news.ended.map(Self.outage)),
            "overdue": .array(
                news.overdue.map { watch in
                    [
                        "source": .string(watch.book.source), "id": .string(watch.book.id),
                        "title": .string(watch.title), "latest": .init(watch.latest),
                        "usual_gap": .number(watch.usualGap.rounded()),
                    ]
                }),
        ])
    }

    private static func episode(_ episode: EpisodeIdentity?, section: Int?, name: String?) -> JSONDocument {
        [
            "source": .init(episode?.book.source), "book_id": .init(episode?.book.id), "id": .init(episode?.key),
            "section": .init(section), "name": .init(name),
        ]
    }

    private static func outage(_ outage: Outage) -> JSONDocument {
        [
            "subject": .string(outage.subject), "since": .init(outage.since), "runs": .init(outage.runs),
            "error": .string(outage.error.description),
        ]
    }
}
