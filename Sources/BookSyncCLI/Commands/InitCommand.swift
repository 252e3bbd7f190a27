import ArgumentParser
import BookModel
import BookSync
import CatalogFetcher
import Foundation
import LibraryFiles
import Settings
import Transport

struct InitCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: .words("Set booksync up: the folder, a first book, the nightly run."),
        discussion: .words(
            """
            Writes a configuration with comments, and says what comes next. On a terminal it asks for what is not given; \
            elsewhere the folder is ~/Audiobooks and nothing is subscribed to. The book's catalog is asked before anything is \
            written. A configuration that is there is left alone; --cron and --timer then only set the nightly run up.
            """))

    @OptionGroup var common: CommonOptions

    @Argument(
        help: .words(
            """
            The address of a first book: of a feed, an archive item, a LibriVox book, a directory, or a page of a \
            book-resource catalog.
            """,
            valueName: "url"))
    var address: String?

    @Flag(help: .words("Add the nightly run to your crontab."))
    var cron = false

    @Flag(help: .words("Start a systemd timer of your own for the nightly run."))
    var timer = false

    func validate() throws {
        if cron, timer { throw ValidationError(.words("--cron and --timer would run it twice a night.")) }
    }

    func perform(in program: Program) async throws -> ExitStatus {
        let path = program.configurationPath
        let home = Program.homeFolder(in: program.environment)
        let night = NightlyRun(configuration: path, isStandard: path == home + "/.config/booksync/config.yaml")
        if try await runBlocking({ FileManager.default.fileExists(atPath: path) }) {
            guard cron || timer, address == nil, common.library == nil else {
                throw Failure(
                    .usage, disposition: .stop, what: "\(path) is not written", why: "it is there already",
                    remedy: "edit it (booksync config check says whether it is right), or name another with --config")
            }
        } else {
            try await setUp(path, night, program)
        }
        if cron {
            try await night.addToCrontab()
            await program.print(["event": "scheduled", "by": "cron"], or: ["cron runs booksync mirror every night"])
        }
        guard timer else { return .done }
        func unitFolder(_ variable: String, _ standard: String) -> String {
            // The XDG specification: a relative path is to be ignored.
            let named = program.environment[variable].flatMap { $0.hasPrefix("/") ? $0 : nil }
            return (named ?? home + standard) + "/systemd/user"
        }
        let (folder, isStarted) = try await night.startTimer(in: [
            unitFolder("XDG_CONFIG_HOME", "/.config"), unitFolder("XDG_DATA_HOME", "/.local/share"),
        ])
        await program.print(
            ["event": "scheduled", "by": "systemd", "is_started": .bool(isStarted), "path": .string(folder)],
            or: ["the units of the nightly run are in \(folder)"])
        if isStarted { return .done }
        await program.streams.writeError(
            "they are not started, because there is no systemd user session; start them by:")
        await program.streams.writeError(Message(verbatim: NightlyRun.timerStart))
        return ExitStatus(.configuration)
    }

    private func setUp(_ path: String, _ night: NightlyRun, _ program: Program) async throws {
        var setup = Setup(library: common.library?.fromCurrentFolder ?? Setup.standardLibrary)
        let asks = StandardInput.isInteractive && !common.json
        if asks, common.library == nil {
            let question: Message = "Folder for the audiobooks [\(Setup.standardLibrary)]:"
            let answer = try await program.answer(to: question)
            if !answer.isEmpty { setup.library = answer.fromCurrentFolder }
        }
        setup.book = asks && address == nil ? try await askedBook(program) : try await testedBook(address, program)
        try await write(setup, to: path, in: program.words)
        if common.json {
            let document: JSONDocument = [
                "event": "initialised", "configuration": .string(path), "library": .string(setup.library),
                "book": setup.book.map { .string($0.address.description) } ?? .null,
            ]
            await program.streams.writeOutput(document.text(isIndented: true))
        }
        await program.note("\(path) is written")
        await program.note(
            setup.book == nil
                ? "next: booksync subscribe REF follows a book, booksync mirror downloads what it lacks"
                : "next: booksync mirror downloads the book, and later what is new of it")
        if cron || timer { return }
        await program.note("every night: booksync init --cron, or --timer for systemd, or by hand:")
        await program.note(Message(verbatim: night.crontabCommand))
    }

    /// Asks until an address is given that has a catalog, or none.
    private func askedBook(_ program: Program) async throws -> Setup.FirstBook? {
        while true {
            let question: Message =
                "Address of a first book (a feed, an archive.org or LibriVox page, a folder of audio files; empty for none):"
            let answer = try await program.answer(to: question)
            do {
                return try await testedBook(answer.isEmpty ? nil : answer, program)
            } catch let failure as Failure {
                await program.streams.writeError("booksync: \(failure)")
            }
        }
    }

    /// Asks the catalog.
    private func testedBook(_ address: String?, _ program: Program) async throws -> Setup.FirstBook? {
        guard let address else { return nil }
        let reference = try BookReference(parsing: address)
        guard case .address(let location) = reference.target else {
            throw Failure(
                .usage, disposition: .stop, what: "'\(address)' is no address", why: "it has no https:// before it",
                remedy: "give the address of a feed, an archive item, a LibriVox book or a directory")
        }
        var configuration = Configuration.builtIn
        configuration.proxies = ProxyEnvironment(program.environment)
        let catalog = BookResourceSettings.bookID(in: location) == nil ? nil : Setup.catalog(askedAt: location)
        if let catalog {
            configuration.sources[catalog.name] = catalog
            configuration.defaultSource = catalog.name
        }
        configuration = try await program.recognising([reference], configuration)
        let book = try configuration.book(reference)
        let preview = try await CatalogPreview(of: book, configuration: configuration, logger: program.logger)
        let kind: Message =
            switch preview.kind {
            case .feed: "the feed"
            case .directory: "the directory"
            case .internetArchive: "the archive item"
            case .librivox: "the LibriVox book"
            case .opds: "the OPDS publication"
            case .bookResource, .audiobookshelf: "the book of a catalog"
            }
        await program.note("found \(kind) '\(preview.book.title)': \(Message(preview.episodes.count, "episode"))")
        return Setup.FirstBook(
            address: location, text: catalog == nil ? address : "\(book)", title: preview.book.title, catalog: catalog)
    }

    private func write(_ setup: Setup, to path: String, in words: Wordings) async throws {
        do {
            try await runBlocking {
                try FileManager.default.createDirectory(
                    at: URL(filePath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
                // An address may hold a token.
                try replaceFile(
                    at: path, with: Array(setup.configuration(in: words).utf8), mode: 0o600, replaces: false)
            }
        } catch {
            throw Failure(
                .configuration, disposition: .stop, what: "\(path) is not written", why: Message(cause: error),
                remedy: "see that you may write there, or name another file with --config")
        }
    }
}

/// What a new configuration says.
struct Setup {
    struct FirstBook {
        var address: ResourceAddress
        /// The address as the user gave it, secrets included; with a catalog of its own the book's id there.
        var text: String
        var title: String
        /// What is configured for it, where its kind has no catalog that needs no configuration.
        var catalog: SourceConfiguration?
    }

    /// The book-resource catalog of which somebody asked a page.
    static func catalog(askedAt page: ResourceAddress) -> SourceConfiguration {
        var source = SourceConfiguration(name: "catalog", kind: .bookResource)
        let parts = page.secretText.prefix { $0 != "#" }.split(separator: "?", maxSplits: 1)
        // What the catalog is asked for, and the signature of that, are other ones for every page.
        let query = (parts.dropFirst().first ?? "").split(separator: "&").filter { pair in
            !["bookId", "pageNum", "pageSize", "sc"].contains { pair.hasPrefix($0 + "=") }
        }.joined(separator: "&")
        source.url = ResourceAddress(query.isEmpty ? String(parts[0]) : "\(parts[0])?\(query)")
        return source
    }

    static let standardLibrary = "~/Audiobooks"

    var library: String
    var book: FirstBook?

    /// YAML, its comments in the user's language.
    func configuration(in words: Wordings) -> String {
        func comment(_ message: Message) -> String { "# \(words(message))\n" }
        var text = comment("The configuration of booksync. booksync config show prints every setting with its value.")
        text += "\n" + comment("Where the audio goes.") + "library: \(quoted(library))\n"
        text += "\n" + comment("How the files are named; booksync plan shows what a change would rename.")
        text += "#naming: \"\(NamingTemplate.standardText)\"\n"
        text += "\n" + comment("Episodes at once, and bytes a second over all transfers (0: no limit).")
        text += "#downloads: { jobs: 4, limit-rate: 0 }\n"
        text += "\n" + comment("Catalogs with credentials. Feeds, archive.org, LibriVox and directories need none.")
        if let catalog = book?.catalog {
            text += "default-source: \(catalog.name)\nsources:\n  \(catalog.name):\n"
            text += "    type: \(catalog.kind.rawValue)\n    url: \(quoted(catalog.url?.secretText ?? ""))\n"
        } else {
            text +=
                "#sources:\n#  premium: { type: feed, url: \"https://feeds.example/{id}\", bearer: \"${PREMIUM_TOKEN}\" }\n"
        }
        text += "\n" + comment("What booksync mirror follows; latest: 20 keeps to the newest 20 episodes.")
        guard let book else { return text + "#subscriptions:\n#  - book: https://example.org/feed.xml\n" }
        return text + comment(Message(verbatim: DisplayWidth.printable(book.title)))
            + "subscriptions:\n  - book: \(quoted(book.text))\n"
    }

    /// A double-quoted scalar (YAML 1.2 §7.3.1) in which nothing is taken from the environment.
    private func quoted(_ value: String) -> String {
        let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("${", with: "$${")
        return "\"\(DisplayWidth.printable(escaped))\""
    }
}
