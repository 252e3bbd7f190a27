import ArgumentParser
import AudioFiles
import BookModel
import BookSync
import Settings

struct VerifyCommand: BookSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: .words("Re-read every file against its recorded SHA-256; offline."),
        discussion: .words(
            """
            Names what is missing, truncated, changed, or rotten (other bytes, though nobody wrote to the file), and exits \
            with 75 when anything is bad and was not repaired. A verification that is interrupted goes on where it stopped \
            when it is asked for again. --repair fetches the bad files again; each stays where it is until the good one is \
            whole, and then goes to the trash. --accept REF records files that you edited (tags, cuts) as they are now.
            """))

    @OptionGroup var common: CommonOptions

    @Argument(
        help: .words("Books or episodes: REF, REF/12, REF/12-40; none for everything.", valueName: "ref"),
        completion: .books)
    var references: [String] = []

    @Flag(help: .words("Look at sizes and headers only."))
    var quick = false

    @Flag(help: .words("Fetch what is bad again."))
    var repair = false

    @Flag(help: .words("Record what was edited since it was fetched as it is now; needs a REF."))
    var accept = false

    @Flag(help: .words("Read everything, also what an interrupted verification found right."))
    var anew = false

    @Flag(help: .words("Decode the audio of every file as well; needs ffmpeg."))
    var deep = false

    @OptionGroup var waiting: WaitOptions

    func validate() throws {
        if deep, quick { throw ValidationError(.words("--deep and --quick exclude each other.")) }
        if accept, repair || quick { throw ValidationError(.words("--accept goes with neither --repair nor --quick.")) }
        if accept, references.isEmpty {
            throw ValidationError(.words("--accept takes the books or episodes that you edited, as in REF or REF/12."))
        }
    }

    func perform(
        _ references: [String], in configuration: Configuration, _ program: Program
    ) async throws -> ExitStatus {
        let request = VerificationRequest(
            scope: try references.isEmpty ? .everything : .books(configuration.books(naming: references)),
            isQuick: quick, startsAnew: anew, decodes: deep)
        let tools = deep ? try program.requireFFmpeg(or: "the files cannot be decoded") : nil
        let media = tools.map { MediaProbe(tools: $0) } ?? program.media(configuration)
        var style = program.plainStyle
        (style.isJSON, style.isQuiet) = (false, style.isQuiet || program.options.json)
        let report = try await EventPrinter(style: style, streams: program.streams).printing { emit in
            let verification = LibraryVerification(
                library: configuration.library, media: media, emit: emit)
            let report = try await verification.check(request)
            guard report.isComplete else { return report }
            if accept, report.stillBad > 0 { return try await accepted(report, configuration, program) }
            guard repair, !report.booksToRepair.isEmpty else { return report }
            return try await repaired(report, configuration, program, emit)
        }
        let failures = report.failures + (report.stillBad > 0 ? [.badFiles(report.stillBad, repairs: repair)] : [])
        let status = program.interruption.exitStatus ?? ExitStatus(of: failures)
        let isSilent = program.options.quiet && status == .done
        await program.print(
            JSONDocument(report, exitCode: Int(status.rawValue)).event("verified"), or: isSilent ? [] : lines(report))
        if report.stillBad > 0, !report.booksToRepair.isEmpty, !repair, !program.options.quiet, !program.options.json {
            let isEdited = !accept && report.bad.contains { $0.wasTouched }
            await program.streams.writeError(
                "booksync verify --repair fetches what is bad again"
                    + (isEdited ? "; --accept REF records what you edited as it is" : ""))
        }
        return status
    }

    /// The report with what came of accepting what was edited.
    private func accepted(
        _ report: VerificationReport, _ configuration: Configuration, _ program: Program
    ) async throws -> VerificationReport {
        try await program.withLibrary(configuration.library, "verify --accept", waitingFor: waiting.seconds) {
            try await report.accepted(in: $0)
        }
    }

    /// The report with what came of the repair. What keeps that from being begun is a failure of the report.
    private func repaired(
        _ report: VerificationReport, _ configuration: Configuration, _ program: Program,
        _ emit: @escaping @Sendable (SyncEvent) -> Void
    ) async throws -> VerificationReport {
        do {
            return try await program.withCatalogs(configuration, for: report.booksToRepair) { configuration in
                try await program.withLibrary(configuration.library, "verify --repair", waitingFor: waiting.seconds) {
                    try await report.repaired(in: $0, configuration, logger: program.logger, emit: emit)
                }
            }
        } catch let failure as Failure {
            emit(.failed(FailureReport(failure: failure)))
            var report = report
            report.failures.append(failure)
            return report
        } catch is CancellationError {
            return report
        }
    }

    /// What became of the bad files, where they were to be repaired, and the sum of it all.
    private func lines(_ report: VerificationReport) -> [Message] {
        report.bad.compactMap { file -> Message? in
            switch file.repair {
            case .repaired(let kept):
                if let kept {
                    "repaired \(file.file.path); what it was is kept as \(kept)"
                } else {
                    "repaired \(file.file.path)"
                }
            case .countsAsRemoved:
                "removed \(file.file.path): deleted files count as removed (downloads.on-missing-file)"
            case .accepted: "accepted \(file.file.path): record updated"
            case .left(let why) where accept: "not accepted \(file.file.path): \(why)"
            case .left(let why): "not repaired \(file.file.path): \(why)"
            case nil: nil
            }
        } + [report.sentence]
    }
}

extension Failure {
    /// - Parameter repairs: whether it was tried to put them right.
    fileprivate static func badFiles(_ count: Int, repairs: Bool) -> Failure {
        Failure(
            .temporary, what: count == 1 ? "1 file is bad" : "\(count) files are bad",
            why: repairs ? "not all could be fetched again" : "they are not what was fetched",
            remedy: repairs ? nil : "booksync verify --repair fetches them again")
    }
}
