import BookModel
import CatalogStore
import DownloadEngine
import Foundation
import LibraryFiles

/// Moves the files of a plan's renames, in the plan's order.
///
/// The store records all intentions first and the outcomes afterwards, so that a run that is killed in between knows
/// which names to look under.
struct RenameExecution: Sendable {
    let library: String
    let store: CatalogStore

    /// - Parameter batch: what the renames are recorded as.
    /// - Returns: the renames that were made, what could not be, and the batch for more renames of the same run.
    func execute(
        _ actions: [SyncAction], batch: RenameBatch = .new
    ) async throws -> (renamed: [SyncAction], failures: [FailureReport], batch: RenameBatch) {
        let renames = actions.filter { $0.kind == .rename }
        guard !renames.isEmpty else { return ([], [], batch) }
        let number = try await store.intendRenames(
            renames.map { (episode: $0.episode.identity, to: $0.path) }, batch: batch)
        let steps = RenameSteps.steps(
            for: renames.compactMap { action in
                action.fromPath.map { .init(episode: action.episode.identity, from: $0, to: action.path) }
            })
        var targets: [EpisodeIdentity: String] = [:]
        var failed: [EpisodeIdentity: Failure] = [:]
        for step in steps where failed[step.episode] == nil {
            do {
                try await move(step.from, to: step.to)
                targets[step.episode] = step.to
            } catch let failure as Failure {
                failed[step.episode] = failure
            }
        }
        var left: [EpisodeIdentity] = []
        for action in renames where failed[action.episode.identity] != nil {
            let episode = action.episode.identity
            guard let target = targets[episode], let from = action.fromPath else {
                left.append(episode)
                continue
            }
            if try await isBack(episode, from: target, to: from) { left.append(episode) }
        }
        let moved = renames.filter { failed[$0.episode.identity] == nil }
        try await store.completeRenames(moved.map(\.episode.identity))
        try await store.abandonRenames(left)
        let failures = renames.compactMap { action in
            failed[action.episode.identity].map { FailureReport(action.episode, $0) }
        }
        return (moved, failures, number.map { .number($0) } ?? batch)
    }

    /// Takes a file that stepped aside back to where it was; where another took its place meanwhile, it stays aside and
    /// is recorded there.
    /// - Returns: whether it is where it was.
    private func isBack(_ episode: EpisodeIdentity, from aside: String, to path: String) async throws -> Bool {
        do {
            try await move(aside, to: path)
            return true
        } catch is Failure {
            guard var file = try await store.episode(episode)?.file else { return false }
            file.path = aside
            try await store.updateFiles([file])
            return false
        }
    }

    /// One move, on disk when the call returns. Never overwrites.
    func move(_ fromPath: String, to path: String) async throws {
        let library = library
        try await runBlocking {
            let (oldFolder, oldName) = splitLibraryPath(fromPath)
            let (newFolder, newName) = splitLibraryPath(path)
            let source = try LibraryDirectory(oldFolder, in: library, creating: false)
            let target = try LibraryDirectory(newFolder, in: library)
            try target.receive(oldName, from: source, as: newName)
            try target.sync()
            if oldFolder != newFolder {
                try source.sync()
                try removeEmptyFolders(oldFolder, in: library)
            }
        }
    }

    /// Finds out how far an interrupted run came with its renames. Those that were caught aside are finished, and with
    /// them the others; if none was, the rest is for the next plan.
    func recoverInterrupted() async throws {
        let intended = try await store.intendedRenames()
        guard !intended.isEmpty else { return }
        let folders = Set(
            intended.flatMap { [$0.file.path, $0.pendingPath] }.map { String(splitLibraryPath($0).folder) })
        let files = try await FolderScan.scan(folders: folders, under: library)
        var existing = Set(files.keys)
        var moved: [EpisodeIdentity] = []
        var open: [(file: LocalFile, to: String, aside: String?)] = []
        let inodes = Set(intended.map(\.file.inode))
        for (file, pendingPath) in intended {
            let aside = RenameSteps.aside(file.episode, from: file.path)
            let target = files[pendingPath]
            if let target, target.inode == file.inode && target.size == file.size {
                moved.append(file.episode)
            } else if files[aside]?.kind == .file {
                open.append((file, pendingPath, aside))
            } else if let target, files[file.path] == nil, !inodes.contains(target.inode),
                target.isUnchanged(since: file)
            {
                // A shelf that was copied to another disk has other inodes, and the same times.
                moved.append(file.episode)
            } else {
                open.append((file, pendingPath, nil))
            }
        }
        if open.contains(where: { $0.aside != nil }) {
            while let index = open.firstIndex(where: { canMove($0, files: files, existing: existing) }) {
                let (file, to, aside) = open.remove(at: index)
                try await move(aside ?? file.path, to: to)
                existing.remove(aside ?? file.path)
                existing.insert(to)
                moved.append(file.episode)
            }
        }
        try await store.completeRenames(moved)
        var left: [EpisodeIdentity] = []
        for (file, _, aside) in open {
            if let aside {
                // Something else took the place that it was to have.
                if try await isBack(file.episode, from: aside, to: file.path) { left.append(file.episode) }
            } else {
                left.append(file.episode)
            }
        }
        try await store.abandonRenames(left)
    }

    /// Whether the file is where it is thought to be, and nothing stands where it is to go.
    private func canMove(
        _ rename: (file: LocalFile, to: String, aside: String?), files: [String: FileAttributes], existing: Set<String>
    ) -> Bool {
        guard !existing.contains(rename.to) else { return false }
        if rename.aside != nil { return true }
        guard existing.contains(rename.file.path), let facts = files[rename.file.path] else { return false }
        return facts.inode == rename.file.inode && facts.size == rename.file.size
    }
}

extension FileAttributes {
    /// Whether it is the recorded file as far as size and time tell.
    fileprivate func isUnchanged(since file: LocalFile) -> Bool {
        kind == .file && size == file.size && modificationTime == file.modificationTime
    }
}
