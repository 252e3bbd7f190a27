import BookModel
import CatalogStore
import Foundation
import LibraryFiles

extension LibraryFolder {
    /// The file of the store.
    package var storePath: String { storeFolder + "/store.sqlite" }

    /// Beside a store that lies apart: of which run it is, where nothing was written to it since it was copied.
    package var copiedMark: String { storePath + ".copied" }

    /// The store of the library at `path`, opened for reading.
    /// - Parameter refusingLost: whether a store that must have been there is missed; else the library counts as one
    ///   without a store.
    /// - Returns: nil when there is none yet.
    package static func readableStore(in path: String, refusingLost: Bool = true) async throws -> CatalogStore? {
        let folder = existing(at: path)
        if refusingLost {
            try await folder.refuseLostStore()
        } else {
            try await runBlocking { try folder.requireOwnFiles() }
        }
        let (storePath, size) = try await folder.readableFile()
        guard let size, refusingLost || size > 0 else { return nil }
        do {
            return try await CatalogStore(path: storePath, access: .readOnly)
        } catch let failure as Failure where failure.reason == .storeUnmade {
            return nil
        }
    }

    /// Hands on the store of the library at `path`, opened for reading; nil where there is none yet, or it is lost.
    static func withReadableStore<Result: Sendable>(
        in path: String, _ body: (CatalogStore?) async throws -> Result
    ) async throws -> Result {
        guard let store = try await readableStore(in: path, refusingLost: false) else { return try await body(nil) }
        return try await store.closing { try await body(store) }
    }

    /// Where the store of a library lies that some run has begun.
    /// - Throws: ``Failure`` of kind `unknownBook` when none has, `inputOutput` when the store is lost.
    package static func requireStore(in path: String) async throws -> String {
        let folder = existing(at: path)
        try await folder.refuseLostStore()
        let (readable, size) = try await folder.readableFile()
        guard size ?? 0 > 0 else { throw Failure.emptyLibrary(path) }
        return readable
    }

    /// Reads the store of a library that some run has begun.
    /// - Throws: as ``requireStore(in:)`` does.
    package static func reading<Result: Sendable>(
        _ path: String, _ body: (CatalogStore) async throws -> Result
    ) async throws -> Result {
        guard let store = try await readableStore(in: path) else { throw Failure.emptyLibrary(path) }
        return try await store.closing { try await body(store) }
    }

    func readableFile() async throws -> (path: String, size: Int64?) {
        try await runBlocking {
            let path = try StoreCopy(of: self).readablePath
            return (path, fileSize(path))
        }
    }

    /// - Throws: ``Failure`` of kind `inputOutput` when the library was in use, and its store is gone or was cut to
    ///   nothing; `libraryUnwritable` as of ``requireOwnFiles()``.
    package func refuseLostStore() async throws {
        try await runBlocking { try requireOwnFiles() }
        let (storePath, size) = try await readableFile()
        guard size ?? 0 == 0, try await isInUse() else { return }
        throw Failure.lostStore(of: path, why: "\(storePath) is missing or empty, and there are files that it knew")
    }

    /// Whether a run has been here: what booksync keeps for itself is there, and so are files that a store would know.
    package func isInUse() async throws -> Bool {
        guard try await runBlocking({ FileManager.default.fileExists(atPath: ownFolder) }) else { return false }
        let entries = try await FolderScan.scan(folders: ["", Self.partialPath], under: path).keys
        return entries.contains { $0.hasPrefix(Self.partialPath + "/") ? $0.hasSuffix(".part") : !$0.hasPrefix(".") }
    }
}
