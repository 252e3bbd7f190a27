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
    /// A connection, which is closed when nobody holds it any more.
    private final class Opened: Sendable {
        let store: CatalogStore
        let file: StoreFile
        let schema: Int64
        let place: Place

        init(_ store: CatalogStore, _ file: StoreFile, schema: Int64, number: Int) {
            (self.store, self.file, self.schema) = (store, file, schema)
            place = Place(opening: number, inode: file.inode)
        }

        deinit {
            // It was for reading only: nothing can be lost.
            Task { [store] in try? await store.close() }
        }
    }

    struct Place: Sendable, Hashable {
        /// Counts up: another one is another connection.
        var opening: Int
        /// The number of the file.
        var inode: UInt64
    }

    private static let idleTime = Duration.seconds(10)

    private let library: String
    /// The one that is read next.
    private var current: Opened?
    private var usedAt = ContinuousClock.now
    private var lastNumber = 0
    private var sweeper: Task<Void, Never>?

    init(library: String) {
        self.library = library
    }

    /// - Parameter body: gets the store, and its place.
    /// - Returns: what `body` makes of the store; nil when there is no library yet.
    /// - Throws: ``Failure`` when the store cannot be read, and what `body` throws.
    nonisolated func read<Result: Sendable>(
        _ body: (CatalogStore, Place) async throws -> Result
    ) async throws -> Result? {
        guard let opened = try await open() else { return nil }
        defer { withExtendedLifetime(opened) {} }
        return try await body(opened.store, opened.place)
    }

    /// By which it is known later whether the store was written to meanwhile, without opening it.
    /// - Returns: nil where there is no store, or what is written now could have the same one.
    nonisolated func stamp() async throws -> StoreFile? {
        let copy = StoreCopy(of: .existing(at: library))
        return try await runBlocking { StoreFile(at: try copy.readablePath) }.flatMap { $0.isSettled ? $0 : nil }
    }

    private func open() async throws -> Opened? {
        let copy = StoreCopy(of: .existing(at: library))
        let file = try await runBlocking { StoreFile(at: try copy.readablePath) }
        if let current, let file, current.store.damage == nil,
            current.file.isSame(as: file, inContent: current.store.isCopy),
            // Whatever is wrong with it, opening it says so.
            (try? await current.store.schemaVersion()) == current.schema
        {
            usedAt = .now
            return current
        }
        // What is not at its place any more holds no disk.
        current = nil
        guard let store = try await LibraryFolder.readableStore(in: library), let file else { return nil }
        let schema = try await store.schemaVersion()
        lastNumber += 1
        let opened = Opened(store, file, schema: schema, number: lastNumber)
        (current, usedAt) = (opened, .now)
        if sweeper == nil { sweeper = Task { await sweep() } }
        return opened
    }

    private func sweep() async {
        while current != nil {
            do {
                try await Task.sleep(for: Self.idleTime)
            } catch {
                break
            }
            if .now - usedAt >= Self.idleTime { current = nil }
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
