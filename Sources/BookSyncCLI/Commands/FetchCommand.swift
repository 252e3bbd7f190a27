import ArgumentParser
import BookModel
import BookSync
import LibraryFiles
import Settings

struct FetchCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch", abstract: .words("Fetch what is missing of books."),
        discussion: .words(
            """
            Asks the catalog, plans, and fetches what the library lacks; what is interrupted is resumed by the next \
            run. Names of episodes behind a REF (30776/12-40) win over --only and --latest. While another run is \
            under way, that run fetches them next.
            """))

    @OptionGroup var common: CommonOptions

    @Option(
        name: .customLong("book"), help: .words("A book to fetch; may be repeated.", valueName: "ref"),
        completion: .books)
    var books: [String] = []

    @Argument(help: .words("More books.", valueName: "ref"), completion: .books)
    var references: [String] = []

    @OptionGroup var selection: SelectionOptions

    @OptionGroup var transfer: TransferOptions

    @OptionGroup var waiting: WaitOptions

    @Flag(help: .words("Also fetch what was removed, is paused, or failed too often."))
    var force = false

    @Flag(help: .words("Number the episodes in the catalog's order, and rename their files."))
    var renumber = false

    @Flag(help: .words("Print the plan and change nothing."))
    var dryRun = false

    func validate() throws {
        if books.isEmpty, references.isEmpty {
            throw ValidationError(.words("Name a book to fetch, as in: booksync fetch --book 30776"))
        }
    }

    func perform(in program: Program) async throws -> ExitStatus {
        // The first library's run counts what comes before it.
        var begin: ContinuousClock.Instant? = .now
        let filter = try selection.filter()
        let references = try (books + references).map(BookReference.init(parsing:))
        let configuration = try await program.recognising(
            references, goesOn: true,
            try await program.libraryConfiguration(
                transfer.overrides(), naming: books + self.references, isTrial: true, mayLackRecords: true))
        return try await program.inLibraries(
            of: books + self.references, configuration, skipsEmpty: false
        ) { configuration, named in
            defer { begin = nil }
            return try await fetch(
                named.map(BookReference.init(parsing:)), filter, since: begin, in: configuration, program)
        }
    }

    private func fetch(
        _ references: [BookReference], _ filter: EpisodeFilter, since begin: ContinuousClock.Instant?,
        in configuration: Configuration, _ program: Program
    ) async throws -> ExitStatus {
        let items = try configuration.items(naming: references, filter: filter)
        let request = try RunRequest(
            items: items, lists: configuration.unread(references), order: configuration.downloads.order, force: force,
            renumbers: renumber, detail: common.json ? .everything : dryRun ? .skips : .changes, begunAt: begin)
        return try await program.withCatalogs(configuration, for: items.map(\.book)) { configuration in
            if dryRun { return try await program.printPlans(request, configuration: configuration, offline: false) }
            let known = request.items.filter { configuration.source(named: $0.book.source) != nil }
            let asked = known.map { StoredRequest(.fetch, $0.book, filter: $0.filter, force: force) }
            @Sendable func run(waitingFor wait: Double, insteadOf ids: [Int64] = []) async throws -> ExitStatus {
                try await program.withLibrary(configuration.library, "fetch", waitingFor: wait, keepsEmpty: false) {
                    session in
                    // What is forced, or done by this command alone, is not left to others.
                    let left = force || renumber ? [] : asked.filter { $0.book?.source != Configuration.demoSource }
                    return try await session.asking(for: left, insteadOf: ids, program.isCalledOff) { requests in
                        var request = request
                        for stored in requests { request.ids[stored.id] = stored.book }
                        return try await program.execute(
                            request, as: "fetch", configuration: configuration, in: session)
                    }
                }
            }
            do {
                return try await run(waitingFor: 0)
            } catch let failure as Failure where failure.reason == .libraryInUse {
                let ids = try await handOver(asked, configuration)
                guard !ids.isEmpty else { return try await run(waitingFor: waiting.seconds) }
                do {
                    // A run that is about to end may not have seen it.
                    return try await run(waitingFor: max(waiting.seconds, Self.secondsToBeSeen), insteadOf: ids)
                } catch let failure as Failure where failure.reason == .libraryInUse {
                    let count = try await missing(of: request, in: configuration.library)
                    await program.printLine(["event": "handed_over", "episodes": .init(count)])
                    throw Failure(
                        .temporary, disposition: .stop, what: "another run is under way",
                        why: count > 0
                            ? "it or the next one fetches \(Message(count, "episode"))"
                            : "it or the next one looks at \(Message(request.items.count, "book"))",
                        remedy: "booksync queue shows how far it is")
                }
            }
        }
    }

    /// Within which a run looks several times at what is wanted of it.
    private static let secondsToBeSeen = 1.0

    /// Has the run under way, or the next one, fetch it.
    /// - Returns: the ids of what it is asked for: nothing where a run only reads or tags files, where files are to have other
    ///   numbers, or where the store takes no requests now.
    private func handOver(_ asked: [StoredRequest], _ configuration: Configuration) async throws -> [Int64] {
        guard !renumber, try await LibraryLock.owner(in: configuration.library)?.fetches == true else { return [] }
        // Where it takes none, what is told is that the library is in use.
        return await (try? TransferControl.open(in: configuration.library) { try await $0.ask(asked) }) ?? []
    }

    /// How many of the episodes that are known to be meant are not there.
    private func missing(of request: RunRequest, in library: String) async throws -> Int {
        let named = request.items.map { (book: $0.book, filter: $0.filter) }
        do {
            return try await TransferControl.meant(.books(named), in: library).count(where: \.isFetchable)
        } catch let failure as Failure where failure.kind == .unknownBook {
            return 0
        }
    }
}

/// Which episodes a run is about.
struct SelectionOptions: ParsableArguments {
    @Option(help: .words("Only these section numbers, as in 1-20,35.", valueName: "numbers"))
    var only: String?

    @Option(help: .words("Only the last N episodes.", valueName: "n"))
    var latest: Int?

    @Option(help: .words("Only episodes whose name matches.", valueName: "regex"))
    var match: String?

    @Option(help: .words("No episodes whose name matches.", valueName: "regex"))
    var exclude: String?

    @Option(
        help: .words(
            "Only episodes published since a day or an age, as in 2024-05-31 or 30d; those without a date as well.",
            valueName: "when"))
    var since: String?

    func validate() throws {
        if let latest, latest < 1 { throw ValidationError(.words("--latest takes a number from 1 on, not \(latest).")) }
        // Found out here, before any catalog is asked.
        for (option, pattern) in [("--match", match), ("--exclude", exclude)] {
            guard let pattern else { continue }
            do {
                _ = try Regex(pattern)
            } catch {
                throw ValidationError(.words("\(option): '\(pattern)' is not a valid regular expression."))
            }
        }
    }

    func filter() throws -> EpisodeFilter {
        EpisodeFilter(
            only: try only.map(SectionRanges.init(parsing:)), latest: latest, match: match, exclude: exclude,
            since: try since.map(PublicationStart.init(parsing:)))
    }
}

/// How a run transfers.
struct TransferOptions: ParsableArguments {
    @Option(help: .words("Episodes at once.", valueName: "n"))
    var jobs: Int?

    @Option(help: .words("Which episodes come first.", valueName: "order"))
    var order: TransferOrder?

    private static let jobsRange = 1...64

    @Option(help: .words("Bytes a second at most, as in 2M; 0 for no limit.", valueName: "rate"))
    var limitRate: String?

    func validate() throws {
        if let limitRate, parseByteCount(limitRate) == nil {
            throw ValidationError(.words("--limit-rate takes bytes a second, as in 2M, not '\(limitRate)'."))
        }
        if let jobs, !Self.jobsRange.contains(jobs) {
            throw ValidationError(.words("--jobs takes a number from 1 to \(Self.jobsRange.upperBound), not \(jobs)."))
        }
    }

    func overrides() -> ConfigurationOverrides {
        var overrides = ConfigurationOverrides()
        overrides.jobs = jobs
        overrides.order = order
        overrides.limitRate = limitRate.flatMap(parseByteCount)
        return overrides
    }
}

extension TransferOrder: ExpressibleByArgument {}
