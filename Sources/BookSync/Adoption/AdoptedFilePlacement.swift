import BookModel
import CatalogStore
import DownloadEngine
import Foundation
import LibraryFiles
import SyncPlanner

/// Brings recognised files to their paths and records them.
///
/// A move or copy is recorded as an operation first: a run that is killed before the file is recorded finds it again. A file that
/// is moved is deleted where it was only when it is in its place, on disk.
struct AdoptedFilePlacement: Sendable {
    /// Absolute; where the files are.
    let folder: String
    let way: AdoptionRequest.ImportMode
    let library: LibraryFolder
    let store: CatalogStore

    /// - Throws: ``Failure``; then the file is where it was.
    func adopt(_ item: AdoptionReport.Item) async throws -> LocalFile {
        let read = try await FileExamination.examine([item.from: .whole([])], in: folder)
        guard let examined = read[item.from], let sha256 = examined.digests[.sha256], examined.facts.size == item.size
        else {
            throw Failure(
                .temporary, what: "\(item.from) is not adopted as episode \(item.episode.section)",
                why: "it cannot be read, or changes while it is", remedy: "run again when nothing writes to it")
        }
        var file = LocalFile(
            episode: item.episode.identity, path: item.path, size: item.size, sha256: sha256,
            modificationTime: examined.facts.modificationTime, inode: examined.facts.inode,
            fetchedAt: Date(), verification: item.verification)
        file.recordClaims(of: item.episode)
        if way == .inPlace {
            file.isNamedByUser = true
            try await store.finish([file])
        } else {
            var operation = try await store.begin(publishing: file)
            let placed = await Result.of { try await place(item, facts: examined.facts) }
            if case .failure = placed { try await store.drop([operation]) }
            let facts = try placed.get()
            (file.modificationTime, file.inode) = (facts.modificationTime, facts.inode)
            operation.file = file
            try await store.complete([operation])
        }
        try await store.forgetRemovals(of: [file.episode])
        try await tidyUp(item, examined.facts)
        return file
    }

    /// - Parameter facts: what the file looks like where it is.
    /// - Returns: what it looks like in its place.
    private func place(_ item: AdoptionReport.Item, facts: FileAttributes) async throws -> FileAttributes {
        let source = folder + "/" + item.from
        return try await runBlocking {
            let waiting = try LibraryFolder.newWorkFile(in: library.path)
            let onOneDisk = try isOneFilesystem(source, library.partialFolder)
            let (targetFolder, name) = splitLibraryPath(item.path)
            let target = try LibraryDirectory(targetFolder, in: library.path)
            switch way {
            case .inPlace:
                return facts
            case .link:
                guard onOneDisk else {
                    throw Failure(
                        .usage, what: "\(source) cannot be linked", why: "it is on another disk than the library",
                        remedy: "say --copy or --move")
                }
                try systemCall("\(source) cannot be linked") { link(source, waiting) }
                try target.receive(waiting, as: name, replaces: false)
            case .move where onOneDisk:
                try syncFile(source)
                try target.receive(source, as: name, replaces: false)
            case .copy, .move:
                guard try copyFile(source, to: waiting, size: facts.size) == facts else {
                    throw Failure(
                        .temporary, what: "\(source) is not copied", why: "it changed meanwhile",
                        remedy: "run again when nothing writes to it")
                }
                try target.receive(waiting, as: name, replaces: false)
            }
            try target.sync()
            return try target.facts(of: name)
        }
    }

    /// Deletes what had been fetched of the episode, and the original of what was moved over to another disk, if that is still what
    /// was copied.
    private func tidyUp(_ item: AdoptionReport.Item, _ copied: FileAttributes) async throws {
        let source = folder + "/" + item.from
        try await PartialFile.drop([item.episode.identity], of: library.path)
        try await runBlocking {
            guard way == .move, let now = fileAttributes(source) else { return }
            guard now == copied else {
                throw Failure(
                    .temporary, what: "\(source) is not deleted",
                    why: "it was written to after it was copied into the library",
                    remedy: "compare it with \(item.path), and delete it if you do not need it")
            }
            try deleteFile(source)
        }
    }
}

private func syncFile(_ path: String) throws {
    let descriptor = try opened(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    defer { close(descriptor) }
    try systemCall("\(path) cannot be synced") { fsync(descriptor) }
}
