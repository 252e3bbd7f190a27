import ArgumentParser
import BookModel
import BookSync
import LibraryFiles
import Settings

struct MirrorCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "mirror", abstract: .words("Fetch what is missing of every subscription; the cron job."),
        discussion: .words(
            """
            One run at a time: when another one holds the library, this one exits with 75 or waits. New episodes come \
            first: books that lack few before books that lack many, and last what failed before. With --quiet nothing is \
            printed unless something failed. booksync runs lists recent runs.
            """))

    @OptionGroup var common: CommonOptions

    @OptionGroup var transfer: TransferOptions

    @OptionGroup var waiting: WaitOptions

    @OptionGroup var worker: ShardOptions

    @Option(help: .words("Start at most N episodes.", valueName: "n"))
    var maxEpisodes: Int?

    @Option(help: .words("Start no episode that would exceed so many bytes, as in 2G.", valueName: "bytes"))
    var maxBytes: String?

    @Option(help: .words("Stop after so long, and keep everything received, as in 50m.", valueName: "time"))
    var timeLimit: String?

    @Flag(help: .words("Also fetch what was removed, is paused, or waits after failures."))
    var force = false

    @Flag(help: .words("Print the plans and change nothing."))
    var dryRun = false

    private var limits: RunLimits {
        RunLimits(
            episodes: maxEpisodes, bytes: maxBytes.flatMap(parseByteCount), seconds: timeLimit.flatMap(parseSeconds))
    }

    func validate() throws {
        if let maxEpisodes, maxEpisodes < 1 {
            throw ValidationError(.words("--max-episodes takes a number from 1 on, not \(maxEpisodes)."))
        }
        if let maxBytes, parseByteCount(maxBytes) == nil {
            throw ValidationError(.words("--max-bytes takes bytes, as in 2G, not '\(maxBytes)'."))
        }
        if let timeLimit, parseSeconds(timeLimit) == nil {
            throw ValidationError(.words("--time-limit takes a time, as in 50m, not '\(timeLimit)'."))
        }
    }

    func perform(in program: Program) async throws -> ExitStatus {
        // The first library's first run counts what comes before it.
        var begin: ContinuousClock.Instant? = .now
        var isFollowing = false
        if let share = try await worker.share(
            of: try await program.configuration(transfer.overrides()).configuration, environment: program.environment,
            program.knownLibraries)
        {
            let configuration = try await program.recognising([], andSubscriptions: true, share.configuration)
            // What this worker does not follow, others may, whose libraries may be on other machines.
            return try await mirror(configuration, of: share.shard, since: begin, &isFollowing, program)
        }
        let all = try await program.recognising(
            [], andSubscriptions: true,
            try await program.libraryConfiguration(transfer.overrides(), mayLackRecords: true))
        let status = try await program.inLibraries(all, skipsEmpty: false) { configuration, _ in
            defer { begin = nil }
            return try await mirror(
                try await configuration.withOwnSubscriptions(), since: begin, &isFollowing, program)
        }
        guard status == .done, !isFollowing else { return status }
        // cron may have run it as another user, or without the configuration.
        throw Failure(
            .configuration, disposition: .stop, what: "nothing is subscribed to",
            why: all.hasSeveralLibraries
                ? "neither the configuration nor any of its libraries names a book"
                : "neither the configuration nor the library \(all.library) names a book",
            remedy: "booksync subscribe REF adds one; --config and --library name another configuration or library")
    }

    /// - Parameter isFollowing: becomes true if there are subscriptions.
    private func mirror(
        _ configuration: Configuration, of shard: Shard? = nil, since begin: ContinuousClock.Instant?,
        _ isFollowing: inout Bool, _ program: Program
    ) async throws -> ExitStatus {
        let hasSeveralLibraries = configuration.configuredLibraries.count > 1
        if configuration.subscriptions.isEmpty {
            // A new store would look like a library in which nothing is subscribed to.
            try await program.knownLibraries?.requireMounted(configuration.library, mayLackRecords: false)
            // Nothing goes there: it is not begun for that.
            if hasSeveralLibraries, try await ShelfReader.read(configuration.library, { _ in true }) == nil {
                return .done
            }
        } else {
            isFollowing = true
        }
        if dryRun {
            let stored = try await ShelfReader.read(configuration.library) { try await $0.subscriptions() } ?? []
            if !stored.isEmpty { isFollowing = true }
            let subscriptions = try configuration.subscriptions(of: shard, with: stored)
            try await program.printPreviews(of: subscriptions, configuration)
            let request = try RunRequest(
                items: configuration.items(of: subscriptions, order: transfer.order),
                order: configuration.downloads.order, force: force, detail: common.json ? .everything : .skips,
                bringsNewsFirst: true)
            return try await program.withCatalogs(configuration, for: request.items.map(\.book)) { configuration in
                try await program.printPlans(
                    request, configuration: configuration, offline: request.items.isEmpty)
            }
        }
        let (status, isEmpty) = try await program.withLibrary(
            configuration.library, "mirror", waitingFor: waiting.seconds,
            // What a mirror is to bring is awaited for as many nights as it takes.
            keepsEmpty: try !configuration.allSubscriptions(with: []).isEmpty
        ) { session -> (ExitStatus, Bool) in
            let stored = try await session.subscriptions()
            let isEmpty = configuration.subscriptions.isEmpty && stored.isEmpty
            // Of several libraries each has a run, for its trash.
            if isEmpty, shard == nil, !hasSeveralLibraries, !session.isBegunAnew { return (.done, true) }
            let mirror = CollectionMirror(configuration, in: session, logger: program.logger) {
                await program.note($0)
            }
            var begin = begin
            // A part of it, or all within limits or by force, is not left to others.
            let asked = shard == nil && limits.allowAll && !force ? [StoredRequest(.mirror)] : []
            let (_, failures, unchecked) = try await session.asking(for: asked, program.isCalledOff) { _ in
                try await mirror.execute(
                    try configuration.subscriptions(of: shard, with: stored), order: transfer.order, within: limits,
                    isWhole: shard == nil
                ) { items, lists, limits in
                    let request = try RunRequest(
                        items: items, lists: lists, order: configuration.downloads.order, force: force, limits: limits,
                        detail: common.json ? .everything : .changes, bringsNewsFirst: true, begunAt: begin)
                    begin = nil
                    return try await program.withCatalogs(configuration, for: items.map(\.book)) { configuration in
                        try await program.report(
                            of: request, as: "mirror", configuration: configuration, in: session,
                            style: program.eventStyle)
                    }
                }
            }
            if let unchecked {
                try await EventPrinter(style: program.eventStyle, streams: program.streams).printing {
                    $0(.failed(FailureReport(failure: unchecked)))
                }
            }
            let status = program.exitStatus(after: failures, of: "mirror", in: session)
            if session.isBegunAnew {
                await program.streams.writeError(
                    "booksync: what was subscribed to is lost with the store of \(configuration.library): subscribe again"
                )
            }
            return (status, isEmpty)
        }
        if !isEmpty { isFollowing = true }
        return status
    }
}
