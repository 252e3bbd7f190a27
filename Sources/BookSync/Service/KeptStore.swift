import BookModel
import CatalogStore
import Foundation
import LibraryFiles

/// The store of a library, kept open between those who read it, which saves each of them some 1.5 ms; and closed when nobody
/// has for a while, so that an idle server holds no disk.
///
/// Before each reading it is made sure that it is still what is at its place, with the tables that it had when it was opened:
/// a run may have put it aside, begun it anew, or brought it up to date.
actor KeptStore {
    private struct Opened {
        let store: CatalogStore
        let file: StoreFile
        let schema: Int64
        var readers = 1
        var usedAt = ContinuousClock.now
    }

    struct Place: Sendable, Hashable {
        /// Counts up: another one is another connection.
        var opening: Int
        /// The number of the file.
        var inode: UInt64
    }

    private static let idleTime = Duration.seconds(10)

    private let library: String
    private var opened: [Int: Opened] = [:]
    /// The one that is read next; others are closed when their last reader leaves.
    private var current: Int?
    private var lastNumber = 0
    private var sweeper: Task<Void, Never>?

    init(library: String) {
        self.library = library
    }

    /// - Returns: what `body` makes of the store; nil when there is no library yet.
    /// - Throws: ``Failure`` when the store cannot be read, and what `body` throws.
    nonisolated func read<Result: Sendable>(_ body: (CatalogStore) async throws -> Result) async throws -> Result? {
        try await readWithPlace { store, _ in try await body(store) }
    }

    /// - Parameter body: gets the place of the store, too.
    nonisolated func readWithPlace<Result: Sendable>(
        _ body: (CatalogStore, Place) async throws -> Result
    ) async throws -> Result? {
        guard let (store, place) = try await take() else { return nil }
        do {
            let result = try await body(store, place)
            await leave(place.opening)
            return result
        } catch {
            await leave(place.opening)
            throw error
        }
    }

    /// By which it is known later whether the store was written to meanwhile, without opening it.
    /// - Returns: nil where there is no store, or what is written now could have the same one.
    nonisolated func stamp() async throws -> StoreFile? {
        let copy = StoreCopy(of: .existing(at: library))
        return try await runBlocking { StoreFile(at: try copy.readablePath) }.flatMap { $0.isSettled ? $0 : nil }
    }

    private func take() async throws -> (store: CatalogStore, place: Place)? {
        let copy = StoreCopy(of: .existing(at: library))
        let file = try await runBlocking { StoreFile(at: try copy.readablePath) }
        if let current, let entry = opened[current] {
            opened[current]?.readers += 1
            if let file, entry.file.isSame(as: file, inContent: entry.store.isCopy),
                // Whatever is wrong with it, opening it says so.
                (try? await entry.store.schemaVersion()) == entry.schema
            {
                return (entry.store, Place(opening: current, inode: file.inode))
            }
            if self.current == current { self.current = nil }
            await leave(current)
        }
        guard let store = try await LibraryFolder.readableStore(in: library) else { return nil }
        guard let file else { return nil }
        let schema = try await store.schemaVersion()
        lastNumber += 1
        let (number, before) = (lastNumber, current)
        opened[number] = Opened(store: store, file: file, schema: schema)
        current = number
        // Another one that came as far meanwhile.
        if let before, opened[before]?.readers == 0 { await close(before) }
        if sweeper == nil { sweeper = Task { await sweep() } }
        return (store, Place(opening: number, inode: file.inode))
    }

    private func leave(_ number: Int) async {
        guard let entry = opened[number] else { return }
        if entry.store.damage != nil, current == number { current = nil }
        opened[number]?.readers -= 1
        opened[number]?.usedAt = .now
        if entry.readers == 1, current != number { await close(number) }
    }

    private func close(_ number: Int) async {
        guard let entry = opened.removeValue(forKey: number) else { return }
        do {
            try await entry.store.close()
        } catch {
            // It was for reading only: nothing can be lost.
        }
    }

    private func sweep() async {
        while !opened.isEmpty {
            do {
                try await Task.sleep(for: Self.idleTime)
            } catch {
                break
            }
            if let current, let entry = opened[current], entry.readers == 0, .now - entry.usedAt >= Self.idleTime {
                self.current = nil
                await close(current)
            }
        }
        sweeper = nil
    }
}

/// Which file a store is, and what it and its log look like from outside.
struct StoreFile: Sendable, Hashable {
    private let file: FileAttributes
    private let log: FileAttributes?
    /// Whether whatever is written later has a later time: filesystems count in steps, of two seconds at most (FAT).
    fileprivate let isSettled: Bool

    /// - Returns: nil where there is none. Blocks on the disk.
    init?(at path: String) {
        guard let file = fileAttributes(path) else { return nil }
        (self.file, log) = (file, fileAttributes(path + "-wal"))
        let last = max(file.modificationTime, log?.modificationTime ?? 0)
        isSettled = Double(last) / 1e9 < Date.now.timeIntervalSince1970 - 2
    }

    fileprivate var inode: UInt64 { file.inode }

    /// - Parameter inContent: whether it matters that it was written meanwhile.
    func isSame(as other: StoreFile, inContent: Bool) -> Bool {
        inContent ? file == other.file && log == other.log : file.inode == other.file.inode
    }
}
