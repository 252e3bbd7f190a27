import AudioFiles
import BookModel
import CatalogFetcher
import CatalogStore
import DownloadEngine
import Foundation
import LibraryFiles
import Logging
import Settings
import Transport

/// The main job: read the books' catalogs, plan what the disk lacks, fetch just that.
///
/// One failed book never stops the others; what ends a run early is only what would fail every transfer, such as a
/// full disk. Cancellation stops all transfers at once and keeps everything received.
package struct SyncRun: Sendable {
    let configuration: Configuration
    let logger: Logger
    let media: MediaProbe?
    let writer: MediaProbe?
    let emit: @Sendable (SyncEvent) -> Void
    /// What the run renames, replaces and lets expire is one batch of this time, so that one undo takes it back.
    let startedAt = Date()

    /// - Parameters:
    ///   - media: what looks into the audio files; nil where nothing does.
    ///   - writer: what writes audio files; nil where ffmpeg is not installed.
    package init(
        configuration: Configuration, logger: Logger, media: MediaProbe? = nil,
        writer: MediaProbe? = nil, emit: @escaping @Sendable (SyncEvent) -> Void
    ) {
        self.configuration = configuration
        self.logger = logger
        self.media = media
        self.writer = writer
        let meter = RunMeter(emit: emit)
        self.emit = { meter.pass($0) }
    }

    /// Executes the request in an opened library as a run that is recorded, and tells of it those who are to be told.
    ///
    /// - Parameters:
    ///   - command: what it is recorded as.
    ///   - exitCode: what the process will exit with after these failures.
    package func execute(
        _ request: RunRequest, as command: String, in session: LibrarySession,
        exitCode: @Sendable ([Failure]) -> Int
    ) async throws -> RunReport {
        let recording = RunRecording(configuration: configuration, store: session.store, emit: emit)
        let record = await recording.begin(command, of: request.items.map(\.book))
        let outcome = await Result.of { try await execute(request, in: session) }
        guard let record else { return try outcome.get() }
        var report = RunReport()
        switch outcome {
        case .success(let made): report = made
        case .failure(is CancellationError): break
        case .failure(let error):
            report.recordEnd(Failure.of(error), known: (try? await session.store.knownOutages()) ?? [:])
        }
        let (code, error) = (exitCode(report.failures), report.failures.first?.message)
        let ended = await recording.end(record, report, exitCode: code, error: error)
        await recording.conclude(ended, report)
        _ = try outcome.get()
        if let notice = await session.backUp() { emit(.notice(notice)) }
        // It may have been interrupted while it told of itself.
        let last = exitCode(report.failures)
        if last != code { _ = await recording.end(record, report, exitCode: last, error: error) }
        return report
    }

    /// Executes the request in an opened library, whose session has settled what a killed run had begun. Failures are in the
    /// report, not thrown.
    ///
    /// A run may be killed at any time, and loses nothing, because of what comes before what:
    /// 1. A request is stored before anybody is told that it was taken, and goes only after the run that did it.
    /// 2. What a catalog lists is stored before a plan is made of it, page by page.
    /// 3. That an episode was removed is on disk before its file goes to the trash.
    /// 4. An operation is on disk before its file is moved; the names in both folders are on disk before it counts as done.
    /// 5. A received file is synced before it is announced, is announced before it is renamed, and is recorded when its name is
    ///    on disk. One that is replaced has a second name in the trash before that.
    /// 6. What is in the trash is deleted before that is recorded.
    package func execute(_ whole: RunRequest, in session: LibrarySession) async throws -> RunReport {
        let begin = whole.begunAt ?? .now
        for notice in session.notices { emit(.notice(notice)) }
        let (request, left) = try await whole.leavingOtherLibraries(configuration, store: session.store)
        var options = configuration.transportOptions
        options.isOfTransfers = true
        var report = try await withHTTPTransport(options: options, logger: logger) { transport in
            var run = try await RunUnderWay(self, request, left, in: session, over: transport)
            let transfers = try await run.refreshAndFetch()
            try await run.record(transfers)
            try await run.finishBooks(after: transfers)
            await run.finishLibrary()
            return run.report
        }
        // Who interrupted the run knows that it left something.
        if !Task.isCancelled { report.recordLeft() }
        report.summary.seconds = (ContinuousClock.now - begin) / .seconds(1)
        return report
    }
}
