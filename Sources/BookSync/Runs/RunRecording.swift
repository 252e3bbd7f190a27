import BookModel
import CatalogStore
import Foundation
import LibraryFiles
import Settings

/// Keeps the book of runs: that one began, how it ended, what fails run after run; and tells those who want to be told.
struct RunRecording: Sendable {
    let configuration: Configuration
    let store: CatalogStore
    let emit: @Sendable (SyncEvent) -> Void

    /// - Returns: nil when it could not be recorded, which is no reason not to run: what keeps the store from being
    ///   written will end the run soon enough, if it is one.
    func begin(_ command: String, of books: [BookIdentity]) async -> RunRecord? {
        let now = Date()
        do {
            let number = try await store.beginRun(command, of: books, at: now)
            await LibraryFolder.existing(at: configuration.library).record(begun: number)
            return RunRecord(
                number: number, command: command, startedAt: now, books: books.count,
                named: books.prefix(RunRecord.maxNamed).map { .init($0) })
        } catch {
            emit(.notice("\(Failure.of(error))"))
            return nil
        }
    }

    /// - Parameter error: of the first failure.
    func end(_ record: RunRecord, _ report: RunReport, exitCode: Int, error: Message?) async -> RunRecord {
        var record = record
        record.endedAt = Date()
        record.exitCode = exitCode
        record.summary = report.summary
        // Others may have joined.
        record.books = max(record.books, report.summary.books.count)
        var named: Set<BookIdentity> = []
        record.named = (report.changes.map { .init($0) } + record.named).filter { named.insert($0.book).inserted }
        record.error = error
        if exitCode == 0, record.command == "mirror" {
            await LibraryFolder.existing(at: configuration.library).record(complete: record.number)
        }
        do {
            try await store.endRun(record)
        } catch {
            emit(.notice("\(Failure.of(error))"))
        }
        return record
    }

    /// Records what is wrong now and what is well again, and tells what is new of it. A run that was interrupted notes and
    /// tells nothing: whoever interrupted it is there, and the next one will find it all again. What cannot be noted, as
    /// on a full disk, is told all the same.
    func conclude(_ record: RunRecord, _ report: RunReport) async {
        guard !Task.isCancelled else { return }
        var news = report.news
        await noticing { try await recordOutages(in: &news) }
        await noticing { try await recordOverdue(in: &news, now: record.startedAt) }
        if AudiobookshelfScan.isDue(after: record.summary),
            let scan = AudiobookshelfScan(configuration.notify, proxies: configuration.proxies),
            let notice = await scan.ask()
        {
            emit(.notice(notice))
        }
        // What lasts is told to whoever is named later on.
        guard configuration.notify.hasReader else { return }
        if news.isWorthTelling {
            await noticing {
                let books = Set(news.fetched.map(\.file.episode.book)).sorted()
                news.newBooks = try await store.newlyListedBooks(among: books, since: record.startedAt)
            }
            let outcome = await configuration.notify.deliver(
                JSONDocument(news, of: record), proxies: configuration.proxies)
            for notice in outcome.notices { emit(.notice(notice)) }
            guard outcome.isDelivered else { return }
        }
        var (begun, overdue) = (news.begun, news.overdue)
        for index in begun.indices { begun[index].isReported = true }
        for index in overdue.indices { overdue[index].isReported = true }
        await noticing {
            try await store.record(begun, ended: [])
            try await store.record(overdue)
        }
    }

    /// Nothing of this may fail the run.
    private func noticing(_ body: () async throws -> Void) async {
        do {
            try await body()
        } catch {
            emit(.notice("\(Failure.of(error))"))
        }
    }

    private func recordOutages(in news: inout RunNews) async throws {
        let present = Set(news.outages.map(\.subject))
        let over = try await store.outages().filter {
            news.answered.contains($0.subject) && !present.contains($0.subject)
        }
        news.ended = over.filter(\.isReported)
        try await store.record(news.outages, ended: over.map(\.subject))
    }

    private func recordOverdue(in news: inout RunNews, now: Date) async throws {
        guard !news.listed.isEmpty || !news.unchanged.isEmpty else { return }
        let known = Dictionary(try await store.publicationWatches().map { ($0.book, $0) }) { first, _ in first }
        var changed: [PublicationWatch] = []
        var watches = news.unchanged.compactMap { known[$0] }
        for book in news.listed {
            let dates = try await store.publicationDates(of: book, last: PublicationWatch.sampleSize)
            let title = known[book]?.title ?? ""
            let next = PublicationWatch.next(of: book, title: title, before: known[book], dates: dates, now: now)
            guard let next else { continue }
            if next != known[book] { changed.append(next) }
            watches.append(next)
        }
        try await store.record(changed)
        news.overdue = watches.filter { !$0.isReported && $0.isOverdue(at: now) }
    }
}

extension CatalogStore {
    /// What failed in the last runs, by its subject.
    func knownOutages() async throws -> [String: Outage] {
        Dictionary(try await outages().map { ($0.subject, $0) }) { first, _ in first }
    }
}
