import ArgumentParser
import BookModel
import BookSync
import Foundation
import Languages
import LibraryFiles
import Settings
import ShelfQueries
import Terminal

struct UndoCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "undo",
        abstract: .words("Take back the last removal, or the renames of the last run that renamed anything."),
        discussion: .words(
            """
            Whichever was later. What was removed comes back from the trash.

            Taking renames back is for a shelf that was renamed by a naming that was changed by mistake. What was moved or \
            changed since, or whose old name is taken, is left and named. The files keep the names that they get back, also while the naming is \
            still the changed one; set naming back to what it was, and they follow it again from the next run on. What is \
            fetched in the meantime gets its name from the naming as it is. Run it again to go back one run further.
            """))

    @OptionGroup var common: CommonOptions

    @OptionGroup var waiting: WaitOptions

    @Flag(help: .words("Print what would be done and change nothing."))
    var dryRun = false

    func perform(in program: Program) async throws -> ExitStatus {
        let configuration = try await lastChanged(try await program.libraryConfiguration(), program)
        // Taking the lock would make a library where there is none.
        _ = try await LibraryFolder.requireStore(in: configuration.library)
        let trashed = try await Trash.list(in: configuration.library)
        var report = try await RenameUndo().plan(in: configuration.library)
        if let last = trashed.first?.removedAt, last > report.renamedAt ?? .distantPast {
            // The renames are older, and stay.
            (report.renamedAt, report.undone, report.left, report.isDryRun) = (nil, [], [], dryRun)
            let renames = report
            guard dryRun else {
                return try await program.restoreTrash(
                    in: configuration, command: "undo", waitingFor: waiting.seconds
                ) { trash in
                    try await trash.undoRemoval(at: last)
                } document: { restored in
                    Self.document(renames, restored: restored.files, restored.failures.map(\.failure))
                }
            }
            let removed = trashed.filter { $0.removedAt == last }
            await program.print(
                Self.document(renames, restored: removed), or: removed.map { "\($0.file.path) to be restored" })
            return .done
        }
        if !dryRun {
            report = try await LibrarySession.withLibrary(
                at: configuration.library, command: "undo", waitingFor: waiting.seconds,
                knownLibraries: program.knownLibraries
            ) { try await RenameUndo().execute(in: $0) }
        }
        await program.print(
            Self.document(report), or: Self.table(report, program.words), then: [report.sentence])
        if !report.undone.isEmpty, !report.isDryRun, !program.options.quiet {
            await program.streams.writeError(
                "the files keep these names until naming and catalog want just them again; a changed naming can be set back"
            )
        }
        return ExitStatus(of: report.failures)
    }

    /// Of several libraries the one in which something was removed or renamed last.
    private func lastChanged(_ configuration: Configuration, _ program: Program) async throws
        -> Configuration
    {
        guard configuration.hasSeveralLibraries else { return configuration }
        let (found, _) = try await program.ask(configuration) {
            own, place -> (place: LibraryPlace, at: Date)? in
            guard try await ShelfReader.read(own.library, { _ in true }) != nil else { return nil }
            let removedAt = try await Trash.list(in: own.library).first?.removedAt
            let renamedAt = try await RenameUndo().plan(in: own.library).renamedAt
            return [removedAt, renamedAt].compactMap(\.self).max().map { (place, $0) }
        }
        // The store of the other one may know of something later.
        if let (_, failure) = found.failures.first { throw failure }
        let last = found.answers.compactMap(\.value).max { $0.at < $1.at }?.place
        if let last, !program.options.quiet { await program.streams.writeError("\(last.name):") }
        return configuration.choosing(last ?? configuration.libraries[0])
    }

    /// One shape, whichever of the two was taken back.
    private static func document(
        _ report: RenameUndoReport, restored: [TrashedFile] = [], _ failures: [Failure] = []
    ) -> JSONDocument {
        JSONDocument(report).event("undone").adding([
            "restored": .array(restored.map { JSONDocument($0) }),
            "errors": .array(failures.map { .string($0.description) }),
        ])
    }

    private static func table(_ report: RenameUndoReport, _ words: Wordings) -> TextTable {
        var table = TextTable(columns: [
            .init(title: "section", alignment: .trailing), .init(title: "path", isFlexible: true),
            .init(title: "why not", isFlexible: true),
        ])
        table.rows =
            report.undone.map { ["\($0.section)", "\($0.to) → \($0.from)", ""] }
            + report.left.map { ["\($0.rename.section)", $0.rename.to, words($0.reason)] }
        return table
    }
}
