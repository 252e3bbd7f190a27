import BookModel
import CatalogFetcher
import CatalogStore
import Foundation
import LibraryFiles
import Settings
import Transport

extension SyncRun {
    /// Makes the plans of the request and changes nothing.
    ///
    /// - Parameters:
    ///   - offline: plan from the stored catalog instead of asking for it.
    ///   - onPlan: gets the plans in the order of the request; offline each as soon as it is made, so that a shelf of any
    ///     size can be planned.
    package func plan(
        _ whole: RunRequest, offline: Bool, onPlan: (SyncPlan) async throws -> Void
    ) async throws -> RunReport {
        let library = configuration.library
        return try await LibraryFolder.withReadableStore(in: library) { store in
            var report = RunReport()
            let (request, left) = try await whole.leavingOtherLibraries(configuration, store: store)
            for failure in left { report.fail(failure, emit: emit) }
            func tell(_ assembled: AssembledPlan) async throws {
                let trashed = try await TrashedEpisodes(
                    of: assembled, in: request.repairs == nil ? store : nil, library: library)
                let plan = trashed.restored(in: assembled.plan)
                report.record(plan)
                report.record([assembled.unmet], of: plan.book.identity, emit: emit)
                if let notice = trashed.notice { emit(.notice(notice)) }
                try await onPlan(plan)
            }
            if offline {
                var items: [RunRequest.Item] = []
                for item in request.items {
                    if try await store?.book(item.book) != nil {
                        items.append(item)
                    } else {
                        report.fail(FailureReport(book: item.book, failure: .notOnTheShelf(item.book)), emit: emit)
                    }
                }
                try await offlinePlans(items, of: request, store: store, onPlan: tell)
                return report
            }
            try await withHTTPTransport(options: configuration.transportOptions, logger: logger) { transport in
                let outages = try await store?.knownOutages() ?? [:]
                let refresh = CatalogRefresh(
                    configuration: configuration, namings: try Namings(of: configuration), request: request,
                    store: store, stores: false, transport: transport, outages: outages, emit: emit)
                try await refresh.execute(within: nil) { assembled, _ in
                    try await tell(assembled)
                } onFinished: { outcome, _ in
                    report.record(outcome, known: outages, emit: emit)
                }
            }
            return report
        }
    }

    /// Plans several books at once; one that would be another plan behind those before it is made again.
    private func offlinePlans(
        _ items: [RunRequest.Item], of request: RunRequest, store: CatalogStore?,
        onPlan: (AssembledPlan) async throws -> Void
    ) async throws {
        let assembly = PlanAssembly(
            configuration, namings: try Namings(of: configuration), request: request, store: store)
        @Sendable func plan(_ item: RunRequest.Item, claimed: Set<String>) async throws -> AssembledPlan {
            guard let book = try await store?.book(item.book) else { throw Failure.notOnTheShelf(item.book) }
            return try await assembly.storedPlan(of: book, item: item, claimed: claimed)
        }
        let atOnce = ProcessInfo.processInfo.activeProcessorCount + 1
        // The last of each part are made while processors have nothing else to do.
        var taken = TakenPaths()
        for start in stride(from: 0, to: items.count, by: 8 * atOnce) {
            let items = items[start..<min(start + 8 * atOnce, items.count)]
            let made = try await items.concurrentMap(atOnce: atOnce) { try await plan($0, claimed: []) }
            for (item, ahead) in zip(items, made) {
                let assembled =
                    taken.conflicts(with: ahead)
                    ? try await plan(item, claimed: taken.claimed(without: item.book)) : ahead
                taken.add(assembled)
                try await onPlan(assembled)
            }
        }
    }
}
