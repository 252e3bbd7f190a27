import BookModel
import CatalogStore
import Foundation
import LibraryFiles
import Logging
import Settings
import Synchronization

extension VerificationReport {
    /// Fetches bad files again, through a run like any other.
    ///
    /// A bad file stays at its place until the good one is whole and takes that over; then it is in the trash: whoever asks for a
    /// repair wants the episode as the catalog has it, and may not have thought of the tags that they once edited.
    ///
    /// Looks at the bad files once more, now that nobody else changes the library, and fetches them again.
    /// - Returns: the report with what came of each bad file.
    /// - Throws: ``Failure``; `CancellationError` when it came before anything was begun.
    package func repaired(
        in session: LibrarySession, _ configuration: Configuration, logger: Logger,
        emit: @escaping @Sendable (SyncEvent) -> Void
    ) async throws -> VerificationReport {
        let begin = ContinuousClock.now
        var report = try await lookedAtAgain(in: session)
        for index in report.bad.indices where !report.bad[index].verdict.isRepairable {
            report.bad[index].repair = .left("it came like this; remove, trash empty and fetch --force get it again")
        }
        let wanted = report.bad.indices.filter { report.bad[$0].repair == nil }
        guard !wanted.isEmpty else { return report }
        let reasons = Reasons()
        let run = SyncRun(configuration: configuration, logger: logger) { event in
            reasons.record(event)
            emit(event)
        }
        let request = try await Self.request(wanted.map { report.bad[$0] }, in: session, configuration)
        report.failures += try await run.execute(request, in: session).failures
        for index in wanted {
            report.bad[index].repair = try await Self.outcome(for: report.bad[index], in: session, reasons: reasons)
        }
        report.seconds += (ContinuousClock.now - begin) / .seconds(1)
        return report
    }

    private func lookedAtAgain(in session: LibrarySession) async throws -> VerificationReport {
        var report = self
        // Their bytes are as recorded.
        let broken = report.bad.filter { if case .brokenAudio = $0.verdict { true } else { false } }
        let again = try await Self.verified(report.bad.filter { !broken.contains($0) }, in: session)
        try Task.checkCancellation()
        report.intact += again.intact
        report.bad = again.bad + broken
        return report
    }

    private static func verified(_ files: [VerifiedFile], in session: LibrarySession) async throws -> VerificationReport
    {
        let pass = VerificationPass(
            files, library: session.folder.path, depth: .whole, store: session.store, round: nil, operations: [],
            report: VerificationReport(isQuick: false), emit: { _ in })
        return try await pass.run()
    }

    private static func request(
        _ bad: [VerifiedFile], in session: LibrarySession, _ configuration: Configuration
    ) async throws -> RunRequest {
        let titles = try configuration.allSubscriptions(with: try await session.subscriptions())
        let items = Dictionary(grouping: bad, by: \.file.episode.book).sorted { $0.key < $1.key }.map { book, files in
            RunRequest.Item(
                book: book, filter: EpisodeFilter(only: SectionRanges(files.map { $0.section...$0.section })),
                title: titles.first { $0.book == book }?.title)
        }
        let damages = bad.map { ($0.file.episode, $0.sentence.description) }
        return try RunRequest(
            items: items, order: configuration.downloads.order,
            repairs: Dictionary(damages) { first, _ in first })
    }

    /// What the store and the disk say of a file now.
    private static func outcome(
        for bad: VerifiedFile, in session: LibrarySession, reasons: Reasons
    ) async throws -> VerifiedFile.Repair {
        let episode = bad.file.episode
        let shelved = try await session.store.episode(episode)
        if shelved?.removedAt != nil { return .countsAsRemoved }
        let why = reasons.reason(for: episode) ?? "the run ended before it came to it"
        guard let file = shelved?.file else { return .left(why) }
        // A record that is as it was vouches for nothing new, unless the file is back by itself.
        if Task.isCancelled { return file.fetchedAt == bad.file.fetchedAt ? .left(why) : .repaired(keptAs: nil) }
        let now = VerifiedFile(section: bad.section, name: bad.name, file: file, verdict: .intact)
        let again = try await verified([now], in: session)
        guard again.intact == 1 else { return .left(why) }
        let kept = try await session.trash.list().first {
            $0.file.episode == episode && $0.file.fetchedAt == bad.file.fetchedAt
        }
        return .repaired(keptAs: kept?.to)
    }

    /// Hears why episodes are not fetched.
    private final class Reasons: Sendable {
        private let said = Mutex<[EpisodeIdentity: Message]>([:])
        private let saidOfBooks = Mutex<[BookIdentity: Message]>([:])

        func record(_ event: SyncEvent) {
            switch event {
            case .planned(let plan):
                for action in plan.actions where !action.kind.isTransfer {
                    said.withLock { $0[action.episode.identity] = action.reason }
                }
            case .failed(let report):
                guard let episode = report.episode else {
                    // Such as a catalog that cannot be read.
                    let books = report.books.isEmpty ? [report.book].compactMap(\.self) : report.books
                    return saidOfBooks.withLock { for book in books { $0[book] = report.failure.message } }
                }
                said.withLock { $0[episode] = report.failure.message }
            default: return
            }
        }

        func reason(for episode: EpisodeIdentity) -> Message? {
            said.withLock { $0[episode] } ?? saidOfBooks.withLock { $0[episode.book] }
        }
    }
}
