import BookModel
import CatalogFetcher
import CatalogStore
import DownloadEngine
import Foundation
import Logging
import Transport

/// The main job: read the books' catalogs, plan what the disk lacks, fetch just that.
///
/// One failed book never stops the others; what ends a run early is only what would fail every transfer, such as a
/// full disk. Cancellation stops all transfers at once and keeps everything received.
package struct SyncRun: Sendable {
    private let configuration: Configuration
    private let logger: Logger
    private let emit: @Sendable (SyncEvent) -> Void

    package init(configuration: Configuration, logger: Logger, emit: @escaping @Sendable (SyncEvent) -> Void) {
        self.configuration = configuration
        self.logger = logger
        let meter = RunMeter(emit: emit)
        self.emit = { meter.pass($0) }
    }

    /// Executes the request in an opened library. Failures are in the report, not thrown.
    package func execute(_ request: RunRequest, in session: LibrarySession) async throws -> RunReport {
        let begin = ContinuousClock.now
        var report = RunReport()
        for notice in session.notices { emit(.notice(notice)) }
        for setting in configuration.settingsWithoutEffect {
            emit(.notice("\(setting) is set, and this version does not act on it yet"))
        }
        try await withHTTPTransport(options: configuration.transportOptions, logger: logger) { transport in
            var planned = await plans(request, store: session.store, stores: true, transport: transport) {
                report.fail($0, emit: emit)
            }
            let exports = RunExport(configuration: configuration, session: session, planned: planned, emit: emit)
            var requests: [TransferRequest] = []
            var batch = RenameBatch.new
            for assembled in planned {
                emit(.planned(assembled.plan))
                report.note(assembled.plan)
                if let notice = assembled.plan.obstructionNotice { emit(.notice(notice)) }
                if let notice = assembled.burialNotice { emit(.notice(notice)) }
                try await session.store.updateFiles(assembled.moved)
                // The tombstone first: a file that is gone and not remembered as removed would be fetched again.
                for episode in assembled.buried { try await session.store.setRemoved(episode, at: Date()) }
                for episode in assembled.vanished { try await session.store.forgetFile(of: episode) }
                for episode in assembled.revived { try await session.store.setRemoved(episode, at: nil) }
                let adoptions = AdoptionExecution(
                    library: session.folder.path, store: session.store, emit: emit)
                let recognised = try await adoptions.execute(assembled.adoptions)
                report.summary.adopted += recognised.adopted + assembled.plan.followed
                for failure in recognised.failures { report.fail(failure, emit: emit) }
                let renames = RenameExecution(library: session.folder.path, store: session.store)
                let outcome = try await renames.execute(assembled.plan.actions, batch: batch)
                batch = outcome.batch
                report.summary.renamed += outcome.renamed
                for failure in outcome.failures { report.fail(failure, emit: emit) }
                // What still has its old name is not replaced under the new one.
                let unmoved = Set(outcome.failures.map(\.episode))
                requests += assembled.requests.filter { !unmoved.contains($0.episode.identity) }
            }
            // Thousands of transfers may wait for hours: what they were made from is not kept as long.
            planned = []
            guard !requests.isEmpty, !Task.isCancelled else {
                return try await exports.execute(over: transport) { report.fail($0, emit: emit) }
            }
            // A plan that wants what was stopped (by force, or because it was only cancelled) starts it again.
            let stopped = requests.filter { $0.record?.state == .paused || $0.record?.state == .cancelled }
            try await session.store.resume(stopped.map(\.episode.identity))
            var limits = request.limits
            limits.seconds = limits.seconds.map { max(0, $0 - (ContinuousClock.now - begin) / .seconds(1)) }
            let engine = DownloadEngine(
                transport: transport, journal: session.store, library: session.folder.path,
                partialFolder: session.folder.partialFolder, settings: configuration.engineSettings(limits),
                logger: logger,
                emit: emit)
            let outcome = await engine.run(requests)
            if outcome.stop?.isLackOfRoom == true {
                let space = try await session.folder.space()
                let missing = space.missing(for: outcome.bytesLeft, leaving: configuration.downloads.minFreeSpace)
                emit(
                    .notice(
                        "\(describeBytes(outcome.bytesLeft)) more are to come and \(describeBytes(space.free)) are free: "
                            + "make room for \(describeBytes(missing ?? 0)) and run again"))
            }
            report.note(outcome, emit: emit)
            try await exports.execute(over: transport) { report.fail($0, emit: emit) }
        }
        report.summary.seconds = (ContinuousClock.now - begin) / .seconds(1)
        return report
    }

    /// Makes the plans of the request and changes nothing.
    ///
    /// - Parameters:
    ///   - library: absolute path; need not exist.
    ///   - offline: plan from the stored catalog instead of asking for it.
    ///   - onPlan: gets the plans in the order of the request; offline each as soon as it is made, so that a shelf of any
    ///     size can be planned.
    package func plan(
        _ request: RunRequest, library: String, offline: Bool, onPlan: (SyncPlan) async throws -> Void
    ) async throws -> RunReport {
        guard let store = try await LibraryFolder.readableStore(in: library, refusingLost: false) else {
            return try await plan(request, library: library, offline: offline, store: nil, onPlan: onPlan)
        }
        return try await store.closing {
            try await plan(request, library: library, offline: offline, store: store, onPlan: onPlan)
        }
    }

    private func plan(
        _ request: RunRequest, library: String, offline: Bool, store: CatalogStore?,
        onPlan: (SyncPlan) async throws -> Void
    ) async throws -> RunReport {
        var report = RunReport()
        if offline {
            try await offlinePlans(request, library: library, store: store) { plan in
                report.note(plan)
                try await onPlan(plan)
            }
            return report
        }
        let planned = try await withHTTPTransport(options: configuration.transportOptions, logger: logger) {
            transport in
            await plans(request, store: store, stores: false, transport: transport, library: library) {
                report.fail($0, emit: emit)
            }
        }
        for assembled in planned {
            report.note(assembled.plan)
            try await onPlan(assembled.plan)
        }
        return report
    }

    /// - Parameter stores: whether the catalogs' answers are taken over into the store.
    private func plans(
        _ request: RunRequest, store: CatalogStore?, stores: Bool, transport: HTTPTransport, library: String? = nil,
        onFailure: (FailureReport) -> Void
    ) async -> [AssembledPlan] {
        let assembly = PlanAssembly(
            library: library ?? configuration.library, naming: configuration.naming, request: request,
            onMissingFile: configuration.downloads.onMissingFile, store: store)
        var planned: [AssembledPlan] = []
        var claimed: Set<String> = []
        for item in request.items where !Task.isCancelled {
            do {
                let source = try configuration.catalogSource(for: item.book, transport: transport)
                let refreshed = try await source.refresh(
                    item.book, title: item.title, known: try await store?.book(item.book), store: store,
                    stores: stores)
                for warning in refreshed.proof.warnings { emit(.notice("\(item.book): \(warning)")) }
                let stored = try await store?.episodes(of: item.book) ?? []
                let allowsLocal = await configuration.allowsLocalAddresses(
                    of: item.book, transport: transport)
                let access = configuration.access(of: item.book)
                var assembly = assembly
                assembly.declaredLength = { episode in
                    await transport.using(access).declaredLength(of: episode, allowsLocalAddresses: allowsLocal)
                }
                var assembled = try await assembly.plan(
                    refreshed.book, episodes: refreshed.shelved(with: stored), item: item,
                    claimed: claimed, allowsLocalAddresses: allowsLocal)
                assembled.use(access)
                assembled.renewAddresses(through: AddressRenewal(book: item.book, source: source))
                claimed.formUnion(assembled.claims)
                planned.append(assembled)
                if assembled.plan.actions.allSatisfy({ $0.kind == .skip(.filtered) }), !item.filter.isEmpty {
                    emit(.notice("\(item.book): none of its episodes is among those asked for"))
                }
            } catch is CancellationError {
                break
            } catch {
                let failure = Self.failure(error)
                onFailure(FailureReport(book: item.book, failure: failure))
                if failure.disposition == .stop { break }
            }
        }
        return planned
    }

    /// Plans several books at once, as long as none of them takes a path that a later one might want.
    private func offlinePlans(
        _ request: RunRequest, library: String, store: CatalogStore?, onPlan: (SyncPlan) async throws -> Void
    ) async throws {
        let assembly = PlanAssembly(
            library: library, naming: configuration.naming, request: request,
            onMissingFile: configuration.downloads.onMissingFile, store: store)
        @Sendable func plan(_ item: RunRequest.Item, claimed: Set<String>) async throws -> AssembledPlan {
            guard let book = try await store?.book(item.book), let stored = try await store?.episodes(of: item.book)
            else { throw Failure.notOnTheShelf(item.book) }
            return try await assembly.plan(
                book, episodes: stored, item: item, claimed: claimed, allowsLocalAddresses: false)
        }
        let items = request.items
        try await withThrowingTaskGroup(of: (place: Int, plan: AssembledPlan).self) { group in
            var claimed: Set<String> = []
            var ahead: [Int: AssembledPlan] = [:]
            var begun = 0
            func planAhead() {
                guard begun < items.count, claimed.isEmpty else { return }
                let (place, item) = (begun, items[begun])
                group.addTask { (place, try await plan(item, claimed: [])) }
                begun += 1
            }
            for _ in 0...ProcessInfo.processInfo.activeProcessorCount { planAhead() }
            for (place, item) in items.enumerated() {
                while ahead[place] == nil, let made = try await group.next() { ahead[made.place] = made.plan }
                var assembled = ahead.removeValue(forKey: place)
                // What was planned ahead knows nothing of what earlier books take.
                if !claimed.isEmpty { assembled = try await plan(item, claimed: claimed) }
                guard let assembled else { continue }
                claimed.formUnion(assembled.claims)
                planAhead()
                try await onPlan(assembled.plan)
            }
        }
    }

    static func failure(_ error: any Error) -> Failure {
        error as? Failure
            ?? Failure(.defect, disposition: .stop, what: "booksync failed in an unforeseen way", why: "\(error)")
    }
}

extension Failure {
    /// The stored shelf does not have the book.
    static func notOnTheShelf(_ book: BookIdentity) -> Failure {
        Failure(
            .unknownBook, what: "\(book) is not on the shelf", why: "no run has read its catalog yet",
            remedy: "run booksync fetch --book \(book) first")
    }
}

extension Failure {
    /// Nothing was ever fetched into the library.
    package static func emptyLibrary(_ library: String) -> Failure {
        Failure(
            .unknownBook, what: "there is no shelf at \(library)", why: "no run has put anything there yet",
            remedy: "run booksync fetch first, or name the library with --library")
    }
}

extension AssembledPlan {
    /// What counts as removed from now on because its file is gone; nil when nothing does.
    fileprivate var burialNotice: String? {
        guard !buried.isEmpty else { return nil }
        let those = buried.count == 1 ? "1 episode was" : "\(buried.count) episodes were"
        return "\(plan.book.identity): \(those) deleted from disk and will not be fetched again "
            + "(downloads.on-missing-file: tombstone); fetch --force does"
    }
}

extension SyncPlan {
    /// How many records follow their files to where the listener moved them.
    fileprivate var followed: Int { actions.count { $0.kind == .adopt && $0.fromPath != nil } }

    /// What is left alone because something stands in its place; nil when nothing is. Such episodes are asked for and
    /// not brought, so a run may not pass them over in silence.
    fileprivate var obstructionNotice: String? {
        let obstructed = actions.filter { $0.kind == .skip(.obstructed) }
        guard let first = obstructed.first else { return nil }
        let more = obstructed.count == 1 ? "" : ", like \(obstructed.count - 1) more (booksync plan lists them),"
        return "\(book.identity): episode \(first.episode.section)\(more) is not brought: \(first.reason)"
    }
}

extension RunReport {
    fileprivate mutating func fail(_ report: FailureReport, emit: (SyncEvent) -> Void) {
        failures.append(report.failure)
        summary.failed += 1
        // A book that failed as a whole has no plan that would name it.
        if report.episode == nil, let book = report.book { summary.books.append(book.id) }
        emit(.failed(report))
    }

    fileprivate mutating func note(_ plan: SyncPlan) {
        let totals = plan.totals
        summary.books.append("\(plan.book.identity.id) \(plan.book.title)")
        summary.kept += totals.keep
        summary.left += plan.actions.count { $0.kind == .skip(.limited) }
        summary.locked += totals.locked
    }

    fileprivate mutating func note(_ report: EngineReport, emit: (SyncEvent) -> Void) {
        for receipt in report.receipts {
            switch receipt.outcome {
            case .fetched: summary.fetched += 1
            case .resumed: summary.resumed += 1
            case .replaced: summary.replaced += 1
            case .unchanged: summary.kept += 1
            }
            summary.bytesReused += receipt.bytesReused
        }
        summary.bytesReceived += report.bytesReceived
        summary.left += report.left
        summary.failed += report.failures.count
        failures += report.failures.map(\.failure)
        // No episode's failure: nobody has been told why the run ended.
        if let stop = report.stop, !failures.contains(stop) { fail(FailureReport(failure: stop), emit: emit) }
    }
}
