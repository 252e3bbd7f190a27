import BookModel
import CatalogStore
import Foundation
import LibraryFiles

/// The copy of a library's store beside its audio, where the store itself lies on a disk that several machines may have, and whoever
/// writes has it alone; or where it lies apart from the audio, and other machines go on from the copy.
///
/// It is `.booksync/store-copy.sqlite`, is written whole under another name and renamed, and never changes: who has opened one goes
/// on reading it.
package struct StoreCopy: Sendable {
    let folder: LibraryFolder

    package init(of folder: LibraryFolder) {
        self.folder = folder
    }

    package var path: String { folder.ownFolder + "/store-copy.sqlite" }

    /// Whether there has to be one. Blocks on the disk.
    package var isNeeded: Bool { folder.isStoreApart || isStoreShared }

    /// Whether the store lies apart, and nothing beside the audio is to be gone on from. Blocks on the disk.
    package var isMissing: Bool { folder.isStoreApart && fileSize(path) ?? 0 == 0 }

    /// True if the store is on a disk of several machines, so that a writer opens it exclusively. Blocks on the disk.
    package var isStoreShared: Bool { MountedFilesystem.isShared(folder.storeFolder) }

    /// What readers open: the store, or the copy where that is newer or has to do. Blocks on the disk.
    package var readablePath: String {
        get throws {
            func isThere(_ path: String) -> Bool { fileSize(path) ?? 0 > 0 }
            let (store, inside) = (folder.storePath, folder.ownFolder + "/store.sqlite")
            // The next run moves it.
            if folder.isStoreApart, isThere(inside) { return inside }
            guard isThere(path), isNeeded || !isThere(store) else { return store }
            guard isThere(store), !isStoreShared else { return path }
            let isNewer = try StoreHeader(reading: path).generation > StoreHeader(reading: store).generation
            return isNewer ? path : store
        }
    }

    /// Has it say what the store says now, where it is needed.
    /// - Parameter mayPublish: is asked right before it takes the place of the last one.
    /// - Throws: ``Failure``; the last copy stays.
    package func publish(
        _ store: CatalogStore, mayPublish: @escaping @Sendable () throws -> Void = {}
    ) async throws {
        guard store.damage == nil, try await runBlocking({ isNeeded }) else { return }
        let unfinished = path + ".new-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
        let outcome = await Result.of {
            try await store.copy(to: unfinished)
            try await runBlocking {
                try mayPublish()
                try systemCall("\(unfinished) cannot be written") { chmod(unfinished, 0o600) }
                try systemCall("\(path) cannot be written") { rename(unfinished, path) }
                try LibraryDirectory(".booksync", in: folder.path, creating: false).sync()
            }
        }
        if case .failure = outcome {
            // It may not have come to be.
            _ = try await runBlocking { unlink(unfinished) }
        }
        try outcome.get()
    }
}

extension LibraryFolder {
    /// Opens the store at the path for writing: for this process alone where other machines may have its disk, too.
    package static func openStore(at path: String) async throws -> CatalogStore {
        let place = URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false)
        let isShared = try await runBlocking { MountedFilesystem.isShared(place) }
        return try await CatalogStore(path: path, access: isShared ? .exclusive : .readWrite)
    }

    /// Opens the store of the library for what is written beside a run, and closes it; readers see at once what was written.
    /// - Parameter copies: they copy a store that lies apart later; nil where it is copied now.
    package func writingStore<Result: Sendable>(
        copies: LaterCopies? = nil, _ body: (CatalogStore) async throws -> Result
    ) async throws -> Result {
        let mark = isStoreApart ? try await takingCopiedMark() : nil
        let store = try await Self.openStore(at: storePath)
        return try await store.closing {
            let result = try await body(store)
            // Readers of a shared store have nothing but the copy.
            if let copies, isStoreApart, try await runBlocking({ !StoreCopy(of: self).isStoreShared }) {
                await copies.add(self, mark: mark)
            } else {
                try await publish(store)
                if let mark { try await runBlocking { try put(mark) } }
            }
            return result
        }
    }

    /// - Throws: ``Failure`` with the reason `takenOver` when another machine has published a newer copy.
    fileprivate func publish(_ store: CatalogStore) async throws {
        try await StoreCopy(of: self).publish(store) { if isStoreApart { try requireNewestStore() } }
    }

    /// A run that began meanwhile has another epoch, for which this mark does not count.
    fileprivate func put(_ mark: [UInt8]) throws { try replaceFile(at: copiedMark, with: mark) }

    private func requireNewestStore() throws {
        guard try StoreCopy(of: self).readablePath == storePath else { throw Self.isElsewhere(path) }
    }

    /// Takes the mark away before the store is written: what is not copied is not to be followed by an older copy.
    /// - Returns: what it said; nil where there was none.
    private func takingCopiedMark() async throws -> [UInt8]? {
        try await runBlocking {
            try requireNewestStore()
            let mark = FileManager.default.contents(atPath: copiedMark)
            try deleteFile(copiedMark)
            return mark.map(Array.init)
        }
    }

    private static func isElsewhere(_ library: String) -> Failure {
        Failure(
            .temporary, disposition: .stop, what: "the store of the library \(library) cannot be written here",
            why: "another machine, or a run without the setting 'store', had the library last",
            remedy: "run booksync mirror or fetch, which goes on from the copy beside the audio, and try again",
            reason: .takenOver)
    }
}

/// Copies stores some minutes after they were written to: players record their positions every ten seconds, and a copy is of the
/// whole store. The store itself has everything at once.
package actor LaterCopies {
    private static let delay = Duration.seconds(180)

    /// By the paths of their libraries, with the marks that were taken away.
    private var due: [String: (folder: LibraryFolder, mark: [UInt8]?)] = [:]
    private var timer: Task<Void, any Error>?

    package init() {}

    fileprivate func add(_ folder: LibraryFolder, mark: [UInt8]?) {
        due[folder.path] = (folder, mark ?? due[folder.path]?.mark)
        guard timer == nil else { return }
        timer = Task {
            try await Task.sleep(for: Self.delay)
            await makeDue()
        }
    }

    /// Makes those that are due, now. One that cannot be made is tried again later.
    package func makeDue() async {
        timer = nil
        for (path, copy) in due {
            due[path] = nil
            do {
                let store = try await LibraryFolder.openStore(at: copy.folder.storePath)
                try await store.closing { try await copy.folder.publish(store) }
                if due[path] != nil {
                    // The copy lacks what was written meanwhile.
                    due[path]?.mark = copy.mark
                } else if let mark = copy.mark {
                    try copy.folder.put(mark)
                }
            } catch let failure as Failure where failure.reason == .takenOver {
                // Nothing goes on from this store any more.
            } catch {
                add(copy.folder, mark: copy.mark)
            }
        }
    }
}
