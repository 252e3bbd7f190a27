import ArgumentParser
import BookModel
import BookSync
import Foundation
import LibraryFiles
import Settings

struct UndoCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "undo",
        abstract: .words("Take back what the last command or run removed, replaced and renamed."),
        discussion: .words(
            """
            What was removed or replaced comes back from the trash.

            Taking renames back is for a shelf that was renamed by a naming that was changed by mistake. What was moved or \
            changed since, or whose old name is taken, is left and named. The files keep the names that they get back, also while the naming is \
            still the changed one; set naming back to what it was, and they follow it again from the next run on. What is \
            fetched in the meantime gets its name from the naming as it is. Run it again to go back further.
            """))

    @OptionGroup var common: CommonOptions

    @OptionGroup var waiting: WaitOptions

    @Flag(help: .words("Print what would be done and change nothing."))
    var dryRun = false

    func perform(in program: Program) async throws -> ExitStatus {
        let configuration = try await lastChanged(try await program.libraryConfiguration(), program)
        // Taking the lock would make a library where there is none.
        _ = try await LibraryFolder.requireStore(in: configuration.library)
        let report =
            dryRun
            ? try await Undo().plan(in: configuration.library)
            : try await program.withLibrary(configuration.library, "undo", waitingFor: waiting.seconds) {
                try await Undo().execute(in: $0)
            }
        var lines: [Message] = report.restored.map {
            report.isDryRun ? "\($0.file.path) to be restored" : "restored \($0.file.path)"
        }
        let isOfTrash = report.batch != nil && !report.isOfRenames || !report.restored.isEmpty
        if isOfTrash, !report.isDryRun { lines.append("\(report.restored.summary) restored") }
        if report.isOfRenames || report.batch == nil { lines.append(report.sentence) }
        await program.print(
            JSONDocument(report).event("undone"), or: Self.table(report, program.words), then: lines)
        if !report.renames.isEmpty, !report.isDryRun {
            await program.note(
                "the files keep these names until naming and catalog want just them again; a changed naming can be set back"
            )
        }
        return await program.report(report.failures)
    }

    /// Of several libraries the one in which something was removed or renamed last.
    private func lastChanged(_ configuration: Configuration, _ program: Program) async throws
        -> Configuration
    {
        guard configuration.hasSeveralLibraries else { return configuration }
        let (found, _) = try await program.ask(configuration) {
            own, place -> (place: LibraryPlace, at: Date)? in
            guard try await ShelfReader.read(own.library, { _ in true }) != nil else { return nil }
            return try await Undo().lastBatch(in: own.library).map { (place, $0) }
        }
        // The store of the other one may know of something later.
        if let (_, failure) = found.failures.first { throw failure }
        let last = found.answers.compactMap(\.value).max { $0.at < $1.at }?.place
        if let last { await program.note("\(last.name):") }
        return configuration.choosing(last ?? configuration.libraries[0])
    }

    private static func table(_ report: UndoReport, _ words: Wordings) -> TextTable {
        var table = TextTable(columns: [
            .init(title: "section", alignment: .trailing), .init(title: "path", isFlexible: true),
            .init(title: "why not", isFlexible: true),
        ])
        table.rows =
            report.renames.map { ["\($0.section)", "\($0.to) → \($0.file.path)", ""] }
            + report.left.map { ["\($0.operation.section)", $0.operation.to, words($0.reason)] }
        return table
    }
}
