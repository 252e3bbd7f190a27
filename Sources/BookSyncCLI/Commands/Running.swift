import BookModel
import BookSync
import Languages
import Logging
import Settings
import ShelfQueries
import ShelfService

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
    private func exitStatus(after failures: [Failure], of command: String, in session: LibrarySession) -> ExitStatus {
        if let status = interruption.exitStatus { return status }
        let status = ExitStatus(of: failures)
        let isIncomplete = command == "mirror" && session.isBegunAnew
        return isIncomplete && [.done, .temporary].contains(status) ? .inputOutput : status
    }

    /// The same, in the style given.
    /// - Parameter control: tells the run what to leave, and what else to do.
    func report(
        of request: RunRequest, as command: String, configuration: Configuration, in session: LibrarySession,
        style: EventPrinter.Style, control: RunControl = RunControl()
    ) async throws -> RunReport {
        let printer = EventPrinter(style: style, streams: streams)
        let status: @Sendable ([Failure]) -> ExitStatus = { exitStatus(after: $0, of: command, in: session) }
        let report = try await printer.printing { emit in
            try await SyncRun(configuration: configuration, logger: logger, control: control, emit: emit).execute(
                request, as: command, in: session, exitCode: { Int(status($0).rawValue) })
        }
        if interruption.exitStatus != nil, !options.quiet {
            await streams.writeError("interrupted: everything received is kept, and the next run goes on from there")
        }
        await printer.finish(report.summary, exitStatus: status(report.failures))
        return report
    }

    /// Does runs for the clients of a server: as `fetch` and `mirror` do theirs, with less to tell.
    func runQueue(_ configuration: Configuration) async throws -> RunQueue {
        let watch = try await ConfigurationWatch(path: configurationPath)
        var style = eventStyle
        // Many runs come and go, and nobody looks at this terminal for them.
        style.showsBars = false
        style.isVerbose = false
        let shown = style
        return RunQueue(
            configuration, knownLibraries: knownLibraries, logger: logger,
            runner: RunQueue.Runner(
                execute: { request, command, configuration, session, control in
                    try await report(
                        of: request, as: command, configuration: configuration, in: session, style: shown,
                        control: control)
                },
                withCatalogs: { configuration, books, body in
                    if let notice = try await watch.notice() {
                        logger.notice("\(notice)")
                        if !options.quiet { await streams.writeError(notice) }
                    }
                    return try await withCatalogs(configuration, for: books, body)
                },
                onFailure: { failure in await streams.writeError("booksync: \(failure)") },
                exitCode: { Int(ExitStatus($0.kind).rawValue) },
                onWaiting: { sentence in if !options.quiet { await streams.writeError(sentence) } }))
    }

    /// Prints the plans of the request, with `--json` one a line, and changes nothing.
    func printPlans(
        _ request: RunRequest, configuration: Configuration, offline: Bool
    ) async throws -> ExitStatus {
        var style = eventStyle
        style.showsBars = false
        let printer = EventPrinter(style: style, streams: streams)
        let report = try await printer.printing { emit in
            // No run is under way that would be so and so far.
            let emit: @Sendable (SyncEvent) -> Void = { if case .advanced = $0 {} else { emit($0) } }
            return try await SyncRun(configuration: configuration, logger: logger, emit: emit).plan(
                request, library: configuration.library, offline: offline
            ) { plan in
                if options.json {
                    await streams.writeOutput(JSONDocument(plan).event("plan").text())
                } else {
                    await streams.writeOutput(plan.lines(style: outputStyle))
                }
            }
        }
        return ExitStatus(of: report.failures)
    }
}

extension SyncPlan {
    /// The plan as a table; what stays as it is, or was not asked for, is only counted.
    func lines(style: OutputStyle) -> [Message] {
        var table = TextTable(columns: [
            .init(title: "action"), .init(title: "section", alignment: .trailing),
            .init(title: "bytes", alignment: .trailing), .init(title: "path", isFlexible: true),
            .init(title: "why", isFlexible: true),
        ])
        table.rows = actions.filter { $0.kind != .keep && $0.kind != .skip(.filtered) }.map { action in
            [
                style.words(Message(wording: action.kind.keyword)), "\(action.episode.section)",
                action.bytes.map(describeBytes) ?? "",
                action.fromPath.map { "\($0) → \(action.path)" } ?? action.path,
                style.words(action.reason),
            ]
        }
        let totals = totals
        let sum: Message = "\(book.identity.id) \(book.title): \(totals.counts ?? "nothing to do")"
        let summary: Message = totals.bytes > 0 ? "\(sum) (\(describeBytes(totals.bytes)))" : sum
        return (table.rows.isEmpty ? [] : table.lines(style)) + [summary]
    }
}

extension PlanTotals {
    /// `12 to fetch, 3 to resume`; nil where all are 0.
    var counts: Message? {
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
