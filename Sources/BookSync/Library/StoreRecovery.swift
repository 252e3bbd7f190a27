import BookModel
import CatalogStore
import DownloadEngine
import Foundation
import LibraryFiles

/// A store that a run may rely on.
struct RescuedStore: Sendable {
    var store: CatalogStore
    /// What the user should know of it.
    var notices: [Message] = []
    /// Whether it is empty in place of one that was not.
    var isBegunAnew = false
}

/// Opens the store of a library for a run also where it is damaged or lost: a damaged one is kept aside, and the newest
/// sound copy taken or, where there is none, a new store begun. What is on disk is recognised as the books' catalogs are
/// read.
struct StoreRecovery: Sendable {
    let folder: LibraryFolder

    /// Bytes up to which a store is read whole before a run relies on it (a fifth of a second). Damage in a larger one
    /// is met when the damaged part is.
    private static let checkedSize: Int64 = 32_000_000

    /// - Parameter wasInUse: whether a run had been in the library before.
    /// - Throws: ``Failure`` when a newer booksync made the store, or it cannot be read or written.
    func openStore(wasInUse: Bool) async throws -> RescuedStore {
        let path = folder.storePath
        let size = try await runBlocking { fileSize(path) } ?? 0
        if size == 0 {
            // A log without its database is another's.
            _ = try await quarantine()
            guard wasInUse else { return RescuedStore(store: try await LibraryFolder.openStore(at: path)) }
            return try await replacement("the store of this library was lost")
        }
        do {
            return RescuedStore(store: try await openSound(size: size))
        } catch let failure as Failure where failure.isStoreDamage {
            let kept = try await quarantine() ?? "it"
            return try await replacement("the store was damaged (\(failure.why)): it is kept as \(kept)")
        }
    }

    /// - Parameter what: became of the store that was there.
    private func replacement(_ what: Message) async throws -> RescuedStore {
        if let (store, madeAt) = try await StoreBackups(folder: folder).restore() {
            let notice: Message =
                "\(what), and the copy of \(madeAt) is used: what was subscribed to and removed since "
                + "then is not in it; files fetched since are recognised as the catalogs of their books are read"
            let trash: Message = "what was removed since then lies in .booksync/trash, and trash list does not know it"
            return RescuedStore(store: store, notices: [notice, trash] + (try await noticesOfPartials()))
        }
        let store = try await LibraryFolder.openStore(at: folder.storePath)
        return RescuedStore(
            store: store, notices: try await notices(of: "\(what), and a new one is begun"), isBegunAnew: true)
    }

    private func openSound(size: Int64) async throws -> CatalogStore {
        let path = folder.storePath
        if let why = try await StoreHeader(of: path).fault { throw Failure.damagedStore(at: path, why: why) }
        let store = try await LibraryFolder.openStore(at: path)
        guard size <= Self.checkedSize else { return store }
        let outcome = await Result.of { try await store.check() }
        if case .failure = outcome { try await store.close() }
        try outcome.get()
        return store
    }

    /// Renames the store's files, which are never deleted.
    /// - Returns: the new name of the database, where there was one.
    func quarantine() async throws -> String? {
        let path = folder.storePath
        return try await runBlocking {
            let stamp = Date().formatted(.inFileName)
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
            return folder.isStoreApart ? aside : String(aside.dropFirst(folder.path.count + 1))
        }
    }

    private func move(_ path: String, to aside: String) throws {
        try systemCall("the damaged store \(path) cannot be put aside") { rename(path, aside) }
    }

    /// The notice with all that is lost with a store.
    private func notices(of first: Message) async throws -> [Message] {
        [
            "\(first); files on disk are recognised as the catalogs of their books are read, and not fetched again",
            "what booksync subscribe and remove had noted is lost with the store: subscribe again",
        ] + (try await noticesOfPartials())
    }

    private func noticesOfPartials() async throws -> [Message] {
        let found = try await FolderScan.scan(folders: [LibraryFolder.partialPath], under: folder.path)
            .filter { $0.key.hasSuffix(".part") && $0.value.size > 0 }
        let library = folder.path
        let partials = try await runBlocking {
            found.filter { PartialFile.facts(at: "\(library)/\($0.key)").origin == nil }
        }
        guard !partials.isEmpty else { return [] }
        let bytes = partials.values.saturatedSum(of: \.size)
        let those = Message(partials.count, "unfinished download")
        return [
            "\(those) (\(describeBytes(bytes))) cannot be gone on with: of which version the bytes are was known to "
                + "the store alone; such episodes are fetched from the start"
        ]
    }
}
