import AudioFiles
import BookModel
import BookSync
import Logging
import Settings

extension Program {
    /// Executes the request as the command's run, prints its events and its summary.
    func execute(
        _ request: RunRequest, as command: String, configuration: Configuration, in session: LibrarySession
    ) async throws -> ExitStatus {
        let report = try await report(
            of: request, as: command, configuration: configuration, in: session, style: eventStyle)
        return exitStatus(after: report.failures, of: command, in: session)
    }

    /// What the process exits with; a mirror that lost what was subscribed to did not bring all of it.
    func exitStatus(after failures: [Failure], of command: String, in session: LibrarySession) -> ExitStatus {
        if let status = interruption.exitStatus { return status }
        let status = ExitStatus(of: failures)
        let isIncomplete = command == "mirror" && session.isBegunAnew
        return isIncomplete && [.done, .temporary].contains(status) ? .inputOutput : status
    }

    /// The same, in the style given.
    func report(
        of request: RunRequest, as command: String, configuration: Configuration, in session: LibrarySession,
        style: EventPrinter.Style
    ) async throws -> RunReport {
        let printer = EventPrinter(style: style, streams: streams)
        let status: @Sendable ([Failure]) -> ExitStatus = { exitStatus(after: $0, of: command, in: session) }
        let report = try await printer.printing { emit in
            try await SyncRun(
                configuration: configuration, logger: logger, media: media(configuration), writer: mediaWriter,
                emit: emit
            ).execute(request, as: command, in: session, exitCode: { Int(status($0).rawValue) })
        }
        if interruption.exitStatus != nil {
            await note("interrupted: everything received is kept, and the next run goes on from there")
        }
        await printer.finish(report.summary, exitStatus: status(report.failures))
        return report
    }

    /// The programs that read audio files; nil where ffprobe is not installed.
    var mediaTools: MediaTools? { MediaTools.find(in: environment["PATH"]) }

    /// What writes audio files; nil where ffmpeg is not installed.
    private var mediaWriter: MediaProbe? { mediaTools.flatMap { $0.ffmpeg == nil ? nil : MediaProbe(tools: $0) } }

    /// - Parameter what: what cannot be done without ffmpeg.
    /// - Throws: ``Failure`` of kind `configuration` where it is not installed.
    func requireFFmpeg(or what: Message) throws -> MediaTools {
        guard let tools = mediaTools, tools.ffmpeg != nil else {
            throw Failure(
                .configuration, what: what, why: "ffmpeg is not installed", remedy: "install ffmpeg and try again")
        }
        return tools
    }

    /// What looks into audio files; nil where nothing is to, or ffprobe is not installed.
    func media(_ configuration: Configuration) -> MediaProbe? {
        configuration.downloads.probe == .auto ? mediaTools.map { MediaProbe(tools: $0) } : nil
    }

    /// Do runs for the clients of a server: as `fetch` and `mirror` do theirs, with less to tell. One for each library.
    func runQueues(_ configuration: Configuration) async throws -> [RunQueue] {
        let (watch, turns) = (try await ConfigurationWatch(path: configurationPath), Slots(count: 1))
        var style = eventStyle
        // Many runs come and go, and nobody looks at this terminal for them.
        style.showsBars = false
        style.isVerbose = false
        let host = ServedRuns(program: self, watch: watch, style: style)
        return configuration.libraries.map { place in
            let own = configuration.choosing(place)
            let media = media(own)
            return RunQueue(
                own, knownLibraries: knownLibraries, logger: logger,
                joins: mediaWriter.map { BookJoins(own, probe: $0) },
                catchUp: { if let media { await own.catchUp(with: media, logger: logger) } }, turns: turns,
                host: host)
        }
    }

    /// Finds out which books the references name; a terminal shows which addresses are asked.
    func recognising(
        _ references: [BookReference], andSubscriptions: Bool = false, goesOn: Bool = false,
        _ configuration: Configuration
    ) async throws -> Configuration {
        try await showingWaits { emit in
            try await configuration.recognising(
                references, andSubscriptions: andSubscriptions, goesOn: goesOn, logger: logger, emit: emit)
        }
    }

    /// Shows on a terminal what `body` waits for.
    func showingWaits<Result: Sendable>(
        _ body: @Sendable (@escaping @Sendable (SyncEvent) -> Void) async throws -> Result
    ) async throws -> Result {
        guard eventStyle.showsBars else { return try await body { _ in } }
        var style = eventStyle
        style.isJSON = false
        return try await EventPrinter(style: style, streams: streams).printing(body)
    }

    /// Prints the plans of the request, with `--json` one a line, and changes nothing.
    func printPlans(
        _ request: RunRequest, configuration: Configuration, offline: Bool
    ) async throws -> ExitStatus {
        let printer = EventPrinter(style: eventStyle, streams: streams)
        let report = try await printer.printing { emit in
            // Programs that read a plan are told of no run.
            let emit: @Sendable (SyncEvent) -> Void = {
                if options.json, case .advanced = $0 { return }
                emit($0)
            }
            return try await SyncRun(configuration: configuration, logger: logger, emit: emit).plan(
                request, offline: offline
            ) { plan in
                await printLine(JSONDocument(plan).event("plan"))
                if options.json { return }
                await printer.aside { await output(plan.table(words), then: [plan.sentence]) }
            }
        }
        return ExitStatus(of: report.failures)
    }
}

extension SyncPlan {
    /// The plan as a table; what stays as it is, or was not asked for, is only counted.
    func table(_ words: Wordings) -> TextTable {
        let color = TerminalColor.ofWords(actions.map { (words(Message(wording: $0.kind.keyword)), $0.kind.color) })
        return actions.filter { ![.keep, .skip(.filtered)].contains($0.countedKind) }.table([
            .init(title: "action", color: color) { words(Message(wording: $0.kind.keyword)) },
            .init(title: "section", .trailing) { "\($0.episode.section)" },
            .init(title: "bytes", .trailing) { $0.bytes.map(describeBytes) ?? "" },
            .init(title: "path", isFlexible: true) { action in
                action.fromPath.map { "\($0) → \(action.path)" } ?? action.path
            },
            .init(title: "why", isFlexible: true) { words($0.reason) },
        ])
    }

    /// What it comes to.
    var sentence: Message {
        let totals = totals
        let sum: Message = "\(book.identity.id) \(book.title): \(totals.counts ?? "nothing to do")"
        return totals.bytes > 0 ? "\(sum) (\(describeBytes(totals.bytes)))" : sum
    }
}

extension PlanTotals {
    /// `12 to fetch, 3 to resume`, of the episodes that are asked for; nil where all are 0.
    var counts: Message? {
        let skip = self.skip - self.skip(.filtered)
        let counts: [(count: Int, text: Message)] = [
            (fetch, "\(fetch) to fetch"), (resume, "\(resume) to resume"), (replace, "\(replace) to replace"),
            (rename, "\(rename) to rename"), (adopt, "\(adopt) to adopt"),
            (expire, "\(expire) to expire"), (keep, "\(keep) to keep"),
            (skip, "\(skip) to skip"),
        ]
        let shown = counts.filter { $0.count > 0 }.map(\.text)
        return shown.isEmpty ? nil : shown.joined(separator: ", ")
    }
}

/// The runs that a server does for its clients.
private struct ServedRuns: RunHost {
    let program: Program
    let watch: ConfigurationWatch
    let style: EventPrinter.Style

    func execute(
        _ request: RunRequest, as command: String, _ configuration: Configuration, in session: LibrarySession
    ) async throws -> RunReport {
        try await program.report(of: request, as: command, configuration: configuration, in: session, style: style)
    }

    func withCatalogs<Answer: Sendable>(
        _ configuration: Configuration, for books: [BookIdentity],
        _ body: @Sendable (Configuration) async throws -> Answer
    ) async throws -> Answer {
        if let notice = try await watch.notice() {
            program.logger.notice("\(notice)")
            await reportWaiting(notice)
        }
        return try await program.withCatalogs(configuration, for: books, body)
    }

    func report(_ failure: Failure) async { await program.streams.writeError("booksync: \(failure)") }

    func exitCode(of failure: Failure) -> Int { Int(ExitStatus(failure.kind).rawValue) }

    func reportWaiting(_ why: Message) async { await program.note(why) }
}
