import ArgumentParser
import BookModel
import BookSync
import Foundation
import LibraryFiles
import Settings

struct TrashCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trash", abstract: .words("List, restore or delete what was removed."),
        discussion: .words(
            """
            Removed and replaced files are kept in the library's .booksync/trash, for \(Trash.keptDays) days or as the \
            setting trash says.
            """),
        subcommands: [TrashListCommand.self, TrashRestoreCommand.self, TrashEmptyCommand.self])
}

struct TrashListCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: .words("List what was removed, the last first; offline."))

    @OptionGroup var common: CommonOptions

    func perform(in program: Program) async throws -> ExitStatus {
        let configuration = try await program.libraryConfiguration()
        let (found, status) = try await program.ask(configuration) { own, place -> [FileOperation] in
            guard configuration.hasSeveralLibraries else { return try await Trash.list(in: own.library) }
            return try await ShelfReader.read(own.library) { try await $0.trashedFiles() } ?? []
        }
        var files = found.answers.flatMap { $1.named($0, of: configuration) }
        if configuration.hasSeveralLibraries { files.sort { $0.batch > $1.batch } }
        await program.print(
            .array(files.map { JSONDocument($0) }), or: Self.table(files), then: ["\(files.summary) in the trash"])
        return status
    }

    private static func table(_ files: [FileOperation]) -> TextTable {
        files.table([
            .init(title: "removed") { describeTime($0.batch) },
            .init(title: "episode") { BookReference.example($0.section, of: $0.file.episode.book) },
            .init(title: "bytes", .trailing) { describeBytes($0.file.size) },
            .init(title: "path", isFlexible: true) { $0.file.path },
        ]).withLibraries(of: files)
    }
}

struct TrashRestoreCommand: BookSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: .words("Bring removed files back to where they were."),
        discussion: .words(
            """
            Their episodes are no longer removed. Of several files of an episode the last one comes back; a file that the \
            episode has by now goes to the trash instead.
            """))

    @OptionGroup var common: CommonOptions
    @OptionGroup var scope: ScopeArguments
    @OptionGroup var waiting: WaitOptions

    var references: [String] { scope.references }

    func perform(
        _ references: [String], in configuration: Configuration, _ program: Program
    ) async throws -> ExitStatus {
        let scope = try scope.scope(references, configuration, all: .everything)
        _ = try await LibraryFolder.requireStore(in: configuration.library)
        return try await program.withLibrary(
            configuration.library, "trash restore", waitingFor: waiting.seconds
        ) { session in
            let restored = try await session.trash.restore(try await session.trash.list().filter(scope.includes))
            await program.print(
                .array(
                    restored.files.map { JSONDocument($0).event("restored") }
                        + restored.failures.compactMap { JSONDocument(.failed($0)) }),
                or: restored.files.map { "restored \($0.file.path)" } + ["\(restored.files.summary) restored"])
            return await program.report(restored.failures.map(\.failure))
        }
    }
}

struct TrashEmptyCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "empty", abstract: .words("Delete what is in the trash, for good."))

    @OptionGroup var common: CommonOptions

    @OptionGroup var waiting: WaitOptions

    @Flag(name: [.short, .long], help: .words("Delete without asking."))
    var yes = false

    func perform(in program: Program) async throws -> ExitStatus {
        try await program.inLibraries(try await program.libraryConfiguration()) { configuration, _ in
            do {
                return try await empty(configuration.library, program, isConfirmed: yes)
            } catch let failure as Failure where failure.isLackOfRoom {
                return try await emptyFullDisk(configuration.library, program, failure)
            }
        }
    }

    /// Deletes first, and records it when that has made room for it.
    private func emptyFullDisk(
        _ library: String, _ program: Program, _ failure: Failure
    ) async throws -> ExitStatus {
        let files = try await Trash.list(in: library)
        guard !files.isEmpty else { throw failure }
        guard try await isMeant(files, program, isConfirmed: yes) else {
            await program.streams.writeError("nothing was deleted")
            return .done
        }
        try await Trash.makeRoom(
            deleting: files, in: library, command: "trash empty", waitingFor: waiting.seconds)
        return try await empty(library, program, isConfirmed: true)
    }

    private func empty(_ library: String, _ program: Program, isConfirmed: Bool) async throws -> ExitStatus {
        _ = try await LibraryFolder.requireStore(in: library)
        // What a run that was killed was about to remove comes into the trash when the library is opened. Nobody saw it there yet.
        let shown = Set(try await Trash.list(in: library).map(\.number))
        return try await program.withLibrary(library, "trash empty", waitingFor: waiting.seconds) { session in
            let files = try await session.trash.list().filter { shown.contains($0.number) }
            guard try await isMeant(files, program, isConfirmed: isConfirmed) else {
                await program.streams.writeError("nothing was deleted")
                return .done
            }
            try await session.trash.delete(files)
            await program.print(
                .array(files.map { JSONDocument($0).event("deleted") }), or: ["\(files.summary) deleted"])
            return .done
        }
    }

    private func isMeant(_ files: [FileOperation], _ program: Program, isConfirmed: Bool) async throws -> Bool {
        guard !files.isEmpty, !isConfirmed else { return true }
        return try await StandardInput.confirms(
            "Delete \(files.summary) for good?", what: "\(files.summary) are not deleted",
            remedy: "say --yes to delete them, booksync trash list shows them", in: program.words)
    }
}

extension [FileOperation] {
    /// `2 files (5 MB)`.
    var summary: Message {
        let files = Message(count, "file")
        return isEmpty ? files : "\(files) (\(describeBytes(saturatedSum(of: \.file.size))))"
    }
}

extension TransferControl.Scope {
    fileprivate func includes(_ trashed: FileOperation) -> Bool {
        switch self {
        case .everything: true
        case .queue: false
        case .books(let books):
            books.contains { book, filter in
                trashed.file.episode.book == book && filter.only?.contains(trashed.section) != false
            }
        case .episodes(let episodes): episodes.contains(trashed.file.episode)
        }
    }
}
