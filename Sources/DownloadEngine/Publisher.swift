import BookModel
import Foundation
import LibraryFiles

/// Puts received files into the library: fsync of the file, announcement, rename, fsync of the folder, commit, in this
/// order.
///
/// Files that arrive while a batch is under way form the next one and share its announcement, folder syncs and commit, so
/// that thousands of small files don't wait for thousands of syncs; a file that comes alone does not wait for company.
///
/// Before anything is renamed the journal says what is about to be published where (`verifying`, with digest and
/// path): a run that is killed between rename and commit finds the file again instead of fetching it twice.
actor Publisher {
    private struct Submission {
        let file: ReceivedFile
        let continuation: CheckedContinuation<LocalFile, any Error>
    }

    private let thread = SerialQueueExecutor(label: "booksync.publisher")
    private let library: String
    private let journal: any TransferJournal
    private let watch: DiskGuard
    private var submissions: [Submission] = []

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(library: String, journal: any TransferJournal, watch: DiskGuard) {
        self.library = library
        self.journal = journal
        self.watch = watch
    }

    /// Returns when the file is in the library, durably, and the use of its partial file has ended. A publication that
    /// has begun is not cancelled. Called by a task that prefers the file's own thread, where files of other transfers do
    /// not wait for its sync.
    nonisolated func publish(_ file: ReceivedFile) async throws -> LocalFile {
        do {
            try await file.partial.mark(
                FileMark(episode: file.wanted.episode.identity, sha256: file.sha256, address: file.address))
            try await file.partial.sync()
            let published = try await publishSynced(file)
            await file.partial.close()
            return published
        } catch {
            await file.partial.close()
            throw explained(error)
        }
    }

    private func publishSynced(_ file: ReceivedFile) async throws -> LocalFile {
        try await withCheckedThrowingContinuation { continuation in
            submissions.append(Submission(file: file, continuation: continuation))
            guard submissions.count == 1 else { return }
            // Lets those in that wait already.
            Task { publishSubmissions() }
        }
    }

    private func publishSubmissions() {
        let batch = submissions
        submissions = []
        publish(batch)
    }

    private func publish(_ batch: [Submission]) {
        var results: [Result<LocalFile, any Error>]
        do {
            try watch.requireSameDisk()
            try journal.commit(batch.map { announcement(of: $0.file) })
            results = batch.map { submission in Result { try moveIntoLibrary(submission.file) } }
            syncFolders(of: batch, results: &results)
            record(&results)
        } catch {
            // Not announced, so nothing was renamed.
            results = batch.map { _ in .failure(error) }
        }
        for (submission, result) in zip(batch, results) { submission.continuation.resume(with: result) }
    }

    /// What failed because the library went away, at whatever step that was met, failed for that reason.
    private nonisolated func explained(_ error: any Error) -> any Error {
        do {
            try watch.requireSameDisk()
            return error
        } catch {
            return error
        }
    }

    /// Commits what is in its place now: all together, or one by one where one of them cannot be recorded. What is
    /// renamed and not recorded is found again by the next run.
    private func record(_ results: inout [Result<LocalFile, any Error>]) {
        let files = results.compactMap { if case .success(let file) = $0 { file } else { nil } }
        guard !files.isEmpty else { return }
        do {
            try journal.commit(finished: files)
        } catch {
            for (index, result) in results.enumerated() {
                guard case .success(let file) = result else { continue }
                do {
                    try journal.commit(finished: [file])
                } catch {
                    results[index] = .failure(error)
                }
            }
        }
    }

    private func announcement(of file: ReceivedFile) -> TransferRecord {
        var record = file.record
        record.state = .verifying
        record.sha256 = file.sha256
        record.path = file.wanted.path
        return record
    }

    private func moveIntoLibrary(_ file: ReceivedFile) throws -> LocalFile {
        let (folder, name) = splitLibraryPath(file.wanted.path)
        let directory = try LibraryDirectory(folder, in: library)
        if file.wanted.overwrites, let existingFile = file.wanted.existingFile {
            try directory.requireUnchanged(name, since: existingFile)
        }
        try directory.receive(file.partial.path, as: name, replaces: file.wanted.overwrites)
        let facts = try directory.facts(of: name)
        return LocalFile(
            episode: file.wanted.episode.identity, path: file.wanted.path, size: facts.size, sha256: file.sha256,
            modificationTime: facts.modificationTime, inode: facts.inode, validator: file.record.validator,
            catalogSize: file.wanted.episode.size, catalogModifiedAt: file.wanted.episode.modifiedAt,
            fetchedAt: Date(), verification: file.verification, fetchedFrom: file.address)
    }

    private func syncFolders(of batch: [Submission], results: inout [Result<LocalFile, any Error>]) {
        var outcomes: [Substring: (any Error)?] = [:]
        for (index, submission) in batch.enumerated() {
            guard case .success = results[index] else { continue }
            let folder = splitLibraryPath(submission.file.wanted.path).folder
            if outcomes[folder] == nil {
                do {
                    try LibraryDirectory(folder, in: library, creating: false).sync()
                    outcomes[folder] = .some(nil)
                } catch {
                    outcomes[folder] = .some(error)
                }
            }
            if case .some(.some(let error)) = outcomes[folder] { results[index] = .failure(error) }
        }
    }
}
