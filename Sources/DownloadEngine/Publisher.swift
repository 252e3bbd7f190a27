import BookModel
import Foundation
import LibraryFiles

/// Puts received files into the library, many at a time: fsync of the files, announcement, renames, fsync of the folders,
/// commit, in this order.
///
/// Before anything is renamed the journal says what is about to be published where: a run that is killed between rename and
/// commit finds the file again instead of fetching it twice. A file that is replaced has a second name, on disk, before the
/// rename takes its first.
struct Publisher: Sendable {
    let library: String
    let journal: any TransferJournal
    let watch: DiskGuard
    /// Keeps the file of the episode at the path, which is about to be replaced. Blocks on the disk.
    let keepReplaced: @Sendable (EpisodeIdentity, String) throws -> Void
    /// Called where the library's filesystem syncs no folders.
    let onUnsyncedFolder: @Sendable () -> Void

    private struct Publication {
        let file: ReceivedFile
        /// What is to be recorded of it.
        var outcome: Result<LocalFile, any Error>

        /// What is tried on the way into the library comes only where all before it went well.
        mutating func go(_ step: () throws -> Void) {
            guard case .success = outcome else { return }
            do { try step() } catch { outcome = .failure(error) }
        }

        var hasFailed: Bool { if case .failure = outcome { true } else { false } }
    }

    /// Returns when the files are in the library, durably, and the use of their partial files has ended. Blocks on the
    /// disk.
    ///
    /// - Returns: for each file, in their order, what is to be told of it.
    func publish(_ files: [ReceivedFile]) -> [Result<LocalFile, any Error>] {
        var publications = files.map { file in
            Publication(file: file, outcome: Result { file.record(as: try file.mark()) })
        }
        defer { for publication in publications { publication.file.close(isPublished: !publication.hasFailed) } }
        for file in files { file.startSync() }
        for index in publications.indices { publications[index].go { try files[index].sync() } }
        do {
            try watch.requireSameDisk()
            try announce(&publications)
        } catch {
            // Not announced, so nothing is renamed.
            for index in publications.indices { publications[index].go { throw error } }
        }
        moveIntoLibrary(&publications)
        return recorded(publications.map(\.outcome), of: files).map { $0.mapError(watch.cause) }
    }

    /// All together, or one by one where the path of one of them is another's.
    private func announce(_ publications: inout [Publication]) throws {
        let files = publications.compactMap { if case .success(let file) = $0.outcome { file } else { nil } }
        do {
            try journal.commit(publishing: files)
        } catch let failure as Failure where failure.disposition == .skip && files.count > 1 {
            for index in publications.indices {
                guard case .success(let file) = publications[index].outcome else { continue }
                publications[index].go { try journal.commit(publishing: [file]) }
            }
        }
    }

    /// Opens and syncs each folder once.
    private func moveIntoLibrary(_ publications: inout [Publication]) {
        let indices = publications.indices.filter { !publications[$0].hasFailed }
        let folders = Dictionary(grouping: indices) { splitLibraryPath(publications[$0].file.wanted.path).folder }
        for (folder, indices) in folders {
            do {
                let directory = try LibraryDirectory(folder, in: library)
                let assignsRights = directory.givesRights
                for index in indices {
                    let file = publications[index].file
                    // What a copy of the partial file looks like.
                    var copied: FileAttributes?
                    publications[index].go {
                        let (wanted, name) = (file.wanted, splitLibraryPath(file.wanted.path).name)
                        if wanted.overwrites {
                            if let found = wanted.existingFile { try directory.requireUnchanged(name, since: found) }
                            try keepReplaced(wanted.episode.identity, wanted.path)
                        }
                        let isCopied = try directory.receive(
                            file.path, as: name, replaces: wanted.overwrites, assignsRights: assignsRights)
                        if isCopied { copied = try directory.facts(of: name) }
                    }
                    if let copied { publications[index].outcome = .success(file.record(as: copied)) }
                }
                if try !directory.syncNames() { onUnsyncedFolder() }
            } catch {
                for index in indices { publications[index].go { throw error } }
            }
        }
    }

    /// Commits what is in its place now: all together, or one by one where one of them cannot be recorded. What is renamed and not
    /// recorded is found again by the next run, and so is what a full disk or a lost library kept from being renamed.
    private func recorded(
        _ results: [Result<LocalFile, any Error>], of files: [ReceivedFile]
    ) -> [Result<LocalFile, any Error>] {
        do {
            try watch.requireSameDisk()
        } catch {
            // Another run has the library now: it finds what is in its place.
            return results.map { $0.flatMap { _ in .failure(error) } }
        }
        var (finished, failed): ([LocalFile], [EpisodeIdentity]) = ([], [])
        for (file, result) in zip(files, results) {
            switch result {
            case .success(let file): finished.append(file)
            case .failure(let error):
                if Failure.of(error).disposition != .stop { failed.append(file.wanted.episode.identity) }
            }
        }
        do {
            try journal.commit(finished: finished, failed: failed)
            return results
        } catch {
            // What stays announced is settled by the next run.
            _ = Result { try journal.commit(finished: [], failed: failed) }
            return results.map { result in
                result.flatMap { file in
                    Result {
                        try journal.commit(finished: [file], failed: [])
                        return file
                    }
                }
            }
        }
    }
}
