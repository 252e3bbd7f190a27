import BookModel
import CatalogStore
import DownloadEngine
import Foundation
import LibraryFiles
import LibraryMedia
import Settings
import ShelfQueries
import SyncPlanner

/// Files of episodes that the user removed, and those that a download replaced. They are kept for ``keptDays``, or as the setting
/// `trash` says, in `.booksync/trash/TIME/`, under the paths that they had.
///
/// Whoever changes anything here holds the library's lock: only then does a recorded path mean the file that it names.
package struct Trash: Sendable {
    /// Unless the setting `trash` says otherwise.
    package static let keptDays = Int(Configuration.builtIn.keptInTrash / 86400)
    /// Relative to the library.
    static let folder = ".booksync/trash"

    /// Absolute.
    let library: String
    let store: CatalogStore

    /// What is in the trash of a library, what was removed last first.
    /// - Throws: ``Failure`` of kind `unknownBook` when there is no library.
    package static func list(in library: String) async throws -> [TrashedFile] {
        try await LibraryFolder.reading(library) { try await $0.trashedFiles() }
    }

    /// What is in the trash, what was removed last first.
    package func list() async throws -> [TrashedFile] { try await store.trashedFiles() }

    // MARK: Putting in

    package struct Collected: Sendable {
        package var moved: [TrashedFile] = []
        /// What was not there.
        package var absent: [TrashedFile] = []
        /// What stays where it is.
        package var failures: [FailureReport] = []
    }

    private enum Outcome {
        case moved
        /// There is no such file.
        case absent
        /// It is not moved, and forgotten.
        case foreign
        /// The episode is no longer removed, and the file is in its place.
        case revoked
        case failed(Failure)
    }

    /// Moves the files of removed episodes here, and drops the folders that they leave empty. What a run that was killed
    /// had begun is finished.
    func collect() async throws -> Collected {
        let trashed = try await store.trashedFiles()
        try await settleReplaced(trashed.filter { !$0.isRemoved })
        try await settleRestored(trashed.filter { $0.isRemoved && $0.movedAt != nil })
        let files = try await following(try await store.intendTrashing())
        guard !files.isEmpty else { return Collected() }
        let library = library
        let outcomes = try await runBlocking { Self.move(files, in: library) }
        var collected = Collected()
        var (foreign, revoked): ([TrashedFile], [TrashedFile]) = ([], [])
        for (trashed, outcome) in zip(files, outcomes) {
            switch outcome {
            case .moved: collected.moved.append(trashed)
            case .absent: collected.absent.append(trashed)
            case .revoked: revoked.append(trashed)
            case .foreign:
                foreign.append(trashed)
                collected.failures.append(
                    trashed.report(
                        Failure(
                            .temporary, what: "\(trashed.file.path) was not removed",
                            why: "it is not the file that was fetched, or was changed since",
                            remedy: "delete it if you do not need it")))
            case .failed(let failure): collected.failures.append(trashed.report(failure))
            }
        }
        try await store.completeTrashing(collected.moved, at: Date())
        try await store.forgetTrashing(collected.absent + foreign)
        try await store.forgetTrashed(revoked)
        let folders = Set((collected.moved + collected.absent).map { splitLibraryPath($0.file.path).folder })
        try await runBlocking { Self.removeIfEmpty(folders, in: library) }
        return collected
    }

    /// The files, with the paths that the user gave those that are no longer where they were recorded.
    private func following(_ files: [TrashedFile]) async throws -> [TrashedFile] {
        let library = library
        let gone = try await runBlocking {
            try files.filter { trashed in
                guard trashed.isRemoved else { return false }
                if let facts = try Self.facts(of: library + "/" + trashed.file.path) {
                    return !trashed.file.isSame(as: facts)
                }
                return try Self.facts(of: library + "/" + trashed.path) == nil
            }
        }
        guard !gone.isEmpty else { return files }
        let untrackedFiles = try await LibrarySearch(library: library, store: store).untrackedFiles(
            ofSizes: Set(gone.map(\.file.size))
        )
        .filter { _, facts in gone.contains { $0.file.isSame(as: facts) } }
        let examined = try await FileExamination.examine(untrackedFiles.mapValues { _ in .beginning }, in: library)
        var followed = files
        for index in files.indices where gone.contains(files[index]) {
            let file = files[index].file
            let path = untrackedFiles.keys.sorted().first { path in
                guard let facts = untrackedFiles[path], file.isSame(as: facts) else { return false }
                let mark = examined[path]?.mark
                return mark.map { $0.episode == file.episode } ?? (facts.inode == file.inode)
            }
            guard let path else { continue }
            (followed[index].file.path, followed[index].file.isNamedByUser) = (path, true)
            try await store.follow(files[index], to: path)
        }
        return followed
    }

    private static func move(_ files: [TrashedFile], in library: String) -> [Outcome] {
        var folders: Set<Substring> = []
        let outcomes = files.map { trashed -> Outcome in
            do {
                let outcome = try move(trashed, in: library)
                if case .moved = outcome {
                    folders.insert(splitLibraryPath(trashed.file.path).folder)
                    folders.insert(splitLibraryPath(trashed.path).folder)
                }
                return outcome
            } catch let failure as Failure {
                return .failed(failure)
            } catch {
                return .failed(Failure.of(error))
            }
        }
        do {
            // On disk before the records are dropped.
            for folder in folders where try facts(of: library + "/" + folder) != nil {
                try LibraryDirectory(folder, in: library, creating: false).sync()
            }
        } catch {
            return outcomes.map {
                if case .moved = $0 { .failed(Failure.of(error)) } else { $0 }
            }
        }
        return outcomes
    }

    private static func move(_ trashed: TrashedFile, in library: String) throws -> Outcome {
        let (from, to) = (splitLibraryPath(trashed.file.path), splitLibraryPath(trashed.path))
        if !trashed.isRemoved {
            guard try facts(of: library + "/" + trashed.path) != nil else { return .revoked }
            let source = try LibraryDirectory(to.folder, in: library, creating: false)
            let target = try LibraryDirectory(from.folder, in: library)
            try target.receive(to.name, from: source, as: from.name)
            try target.sync()
            return .revoked
        }
        guard let facts = try facts(of: library + "/" + trashed.file.path) else {
            return try Self.facts(of: library + "/" + trashed.path) == nil ? .absent : .moved
        }
        guard trashed.file.isSame(as: facts) || trashed.file.hasContent(at: library + "/" + trashed.file.path) else {
            return .foreign
        }
        let source = try LibraryDirectory(from.folder, in: library, creating: false)
        try LibraryDirectory(to.folder, in: library).receive(from.name, from: source, as: to.name)
        return .moved
    }

    /// Gives the file of an episode, which is about to be replaced, a second name here; on disk when the call returns. Blocks.
    ///
    /// It is recorded first: what a kill leaves of this is settled by the next run.
    /// - Throws: ``Failure`` when it cannot be kept, as for lack of room: it must not be replaced then.
    func keep(_ episode: EpisodeIdentity, at path: String, replacedAt: Date) throws {
        let original = library + "/" + path
        guard let facts = try Self.facts(of: original) else { return }
        var time = replacedAt
        if let kept = try Self.facts(of: library + "/" + Self.path(of: path, removedAt: time)) {
            if kept == facts { return }
            // The run that put that one there replaces the file again.
            time = Date()
        }
        try store.commit(replacedFileOf: episode, at: path, time)
        let (folder, name) = splitLibraryPath(Self.path(of: path, removedAt: time))
        let target = try LibraryDirectory(folder, in: library)
        let second = "\(library)/\(folder)/\(name)"
        if link(original, second) != 0 {
            // On a filesystem where a file has one name only.
            let copy = second + Self.copySuffix
            defer { unlink(copy) }
            try copyFile(original, to: copy, size: facts.size)
            try systemCall("\(original) cannot be kept") { rename(copy, second) }
        }
        try target.sync()
    }

    private static let copySuffix = ".new"

    /// Puts right what a run left that was killed, or failed, while it replaced a file, or swapped one with one from here.
    private func settleReplaced(_ replaced: [TrashedFile]) async throws {
        var superfluous: [TrashedFile] = []
        for trashed in replaced {
            let present = try await store.episode(trashed.file.episode)?.file
            let (place, second) = (library + "/" + (present ?? trashed.file).path, library + "/" + trashed.path)
            let (inPlace, kept) = try await runBlocking { (try Self.facts(of: place), try Self.facts(of: second)) }
            if kept == nil, let inPlace, present?.isSame(as: inPlace) != true, trashed.file.isSame(as: inPlace) {
                _ = try await restore(trashed, at: Date())
            } else if kept == nil || kept == inPlace {
                // It was not replaced after all, or somebody took it from here.
                try await runBlocking {
                    for path in [second, second + Self.copySuffix] where unlink(path) != 0 {
                        guard errno == ENOENT || errno == ENOTDIR else {
                            throw Failure.file("\(path) cannot be deleted", errno: errno)
                        }
                    }
                }
                superfluous.append(trashed)
            }
        }
        try await store.forgetTrashed(superfluous)
        try await dropEmptyFolders(of: superfluous)
    }

    /// Records what a command had brought back before it was killed.
    private func settleRestored(_ removed: [TrashedFile]) async throws {
        guard !removed.isEmpty else { return }
        let library = library
        let isThere = try await runBlocking {
            try removed.map { trashed in
                guard try Self.facts(of: library + "/" + trashed.path) == nil else { return false }
                return try Self.facts(of: library + "/" + trashed.file.path).map(trashed.file.isSame) == true
            }
        }
        for (trashed, isThere) in zip(removed, isThere) where isThere { _ = try await restore(trashed, at: Date()) }
    }

    // MARK: Taking out

    package struct Restored: Sendable {
        package var files: [TrashedFile] = []
        /// What stays in the trash.
        package var failures: [FailureReport] = []
    }

    /// Brings back what one command removed.
    package func undoRemoval(at time: Date) async throws -> Restored {
        let restored = try await restore(try await list().filter { $0.removedAt == time })
        if restored.failures.isEmpty { try await store.forgetRemovals(at: time) }
        return restored
    }

    /// Brings files back to where they were; their episodes are no longer removed. Of several files of one episode the
    /// first comes back. A file that the episode has by now takes its place here.
    package func restore(_ files: [TrashedFile]) async throws -> Restored {
        var restored = Restored()
        var episodes: Set<EpisodeIdentity> = []
        let now = Date()
        for trashed in files where episodes.insert(trashed.file.episode).inserted {
            do {
                restored.files.append(try await restore(trashed, at: now))
            } catch let failure as Failure where failure.disposition == .skip {
                restored.failures.append(trashed.report(failure))
            }
        }
        try await dropEmptyFolders(of: files)
        return restored
    }

    /// - Returns: the file where it is now.
    private func restore(_ trashed: TrashedFile, at now: Date) async throws -> TrashedFile {
        let what: Message = "\(trashed.file.path) cannot be restored"
        let present = try await store.episode(trashed.file.episode)?.file
        var restored = trashed
        if let present {
            (restored.file.path, restored.file.isNamedByUser) = (present.path, present.isNamedByUser)
            // What the catalog says already is no reason for the next run to replace it again.
            restored.file.catalogSize = present.catalogSize
            restored.file.catalogModifiedAt = present.catalogModifiedAt
        }
        let place = restored.file.path
        try await runBlocking {
            let (from, to) = (splitLibraryPath(trashed.path), splitLibraryPath(place))
            let isInTrash = try Self.facts(of: library + "/" + trashed.path) != nil
            if let facts = try Self.facts(of: library + "/" + place) {
                // A command that was killed had brought it back already.
                if !isInTrash, trashed.file.isSame(as: facts) { return }
                guard present != nil else {
                    throw Failure(
                        .temporary, what: what, why: "something else has its path",
                        remedy: "move that away and try again")
                }
            }
            guard isInTrash else {
                throw Failure(
                    .temporary, what: what, why: "it is no longer at \(trashed.path)",
                    remedy: "booksync remove --forget has the next run fetch it again")
            }
            let source = try LibraryDirectory(from.folder, in: library, creating: false)
            let target = try LibraryDirectory(to.folder, in: library)
            if present == nil {
                try target.receive(from.name, from: source, as: to.name)
            } else {
                try keep(trashed.file.episode, at: place, replacedAt: now)
                try target.receive(library + "/" + trashed.path, as: to.name, replaces: true)
            }
            try target.sync()
            try source.sync()
        }
        try await store.restore(restored)
        return restored
    }

    /// Deletes files for good where not even the store can be opened for writing, because the disk is full. That they are gone
    /// is recorded when they are deleted once more (``delete(_:)``): there is room for that by then.
    /// - Parameters:
    ///   - files: as ``list(in:)`` has them.
    ///   - command: what the run is, for those that meet its lock.
    ///   - wait: seconds to wait for another run to end.
    package static func makeRoom(
        deleting files: [TrashedFile], in library: String, command: String, waitingFor wait: Double
    ) async throws {
        let folder = try await LibraryFolder.open(at: library)
        try await LibraryLock.hold(in: folder, wait: wait, command: command) { _ in
            try await Self.delete(files, in: folder.path)
        }
    }

    private static func delete(_ files: [TrashedFile], in library: String) async throws {
        try await runBlocking {
            for trashed in files where try Self.facts(of: library + "/" + trashed.path) != nil {
                let (folder, name) = splitLibraryPath(trashed.path)
                try LibraryDirectory(folder, in: library, creating: false).delete(name)
                FileTagging.forgetOriginal(of: trashed.file, in: library)
            }
        }
    }

    /// Deletes files for good.
    package func delete(_ files: [TrashedFile]) async throws {
        try await Self.delete(files, in: library)
        try await store.forgetTrashed(files)
        try await dropEmptyFolders(of: files)
    }

    /// Deletes what has been here for so many seconds.
    /// - Returns: why that was not possible; nil when it was.
    func deleteExpired(after seconds: Double, at now: Date = Date()) async -> Message? {
        let oldest = now.addingTimeInterval(-seconds)
        do {
            try await delete(try await store.trashedFiles().filter { ($0.movedAt ?? now) < oldest })
            return nil
        } catch {
            return "files that were removed long ago stay in the trash: \(Failure.of(error))"
        }
    }

    /// Deletes what has been here for longest, until the disk has so many bytes more: nothing where all of it is not enough.
    /// - Returns: what was deleted.
    func makeRoom(_ bytes: Int64) async throws -> [TrashedFile] {
        let oldestFirst = try await store.trashedFiles().filter { $0.movedAt != nil }.reversed()
        var freed: Int64 = 0
        let files = oldestFirst.prefix { file in
            defer { freed.addSaturated(file.file.size) }
            return freed < bytes
        }
        guard freed >= bytes else { return [] }
        try await delete(Array(files))
        return Array(files)
    }

    private func dropEmptyFolders(of files: [TrashedFile]) async throws {
        let folders = Set(files.map { splitLibraryPath($0.path).folder })
        let library = library
        try await runBlocking { Self.removeIfEmpty(folders, in: library) }
    }

    // MARK: The disk

    fileprivate static func path(of path: String, removedAt: Date) -> String {
        let milliseconds = Int64(clamping: removedAt.timeIntervalSince1970 * 1000)
        let stamp = Date(timeIntervalSince1970: Double(milliseconds / 1000)).formatted(.inFileName)
        return "\(folder)/\(stamp)-\(milliseconds % 1000)/\(path)"
    }

    /// - Returns: nil where there is nothing.
    private static func facts(of path: String) throws -> FileAttributes? {
        var status = stat()
        if lstat(path, &status) == 0 { return FileAttributes(status) }
        guard errno == ENOENT || errno == ENOTDIR else {
            throw Failure.file("\(path) cannot be looked at", errno: errno)
        }
        return nil
    }

    /// What cannot be removed does no harm.
    private static func removeIfEmpty(_ folders: Set<Substring>, in library: String) {
        for folder in folders.sorted() { _ = Result { try removeEmptyFolders(folder, in: library) } }
    }
}

extension TrashedFile {
    /// Where it lies in the trash, relative to the library.
    package var path: String { Trash.path(of: file.path, removedAt: removedAt) }

    fileprivate func report(_ failure: Failure) -> FailureReport {
        FailureReport(
            book: file.episode.book, episode: file.episode, section: section, name: name, failure: failure)
    }
}

extension JSONDocument {
    package init(_ trashed: TrashedFile) {
        let document = JSONDocument.naming(trashed.file.episode, section: trashed.section, name: trashed.name).adding([
            "path": .string(trashed.file.path),
            "size": .integer(trashed.file.size),
            "removed_at": .init(trashed.removedAt),
        ])
        self = document.adding(trashed.library)
    }
}
