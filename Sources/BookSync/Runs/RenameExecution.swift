import BookModel
import CatalogStore
import DownloadEngine
import Foundation

/// Moves the files of a plan's renames, in the plan's order.
///
/// The store records all intentions first and the outcomes afterwards, so that a run that is killed in between knows
/// which names to look under.
struct RenameExecution: Sendable {
    let library: String
    let store: CatalogStore

    /// - Returns: how many files were moved, and what could not be.
    func execute(_ actions: [SyncAction]) async throws -> (renamed: Int, failures: [FailureReport]) {
        let renames = actions.filter { $0.kind == .rename }
        guard !renames.isEmpty else { return (0, []) }
        try await store.intendRenames(renames.map { (episode: $0.episode.identity, to: $0.path) })
        var moved: [EpisodeIdentity] = []
        var left: [EpisodeIdentity] = []
        var failures: [FailureReport] = []
        for action in renames {
            do {
                try await move(action)
                moved.append(action.episode.identity)
            } catch let failure as Failure {
                left.append(action.episode.identity)
                failures.append(
                    FailureReport(
                        book: action.episode.identity.book, episode: action.episode.identity,
                        section: action.episode.section, name: action.episode.name, failure: failure))
            }
        }
        try await store.completeRenames(moved)
        try await store.abandonRenames(left)
        return (moved.count, failures)
    }

    private func move(_ action: SyncAction) async throws {
        guard let fromPath = action.fromPath else { return }
        let (library, path) = (library, action.path)
        try await offPool {
            let (oldFolder, oldName) = splitLibraryPath(fromPath)
            let (newFolder, newName) = splitLibraryPath(path)
            let source = try LibraryDirectory(oldFolder, in: library, creating: false)
            let target = try LibraryDirectory(newFolder, in: library)
            try target.receive(oldName, from: source, as: newName)
            try target.sync()
            try source.sync()
            try removeEmptyFolders(oldFolder, in: library)
        }
    }

    /// Finds out how far an interrupted run came with its renames.
    func settleInterrupted() async throws {
        let intended = try await store.intendedRenames()
        guard !intended.isEmpty else { return }
        let folders = Set(
            intended.flatMap { [$0.file.path, $0.pendingPath] }.map { String(splitLibraryPath($0).folder) })
        let files = try await FolderScan.scan(folders: folders, under: library)
        var moved: [EpisodeIdentity] = []
        var left: [EpisodeIdentity] = []
        for (file, pendingPath) in intended {
            let isMoved = files[pendingPath]?.inode == file.inode && files[pendingPath]?.size == file.size
            if isMoved { moved.append(file.episode) } else { left.append(file.episode) }
        }
        try await store.completeRenames(moved)
        try await store.abandonRenames(left)
    }
}
