import BookModel
import CatalogStore
import Crypto
import DownloadEngine
import LibraryFiles

// Most nights most books have nothing to do. A plan is made of nothing but the store, the rules and what stands on disk:
// while the store says that its part did not change, the other two are held against their fingerprint, and the plan
// need not be made again.

extension PlanAssembly {
    /// The plan of a book as the store knows it.
    /// - Parameter claimed: as of ``cachedPlan(of:item:claimed:)``.
    func storedPlan(of book: Book, item: RunRequest.Item, claimed: Set<String>) async throws -> AssembledPlan {
        if let cached = try await cachedPlan(of: book, item: item, claimed: claimed) { return cached }
        let stored = try await store?.episodes(of: book.identity) ?? []
        return try await plan(book, episodes: stored, item: item, claimed: claimed, isComplete: book.isComplete)
    }

    /// The plan of a book in which nothing changed since there was nothing to do; nil where it has to be made.
    /// - Parameter claimed: paths that other books of this run are going to take.
    func cachedPlan(of book: Book, item: RunRequest.Item, claimed: Set<String>) async throws -> AssembledPlan? {
        guard canCache(item), let cached = try await store?.cachedPlan(of: book.identity) else { return nil }
        // What is skipped is listed with its reason, except where it was not asked for.
        if request.detail > .skips || (request.detail == .skips && cached.totals.skip > 0) { return nil }
        guard !claimed.contains(where: { cached.folders.contains(String(splitLibraryPath($0).folder)) }) else {
            return nil
        }
        let entries = try await FolderScan.entries(of: cached.folders, under: library)
        let fingerprint = try await fingerprint(of: book, item: item, entries: entries)
        guard fingerprint == cached.fingerprint else { return nil }
        var assembled = AssembledPlan(plan: SyncPlan(book: book, actions: [], unlisted: cached.totals))
        assembled.cached = cached
        return assembled
    }

    /// Whether the request leaves plans as they are when nothing changed. What is kept depends on more than is remembered: on
    /// the time, on what was heard, and on whether the listing is all of it; what is asked for may depend on the time as well.
    /// Whether episodes are there that must be, the plan does not say.
    private func canCache(_ item: RunRequest.Item) -> Bool {
        !request.force && request.repairs == nil && item.keep == nil && item.filter.since == nil
            && !item.mayBeUnmet
    }

    /// What may be remembered of a plan; nil where anything is to be done, or time alone may change it.
    func cached(
        _ assembled: AssembledPlan, item: RunRequest.Item, folders: Set<String>, entries: [FolderScan.Entry]
    ) async throws -> CachedPlan? {
        let plan = assembled.plan
        guard canCache(item), assembled.changesNothing, plan.totals.keep > 0,
            plan.actions.allSatisfy({ $0.kind.isCacheable && $0.fromPath == nil })
        else { return nil }
        return CachedPlan(
            fingerprint: try await fingerprint(of: plan.book, item: item, entries: entries),
            folders: folders.sorted(), totals: plan.totals)
    }

    /// To be raised when the same input leads to another plan, or episodes to other names.
    private static let revision = 5

    private func fingerprint(
        of book: Book, item: RunRequest.Item, entries: [FolderScan.Entry]
    ) async throws -> String {
        let naming = try await naming(of: book.identity)
        let rules = [
            "\(Self.revision)", naming.description, onMissingFile.rawValue, catalogChangeRule(book.identity).rawValue,
            item.filter.isEmpty ? "" : "\(item.filter)", book.title, book.author ?? "",
            "\(book.declaredEpisodes ?? -1)",
        ]
        var hasher = SHA256()
        hasher.update(data: Array(rules.joined(separator: "\0").utf8))
        var bytes: [UInt8] = []
        // By number, which is compared faster than paths are.
        let ordered = entries.sorted {
            $0.facts.inode != $1.facts.inode ? $0.facts.inode < $1.facts.inode : $0.path < $1.path
        }
        for entry in ordered {
            bytes.append(0)
            bytes.append(contentsOf: entry.path.utf8)
            bytes.append(0)
            // Of a folder that is not looked into it only matters that it is there: what is ours in the library's own folder
            // changes with every run.
            if entry.facts.kind != .folder {
                withUnsafeBytes(
                    of: (entry.facts.inode, entry.facts.size, entry.facts.modificationTime)
                ) { bytes.append(contentsOf: $0) }
            }
            bytes.append(contentsOf: entry.facts.kind.rawValue.utf8)
        }
        hasher.update(data: bytes)
        return hasher.finalize().hexadecimal
    }
}

extension AssembledPlan {
    /// Whether executing it would leave disk and store as they are.
    fileprivate var changesNothing: Bool {
        requests.isEmpty && !looksFurther && restored.isEmpty && expired.isEmpty
    }
}

extension SyncAction.Kind {
    /// Whether it changes nothing and lasts until something else changes.
    fileprivate var isCacheable: Bool {
        switch self {
        case .keep, .skip(.locked), .skip(.tombstone), .skip(.filtered), .skip(.gone): true
        case .fetch, .resume, .replace, .rename, .adopt, .expire, .skip(.waits), .skip(.paused), .skip(.obstructed),
            .skip(.changed), .skip(.truncated), .skip(.limited):
            false
        }
    }
}
