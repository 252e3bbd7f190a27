import BookModel
import CatalogStore
import DownloadEngine
import Foundation

/// What the listener does to transfers and files by hand, also while a run of another process is under way: the run
/// reads the words from the store and obeys.
package struct TransferControl: Sendable {
    /// What the words are about.
    package enum Scope: Sendable {
        case everything
        /// Books, each with the episodes meant; no filter means all.
        case books([(book: BookIdentity, filter: EpisodeFilter)])
        /// These and no others, though others may have their numbers.
        case episodes([EpisodeIdentity])
    }

    private let folder: LibraryFolder
    private let store: CatalogStore

    /// - Throws: ``Failure`` of kind `unknownBook` when there is no library yet.
    package static func open<Result: Sendable>(
        in library: String, _ body: (TransferControl) async throws -> Result
    ) async throws -> Result {
        guard let readable = try await LibraryFolder.readableStore(in: library) else {
            throw Failure.emptyLibrary(library)
        }
        try await readable.close()
        let folder = try await LibraryFolder.open(at: library)
        let store = try await CatalogStore(path: folder.storePath, access: .readWrite)
        return try await store.closing { try await body(TransferControl(folder: folder, store: store)) }
    }

    /// Has transfers wait, over runs, until they are resumed. What was received is kept.
    /// - Returns: how many were paused.
    package func pause(_ scope: Scope) async throws -> Int {
        try await store.pause(try await store.episodes(in: scope).map(\.episode.identity))
    }

    /// Has transfers that wait begin before all others, in a run that is under way and in the next one.
    /// - Returns: how many wait, or are under way already.
    package func prefer(_ scope: Scope) async throws -> Int {
        try await store.prefer(try await store.episodes(in: scope).map(\.episode.identity))
    }

    /// The episodes that are meant.
    package func meant(_ scope: Scope) async throws -> [ShelvedEpisode] { try await store.episodes(in: scope) }

    /// Those of them that ``resume(_:)`` would have wait for a run again.
    package func stopped(_ scope: Scope) async throws -> [ShelvedEpisode] {
        try await meant(scope).filter { shelved in
            shelved.removedAt == nil
                && shelved.transfer.map { [.paused, .failed, .cancelled].contains($0.state) } == true
        }
    }

    /// - Returns: how many paused, failed or cancelled transfers wait for a run again.
    package func resume(_ scope: Scope) async throws -> Int {
        let begun = try await store.episodes(in: scope).filter { $0.transfer != nil }
        return try await store.resume(begun.map(\.episode.identity))
    }

    /// Breaks transfers off and drops what they brought.
    /// - Returns: how many were broken off.
    package func cancel(_ scope: Scope) async throws -> Int {
        let begun = try await store.episodes(in: scope).filter { $0.transfer != nil }.map(\.episode.identity)
        let count = try await store.cancel(begun)
        try await whileNobodyRuns { try await dropPartials(of: begun) }
        return count
    }

    /// Deletes files, and the folders that they leave empty, and sees to it that they are not fetched again.
    /// - Returns: how many episodes were removed.
    package func remove(_ scope: Scope) async throws -> Int {
        let wanted = try await store.episodes(in: scope)
        let begun = wanted.filter { $0.transfer != nil }.map(\.episode.identity)
        _ = try await store.cancel(begun)
        for shelved in wanted {
            // The tombstone first: a file that is gone and not remembered as removed would be fetched again.
            try await store.setRemoved(shelved.episode.identity, at: Date())
            guard let file = shelved.file else { continue }
            try await delete(file)
            try await store.forgetFile(of: file.episode)
        }
        let folders = Set(wanted.compactMap { $0.file.map { splitLibraryPath($0.path).folder } })
        try await whileNobodyRuns {
            try await dropPartials(of: begun)
            for folder in folders.sorted() { try await dropIfEmpty(folder) }
        }
        return wanted.count
    }

    /// Forgets that episodes were removed, so that the next run fetches them again. No file is touched.
    /// - Returns: how many had been removed.
    package func forgetRemovals(_ scope: Scope) async throws -> Int {
        let removed = try await store.episodes(in: scope).filter { $0.removedAt != nil }
        for shelved in removed { try await store.setRemoved(shelved.episode.identity, at: nil) }
        return removed.count
    }

    private func dropIfEmpty(_ folder: Substring) async throws {
        let library = self.folder.path
        try await offPool {
            do {
                try removeEmptyFolders(folder, in: library)
            } catch let failure as Failure where failure.kind == .inputOutput {
                // Gone by itself, or the folder of something else by now.
                return
            }
        }
    }

    private func delete(_ file: LocalFile) async throws {
        let library = folder.path
        try await offPool {
            let (path, name) = splitLibraryPath(file.path)
            do {
                let directory = try LibraryDirectory(path, in: library, creating: false)
                try directory.delete(name)
                try directory.sync()
            } catch let failure as Failure where failure.kind == .inputOutput {
                // A folder that is gone took the file along.
                guard FileManager.default.fileExists(atPath: library + "/" + file.path) else { return }
                throw failure
            }
        }
    }

    /// Partial files, and folders that something is about to come into, belong to the run while there is one; it drops
    /// the partial files that it is told to.
    private func whileNobodyRuns(_ body: () async throws -> Void) async throws {
        let lock: LibraryLock
        do {
            lock = try await LibraryLock.acquire(in: folder, command: "cancel")
        } catch let failure as Failure where failure.kind == .temporary {
            return
        }
        defer { lock.release() }
        try await body()
    }

    private func dropPartials(of episodes: [EpisodeIdentity]) async throws {
        for episode in episodes {
            let path = folder.partialFolder + "/" + PartialFile.name(for: episode)
            let partial = try await PartialFile.open(path, promised: nil)
            try await partial.remove()
        }
    }
}

extension CatalogStore {
    /// The episodes that are meant, by book and section.
    /// - Throws: ``Failure`` of kind `unknownBook` when a book is not on the shelf, or has none of the sections.
    func episodes(in scope: TransferControl.Scope) async throws -> [ShelvedEpisode] {
        switch scope {
        case .everything:
            var all: [ShelvedEpisode] = []
            for shelved in try await books() { all += try await episodes(of: shelved.book.identity) }
            return all
        case .books(let books):
            var all: [ShelvedEpisode] = []
            for (book, filter) in books {
                guard try await self.book(book) != nil else { throw Failure.notOnTheShelf(book) }
                let selected = try await episodes(of: book).selected(by: filter)
                guard !selected.isEmpty else {
                    throw Failure(
                        .unknownBook, what: "no episode of \(book) is meant", why: "it has no such section",
                        remedy: "booksync list \(book) lists what it has")
                }
                all += selected
            }
            return all
        case .episodes(let identities):
            var all: [ShelvedEpisode] = []
            for identity in identities {
                guard let shelved = try await episode(identity) else {
                    throw Failure(
                        .unknownBook, what: "\(identity) is not meant", why: "there is no such episode on the shelf",
                        remedy: "booksync list \(identity.book) lists what there is")
                }
                all.append(shelved)
            }
            return all
        }
    }
}
