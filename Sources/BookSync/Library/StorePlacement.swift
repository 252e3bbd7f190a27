import BookModel
import CatalogStore
import DownloadEngine
import Foundation
import LibraryFiles

/// A store that a run may rely on.
struct PlacedStore: Sendable {
    var store: CatalogStore
    /// What the user should know of it.
    var notices: [Message] = []
    /// Whether it is empty in place of one that was not.
    var isBegunAnew = false
}

/// Brings the store to where it is to lie, and opens it for a run: apart from the audio, back in the library, or on another
/// machine, which goes on from the copy beside the audio; also where it is damaged or lost.
///
/// Each run gives the store its epoch (``StoreHeader/generation``), and a copy has that of its store. A store that was copied
/// and not written since has a mark beside it. So no clock says which of two is the newer one: that of the greater epoch. A store
/// here that was not copied before a later run began elsewhere is set aside: that run had the library, and what this one knew of
/// files is recognised from the disk. Where the setting changes, stores that have gone on apart are not touched.
///
/// A damaged store is kept aside, and the newest sound backup taken or, where there is none, a new store begun. What is on disk is
/// recognised as the books' catalogs are read.
struct StorePlacement: Sendable {
    let folder: LibraryFolder

    private var store: DatabaseFiles { DatabaseFiles(folder.storePath) }
    private var copy: DatabaseFiles { DatabaseFiles(StoreCopy(of: folder).path) }

    /// Opens the store for the run that has the lock; every step before is a rename: killed between two of them, the next run
    /// goes on.
    /// - Parameter wasInUse: whether a run had been in the library before.
    /// - Throws: ``Failure`` of kind `configuration` when two stores have gone on apart, or a newer booksync made the store; of
    ///   kind `temporary` when a run that is believed dead is writing just now; else when it cannot be read or written.
    func open(wasInUse: Bool, lock: LibraryLock) async throws -> PlacedStore {
        if lock.takenFrom != nil { try await renewOpenFiles() }
        let (isOlder, aside) = try await prepare(before: lock.epoch)
        var placed = try await openSoundStore(wasInUse: wasInUse)
        if let aside {
            placed.notices.append(
                """
                a run on this machine did not come to copy its store, and another one went on since: what it recorded is in \
                \(aside)
                """)
        }
        if let owner = lock.takenFrom {
            placed.notices.append(
                "this run took the library over from one that gave no sign of life for a minute: \(owner.sentence)")
        }
        let begun = await Result.of { try await begin(lock, placed.store, isOlder: isOlder) }
        if case .failure = begun {
            try await placed.store.close()
            if placed.store.damage != nil { try await quarantine() }
        }
        try begun.get()
        return placed
    }

    /// To be called before anything is written to the store.
    private func begin(_ lock: LibraryLock, _ store: CatalogStore, isOlder: Bool) async throws {
        // Another machine that takes over before this run ends has a store to go on from. It has no epoch yet, as the file of a
        // store whose run is killed has none.
        if try await runBlocking({ StoreCopy(of: folder).isMissing }) {
            try await StoreCopy(of: folder).publish(store) { try lock.requireHeld() }
        }
        let mark = folder.copiedMark
        try await runBlocking { try deleteFile(mark) }
        // Where there was no room to write it, the run has none.
        if lock.epoch > 0 { try await store.record(generation: lock.epoch) }
        if isOlder { try await store.forgetPartialContent() }
    }

    // MARK: What another run has open

    /// Puts what a run still has open out of its reach, before another goes on in its library.
    ///
    /// That run was silent for long and is believed dead; but it may only have been stopped, or cut off from the disk. When it
    /// wakes, it writes to what it opened before it looks who has the library: partial files, to which it appends, and the store.
    /// These become copies, and what it opened has no names any more.
    private func renewOpenFiles() async throws {
        let (store, partials) = (folder.storePath, folder.partialFolder)
        try await runBlocking {
            // The log behind the database, which alone is a database as well: of an older moment.
            for suffix in ["", "-wal", "-journal"] { try renewFile(store + suffix) }
            try deleteFile(store + "-shm")
            for name in try FileManager.default.contentsOfDirectory(atPath: partials) where !name.hasPrefix(".") {
                try renewFile(partials + "/" + name)
            }
        }
    }

    // MARK: Where the store lies

    /// - Parameter epoch: of the run that begins.
    /// - Returns: whether the store is an older one: what a run since then recorded lies on a machine that did not copy it; and
    ///   where the store is that was here, if it was set aside.
    /// - Throws: ``Failure`` of kind `configuration` when two stores have gone on apart.
    private func prepare(before epoch: Int) async throws -> (isOlder: Bool, aside: String?) {
        guard folder.isStoreApart else {
            return try await runBlocking {
                let own = try store.generation
                guard let copied = try copy.generation else { return (false, nil) }
                guard let own else { return (try take(copied, before: epoch), nil) }
                if own < copied { throw split(copy) }
                return (false, nil)
            }
        }
        let inside = DatabaseFiles(folder.ownFolder + "/store.sqlite")
        let isInside = try await runBlocking {
            try FileManager.default.createDirectory(
                atPath: folder.storeFolder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            return try inside.generation != nil
        }
        // Its log goes into it.
        if isInside { try await LibraryFolder.openStore(at: inside.path).close() }
        return try await runBlocking {
            if isInside {
                try supersede(by: inside)
                try inside.move([""], to: copy.path)
            }
            guard let copied = try copy.generation else { return (false, nil) }
            var aside: String?
            if let own = try store.generation {
                guard own < copied else { return (false, nil) }
                if isCopied(own) {
                    try supersede(by: copy)
                } else {
                    let name = "\(store.path).apart-\(own)"
                    try store.move(to: name)
                    aside = name
                }
            }
            return (try take(copied, before: epoch), aside)
        }
    }

    /// Renames the store here, which another one follows; it is never deleted.
    private func supersede(by other: DatabaseFiles) throws {
        guard let own = try store.generation else { return }
        guard isCopied(own), let next = try other.generation, own <= next else { throw split(other) }
        try store.move([""], to: store.path + ".superseded")
    }

    /// Puts a copy of the copy in the place of the store, where none is.
    /// - Returns: whether it is an older one.
    private func take(_ copied: Int, before epoch: Int) throws -> Bool {
        let new = DatabaseFiles(store.path + ".new")
        try new.become(copyOf: copy.path)
        try store.move(DatabaseFiles.logs, to: store.path + ".superseded")
        try systemCall("\(store.path) cannot be written") { rename(new.path, store.path) }
        return copied > 0 && copied < epoch - 1
    }

    private func split(_ other: DatabaseFiles) -> Failure {
        Failure(
            .configuration, disposition: .stop, what: "two stores of the library \(folder.path) have gone on apart",
            why: "\(store.path) has what was never copied, and \(other.path) is of a later run",
            remedy: "move one of them away: the next run goes on from the other, and recognises what is on disk")
    }

    private func isCopied(_ generation: Int) -> Bool {
        FileManager.default.contents(atPath: folder.copiedMark) == Data("\(generation)\n".utf8)
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

    // MARK: A damaged or lost store

    /// Bytes up to which a store is read whole before a run relies on it (a fifth of a second). Damage in a larger one
    /// is met when the damaged part is.
    private static let checkedSize: Int64 = 32_000_000

    private func openSoundStore(wasInUse: Bool) async throws -> PlacedStore {
        let path = folder.storePath
        let size = try await runBlocking { fileSize(path) } ?? 0
        if size == 0 {
            // A log without its database is another's.
            try await quarantine()
            guard wasInUse else { return PlacedStore(store: try await LibraryFolder.openStore(at: path)) }
            return try await replacement("the store of this library was lost")
        }
        do {
            return PlacedStore(store: try await openSound(size: size))
        } catch let failure as Failure where failure.isStoreDamage {
            let kept = try await quarantine() ?? "it"
            return try await replacement("the store was damaged (\(failure.why)): it is kept as \(kept)")
        }
    }

    /// - Parameter what: became of the store that was there.
    private func replacement(_ what: Message) async throws -> PlacedStore {
        if let (store, madeAt) = try await StoreBackups(folder: folder).restore() {
            let notice: Message =
                "\(what), and the copy of \(madeAt) is used: what was subscribed to and removed since "
                + "then is not in it; files fetched since are recognised as the catalogs of their books are read"
            let trash: Message = "what was removed since then lies in .booksync/trash, and trash list does not know it"
            return PlacedStore(store: store, notices: [notice, trash] + (try await noticesOfPartials()))
        }
        let store = try await LibraryFolder.openStore(at: folder.storePath)
        return PlacedStore(
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
    @discardableResult
    func quarantine() async throws -> String? {
        try await runBlocking {
            let stamp = Date().formatted(.inFileName)
            var aside = "\(store.path).damaged-\(stamp)"
            var number = 2
            while fileSize(aside) != nil {
                aside = "\(store.path).damaged-\(stamp)-\(number)"
                number += 1
            }
            let isThere = store.isThere
            try store.move(
                DatabaseFiles.logs + (isThere ? [""] : []), to: aside,
                failing: "the damaged store \(store.path) cannot be put aside")
            guard isThere else { return nil }
            return folder.isStoreApart ? aside : String(aside.dropFirst(folder.path.count + 1))
        }
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
        let partials = try await runBlocking { [library = folder.path] in
            found.filter { PartialNote.at("\(library)/\($0.key)") == nil }
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
