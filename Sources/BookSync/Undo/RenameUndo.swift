import BookModel
import CatalogStore
import DownloadEngine
import Foundation
import LibraryFiles
import ShelfQueries

/// What came, or would come, of taking the last renames back.
package struct RenameUndoReport: Sendable {
    /// A rename that stays.
    package struct Left: Sendable {
        package var rename: PastRename
        package var reason: Message
        /// Whether trying again would be no use.
        var isForGood: Bool
    }

    /// When the run made the renames; nil where there are none to take back.
    package var renamedAt: Date?
    package var isDryRun: Bool
    /// Those that were taken back.
    package var undone: [PastRename] = []
    package var left: [Left] = []

    /// `12 renames of 2026-11-21T09:00:00Z taken back, 1 left`.
    package var sentence: Message {
        guard let renamedAt else { return "no run has renamed anything that could be taken back" }
        let renames: Message = "\(Message(undone.count, "rename")) of \(renamedAt)"
        let sentence: Message = isDryRun ? "\(renames) to take back" : "\(renames) taken back"
        return left.isEmpty ? sentence : "\(sentence), \(left.count) left"
    }

    package var failures: [Failure] {
        guard !left.isEmpty else { return [] }
        return [
            Failure(
                .temporary, what: "not all renames could be taken back", why: "\(left.count) of them are left",
                remedy: left.allSatisfy(\.isForGood)
                    ? nil : "move what is in the way, and run booksync undo again")
        ]
    }
}

/// Takes back the renames of the last run that renamed anything, by the same steps by which they were made: a run that is
/// killed in between is settled by the next one. What a renumbering renamed gets its former numbers as well.
///
/// Other files then keep their names as if the user had given them: an unchanged naming does not move them forward
/// again. As soon as the naming wants just these names, they follow it again.
package struct RenameUndo: Sendable {
    package init() {}

    /// Says what would be taken back, and changes nothing.
    /// - Parameter library: absolute.
    package func plan(in library: String) async throws -> RenameUndoReport {
        try await LibraryFolder.reading(library) { store in
            var report = RenameUndoReport(isDryRun: true)
            guard let (renamedAt, plan) = try await plan(in: library, store: store) else { return report }
            report.renamedAt = renamedAt
            report.undone = plan.renames
            report.left = plan.left
            return report
        }
    }

    package func execute(in session: LibrarySession) async throws -> RenameUndoReport {
        var report = RenameUndoReport(isDryRun: false)
        guard let (renamedAt, plan) = try await plan(in: session.folder.path, store: session.store) else {
            return report
        }
        report.renamedAt = renamedAt
        report.left = plan.left
        // Before the files: what a run that is killed leaves, the naming then takes back.
        let books = Set((plan.renames + plan.left.map(\.rename)).map(\.episode.book))
        try await session.store.setNumbers(of: books, .restore)
        let execution = RenameExecution(library: session.folder.path, store: session.store)
        let outcome = try await execution.execute(plan.renames.map(\.action), batch: .undo)
        let failures = Dictionary(outcome.failures.map { ($0.episode, $0.failure) }) { first, _ in first }
        for rename in plan.renames {
            if let failure = failures[rename.episode] {
                report.left.append(.init(rename: rename, reason: "\(failure)", isForGood: false))
            } else {
                report.undone.append(rename)
            }
        }
        try await session.store.forgetRenames(report.left.filter(\.isForGood).map(\.rename))
        try await session.store.setNumbers(of: books, .forget)
        return report
    }

    private func plan(
        in library: String, store: CatalogStore
    ) async throws -> (renamedAt: Date, plan: RenameUndoPlan)? {
        guard let (renamedAt, renames) = try await store.lastRenames() else { return nil }
        let folders = Set(renames.flatMap { [$0.from, $0.to] }.map { String(splitLibraryPath($0).folder) })
        let files = try await FolderScan.scan(folders: folders, under: library)
        let touched = renames.compactMap(\.file).filter { file in
            files[file.path].map { $0.size == file.size && !file.isSame(as: $0) } ?? false
        }
        let unchanged = try await runBlocking {
            Set(touched.filter { $0.hasContent(at: library + "/" + $0.path) }.map(\.path))
        }
        return (renamedAt, RenameUndoPlan(renames, files: files, unchanged: unchanged))
    }
}

extension PastRename {
    /// The rename that takes it back.
    fileprivate var action: SyncAction {
        SyncAction(
            kind: .rename, episode: Episode(identity: episode, section: section, name: name), path: from, fromPath: to,
            bytes: file?.size, reason: "taken back")
    }
}

extension JSONDocument {
    package init(_ report: RenameUndoReport) {
        func document(_ rename: PastRename) -> JSONDocument {
            .naming(rename.episode, section: rename.section, name: rename.name).adding([
                "from_path": .string(rename.to),
                "path": .string(rename.from),
            ])
        }
        self = [
            "renamed_at": .init(report.renamedAt),
            "dry_run": .bool(report.isDryRun),
            "undone": .array(report.undone.map(document)),
            "left": .array(report.left.map { document($0.rename).adding(["reason": .init($0.reason)]) }),
        ]
    }
}
