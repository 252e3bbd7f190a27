import BookModel
import CatalogStore
import Foundation
import LibraryFiles

/// The copy of a library's store that others read, where the store itself lies on a disk that several machines may have: there
/// whoever writes has it alone.
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
    package var isNeeded: Bool {
        let place = URL(filePath: folder.storePath).deletingLastPathComponent().path(percentEncoded: false)
        return MountedFilesystem(of: place)?.isShared ?? false
    }

    /// What readers open: the copy where there has to be one, and is; else the store. Blocks on the disk.
    package var readablePath: String { isNeeded && fileSize(path) ?? 0 > 0 ? path : folder.storePath }

    /// Has it say what the store says now, where it is needed.
    /// - Parameter mayPublish: is asked right before it takes the place of the last one.
    /// - Throws: ``Failure``; the last copy stays.
    package func publish(
        _ store: CatalogStore, mayPublish: @escaping @Sendable () throws -> Void = {}
    ) async throws {
        guard store.damage == nil, try await runBlocking({ isNeeded }) else { return }
        let (path, library) = (path, folder.path)
        let unfinished = path + ".new-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
        let outcome = await Result.of {
            try await store.copy(to: unfinished)
            try await runBlocking {
                try mayPublish()
                try systemCall("\(path) cannot be written") { rename(unfinished, path) }
                try LibraryDirectory(".booksync", in: library, creating: false).sync()
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
        let isShared = try await runBlocking { MountedFilesystem(of: place)?.isShared ?? false }
        return try await CatalogStore(path: path, access: isShared ? .exclusive : .readWrite)
    }

    /// Opens the store of the library for what is written beside a run, and closes it; readers see at once what was written.
    package func writingStore<Result: Sendable>(
        _ body: (CatalogStore) async throws -> Result
    ) async throws -> Result {
        let store = try await Self.openStore(at: storePath)
        return try await store.closing {
            let result = try await body(store)
            try await StoreCopy(of: self).publish(store)
            return result
        }
    }
}
