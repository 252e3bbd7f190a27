import BookModel
import CatalogStore
import Foundation

/// Opens the store of a library for a run also where it is damaged or lost: a damaged one is kept aside, a new one begun.
/// What is on disk is recognised as the books' catalogs are read.
struct StoreRescue: Sendable {
    let folder: LibraryFolder

    /// Bytes up to which a store is read whole before a run relies on it (a fifth of a second). Damage in a larger one
    /// is met when the damaged part is.
    private static let checkedSize: Int64 = 32_000_000

    /// - Parameter wasInUse: whether a run had been in the library before.
    /// - Returns: the store, and what the listener should know of it.
    /// - Throws: ``Failure`` when a newer booksync made the store, or it cannot be read or written.
    func openStore(wasInUse: Bool) async throws -> (store: CatalogStore, notices: [String]) {
        let path = folder.storePath
        let size = try await offPool { fileSize(path) } ?? 0
        if size == 0 {
            // A log without its database is another's.
            _ = try await putAside()
            let store = try await CatalogStore(path: path, access: .readWrite)
            guard wasInUse else { return (store, []) }
            return (store, try await notices(of: "the store of this library was lost: a new one is begun"))
        }
        do {
            return (try await openSound(size: size), [])
        } catch let failure as Failure where failure.isStoreDamage || failure.kind == .defect {
            let kept = try await putAside() ?? "it"
            let store = try await CatalogStore(path: path, access: .readWrite)
            let notice = "the store was damaged (\(failure.why)): it is kept as \(kept), and a new one is begun"
            return (store, try await notices(of: notice))
        }
    }

    private func openSound(size: Int64) async throws -> CatalogStore {
        let path = folder.storePath
        if let why = try await StoreHeader(of: path).fault { throw Failure.damagedStore(at: path, why: why) }
        let store = try await CatalogStore(path: path, access: .readWrite)
        guard size <= Self.checkedSize else { return store }
        let outcome = await Result.of { try await store.check() }
        if case .failure = outcome { try await store.close() }
        try outcome.get()
        return store
    }

    /// Renames the store's files, which are never deleted.
    /// - Returns: the new name of the database, where there was one.
    func putAside() async throws -> String? {
        let path = folder.storePath
        return try await offPool {
            let stamp = Date().formatted(
                Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted, timeZone: .gmt))
            var aside = "\(path).damaged-\(stamp)"
            var number = 2
            while fileSize(aside) != nil {
                aside = "\(path).damaged-\(stamp)-\(number)"
                number += 1
            }
            // The log first: one that is left beside a new database would be taken for its own.
            for suffix in ["-wal", "-shm", "-journal"] where fileSize(path + suffix) != nil {
                try move(path + suffix, to: aside + suffix)
            }
            guard let size = fileSize(path), size > 0 else { return nil }
            try move(path, to: aside)
            return String(aside.dropFirst(folder.path.count + 1))
        }
    }

    private func move(_ path: String, to aside: String) throws {
        guard rename(path, aside) == 0 else {
            throw Failure.file("the damaged store \(path) cannot be put aside", errno: errno)
        }
    }

    /// The notice with all that is lost with a store.
    private func notices(of first: String) async throws -> [String] {
        var notices = [
            first + "; files on disk are recognised as the catalogs of their books are read, and not fetched again",
            "what booksync subscribe and remove had noted is lost with the store: subscribe again",
        ]
        let partials = try await FolderScan.scan(folders: [LibraryFolder.partialPath], under: folder.path)
            .filter { $0.key.hasSuffix(".part") && $0.value.size > 0 }
        if !partials.isEmpty {
            let bytes = partials.values.reduce(0) { $0 + $1.size }
            let those = partials.count == 1 ? "1 unfinished download" : "\(partials.count) unfinished downloads"
            notices.append(
                "\(those) (\(describeBytes(bytes))) cannot be gone on with: of which version the bytes are was known to "
                    + "the store alone; such episodes are fetched from the start")
        }
        return notices
    }
}
