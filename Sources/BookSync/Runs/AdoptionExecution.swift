import BookModel
import CatalogStore
import DownloadEngine
import Foundation
import LibraryFiles
import SyncPlanner

/// Records files that were recognised where they stand. Each is read once, for its SHA-256.
struct AdoptionExecution: Sendable {
    /// A file to record.
    struct Adoption: Sendable {
        var action: SyncAction
        /// What planning read of it; nil where that was not all of it.
        var examined: ExaminedFile?
        /// Whether it stands elsewhere than the naming wants it.
        var isNamedByUser: Bool
        /// Whether there may be another version by now: then the next plan replaces the file.
        var mayBeEarlierVersion = false
    }

    let library: String
    let store: CatalogStore
    let emit: @Sendable (SyncEvent) -> Void

    /// How many are read before they are recorded: what a kill costs to read again.
    private static let batch = 32

    /// - Returns: how many were recorded, and what could not be.
    func execute(_ adoptions: [Adoption]) async throws -> (adopted: Int, failures: [FailureReport]) {
        var adopted = 0
        var failures: [FailureReport] = []
        var rest = adoptions[...]
        while !rest.isEmpty {
            try Task.checkCancellation()
            let batch = rest.prefix(Self.batch)
            rest = rest.dropFirst(Self.batch)
            let unread = Dictionary(
                batch.filter { $0.examined == nil }.map { ($0.action.path, ProbeDepth.whole([])) }
            ) { first, _ in first }
            let read = try await FileExamination.examine(unread, in: library)
            var files: [(action: SyncAction, file: LocalFile)] = []
            for adoption in batch {
                do {
                    let file = try file(adoption, examined: adoption.examined ?? read[adoption.action.path])
                    files.append((adoption.action, file))
                } catch let failure as Failure {
                    failures.append(FailureReport(adoption.action.episode, failure))
                }
            }
            for failure in try await record(&files) { failures.append(failure) }
            // What was begun of an episode that is here whole is superfluous, unless it may be of a later version.
            let superfluous = files.filter { [nil, $0.action.episode.size].contains($0.file.catalogSize) }
            try await PartialFile.drop(superfluous.map(\.file.episode), of: library)
            for (action, file) in files {
                adopted += 1
                emit(
                    .adopted(
                        AdoptionReceipt(
                            section: action.episode.section, name: action.episode.name, file: file,
                            reason: action.reason)))
            }
        }
        return (adopted, failures)
    }

    /// Commits the files: all together, or one by one where one of them cannot be recorded; that one goes.
    private func record(_ files: inout [(action: SyncAction, file: LocalFile)]) async throws -> [FailureReport] {
        do {
            try await store.finish(files.map(\.file))
            return []
        } catch let failure as Failure where failure.disposition != .stop {
            var failures: [FailureReport] = []
            var recorded: [(action: SyncAction, file: LocalFile)] = []
            for (action, file) in files {
                do {
                    try await store.finish([file])
                    recorded.append((action, file))
                } catch let failure as Failure where failure.disposition != .stop {
                    failures.append(FailureReport(action.episode, failure))
                }
            }
            files = recorded
            return failures
        }
    }

    private func file(_ adoption: Adoption, examined: ExaminedFile?) throws -> LocalFile {
        let action = adoption.action
        guard let examined, let sha256 = examined.digests[.sha256], examined.facts.size == action.bytes else {
            throw Failure(
                .temporary, what: "\(action.path) is not recorded as episode \(action.episode.section)",
                why: "it cannot be read, or changes while it is", remedy: "run again when nothing writes to it")
        }
        // What rotted or was edited before the store was lost is not sound because it is recorded anew.
        let mark = action.verification == .digest ? nil : examined.mark
        let fetched = mark.flatMap { $0.episode == action.episode.identity ? $0.sha256 : nil } ?? sha256
        var file = LocalFile(
            episode: action.episode.identity, path: action.path, size: examined.facts.size, sha256: fetched,
            modificationTime: examined.facts.modificationTime, inode: examined.facts.inode,
            fetchedAt: Date(), verification: action.verification ?? .unverified, isNamedByUser: adoption.isNamedByUser,
            original: examined.mark?.sha256 == fetched ? examined.mark?.original?.file : nil)
        file.recordClaims(of: action.episode)
        // The next run finds that the catalog has another size.
        if adoption.mayBeEarlierVersion { file.catalogSize = file.fetchedSize }
        return file
    }
}
