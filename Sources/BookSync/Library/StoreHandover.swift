import BookModel
import CatalogStore
import Foundation
import LibraryFiles

/// Brings the store to where it is to lie, before a run opens it: apart from the audio, back into the library, or to another
/// machine, which goes on from the copy beside the audio.
///
/// Each run gives the store its epoch (``StoreHeader/generation``), and a copy has that of its store. A store that was copied
/// and not written since has a mark beside it. So no clock says which of two is the newer one: that of the greater epoch. A store
/// here that was not copied before a later run began elsewhere is set aside: that run had the library, and what this one knew of
/// files is recognised from the disk. Where the setting changes, stores that have gone on apart are not touched.
struct StoreHandover: Sendable {
    let folder: LibraryFolder

    private var copy: String { StoreCopy(of: folder).path }

    /// Every step is a rename: killed between two of them, the next run goes on.
    /// - Parameter epoch: of the run that begins.
    /// - Returns: whether the store is an older one: what a run since then recorded lies on a machine that did not copy it; and
    ///   where the store is that was here, if it was set aside.
    /// - Throws: ``Failure`` of kind `configuration` when two stores have gone on apart.
    func prepare(before epoch: Int) async throws -> (isOlder: Bool, aside: String?) {
        let store = folder.storePath
        guard folder.isStoreApart else {
            guard try await generation(of: store) == nil, try await generation(of: copy) != nil else {
                try await requireNoSplit()
                return (false, nil)
            }
            return (try await take(copy, as: store, before: epoch), nil)
        }
        try await runBlocking {
            try FileManager.default.createDirectory(
                atPath: folder.storeFolder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        let inside = folder.ownFolder + "/store.sqlite"
        if try await generation(of: inside) != nil {
            // Its log goes into it.
            let store = try await LibraryFolder.openStore(at: inside)
            try await store.close()
            try await supersede(by: inside)
            let copy = copy
            _ = try await runBlocking { try systemCall("\(inside) cannot be moved") { rename(inside, copy) } }
        }
        guard let copied = try await generation(of: copy) else { return (false, nil) }
        var aside: String?
        if let own = try await generation(of: store) {
            guard own < copied else { return (false, nil) }
            if try await isCopied(own) { try await supersede(by: copy) } else { aside = try await setAside(own) }
        }
        return (try await take(copy, as: store, before: epoch), aside)
    }

    /// Renames the store of a run that did not come to copy it, with its log.
    private func setAside(_ generation: Int) async throws -> String {
        let store = folder.storePath
        let aside = "\(store).apart-\(generation)"
        try await runBlocking {
            for suffix in ["-wal", ""] where fileSize(store + suffix) != nil {
                try systemCall("\(store)\(suffix) cannot be moved") { rename(store + suffix, aside + suffix) }
            }
        }
        return aside
    }

    /// To be called when the store is open, before anything is written to it.
    func begin(_ epoch: Int, of store: CatalogStore, isOlder: Bool) async throws {
        let mark = folder.copiedMark
        try await runBlocking { try deleteFile(mark) }
        // Where there was no room to write it, the run has none.
        if epoch > 0 { try await store.record(generation: epoch) }
        if isOlder { try await store.forgetPartialContent() }
    }

    /// Renames the store here, which another one follows; it is never deleted.
    private func supersede(by other: String) async throws {
        let store = folder.storePath
        guard let own = try await generation(of: store) else { return }
        guard try await isCopied(own), let next = try await generation(of: other), own <= next else {
            throw split(store, other)
        }
        _ = try await runBlocking {
            try systemCall("\(store) cannot be moved") { rename(store, store + ".superseded") }
        }
    }

    private func requireNoSplit() async throws {
        guard let copied = try await generation(of: copy), let own = try await generation(of: folder.storePath),
            own < copied
        else { return }
        throw split(folder.storePath, copy)
    }

    private func take(_ source: String, as store: String, before epoch: Int) async throws -> Bool {
        let copied = try await generation(of: source)
        return try await runBlocking {
            try copyFile(source, to: store + ".new", size: fileSize(source) ?? 0)
            try systemCall("\(store) cannot be written") { chmod(store + ".new", 0o600) }
            // A log that is left beside another database would be taken for its own.
            for suffix in ["-wal", "-shm", "-journal"] where fileSize(store + suffix) != nil {
                try systemCall("\(store)\(suffix) cannot be moved") {
                    rename(store + suffix, store + ".superseded" + suffix)
                }
            }
            try systemCall("\(store) cannot be written") { rename(store + ".new", store) }
            return copied.map { $0 > 0 && $0 < epoch - 1 } ?? false
        }
    }

    private func split(_ one: String, _ other: String) -> Failure {
        Failure(
            .configuration, disposition: .stop, what: "two stores of the library \(folder.path) have gone on apart",
            why: "\(one) has what was never copied, and \(other) is of a later run",
            remedy: "move one of them away: the next run goes on from the other, and recognises what is on disk")
    }

    /// - Returns: nil where there is no store.
    private func generation(of path: String) async throws -> Int? {
        guard try await runBlocking({ fileSize(path) }) ?? 0 > 0 else { return nil }
        return try await StoreHeader(of: path).generation
    }

    // MARK: The mark of what was copied

    private func isCopied(_ generation: Int) async throws -> Bool {
        let path = folder.copiedMark
        return try await runBlocking { FileManager.default.contents(atPath: path) == Data("\(generation)\n".utf8) }
    }

    func markCopied(_ generation: Int) async throws {
        guard folder.isStoreApart else { return }
        let path = folder.copiedMark
        try await runBlocking {
            do throws(SystemError) {
                try replaceFile(at: path, with: Array("\(generation)\n".utf8))
            } catch {
                throw Failure.file("\(path) cannot be written", errno: error.code)
            }
        }
    }
}
