import BookModel
import BookSync
import BookSyncWeb
import Foundation
import LibraryFiles
import Logging
import Settings

/// What a command works with: its configuration, the streams, and the catalogs.
struct Program: Sendable {
    let options: CommonOptions
    let streams: StandardStreams
    let environment: [String: String]
    let interruption: Interruption
    let log: LogOutput
    /// As the configuration says that was loaded last; the command runs with it.
    let stores = StorePlaces()
    /// As ``Configuration/trustsReferences``.
    var trustsReferences = true

    var logger: Logger { log.logger }

    /// Whether the user ended the command at the terminal: nobody wants any more what it was asked for.
    func isCalledOff() -> Bool { interruption.exitStatus == .interrupted }

    /// The settings in force: file, then environment, then the flags given.
    func configuration(_ overrides: ConfigurationOverrides = .init()) async throws -> (
        configuration: Configuration, origin: String?
    ) {
        let flags = overrides
        return try await runBlocking {
            let loaded = try loadedConfiguration(flags)
            if let trouble = loaded.netrcProblem {
                logger.warning("the netrc file is not used", metadata: ["why": "\(trouble)"])
            }
            return (loaded.configuration, loaded.path)
        }
    }

    /// The settings in force, for a command that looks into the library: one whose disk is not mounted is not empty. Of
    /// several each is looked at by itself.
    /// - Parameters:
    ///   - references: what the command names.
    ///   - isChanging: whether it takes something away of them.
    ///   - isTrial: as ``findingTitles(in:_:isChanging:isTrial:)`` has it.
    ///   - mayLackRecords: as ``KnownLibraries/requireMounted(_:mayLackRecords:)`` has it.
    /// - Throws: ``Failure`` of kind `libraryUnwritable` when it is not mounted, `inputOutput` when its store is lost, `usage`
    ///   for what is no reference.
    func libraryConfiguration(
        _ overrides: ConfigurationOverrides = .init(), naming references: [String] = [], isChanging: Bool = false,
        isTrial: Bool = false, mayLackRecords: Bool = false
    ) async throws -> Configuration {
        let references = try references.map(BookReference.init(parsing:))
        let configuration = try await configuration(overrides).configuration
        if !configuration.hasSeveralLibraries {
            try await knownLibraries?.requireMounted(configuration.library, mayLackRecords: mayLackRecords)
        }
        return try await findingTitles(in: references, configuration, isChanging: isChanging, isTrial: isTrial)
            .knowing(references)
    }

    /// The same with where each setting came from. Reads files, and blocks meanwhile.
    /// - Parameter toleratesFaults: whether what is wrong with single settings is returned instead of thrown.
    func loadedConfiguration(
        _ overrides: ConfigurationOverrides = .init(), toleratesFaults: Bool = false
    ) throws -> LoadedConfiguration {
        var overrides = overrides
        overrides.library = options.library
        var loaded = try Configuration.read(
            explicitPath: options.config, environment: environment, homeFolder: Self.homeFolder(in: environment),
            currentFolder: FileManager.default.currentDirectoryPath, overrides: overrides,
            toleratesFaults: toleratesFaults)
        loaded.configuration.trustsReferences = trustsReferences
        let places = loaded.configuration.configuredLibraries
        stores.set(
            loaded.configuration.storeFolder,
            names: Dictionary(places.map { ($0.path, $0.name) }) { first, _ in first })
        if let language = loaded.configuration.language { streams.speak(language) }
        return loaded
    }

    /// Where the configuration is looked for.
    var configurationPath: String {
        Configuration.location(
            explicitPath: options.config, environment: environment, homeFolder: Self.homeFolder(in: environment),
            currentFolder: FileManager.default.currentDirectoryPath
        ).path
    }

    /// Absolute. What the environment says counts, as it does for shells; the system is asked only where it says nothing.
    static func homeFolder(in environment: [String: String]) -> String {
        environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? NSHomeDirectory()
    }

    /// What is remembered of libraries from one run to the next.
    var knownLibraries: KnownLibraries? { KnownLibraries(environment: environment, logger: logger) }

    /// Runs `body` with a configuration whose catalogs can be asked: when one of the books is of the built-in demo catalog,
    /// that is started for as long as `body` takes, and said so.
    func withCatalogs<Result: Sendable>(
        _ configuration: Configuration, for books: [BookIdentity],
        _ body: @Sendable (Configuration) async throws -> Result
    ) async throws -> Result {
        guard configuration.hasDemoCatalog, books.contains(where: { $0.source == Configuration.demoSource }) else {
            return try await body(configuration)
        }
        return try await withDemoCatalog(pace: demoPace) { address in
            await note(
                configuration.usesDemoCatalog
                    ? "no source is configured: using the built-in demo catalog at \(address.url)"
                    : "using the built-in demo catalog at \(address.url)")
            var configuration = configuration
            configuration.useDemoCatalog(
                listURL: DemoCatalog.catalogURL(at: address), detailURL: DemoCatalog.detailURL(at: address))
            return try await body(configuration)
        }
    }

    /// Bytes per second for each connection to the demo catalog; for trying out interruptions.
    var demoPace: Int? {
        environment["BOOKSYNC_DEMO_PACE"].flatMap(parseByteCount).map { Int($0) }
    }

    /// - Parameter descriptor: standard output or standard error.
    func capabilities(of descriptor: Int32) -> TerminalCapabilities {
        .detect(environment: environment, isTTY: isatty(descriptor) == 1, noColor: options.noColor)
    }

    var eventStyle: EventPrinter.Style {
        let capabilities = capabilities(of: STDERR_FILENO)
        return EventPrinter.Style(
            isJSON: options.json, isQuiet: options.quiet, isVerbose: options.verbose > 0,
            // Bars and the log's lines on one terminal would tear each other apart.
            showsBars: capabilities.showsBars && !(options.json && isatty(STDOUT_FILENO) == 1)
                && (log.isFile || options.verbose == 0),
            usesColor: capabilities.usesColor, log: log.isFile ? EventLog(logger: logger) : nil)
    }

    /// For a verification or a join, whose events are not for the log.
    var plainStyle: EventPrinter.Style {
        var style = eventStyle
        (style.isOfRun, style.log) = (false, nil)
        return style
    }

    /// For a command that prints one document, or lines, when it is done.
    var quietStyle: EventPrinter.Style {
        var style = eventStyle
        style.isJSON = false
        style.showsBars = false
        style.isQuiet = style.isQuiet || options.json
        return style
    }

    /// Prints a JSON document, or the lines for people; only the one that is wanted is made.
    func print(_ document: @autoclosure () -> JSONDocument, or lines: @autoclosure () -> [Message]) async {
        await print(document(), or: TextTable(columns: []), then: lines())
    }

    /// The same with a table, and lines behind it.
    func print(
        _ document: @autoclosure () -> JSONDocument, or table: @autoclosure () -> TextTable,
        then lines: @autoclosure () -> [Message] = []
    ) async {
        if options.json {
            await streams.writeOutput(document().text(isIndented: true))
        } else {
            await output(table(), then: lines())
        }
    }

    /// Prints items of which there may be very many: their documents, or a table with a row for each.
    /// - Parameter value: what the columns are of; looked up once for each row, since it may be large.
    func print<Item: Sendable, Value>(
        _ items: [Item], of value: @escaping @Sendable (Item) -> Value,
        as document: @escaping @Sendable (Value) -> JSONDocument, in columns: [TextTable.ItemColumn<Value>]
    ) async {
        let style = outputStyle
        guard !options.json else { return await print(items) { document(value($0)) } }
        let row = { @Sendable (item: Item) in
            let value = value(item)
            return columns.map { $0.cell(value) }
        }
        let columns = columns.map(\.column)
        guard isatty(STDOUT_FILENO) == 0, !style.usesColor else {
            return await output(TextTable(columns: columns, rows: items.map(row)).numbered(style))
        }
        await TextTable.write(items, in: columns, words, row: row) { await streams.writeOutput(bytes: $0) }
    }

    /// An array of documents, part by part: the whole one takes many times as much memory as the items.
    private func print<Item: Sendable>(
        _ items: [Item], as document: @escaping @Sendable (Item) -> JSONDocument
    ) async {
        var opening = "["
        await items.inParts(
            make: { JSONDocument.array($0.map(document)).text(isIndented: true).dropFirst().dropLast(2) },
            use: { part in
                await streams.writeOutput(steering: opening + part)
                opening = ","
            })
        await streams.writeOutput(items.isEmpty ? "[]" : "\n]")
    }

    /// Prints a document on a line of its own, with `--json` only.
    func printLine(_ document: @autoclosure () -> JSONDocument) async {
        if options.json { await streams.writeOutput(document().text()) }
    }

    /// Tells a person what is no result; nothing where it is nil, and with `--quiet`.
    func note(_ message: Message?) async {
        if let message, !options.quiet { await streams.writeError(message) }
    }

    /// Says what failed, each by itself.
    /// - Returns: the status that most needs a person.
    func report(_ failures: [Failure]) async -> ExitStatus {
        for failure in failures { await streams.writeError("booksync: \(failure)") }
        return ExitStatus(of: failures)
    }

    /// What the user types at a question.
    func answer(to question: Message) async throws -> String {
        try await StandardInput.line(asking: words(question) + " ")
    }

    /// Prints a table for people, and lines behind it.
    func output(_ table: TextTable, then lines: [Message] = []) async {
        let style = outputStyle
        await streams.writeOutput(table.lines(style), usesColor: style.usesColor)
        await streams.writeOutput(lines)
    }

    /// What messages are in the user's language.
    var words: Wordings { streams.words }

    /// For standard output.
    var outputStyle: OutputStyle {
        let width = isatty(STDOUT_FILENO) == 1 ? TerminalSize.current(of: STDOUT_FILENO)?.columns : nil
        return OutputStyle(width: width, usesColor: capabilities(of: STDOUT_FILENO).usesColor, words: words)
    }
}
