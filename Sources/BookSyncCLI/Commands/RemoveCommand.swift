import ArgumentParser
import BookModel
import BookSync
import Settings

struct RemoveCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: .words("Move episodes' files to the trash; they are not fetched again."),
        discussion: .words(
            """
            The trash keeps files for \(Trash.keptDays) days, or as the setting trash says: booksync trash restore, or undo, \
            brings them back. Removing more than one episode is asked about on a terminal, and needs --yes elsewhere.
            """))

    @OptionGroup var common: CommonOptions
    @OptionGroup var scope: ScopeArguments

    @Flag(help: .words("Only forget that they were removed: no file is touched, and the next run fetches them again."))
    var forget = false

    @Flag(name: [.short, .long], help: .words("Remove without asking."))
    var yes = false

    @Flag(help: .words("Print what would be removed and change nothing."))
    var dryRun = false

    func validate() throws {
        if forget, yes || dryRun {
            throw ValidationError(.words("--forget removes nothing: leave --yes and --dry-run out."))
        }
    }

    func perform(in program: Program) async throws -> ExitStatus {
        if forget {
            return try await program.control(
                scope, "forgotten", all: .everything, only: "only what was removed can be wanted again"
            ) {
                "\($0) wanted again"
            } action: {
                try await TransferControl.open(in: $0) { [scope = $1] in try await $0.forgetRemovals(scope) }
            }
        }
        return try await program.inLibraries(naming: scope.references, isChanging: true) {
            do {
                return try await remove($1, in: $0, program)
            } catch var failure as Failure where failure.isLackOfRoom {
                failure.remedy = """
                    to remove takes a little room: booksync trash empty works on a full disk, too; where nothing is in the \
                    trash, delete something else on that disk by hand
                    """
                throw failure
            }
        }
    }

    private func remove(
        _ references: [String], in configuration: Configuration, _ program: Program
    ) async throws -> ExitStatus {
        let scope = try scope.scope(references, configuration, all: .everything)
        return try await TransferControl.open(in: configuration.library) { control in
            let episodes = try await control.removable(scope)
            if dryRun {
                await program.print(
                    .array(episodes.map { JSONDocument($0, bytesDone: $0.file?.size ?? 0) }),
                    or: Self.table(episodes), then: [Self.sentence(episodes)])
                return .done
            }
            guard try await isMeant(episodes, program) else {
                await program.streams.writeError("nothing was removed")
                return .done
            }
            let removal = try await control.remove(scope)
            if program.options.json {
                await program.streams.writeOutput(JSONDocument(removal).event("removed").text(isIndented: true))
            }
            let status = await program.report(removal.failures)
            await program.note(removal.sentence)
            return status
        }
    }

    /// Whether so many episodes may be removed.
    /// - Throws: ``Failure`` of kind `usage` where nobody can be asked.
    private func isMeant(_ episodes: [EpisodeRecord], _ program: Program) async throws -> Bool {
        guard episodes.count > 1, !yes else { return true }
        let (files, bytes) = (episodes.count { $0.file != nil }, episodes.saturatedSum { $0.file?.size ?? 0 })
        let never = episodes.count(where: \.isNeverFetched)
        let there: Message =
            "\(Message(episodes.count - never, "episode")) (\(Message(files, "file")), \(describeBytes(bytes)))"
        let question: Message =
            never == episodes.count
            ? "Never fetch \(never) episodes that are not downloaded yet?"
            : "Move \(there) to the trash" + (never > 0 ? ", and not fetch \(never) not downloaded yet?" : "?")
        return try await StandardInput.confirms(
            question, what: "\(Message(episodes.count, "episode")) are not removed",
            remedy: "say --yes to remove them, --dry-run to see which they are", in: program.words)
    }

    private static func table(_ episodes: [EpisodeRecord]) -> TextTable {
        episodes.table([
            .init(title: "book") { "\($0.episode.identity.book)" },
            .init(title: "section", .trailing) { "\($0.episode.section)" },
            .init(title: "bytes", .trailing) { $0.file.map { describeBytes($0.size) } ?? "" },
            .init(title: "name", isFlexible: true) { $0.episode.name },
            .init(title: "path", isFlexible: true) { $0.file?.path ?? "" },
        ])
    }

    private static func sentence(_ episodes: [EpisodeRecord]) -> Message {
        let files = episodes.count { $0.file != nil }
        let never = episodes.count(where: \.isNeverFetched)
        return "\(Message(episodes.count - never, "episode")) to remove, \(Message(files, "file")) to move to the trash"
            + (never > 0 ? ", \(never) not downloaded yet will not be fetched" : "")
    }
}

extension TransferControl.Removal {
    fileprivate var sentence: Message {
        var parts: [Message] = []
        if episodes > neverFetched || neverFetched == 0 {
            parts.append("\(Message(episodes - neverFetched, "episode")) removed")
        }
        if files > 0 {
            parts.append(
                files == 1
                    ? "1 file moved to the trash (booksync undo brings it back)"
                    : "\(files) files moved to the trash (booksync undo brings them back)")
        }
        if absent > 0 { parts.append("\(Message(absent, "file")) not found where recorded") }
        if filesLeft > 0 {
            parts.append("\(Message(filesLeft, "file")) to be moved when the run that is under way ends")
        }
        if neverFetched > 0 {
            let those = parts.isEmpty ? Message(neverFetched, "episode") : Message(verbatim: "\(neverFetched)")
            parts.append("\(those) not downloaded yet will not be fetched")
        }
        return parts.joined(separator: ", ")
    }
}

extension JSONDocument {
    fileprivate init(_ removal: TransferControl.Removal) {
        self = [
            "episodes": .init(removal.episodes), "never_fetched": .init(removal.neverFetched),
            "files": .init(removal.files),
            "files_absent": .init(removal.absent), "files_left": .init(removal.filesLeft),
            "errors": .array(removal.failures.map { .string($0.description) }),
        ]
    }
}
