import AudioFiles
import BookModel
import CatalogStore
import DownloadEngine
import Foundation
import LibraryFiles

/// A library opened by a run that may write: locked against other runs, its store open, and what an interrupted run
/// left behind settled.
package struct LibrarySession: Sendable {
    package let folder: LibraryFolder
    package let store: CatalogStore
    let lock: LibraryLock
    /// What the user should know of how the library was found.
    private(set) var notices: [Message]
    /// Whether all that was subscribed to and removed is lost.
    package let isBegunAnew: Bool

    /// Opens the library at `path` for the one run that may write to it, and hands it to `body`.
    ///
    /// Everything that would keep the run from writing is found out here, before any request is sent.
    ///
    /// - Parameters:
    ///   - command: what the run is, for those that meet its lock.
    ///   - wait: seconds to wait for another run to end.
    ///   - knownLibraries: what is remembered of libraries, so that one whose disk is not mounted is not begun anew.
    ///   - keepsEmpty: whether a folder that had to be made stays where no book came to be known.
    package static func withLibrary<Result: Sendable>(
        at path: String, command: String, waitingFor wait: Double = 0, knownLibraries: KnownLibraries? = nil,
        keepsEmpty: Bool = true, _ body: (LibrarySession) async throws -> Result
    ) async throws -> Result {
        try await knownLibraries?.requireMounted(path)
        let wasInUse = try await LibraryFolder.existing(at: path).isInUse()
        let mayStay = try await runBlocking { keepsEmpty || FileManager.default.fileExists(atPath: path) }
        let folder = try await LibraryFolder.open(at: path)
        return try await LibraryLock.hold(in: folder, wait: wait, command: command) { lock in
            let placement = StorePlacement(folder: folder)
            let placed = try await placement.open(wasInUse: wasInUse, lock: lock)
            let store = placed.store
            var isUnused = false
            let outcome = await Swift.Result.of {
                try await store.closing {
                    // These were for an earlier run.
                    let cancellations = try await store.requests(withCancellations: true).filter { $0.kind == .cancel }
                    await knownLibraries?.remember(folder)
                    var session = LibrarySession(
                        folder: folder, store: store, lock: lock, notices: placed.notices,
                        isBegunAnew: placed.isBegunAnew)
                    try await store.end(cancellations.map(\.id))
                    try await session.recoverInterruptedRun()
                    session.notices += try await session.recoverMoves()
                    session.notices += await session.collectTrash()
                    let result = await Swift.Result.of { try await body(session) }
                    // Of a run that was stopped nobody knows what it would have found: it stays on record.
                    if !mayStay, !Task.isCancelled { isUnused = try await !store.holdsBooks() }
                    if case .success = result, !isUnused { await session.tellReaders() }
                    let copied = await Swift.Result.of {
                        try await StoreCopy(of: folder).publish(store) { try lock.requireHeld() }
                        try await placement.markCopied(lock.epoch)
                    }
                    // What the run itself failed with says more. That the library was taken over the result has already: thrown, it
                    // would look like one that was never had.
                    if case .success = result, case .failure(let error) = copied,
                        (error as? Failure)?.reason != .takenOver
                    {
                        throw error
                    }
                    return try result.get()
                }
            }
            if isUnused {
                // An empty folder that cannot be taken away does no harm.
                _ = await Swift.Result.of { try await folder.remove() }
                await knownLibraries?.forget(folder)
            }
            // Met only now, in a part that is seldom read. What it was told as says that the next run begins a new one.
            if store.damage != nil { try await placement.quarantine() }
            return try outcome.get()
        }
    }

    /// What the user had mirror follow.
    package func subscriptions() async throws -> [Subscription] {
        try await store.subscriptions()
    }

    var operations: OperationExecution { OperationExecution(library: folder.path, store: store) }

    package var trash: Trash { Trash(library: folder.path, store: store) }

    /// Moves the files of episodes that were removed while a run was under way.
    /// - Returns: a sentence for each that stays.
    func collectTrash() async -> [Message] {
        await whileHeld {
            try await trash.collect().failures.map(\.failure.message)
        } failing: {
            "removed files could not be moved to the trash: \($0.message)"
        }
    }

    /// Copies the store.
    /// - Returns: why that was not possible; nil when it was.
    func backUp() async -> Message? {
        await whileHeld {
            try await StoreBackups(folder: folder).make(of: store)
            return []
        } failing: {
            "the store was not copied to .booksync/backup: \($0.why)"
        }.first
    }

    /// Does what no run fails with.
    /// - Returns: what is to be told. Nothing where another run took the library over: this one ends with it, and that is told.
    private func whileHeld(
        _ body: () async throws -> [Message], failing what: (Failure) -> Message
    ) async -> [Message] {
        do {
            try await runBlocking { try lock.requireHeld() }
            return try await body()
        } catch let failure as Failure where failure.reason == .takenOver {
            return []
        } catch {
            return [what(Failure.of(error))]
        }
    }

    /// Has the store note what list and search would else work out themselves each time. Whatever keeps it from that, such
    /// as a full disk, is no failure of the run.
    private func tellReaders() async {
        guard !Task.isCancelled else { return }
        _ = await Result.of {
            try await store.updateShelfCounts()
            try await store.updateSearchIndex()
        }
    }

    private func recoverInterruptedRun() async throws {
        try await store.resetInterruptedTransfers()
        try await operations.recover()
        try await FileTagging.removeUnfinished(in: folder.path)
        try await BookJoin.removeUnfinished(in: folder.path)
    }
}
