import BookModel
import CatalogStore
import DownloadEngine
import Foundation

/// A library opened by a run that may write: locked against other runs, its store open, and what an interrupted run
/// left behind settled.
package struct LibrarySession: Sendable {
    let folder: LibraryFolder
    let store: CatalogStore
    private let lock: LibraryLock

    /// Opens the library at `path` for the one run that may write to it, and hands it to `body`.
    ///
    /// Everything that would keep the run from writing is found out here, before any request is sent.
    ///
    /// - Parameters:
    ///   - command: what the run is, for those that meet its lock.
    ///   - wait: seconds to wait for another run to end.
    package static func withLibrary<Result: Sendable>(
        at path: String, command: String, waitingFor wait: Double = 0,
        _ body: (LibrarySession) async throws -> Result
    ) async throws -> Result {
        let folder = try await LibraryFolder.open(at: path)
        let lock = try await LibraryLock.acquire(in: folder, wait: wait, command: command)
        defer { lock.release() }
        let store = try await CatalogStore(path: folder.storePath, access: .readWrite)
        let session = LibrarySession(folder: folder, store: store, lock: lock)
        return try await store.closing {
            try await session.settleInterruptedRun()
            return try await body(session)
        }
    }

    /// What the listener had mirror follow.
    package func subscriptions() async throws -> [Subscription] {
        try await store.subscriptions()
    }

    private func settleInterruptedRun() async throws {
        let reader = FileReader()
        for record in try await store.interruptedPublications() {
            guard let shelved = try await store.episode(record.episode) else { continue }
            let publication = InterruptedPublication(record: record, episode: shelved.episode)
            if let file = try await publication.publishedFile(in: folder.path, reader: reader) {
                try await store.finish([file])
            } else {
                try await withdrawAnnouncement(record)
            }
        }
        try await RenameExecution(library: folder.path, store: store).settleInterrupted()
    }

    /// What was announced never got to its place, whatever stands there now: the transfer goes on from what is held.
    private func withdrawAnnouncement(_ announced: TransferRecord) async throws {
        var record = announced
        record.state = .downloading
        record.sha256 = nil
        record.path = nil
        try await store.save([record])
    }
}
