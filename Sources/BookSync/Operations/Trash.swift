import AudioFiles
import BookModel
import CatalogStore
import DownloadEngine
import Foundation
import LibraryFiles
import Settings
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
    package static func list(in library: String) async throws -> [FileOperation] {
        try await LibraryFolder.reading(library) { try await $0.trashedFiles() }
    }

    /// What is in the trash, what was removed last first.
    package func list() async throws -> [FileOperation] { try await store.trashedFiles() }

    private var execution: OperationExecution { OperationExecution(library: library, store: store) }

    // MARK: Putting in

    package struct Collected: Sendable {
        package var moved: [EpisodeIdentity] = []
        /// What was not there.
        package var absent: [EpisodeIdentity] = []
        /// What stays where it is.
        package var failures: [FailureReport] = []
    }

    /// Moves the files of removed episodes here, and drops the folders that they leave empty.
    func collect() async throws -> Collected {
        var collected = Collected()
        let episodes = try await store.removedWithFiles()
        guard !episodes.isEmpty else { return collected }
        let files = try await follow(episodes.compactMap(\.file))
        let removed = episodes.compactMap { shelved in files[shelved.episode.identity].map { (shelved, $0) } }
        let found = try await runBlocking {
            try removed.map { _, file -> Bool? in
                let path = library + "/" + file.path
                return try lookedUp(path).map { file.isSame(as: $0) || file.hasContent(at: path) }
            }
        }
        var moving: [Date: [(episode: EpisodeIdentity, to: String)]] = [:]
        for ((shelved, file), isSame) in zip(removed, found) {
            if isSame == true {
                let time = shelved.removedAt ?? .distantPast
                moving[time, default: []].append((file.episode, Self.path(of: file.path, removedAt: time)))
                continue
            }
            if isSame == nil {
                collected.absent.append(file.episode)
            } else {
                collected.failures.append(
                    FailureReport(
                        shelved.episode,
                        Failure(
                            .temporary, what: "\(file.path) was not removed",
                            why: "it is not the file that was fetched, or was changed since",
                            remedy: "delete it if you do not need it")))
            }
            try await store.forgetFile(of: file.episode)
        }
        for (time, targets) in moving.sorted(by: { $0.key < $1.key }) {
            let outcome = try await execution.perform(.trash, targets, batch: time)
            collected.moved += outcome.done.map(\.episode)
            collected.failures += outcome.failures.map { $0.report($1) }
        }
        let folders = Set(zip(removed, found).filter { $1 == nil }.map { splitLibraryPath($0.0.1.path).folder })
        try await runBlocking { OperationExecution.removeIfEmpty(folders, in: library) }
        return collected
    }

    /// Finds the files that the user gave other names, and records those.
    /// - Parameter files: as they are recorded.
    /// - Returns: all of them, by their episodes.
    private func follow(_ files: [LocalFile]) async throws -> [EpisodeIdentity: LocalFile] {
        var followed = Dictionary(files.map { ($0.episode, $0) }) { first, _ in first }
        let gone = try await runBlocking {
            try files.filter { file in try lookedUp(library + "/" + file.path).map(file.isSame) != true }
        }
        guard !gone.isEmpty else { return followed }
        let untrackedFiles = try await LibrarySearch(library: library, store: store).untrackedFiles(
            ofSizes: Set(gone.map(\.size))
        )
        .filter { _, facts in gone.contains { $0.isSame(as: facts) } }
        let examined = try await FileExamination.examine(untrackedFiles.mapValues { _ in .beginning }, in: library)
        for file in gone {
            let path = untrackedFiles.keys.sorted().first { path in
                guard let facts = untrackedFiles[path], file.isSame(as: facts) else { return false }
                let mark = examined[path]?.mark
                return mark.map { $0.episode == file.episode } ?? (facts.inode == file.inode)
            }
            guard let path else { continue }
            var renamed = file
            (renamed.path, renamed.isNamedByUser) = (path, true)
            followed[file.episode] = renamed
            try await store.updateFiles([renamed])
        }
        return followed
    }

    // MARK: Taking out

    package struct Restored: Sendable {
        package var files: [FileOperation] = []
        /// What stays in the trash.
        package var failures: [FailureReport] = []
    }

    /// Brings files back to where they were; their episodes are no longer removed. Of several files of one episode the
    /// first comes back. A file that the episode has by now takes its place here.
    /// - Parameter others: where files go instead, by their episodes; those of episodes that have a file take its place.
    package func restore(
        _ files: [FileOperation], orTo others: [EpisodeIdentity: String] = [:]
    ) async throws -> Restored {
        var seen: Set<EpisodeIdentity> = []
        let numbers = Set(files.filter { seen.insert($0.episode).inserted }.map(\.number))
        _ = try await follow(files.filter { numbers.contains($0.number) }.compactMap(\.current))
        // Those take the names that the episodes' files have now.
        let wanted = try await list().filter { numbers.contains($0.number) }.map { operation -> FileOperation in
            guard operation.current == nil, let path = others[operation.episode] else { return operation }
            var operation = operation
            (operation.file.path, operation.file.isNamedByUser) = (path, false)
            return operation
        }
        let found = try await runBlocking {
            wanted.map { operation in Result { try Self.isBack(operation, in: library) } }
        }
        var (waiting, back): ([FileOperation], [FileOperation]) = ([], [])
        var restored = Restored()
        for (operation, isBack) in zip(wanted, found) {
            do {
                if try isBack.get() { back.append(operation) } else { waiting.append(operation) }
            } catch let failure as Failure where failure.disposition == .skip {
                restored.failures.append(operation.report(failure))
            }
        }
        try await store.complete(try await store.beginReversing(back))
        let outcome = try await execution.reverse(waiting)
        restored.failures += outcome.failures.map { $0.report($1) }
        let failed = Set(outcome.failures.map(\.operation.number))
        restored.files = (back + waiting).filter { !failed.contains($0.number) }.map { operation in
            var operation = operation
            operation.file = operation.restored
            return operation
        }
        try await endTransfers(of: restored.files.map(\.episode))
        return restored
    }

    /// What was begun of episodes that are here again as their catalogs have them is superfluous, and so is that it was paused.
    private func endTransfers(of episodes: [EpisodeIdentity]) async throws {
        for episode in episodes {
            guard let shelved = try await store.episode(episode), let file = shelved.file,
                shelved.transfer != nil, file.catalogChange(to: shelved.episode) == nil
            else { continue }
            try await store.finish([file])
            try await PartialFile.drop([episode], of: library)
        }
    }

    /// Whether somebody brought the file back by hand. Blocks.
    /// - Throws: ``Failure`` where it cannot come back.
    private static func isBack(_ operation: FileOperation, in library: String) throws -> Bool {
        let what: Message = "\(operation.file.path) cannot be restored"
        let there = try lookedUp(library + "/" + operation.restored.path)
        guard try lookedUp(library + "/" + operation.to) != nil else {
            if let there, operation.file.isSame(as: there) { return true }
            throw Failure(
                .temporary, what: what, why: "it is no longer at \(operation.to)",
                remedy: "booksync remove --forget has the next run fetch it again")
        }
        if there == nil || operation.current != nil { return false }
        throw Failure(
            .temporary, what: what, why: "something else has its path", remedy: "move that away and try again")
    }

    /// Deletes files for good where not even the store can be opened for writing, because the disk is full. That they are gone
    /// is recorded when they are deleted once more (``delete(_:)``): there is room for that by then.
    /// - Parameters:
    ///   - files: as ``list(in:)`` has them.
    ///   - command: what the run is, for those that meet its lock.
    ///   - wait: seconds to wait for another run to end.
    package static func makeRoom(
        deleting files: [FileOperation], in library: String, command: String, waitingFor wait: Double
    ) async throws {
        let folder = try await LibraryFolder.open(at: library)
        try await LibraryLock.hold(in: folder, wait: wait, command: command) { _ in
            try await Self.delete(files, in: folder.path)
        }
    }

    private static func delete(_ files: [FileOperation], in library: String) async throws {
        try await runBlocking {
            for trashed in files where try lookedUp(library + "/" + trashed.to) != nil {
                let (folder, name) = splitLibraryPath(trashed.to)
                try LibraryDirectory(folder, in: library, creating: false).delete(name)
                // An equal file that the episode has by now shares it.
                guard trashed.current?.sha256 != trashed.file.sha256 else { continue }
                FileTagging.forgetOriginal(of: trashed.file, in: library)
            }
        }
    }

    /// Deletes files for good.
    package func delete(_ files: [FileOperation]) async throws {
        try await Self.delete(files, in: library)
        try await store.forget(files)
        let folders = Set(files.map { splitLibraryPath($0.to).folder })
        try await runBlocking { [library] in OperationExecution.removeIfEmpty(folders, in: library) }
    }

    /// Deletes what has been here for so many seconds, and had been a day ago by the word of a run of that time: a day with a
    /// clock that is ahead deletes nothing.
    /// - Returns: why that was not possible; nil when it was.
    func deleteExpired(after seconds: Double, at now: Date = Date()) async -> Message? {
        do {
            guard let seen = try await store.lastRun(before: now - 86_400) else { return nil }
            try await delete(try await store.trashedFiles().filter { ($0.doneAt ?? now) < seen - seconds })
            return nil
        } catch {
            return "files that were removed long ago stay in the trash: \(Failure.of(error))"
        }
    }

    /// Deletes what has been here for longest, until the disk has so many bytes more: nothing where all of it is not enough.
    /// - Returns: what was deleted.
    func makeRoom(_ bytes: Int64) async throws -> [FileOperation] {
        let oldestFirst = try await store.trashedFiles().reversed()
        var freed: Int64 = 0
        let files = oldestFirst.prefix { file in
            defer { freed.addSaturated(file.file.size) }
            return freed < bytes
        }
        guard freed >= bytes else { return [] }
        try await delete(Array(files))
        return Array(files)
    }

    static func path(of path: String, removedAt: Date) -> String {
        let milliseconds = Int64(clamping: removedAt.timeIntervalSince1970 * 1000)
        let stamp = Date(timeIntervalSince1970: Double(milliseconds / 1000)).formatted(.inFileName)
        return "\(folder)/\(stamp)-\(milliseconds % 1000)/\(path)"
    }
}

extension JSONDocument {
    /// What is in the trash.
    package init(_ trashed: FileOperation) {
        let document = JSONDocument.naming(trashed.episode, section: trashed.section, name: trashed.name).adding([
            "path": .string(trashed.file.path),
            "size": .integer(trashed.file.size),
            "removed_at": .init(trashed.batch),
        ])
        self = document.adding(trashed.library)
    }
}
