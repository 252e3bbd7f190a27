import BookModel
import Foundation
import Logging

// What becomes of transfers that have come to their end: stopped, published, or given up.

extension DownloadEngine {
    /// A transfer that the user stopped has come to a halt.
    func halt(_ index: Int, as state: TransferState, of run: inout EngineRun) async {
        run.transfers[index].hasHalted = true
        await finishStop(state, of: run.transfers[index].wanted)
    }

    /// Tells that a transfer is stopped. A paused one keeps what it has, a cancelled one drops it.
    func finishStop(_ state: TransferState, of wanted: TransferRequest) async {
        let episode = wanted.episode.identity
        guard state == .cancelled else { return emit(.paused(episode, name: wanted.episode.name)) }
        emit(.cancelled(episode, name: wanted.episode.name))
        await dropPartials(of: [episode])
    }

    /// What was cancelled is of no use any more.
    func dropPartials(of episodes: [EpisodeIdentity]) async {
        for episode in episodes {
            do {
                try await threads.aside { try PartialFile.drop(episode, in: partialFolder) }
            } catch {
                logger.error("a partial file could not be dropped", metadata: ["error": "\(error)"])
            }
        }
    }

    func recorded(_ file: LocalFile) async -> Result<LocalFile, Failure> {
        do {
            try await threads.aside { try journal.commit(finished: [file]) }
            return .success(file)
        } catch {
            return .failure(Self.publicationFailure(error))
        }
    }

    static func publicationFailure(_ error: any Error) -> Failure {
        error as? Failure
            ?? Failure(
                .inputOutput, disposition: .stop, what: "a received episode cannot be put into the library",
                why: "\(error)", remedy: "run again; it is not fetched twice")
    }

    func finishPublication(
        _ index: Int, _ outcome: Result<LocalFile, Failure>, of run: inout EngineRun
    ) async {
        switch outcome {
        case .success(let file):
            let receipt = run.finish(file, at: index)
            run.report.receipts.append(receipt)
            emit(.finished(receipt))
        case .failure(let failure):
            // When the disk or the store ends the run, the file may be in its place already: the announcement, which
            // stays in the journal, is what the next run finds it by.
            await giveUp(index, failure, of: &run, records: failure.disposition != .stop)
        }
    }

    /// Asks a server nothing more that wants to be left alone for longer than a run waits, or was in trouble so many times in a
    /// row. The transfer that it refused has failed; those that wait for it are left for the time that it says.
    func closeServer(
        because reason: AttemptResult.RetryReason, afterTroubles count: Int? = nil, insteadOf index: Int,
        of run: inout EngineRun
    ) async {
        let (wanted, seconds) = (run.transfers[index].wanted, reason.after ?? 0)
        let isOwn = reason.server ?? wanted.server == wanted.server
        let closed = EngineRun.ClosedServer(
            name: wanted.server, book: isOwn ? nil : wanted.episode.identity.book,
            why: count.map { $0 == 1 ? reason.why : "\(reason.why), \($0) times in a row" }
                ?? "\(reason.why), and asked to retry after \(describeSeconds(seconds))",
            end: count == nil ? Date() + seconds : nil)
        run.closedServers.append(closed)
        await giveUp(index, wanted.failure(closed.why, remedy: closed.remedy), of: &run, notBefore: closed.end)
        await leaveClosed(of: &run)
    }

    /// Leaves for a later run what waits for servers that are asked nothing more.
    func leaveClosed(of run: inout EngineRun) async {
        guard !run.closedServers.isEmpty else { return }
        var records: [TransferRecord] = []
        let transfers = run.transfers
        for closed in run.closedServers {
            let left = run.schedule.dropWaiting(for: closed.name) {
                closed.book == nil || closed.book == transfers[$0].wanted.episode.identity.book
            }
            for index in left {
                let transfer = transfers[index]
                var record = transfer.record
                record.state = .failed
                record.error = transfer.wanted.failure(closed.why, remedy: closed.remedy).explanation
                record.nextTryAt = closed.end
                records.append(record)
            }
        }
        guard !records.isEmpty else { return }
        do {
            try await threads.aside { [records] in try journal.commit(records) }
        } catch {
            if run.report.stop == nil { run.report.stop = Self.publicationFailure(error) }
        }
    }

    /// Tells that the episode failed in this run, and records it. What was received of it is kept.
    /// - Parameter moment: when it is tried again at the earliest.
    func giveUp(
        _ index: Int, _ failure: Failure, of run: inout EngineRun, notBefore moment: Date? = nil, records: Bool = true
    ) async {
        let transfer = run.transfers[index]
        var failure = failure
        if failure.kind == .inputOutput {
            do {
                try await requireLibrary()
            } catch {
                // The disk is gone: that is the failure, and not what could not be opened there.
                failure = Self.publicationFailure(error)
            }
        }
        failure = transfer.wanted.failure(because: failure)
        var record = transfer.record
        record.state = .failed
        // The run's own end is nothing the episode has to wait for.
        record.attempts.addSaturated(failure.disposition == .stop ? 0 : 1)
        if failure.reason == .missingAtSource { record.recordMissing(at: Date()) }
        let known = transfer.wanted.record
        var isLeftOut = known?.isGoneAtSource == true
        if record.isGoneAtSource, let since = record.missingSince, failure.reason == .missingAtSource {
            // As the catalog lists it now, it was tried before.
            isLeftOut = isLeftOut || known?.missingUntil != nil
            failure = transfer.wanted.failure(
                "\(failure.why): gone at the source since \(since)",
                remedy:
                    "from now on no run is incomplete without it; it is tried again when the catalog changes it, and once a week"
            )
        }
        let report = FailureReport(transfer.wanted.episode, failure)
        if failure.disposition == .stop {
            // What ends the run is told once, whoever else meets it before the end; the others are left, not failed.
            guard run.report.stop == nil else {
                run.transfers[index].failedAt = .now
                return
            }
            run.report.stop = failure
        }
        if transfer.wanted.mayBeGone, isLeftOut, failure.disposition != .stop {
            run.transfers[index].stoppedAs = .failed
            if known?.isGoneAtSource == false { emit(.alert(failure.message)) }
        } else {
            run.report.failures.append(report)
            emit(.failed(report))
        }
        defer { run.transfers[index].failedAt = .now }
        guard records else { return }
        // It is shown with the episode, which is not named twice.
        record.error = failure.disposition == .stop ? failure.message : failure.explanation
        let own = EngineSettings.waitBetweenRuns(attempts: record.attempts).map { Date() + $0 }
        record.nextTryAt = [own, moment].compactMap(\.self).max()
        do {
            try await threads.aside { [record] in try journal.commit([record]) }
        } catch {
            // Where the run has ended, as on a full disk, that is told; where not, this ends it. The next run tries again.
            logger.debug("a failure could not be recorded", metadata: ["error": "\(error)"])
            if run.report.stop == nil { run.report.stop = Self.publicationFailure(error) }
        }
    }

    /// The catalog's address for the episode now; a failure when it is the same as before, or there is none.
    static func renewed(
        _ address: ResourceAddress, _ renew: @Sendable (ResourceAddress) async throws -> ResourceAddress?,
        otherwise failure: Failure
    ) async -> Result<ResourceAddress, Failure> {
        do {
            guard let fresh = try await renew(address), fresh != address else { return .failure(failure) }
            return .success(fresh)
        } catch let cause as Failure {
            return .failure(
                Failure(
                    failure.kind, what: failure.what,
                    why: "\(failure.why), and a new address could not be had: \(cause.why)",
                    remedy: failure.remedy))
        } catch {
            return .failure(failure)
        }
    }

    func finishRenewal(
        _ index: Int, _ outcome: Result<ResourceAddress, Failure>, of run: inout EngineRun
    ) async {
        if let state = run.transfers[index].stoppedAs {
            return await halt(index, as: state, of: &run)
        }
        switch outcome {
        case .success(let address):
            run.transfers[index].wanted.episode.address = address
            run.schedule.postpone(index, until: run.now)
        case .failure(let failure):
            if !Task.isCancelled, !run.isOver { await giveUp(index, failure, of: &run) }
        }
    }
}
