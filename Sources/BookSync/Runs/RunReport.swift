import BookModel
import DownloadEngine
import Foundation

/// What a run came to.
package struct RunReport: Sendable {
    package var summary = RunSummary()
    /// Every failure of the run, of books and of episodes.
    package var failures: [Failure] = []
    /// Books that were not looked at: the time was up.
    package var booksLeft: [BookIdentity] = []
    /// Those of the run, with what it began within them.
    package private(set) var limits = RunLimits()
    /// Books whose catalogs answered.
    package var listedBooks: [BookIdentity] { news.listed + news.unchanged }
    /// Books of which something came or failed, some of them several times.
    private(set) var changes: [BookIdentity] = []
    /// Those of the summary's ``RunSummary/left`` that the user wants left: cancelled, or for the next run by the limits of
    /// a subscription.
    private var leftOnPurpose = 0
    /// What an alert would tell.
    var news = RunNews()

    mutating func fail(_ report: FailureReport, emit: (SyncEvent) -> Void) {
        failures.append(report.failure)
        summary.failed += max(1, report.books.count)
        changes += report.books.isEmpty ? [report.book].compactMap(\.self) : report.books
        // Books that failed as a whole have no plan that would name them.
        if report.episode == nil {
            let books = report.books.isEmpty ? [report.book].compactMap(\.self) : report.books
            summary.books += books.map(\.id)
            if books.isEmpty { summary.failedOtherwise += 1 } else { summary.failedCatalogs += books.count }
        }
        news.record(report)
        emit(.failed(report))
    }

    mutating func record(_ plan: SyncPlan) {
        let totals = plan.totals
        summary.books.append("\(plan.book.identity.id) \(plan.book.title)")
        summary.kept.addSaturated(totals.keep)
        leftOnPurpose.addSaturated(totals.skip(.limited))
        for (skip, count) in totals.skipped {
            if let path = RunSummary.count(of: skip) { summary[keyPath: path].addSaturated(count) }
        }
    }

    /// Records why a plan does not bring all that is wanted of its book.
    mutating func record(_ shortfalls: [Failure?], of book: BookIdentity, emit: (SyncEvent) -> Void) {
        for failure in shortfalls.compactMap(\.self) { tell(FailureReport(book: book, failure: failure), emit: emit) }
    }

    /// Tells of a failure of something that is counted elsewhere, or that there is not.
    private mutating func tell(_ report: FailureReport, emit: (SyncEvent) -> Void) {
        failures.append(report.failure)
        emit(.failed(report))
    }

    /// Records the episodes that are wanted, and that the run does not even try to fetch. A run with such a gap is not done.
    /// - Parameter counts: whether what cannot be put in place counts: the first plan of a book has counted it already.
    mutating func recordGaps(in plan: SyncPlan, counts: Bool = true, emit: (SyncEvent) -> Void) {
        let book = plan.book.identity
        func actions(_ skip: SyncAction.Skip) -> [SyncAction] {
            plan.actions.filter { $0.countedKind == .skip(skip) }
        }
        let heldBack = actions(.waits)
        if let first = heldBack.first {
            let failure = Failure(
                .temporary,
                what: heldBack.count == 1
                    ? "1 episode of \(plan.book.name) is held back"
                    : "\(heldBack.count) episodes of \(plan.book.name) are held back",
                why: "episode \(first.episode.section) \(first.reason)",
                remedy: "booksync fetch \(book) --only \(first.episode.section) tries at once")
            // No failure of this run: the runs in which they failed have said so.
            failures.append(failure)
            emit(.notice(failure.message))
        }
        func tellOf(
            _ skip: SyncAction.Skip, remedy: Message? = nil, _ what: (_ first: Message, _ others: Int) -> Message
        ) {
            let skipped = actions(skip)
            guard let first = skipped.first else { return }
            let failure = Failure(
                .temporary, what: what(first.episode.named(in: plan.book.name), skipped.count - 1), why: first.reason,
                remedy: remedy)
            if counts { summary.failed += skipped.count }
            tell(FailureReport(first.episode, failure), emit: emit)
        }
        tellOf(.obstructed, remedy: "move what is in the way; booksync plan \(book) lists all of it") {
            $1 == 0 ? "\($0) cannot be put in place" : "\($0) and \($1) more cannot be put in place"
        }
        // What to do is part of the reason.
        tellOf(.truncated) {
            $1 == 0 ? "\($0) is no longer whole on disk" : "\($0) and \($1) more are no longer whole on disk"
        }
    }

    /// Takes an episode that joined the run out of the counts of what is not fetched.
    mutating func uncount(_ skip: SyncAction.Skip?) {
        let left = summary.left
        summary.uncount(skip)
        leftOnPurpose -= left - summary.left
    }

    /// Records transfers that the user cancelled: the next run starts them again.
    mutating func recordCancelled(_ count: Int) {
        summary.left += count
        leftOnPurpose += count
    }

    /// Records that something wanted is left for the next run where no failure says why; the summary counts it.
    mutating func recordLeft() {
        let left = summary.left - leftOnPurpose
        guard left > 0, failures.isEmpty else { return }
        failures.append(
            Failure(
                .temporary, what: "\(Message(left, "episode")) left for the next run",
                why: "the run ended before it came to them", remedy: "run again"))
    }

    /// - Parameter known: what failed in earlier runs, by its subject.
    mutating func record(_ outcome: CatalogRefresh.Outcome, known: [String: Outage], emit: (SyncEvent) -> Void) {
        for (report, outage) in outcome.troubles.reports(known: known, at: Date()) {
            fail(report, emit: emit)
            news.outages.append(outage)
        }
        news.outages += outcome.incomplete
        news.answered = outcome.troubles.answered
        news.listed += outcome.listed
        news.unchanged += outcome.unchanged
        if !outcome.left.isEmpty {
            booksLeft += outcome.left
            let failure = Failure(
                .temporary, what: "\(Message(outcome.left.count, "book")) not checked",
                why: "the time limit was reached", remedy: "run again, or with a longer --time-limit")
            tell(FailureReport(failure: failure), emit: emit)
        }
        if let stop = outcome.stop {
            fail(stop, emit: emit)
            recordStop(stop.failure, known: known)
        } else {
            news.answered.insert(CatalogFailures.library)
        }
    }

    /// - Parameters:
    ///   - failedBefore: episodes that earlier runs gave up.
    ///   - removed: episodes that were removed while the run was under way.
    ///   - known: what failed in earlier runs, by its subject.
    mutating func record(
        _ report: EngineReport, failedBefore: Set<EpisodeIdentity>, removed: Set<EpisodeIdentity>,
        known: [String: Outage], emit: (SyncEvent) -> Void
    ) {
        for (episode, state) in report.stopped {
            if state == .paused {
                summary.paused += 1
            } else if state == .failed {
                summary.gone += 1
            } else if removed.contains(episode) {
                summary.removed += 1
            } else {
                recordCancelled(1)
            }
        }
        for receipt in report.receipts {
            switch receipt.outcome {
            case .fetched: summary.fetched += 1
            case .resumed: summary.resumed += 1
            case .replaced: summary.replaced += 1
            case .unchanged: summary.kept += 1
            }
            summary.bytesReused.addSaturated(receipt.bytesReused)
            if receipt.outcome != .unchanged { changes.append(receipt.file.episode.book) }
        }
        changes += report.failures.compactMap(\.book)
        summary.bytesReceived.addSaturated(report.bytesReceived)
        let finished = report.receipts.reduce(into: Int64(0)) { $0.addSaturated($1.bytesReceived) }
        summary.bytesUnfinished.addSaturated(report.bytesReceived - finished)
        limits = report.limits
        summary.left += report.left
        summary.failed += report.failures.count
        news.record(report, failedBefore: failedBefore)
        let reported = report.failures.map(\.failure)
        failures += reported
        if let neverBegun = report.neverBegun { tell(neverBegun, emit: emit) }
        guard let stop = report.stop else { return }
        // No episode's failure, and none that ended the catalogs as well: nobody has been told why the run ended.
        if !failures.contains(stop) { fail(FailureReport(failure: stop), emit: emit) }
        recordStop(stop, known: known)
    }

    /// Records what ended a run before it came to its own end, which is told by whoever meets the error.
    mutating func recordEnd(_ failure: Failure, known: [String: Outage]) {
        failures.append(failure)
        summary.failed += 1
        summary.failedOtherwise += 1
        recordStop(failure, known: known)
    }

    /// What ends a run ends the next one too, until somebody sees to it.
    private mutating func recordStop(_ failure: Failure, known: [String: Outage]) {
        news.outages.append(.met(CatalogFailures.library, error: failure.message, known: known))
    }
}

extension RunSummary {
    /// Where an episode is counted that a plan leaves alone; nil where the plan's gaps are.
    fileprivate static func count(of skip: SyncAction.Skip) -> WritableKeyPath<RunSummary, Int>? {
        switch skip {
        case .locked: \.locked
        case .tombstone: \.removed
        case .waits: \.heldBack
        case .paused: \.paused
        case .filtered: \.filtered
        case .gone: \.gone
        // It is on disk.
        case .changed: \.kept
        case .limited: \.left
        case .obstructed, .truncated: nil
        }
    }

    /// Takes an episode out of the counts of what is not fetched, because it joined the run and will be.
    /// - Parameter skip: why the plan that was counted left it alone; nil where that is not known.
    mutating func uncount(_ skip: SyncAction.Skip?) {
        let reasons = [skip, .filtered, .limited, .paused, .waits, .tombstone].compactMap(\.self)
        let count = reasons.compactMap(Self.count).first { self[keyPath: $0] > 0 }
        if let count { self[keyPath: count] -= 1 }
    }
}
