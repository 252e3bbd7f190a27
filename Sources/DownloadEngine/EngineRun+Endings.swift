import BookModel
import Foundation
import Logging
import Transport

// What becomes of transfers that have come to their end: stopped, published, or given up.

extension EngineRun {
    /// Begins with the first that come, and adds what comes later.
    mutating func take(_ requests: [TransferRequest], stopped: Set<EpisodeIdentity>) {
        isTaking = false
        if transfers.count == 0 { require { try $0.watch.requireSameDisk() } }
        let added = add(requests, stopped: stopped)
        // Everybody sees what this run is going to fetch.
        if report.stop == nil, !added.isEmpty { require { try $0.journal.commit(waiting: added) } }
        leaveClosed()
    }

    /// What fails of this ends the run: the library is no longer there, or nothing can be recorded.
    private mutating func require(_ body: (EngineTools) throws -> Void) {
        do {
            try body(tools)
        } catch {
            stop(because: Self.publicationFailure(error))
        }
    }

    // MARK: What the user stops

    /// - Parameter stopped: what the user has paused or cancelled by now.
    mutating func obey(_ stopped: [EpisodeIdentity: TransferState]) {
        for (episode, state) in stopped { stop(episode, as: state) }
        let newlyCancelled = stopped.filter { $0.value == .cancelled && knownStopped[$0.key] != .cancelled }.keys
        // Those among the transfers come to a halt by themselves.
        dropPartials(of: newlyCancelled.filter { !isAmongTransfers($0) })
        knownStopped = stopped
    }

    /// Looks in a row.
    private static let maxFailedLooks = 3

    /// The next look may tell. A store may stay unreadable and be written to all the same; then each look takes as long as the
    /// store waits for its locks, and the run would go on for hours that obeys nobody.
    mutating func noteFailedLook(_ error: any Error) {
        tools.logger.error("the requested changes cannot be read", metadata: ["error": "\(error)"])
        failedLooks += 1
        let failure = Failure.of(error)
        if failure.disposition == .stop, failedLooks >= Self.maxFailedLooks, !isOver { stop(because: failure) }
    }

    /// Ends a transfer that the user stopped. A paused one keeps what it has, a cancelled one drops it.
    /// - Returns: false if the user did not stop it.
    mutating func halt(_ index: Int) -> Bool {
        guard let state = transfers[index].stoppedAs else { return false }
        transfers[index].hasHalted = true
        let episode = transfers[index].wanted.episode
        if state == .cancelled {
            tools.emit(.cancelled(episode.identity, name: episode.name))
            dropPartials(of: [episode.identity])
        } else {
            tools.emit(.paused(episode.identity, name: episode.name))
        }
        return true
    }

    /// What was cancelled is of no use any more.
    private func dropPartials(of episodes: [EpisodeIdentity]) {
        for episode in episodes {
            do {
                try PartialFile.drop(episode, in: tools.partialFolder)
            } catch {
                tools.logger.error("a partial file could not be dropped", metadata: ["error": "\(error)"])
            }
        }
    }

    static func publicationFailure(_ error: any Error) -> Failure {
        error as? Failure
            ?? Failure(
                .inputOutput, disposition: .stop, what: "a received episode cannot be put into the library",
                why: "\(error)", remedy: "run again; it is not fetched twice")
    }

    mutating func finishPublication(_ index: Int, _ outcome: Result<LocalFile, Failure>) {
        switch outcome {
        case .success(let file):
            let receipt = finish(file, at: index)
            report.receipts.append(receipt)
            tools.emit(.finished(receipt))
        case .failure(let failure):
            // When the disk or the store ends the run, the file may be in its place already: the announcement, which
            // stays in the journal, is what the next run finds it by.
            giveUp(index, failure, records: failure.disposition != .stop)
        }
    }

    /// Asks a server nothing more that wants to be left alone for longer than a run waits, or was in trouble so many times in a
    /// row. The transfer that it refused has failed; those that wait for it are left for the time that it says.
    private mutating func closeServer(
        because reason: AttemptResult.RetryReason, afterTroubles count: Int? = nil, insteadOf index: Int
    ) {
        let wanted = transfers[index].wanted
        let isOwn = reason.server ?? wanted.server == wanted.server
        let closed = ClosedServer(
            name: wanted.server, book: isOwn ? nil : wanted.episode.identity.book,
            why: count.map { $0 == 1 ? reason.why : "\(reason.why), \($0) times in a row" }
                ?? "\(reason.why), and asked to retry after \(describeSeconds(reason.after ?? 0))",
            remedy: count == nil ? "run again then" : nil, end: reason.end)
        closedServers.append(closed)
        giveUp(index, wanted.failure(closed.why, remedy: closed.remedy), notBefore: closed.end)
        leaveClosed()
    }

    /// Leaves for a later run what waits for servers that are asked nothing more.
    private mutating func leaveClosed() {
        guard !closedServers.isEmpty else { return }
        var records: [TransferRecord] = []
        let transfers = transfers
        for closed in closedServers {
            let left = schedule.dropWaiting(for: closed.name) {
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
        if !records.isEmpty { require { try $0.journal.commit(records) } }
    }

    /// Tells that the episode failed in this run, and records it. What was received of it is kept.
    /// - Parameter moment: when it is tried again at the earliest.
    private mutating func giveUp(
        _ index: Int, _ failure: Failure, notBefore moment: Date? = nil, records: Bool = true
    ) {
        let transfer = transfers[index]
        var failure = failure
        if failure.kind == .inputOutput { failure = Self.publicationFailure(tools.watch.cause(of: failure)) }
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
            guard self.report.stop == nil else {
                transfers[index].failedAt = .now
                return
            }
            self.report.stop = failure
        }
        if transfer.wanted.mayBeGone, isLeftOut, failure.disposition != .stop {
            transfers[index].stoppedAs = .failed
            if known?.isGoneAtSource == false { tools.emit(.alert(failure.message)) }
        } else {
            self.report.failures.append(report)
            tools.emit(.failed(report))
        }
        defer { transfers[index].failedAt = .now }
        guard records else { return }
        // It is shown with the episode, which is not named twice.
        record.error = failure.disposition == .stop ? failure.message : failure.explanation
        let counted = record.attempts.addingSaturated(transfer.isHopeless ? EngineSettings.attemptsOfSpoiled : 0)
        let own = EngineSettings.waitBetweenRuns(attempts: counted).map { Date() + $0 }
        record.nextTryAt = [own, moment].compactMap(\.self).max()
        // Where the run has ended, as on a full disk, that is told; where not, this ends it. The next run tries again.
        require { try $0.journal.commit([record]) }
    }

    // MARK: What an attempt came to

    /// - Returns: what the same worker goes on with.
    mutating func finishAttempt(_ index: Int, _ result: AttemptResult) -> EngineJob? {
        schedule.end(index)
        meters[index] = nil
        record(result, at: index)
        let wanted = transfers[index].wanted
        recordResponses(to: result, at: index)
        if !result.isReceived, halt(index) { return nil }
        switch result.ending {
        case .received(let file): addReceived(file, at: index)
        case .unchanged:
            guard var file = wanted.replacing else { return nil }
            file.recordClaims(of: wanted.episode)
            let outcome = Result { try tools.journal.commit(finished: [file], failed: []) }
            finishPublication(index, outcome.map { file }.mapError(Self.publicationFailure))
        case .restart(let why): startOver(index, because: why, spoiled: result.spoiled)
        case .retry(let reason): tryAgain(index, because: reason)
        case .endedEarly(let length):
            if let before = transfers[index].endedEarly {
                let size = wanted.episode.size.map { ", and the catalog says \($0)" } ?? ""
                let why: Message = "the server ended it after \(before) bytes, and after \(length) the next time\(size)"
                giveUp(index, wanted.failure(why, remedy: "try again later"))
            } else {
                // Where its end is only doubtful, a server with ranges may tell the rest.
                transfers[index].mustStartOver = !result.isNotClosed
                transfers[index].endedEarly = length
                schedule.postpone(index, until: now)
            }
        case .stub(let reason):
            if isServerOfStubs(reason.server ?? wanted.server, sending: result.spoiled ?? "") {
                closeServer(because: reason, afterTroubles: 1, insteadOf: index)
            } else {
                // The claim may be wrong: that is the episode's own trouble.
                giveUp(index, wanted.failure(reason.why))
            }
        case .fail(let failure):
            if result.isForGood { transfers[index].isHopeless = true }
            giveUp(index, failure)
        case .expired(let failure):
            if let address = wanted.episode.address, let renew = wanted.renewAddress, transfers[index].mayRenew() {
                return .renew(
                    index,
                    {
                        let fresh = try await renew(address)
                        return fresh == address ? nil : fresh
                    }, failure)
            }
            giveUp(index, failure)
        case .stopped:
            // Whoever had it stopped wants it again.
            if goesOn { schedule.postpone(index, until: now) }
        }
        return nil
    }

    private mutating func startOver(_ index: Int, because why: Message, spoiled: String?) {
        let wanted = transfers[index].wanted
        guard transfers[index].hasStartedOver else {
            tools.logger.notice(
                "starting over", metadata: ["episode": "\(wanted.episode.identity)", "why": "\(why)"])
            transfers[index].mustStartOver = true
            transfers[index].hasStartedOver = true
            transfers[index].spoiled = spoiled
            return schedule.postpone(index, until: now)
        }
        // The same bytes twice: the next nights would bring them again.
        if let spoiled, spoiled == transfers[index].spoiled { transfers[index].isHopeless = true }
        giveUp(index, wanted.failure(why, remedy: "try again later"))
    }

    private mutating func tryAgain(_ index: Int, because reason: AttemptResult.RetryReason) {
        let wanted = transfers[index].wanted
        if reason.after ?? 0 > RetryPolicy.longestRequestedWait, !isOver {
            return closeServer(because: reason, insteadOf: index)
        }
        let retry = tools.settings.retry
        let failures = transfers[index].failuresInARow
        let wait = retry.wait(afterFailures: failures, random: .random(in: 0..<1))
        let gap = reason.isServerBusy ? holdServer(of: index, because: reason) : 0
        let server = reason.server ?? wanted.server
        let troubles = self.troubles[server] ?? 0
        guard !isOver else { return }
        if reason.isServerBusy, troubles > max(retry.retries, 2) {
            return closeServer(because: reason, afterTroubles: troubles, insteadOf: index)
        }
        guard let wait else {
            let failure = wanted.failure("\(reason.why), \(failures) times in a row")
            return giveUp(index, failure, notBefore: reason.end)
        }
        tools.logger.info(
            "trying again",
            metadata: [
                "episode": "\(wanted.episode.identity)", "why": "\(reason.why)",
                "in_seconds": "\(max(wait, reason.after ?? 0))",
            ])
        // Another transfer shows first whether it is the server's trouble, or that of the one file.
        let seconds = max(wait, reason.after ?? 0, 1.1 * gap)
        schedule.postpone(index, until: now + seconds)
        let episode = wanted.episode
        tools.emit(
            .waiting(
                .episode(episode.identity),
                Wait(
                    name: episode.name, reason: reason.why, seconds: gap > 0 ? gap : seconds,
                    server: gap > 0 ? server : nil)))
    }

    mutating func finishRenewal(_ index: Int, _ outcome: Result<ResourceAddress, Failure>) -> EngineJob? {
        if halt(index) { return nil }
        switch outcome {
        case .success(let address):
            transfers[index].wanted.episode.address = address
            schedule.postpone(index, until: now)
        case .failure(let failure):
            if !isOver { giveUp(index, failure) }
        }
        return nil
    }
}
