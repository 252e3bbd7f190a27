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
        _ whole: RunRequest, library: String, offline: Bool, store: CatalogStore?,
        onPlan: (SyncPlan) async throws -> Void
    ) async throws -> RunReport {
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
            try await offlinePlans(items, of: request, library: library, store: store, onPlan: tell)
            return report
        }
        try await withHTTPTransport(options: configuration.transportOptions, logger: logger) { transport in
            let known = try await store?.outages() ?? []
            let outages = Dictionary(known.map { ($0.subject, $0) }) { first, _ in first }
            let refresh = CatalogRefresh(
                configuration: configuration, namings: try Namings(of: configuration), request: request,
                library: library, store: store, stores: false,
                transport: transport, outages: outages, emit: emit)
            try await refresh.execute(within: nil) { assembled, _ in
                try await tell(assembled)
            } onFinished: { outcome, _ in
                report.record(outcome, known: outages, emit: emit)
            }
        }
        return report
    }

    /// Plans several books at once, as long as none of them takes a path that a later one might want.
    private func offlinePlans(
        _ items: [RunRequest.Item], of request: RunRequest, library: String, store: CatalogStore?,
        onPlan: (AssembledPlan) async throws -> Void
    ) async throws {
        let assembly = PlanAssembly(
            library: library, namings: try Namings(of: configuration), request: request,
            onMissingFile: configuration.downloads.onMissingFile, store: store)
        @Sendable func plan(_ item: RunRequest.Item, claimed: Set<String>) async throws -> AssembledPlan {
            guard let book = try await store?.book(item.book) else { throw Failure.notOnTheShelf(item.book) }
            var assembly = assembly
            assembly.onCatalogChange = configuration.catalogChangeRule(of: item.book)
            if let cached = try await assembly.cachedPlan(of: book, item: item, claimed: claimed) {
                return cached
            }
            let stored = try await store?.episodes(of: item.book) ?? []
            return try await assembly.plan(
                book, episodes: stored, item: item, claimed: claimed, isComplete: book.isComplete)
        }
        try await withThrowingTaskGroup(of: (index: Int, plan: AssembledPlan).self) { group in
            var claimed: Set<String> = []
            var ahead: [Int: AssembledPlan] = [:]
            var begun = 0
            func planAhead() {
                guard begun < items.count, claimed.isEmpty else { return }
                let (index, item) = (begun, items[begun])
                group.addTask { (index, try await plan(item, claimed: [])) }
                begun += 1
            }
            for _ in 0...ProcessInfo.processInfo.activeProcessorCount { planAhead() }
            for (index, item) in items.enumerated() {
                while ahead[index] == nil, let made = try await group.next() { ahead[made.index] = made.plan }
                var assembled = ahead.removeValue(forKey: index)
                // What was planned ahead knows nothing of what earlier books take.
                if !claimed.isEmpty { assembled = try await plan(item, claimed: claimed) }
                guard let assembled else { continue }
                claimed.formUnion(assembled.claims)
                planAhead()
                try await onPlan(assembled)
            }
        }
    }
}
