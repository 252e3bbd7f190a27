import BookModel
import CatalogStore
import Foundation
import LibraryFiles

/// What came, or would come, of taking the last operations back.
package struct UndoReport: Sendable {
    /// A rename that stays.
    package struct Left: Sendable {
        package var operation: FileOperation
        package var reason: Message
        /// Whether trying again would be no use.
        var isForGood: Bool
    }

    /// When the command or the run began that is taken back; nil where there is none.
    package var batch: Date?
    package var isDryRun: Bool
    /// The renames that were taken back.
    package var renames: [FileOperation] = []
    package var left: [Left] = []
    /// What came back from the trash.
    package var restored: [FileOperation] = []
    package var failures: [Failure] = []

    /// Whether it says anything of renames.
    package var isOfRenames: Bool { !renames.isEmpty || !left.isEmpty }

    /// `12 renames of 2026-11-21T09:00:00Z taken back, 1 left`.
    package var sentence: Message {
        guard let batch else { return "no run has renamed anything that could be taken back" }
        let renames: Message = "\(Message(self.renames.count, "rename")) of \(batch)"
        let sentence: Message = isDryRun ? "\(renames) to take back" : "\(renames) taken back"
        return left.isEmpty ? sentence : "\(sentence), \(left.count) left"
    }

    fileprivate mutating func noteLeft() {
        guard !left.isEmpty else { return }
        failures.append(
            Failure(
                .temporary, what: "not all renames could be taken back", why: "\(left.count) of them are left",
                remedy: left.allSatisfy(\.isForGood)
                    ? nil : "move what is in the way, and run booksync undo again"))
    }
}

/// Takes back what the last command or run did to files, by the same steps: what was removed or replaced comes back from the trash,
/// and what was renamed gets its name back. A run that is killed in between is settled by the next one. What a renumbering renamed
/// gets its former numbers as well.
///
/// Other renamed files then keep their names as if the user had given them: an unchanged naming does not move them forward
/// again. As soon as the naming wants just these names, they follow it again.
package struct Undo: Sendable {
    package init() {}

    /// When the command or the run began that would be taken back; nil where there is none.
    package func lastBatch(in library: String) async throws -> Date? {
        try await LibraryFolder.reading(library) { try await $0.doneOperations().first?.batch }
    }

    /// Says what would be taken back, and changes nothing.
    /// - Parameter library: absolute.
    package func plan(in library: String) async throws -> UndoReport {
        try await LibraryFolder.reading(library) { store in
            var report = UndoReport(isDryRun: true)
            let operations = try await store.doneOperations()
            report.batch = operations.first?.batch
            report.restored = operations.filter { $0.kind != .rename }
            let plan = try await plan(operations, of: store, in: library)
            (report.renames, report.left) = (plan.renames, plan.left)
            report.noteLeft()
            return report
        }
    }

    package func execute(in session: LibrarySession) async throws -> UndoReport {
        var report = UndoReport(isDryRun: false)
        let (library, store) = (session.folder.path, session.store)
        var operations = try await store.doneOperations()
        guard let batch = operations.first?.batch else { return report }
        report.batch = batch
        let trashed = operations.filter { $0.kind != .rename }
        if !trashed.isEmpty {
            let restored = try await session.trash.restore(trashed)
            report.restored = restored.files
            report.failures = restored.failures.map(\.failure)
            if restored.failures.isEmpty { try await store.forgetRemovals(at: batch) }
            operations = try await store.doneOperations(of: batch)
        }
        let plan = try await plan(operations, of: store, in: library)
        report.left = plan.left
        // Before the files: what a run that is killed leaves, the naming then takes back.
        let books = Set((plan.renames + plan.left.map(\.operation)).map(\.episode.book))
        try await store.setNumbers(of: books, .restore)
        let outcome = try await session.operations.reverse(plan.renames)
        report.renames = outcome.done
        report.left += outcome.failures.map { .init(operation: $0, reason: "\($1)", isForGood: false) }
        try await store.forget(report.left.filter(\.isForGood).map(\.operation))
        try await store.setNumbers(of: books, .forget)
        report.noteLeft()
        return report
    }

    private func plan(
        _ operations: [FileOperation], of store: CatalogStore, in library: String
    ) async throws -> RenameUndoPlan {
        let renames = operations.filter { $0.kind == .rename }
        let folders = Set(renames.flatMap { [$0.file.path, $0.to] }.map { String(splitLibraryPath($0).folder) })
        let files = try await FolderScan.scan(folders: folders, under: library)
        let touched = renames.compactMap(\.current).filter { file in
            files[file.path].map { $0.size == file.size && !file.isSame(as: $0) } ?? false
        }
        let unchanged = try await runBlocking {
            Set(touched.filter { $0.hasContent(at: library + "/" + $0.path) }.map(\.path))
        }
        return RenameUndoPlan(
            renames, files: files, recorded: renames.isEmpty ? [] : try await store.filePaths(), unchanged: unchanged)
    }
}

extension JSONDocument {
    package init(_ report: UndoReport) {
        func document(_ rename: FileOperation) -> JSONDocument {
            .naming(rename.episode, section: rename.section, name: rename.name).adding([
                "from_path": .string(rename.to),
                "path": .string(rename.file.path),
            ])
        }
        self = [
            "renamed_at": .init(report.isOfRenames ? report.batch : nil),
            "dry_run": .bool(report.isDryRun),
            "undone": .array(report.renames.map(document)),
            "left": .array(report.left.map { document($0.operation).adding(["reason": .init($0.reason)]) }),
            "restored": .array(report.restored.map { JSONDocument($0) }),
            "errors": .array(report.failures.map { .string($0.description) }),
        ]
    }
}
