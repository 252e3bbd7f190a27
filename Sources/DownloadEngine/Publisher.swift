import BookModel
import Foundation

/// Puts received files into the library: fsync of the file, rename, fsync of the folder, commit, in this order.
///
/// Files that arrive while a batch is under way form the next one and share its folder syncs and commits, so that
/// thousands of small files don't wait for thousands of syncs; a file that comes alone does not wait for company.
///
/// Before anything is renamed the journal says what is about to be published where (`verifying`, with digest and
/// path): a run that is killed between rename and commit finds the file again instead of fetching it twice.
actor Publisher {
    private struct Submission {
        let file: ReceivedFile
        let continuation: CheckedContinuation<LocalFile, any Error>
    }

    private let thread = FileThread(label: "booksync.publisher")
    private let library: String
    private let journal: any TransferJournal
    private let watch: LibraryWatch
    private var submissions: [Submission] = []
    private var isWorking = false

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(library: String, journal: any TransferJournal, watch: LibraryWatch) {
        self.library = library
        self.journal = journal
        self.watch = watch
    }

    /// Returns when the file is in the library, durably. A publication that has begun is not cancelled.
    func publish(_ file: ReceivedFile) async throws -> LocalFile {
        try await withCheckedThrowingContinuation { continuation in
            submissions.append(Submission(file: file, continuation: continuation))
            guard !isWorking else { return }
            isWorking = true
            Task { await work() }
        }
    }

    private func work() async {
        while !submissions.isEmpty {
            let batch = submissions
            submissions = []
            await publish(batch)
        }
        isWorking = false
    }

    private func publish(_ batch: [Submission]) async {
        var results = [Result<LocalFile, any Error>?](repeating: nil, count: batch.count)
        do {
            try await watch.requireSameDisk()
            try await journal.save(batch.map { announcement(of: $0.file) })
            for index in await synced(batch, failures: &results) {
                results[index] = Result { try place(batch[index].file) }
            }
            syncFolders(of: batch, results: &results)
            await record(&results)
        } catch {
            // Not announced, so nothing was renamed.
            results = results.map { result in
                if case .failure? = result { return result }
                return .failure(error)
            }
        }
        for (submission, result) in zip(batch, results) {
            await submission.file.partial.close()
            submission.continuation.resume(with: await explained(result ?? .failure(CancellationError())))
        }
    }

    /// What failed because the library went away, at whatever step that was met, failed for that reason.
    private func explained(_ result: Result<LocalFile, any Error>) async -> Result<LocalFile, any Error> {
        guard case .failure = result else { return result }
        do {
            try await watch.requireSameDisk()
            return result
        } catch {
            return .failure(error)
        }
    }

    /// Commits what is in its place now: all together, or one by one where one of them cannot be recorded. What is
    /// renamed and not recorded is found again by the next run.
    private func record(_ results: inout [Result<LocalFile, any Error>?]) async {
        let files = results.compactMap { if case .success(let file)? = $0 { file } else { nil } }
        guard !files.isEmpty else { return }
        do {
            try await journal.finish(files)
        } catch {
            for (index, result) in results.enumerated() {
                guard case .success(let file)? = result else { continue }
                do {
                    try await journal.finish([file])
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

    /// Syncs the files, each on its own thread. Returns the indices of those that are on disk now.
    private func synced(_ batch: [Submission], failures: inout [Result<LocalFile, any Error>?]) async -> [Int] {
        let outcomes = await withTaskGroup(of: (Int, (any Error)?).self) { group in
            for (index, submission) in batch.enumerated() {
                group.addTask {
                    do {
                        try await submission.file.partial.sync()
                        return (index, nil)
                    } catch {
                        return (index, error)
                    }
                }
            }
            return await group.reduce(into: [(Int, (any Error)?)]()) { $0.append($1) }
        }
        for case (let index, let error?) in outcomes { failures[index] = .failure(error) }
        return outcomes.filter { $0.1 == nil }.map(\.0).sorted()
    }

    private func place(_ file: ReceivedFile) throws -> LocalFile {
        let (folder, name) = splitLibraryPath(file.wanted.path)
        let directory = try LibraryDirectory(folder, in: library)
        try directory.receive(file.partial.path, as: name, replaces: file.wanted.overwrites)
        let facts = try directory.facts(of: name)
        return LocalFile(
            episode: file.wanted.episode.identity, path: file.wanted.path, size: facts.size, sha256: file.sha256,
            modificationTime: facts.modificationTime, inode: facts.inode, validator: file.record.validator,
            catalogSize: file.wanted.episode.size, catalogModifiedAt: file.wanted.episode.modifiedAt,
            fetchedAt: Date(), verification: file.verification,
            fetchedFrom: file.wanted.episode.address?.withoutSecrets)
    }

    private func syncFolders(of batch: [Submission], results: inout [Result<LocalFile, any Error>?]) {
        var outcomes: [Substring: (any Error)?] = [:]
        for (index, submission) in batch.enumerated() {
            guard case .success? = results[index] else { continue }
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
