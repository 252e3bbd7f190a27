import BookModel
import CatalogStore
import DownloadEngine
import Foundation
import LibraryFiles

/// Copies of the store in `.booksync/backup`, for when it is damaged or lost: the last ``lastKept``, and the last one of
/// each of the ``weeksKept`` weeks before.
struct StoreBackups: Sendable {
    static let lastKept = 3
    static let weeksKept = 4
    /// Seconds after which a run that changed nothing of weight makes a copy all the same.
    private static let longestGap: Double = 24 * 3600

    struct Copy: Sendable, Hashable {
        var name: String
        var madeAt: Date
    }

    let folder: LibraryFolder

    private var path: String { folder.ownFolder + "/backup" }

    private static func name(at time: Date) -> String { "store-\(time.formatted(.inFileName)).sqlite" }

    func path(of copy: Copy) -> String { path + "/" + copy.name }

    /// The newest first.
    func copies() async throws -> [Copy] {
        return try await runBlocking {
            guard FileManager.default.fileExists(atPath: path) else { return [] }
            return try FileManager.default.contentsOfDirectory(atPath: path).compactMap { name in
                // Not through a link, nor a pipe.
                guard name.hasPrefix("store-"), name.hasSuffix(".sqlite"), isPlainFile(path + "/" + name),
                    case .success(let time) = Result(catching: {
                        try Date.ISO8601FormatStyle.inFileName.parse(String(name.dropFirst(6).dropLast(7)))
                    })
                else { return nil }
                return Copy(name: name, madeAt: time)
            }.sorted { $0.madeAt > $1.madeAt }
        }
    }

    /// Copies the store after a run, and deletes copies that are no longer kept.
    func make(of store: CatalogStore, at now: Date = Date()) async throws {
        let copies = try await copies()
        guard store.damage == nil,
            store.hasWrittenDurably
                || (copies.first { $0.madeAt <= now }?.madeAt ?? .distantPast) < now - Self.longestGap
        else { return }
        let unfinished = path + "/unfinished"
        try await runBlocking {
            try LibraryFolder.makeFolder(path, in: folder.path)
            try DatabaseFiles(unfinished).delete()
            let space = try DiskSpace(of: path)
            if space.missing(for: fileSize(folder.storePath) ?? 0, leaving: 0) != nil {
                throw Failure.file("the store cannot be copied to \(path)", errno: ENOSPC)
            }
        }
        try await store.copy(to: unfinished)
        // Damage that no run has met yet is not to take the place of what is sound.
        let made = try await CatalogStore(path: unfinished, access: .readOnly)
        try await made.closing { try await made.check() }
        let copy = Copy(name: Self.name(at: now), madeAt: now)
        let old = Self.superfluous([copy] + copies.filter { $0.name != copy.name && $0.madeAt <= now })
        try await runBlocking {
            try systemCall("the store cannot be copied to \(path)") { rename(unfinished, self.path(of: copy)) }
            for copy in old { try DatabaseFiles(self.path(of: copy)).delete() }
        }
    }

    private func isPlainFile(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_nlink == 1
    }

    /// Those that need not be kept. Pure.
    /// - Parameter copies: the newest first.
    static func superfluous(_ copies: [Copy]) -> [Copy] {
        guard let newest = copies.first else { return [] }
        // By the calendar: by its age no copy would ever become a week old beside those that are made every day.
        func week(_ copy: Copy) -> Int {
            Int(clamping: (copy.madeAt.timeIntervalSince1970 / (7 * 24 * 3600)).rounded(.down))
        }
        var weeks: Set<Int> = []
        return copies.dropFirst(lastKept).filter { copy in
            week(copy) < week(newest) - weeksKept || !weeks.insert(week(copy)).inserted
        }
    }

    /// Puts the newest sound copy in the place of the store, where none is.
    /// - Returns: the store, opened, and when the copy was made; nil where there is no sound copy.
    func restore() async throws -> (store: CatalogStore, madeAt: Date)? {
        let storePath = folder.storePath
        let (copies, now) = (try await copies(), Date())
        // A date to come is that of a wrong clock: such a copy may be old.
        for copy in copies.filter({ $0.madeAt <= now }) + copies.filter({ $0.madeAt > now }) {
            let source = path(of: copy)
            do {
                if try await StoreHeader(of: source).fault != nil { continue }
                try await runBlocking { try DatabaseFiles(storePath + ".restoring").become(copyOf: source) }
                let examined = try await LibraryFolder.openStore(at: storePath + ".restoring")
                try await examined.closing { try await examined.check() }
            } catch let failure as Failure where failure.kind != .configuration && !failure.isLackOfRoom {
                // Damaged, or not to be read: an older one may be sound.
                continue
            }
            _ = try await runBlocking {
                try systemCall("the store cannot be restored") { rename(storePath + ".restoring", storePath) }
            }
            let store = try await LibraryFolder.openStore(at: storePath)
            try await store.forgetPartialContent()
            return (store, copy.madeAt)
        }
        return nil
    }
}
