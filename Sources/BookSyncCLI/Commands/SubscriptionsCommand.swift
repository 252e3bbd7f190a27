import ArgumentParser
import BookModel
import BookSync
import CatalogFetcher
import Foundation
import LibraryFiles
import Settings

struct SubscriptionsCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "subscriptions", abstract: .words("List subscriptions, or exchange them with other programs."),
        discussion: .words(
            """
            --import follows every feed of an OPML file that is not followed yet, under its title there; folders and \
            categories become tags. Nobody is asked anything. What cannot be followed is named, the rest is followed all \
            the same. --export writes what is followed; booksync reads it back whole, books without a feed included. \
            --moved tells that the feed of a book is at another address by now, where its server does not say so itself.
            """))

    @OptionGroup var common: CommonOptions

    @Option(
        name: .customLong("import"),
        help: .words("Follow what this OPML file lists; - is standard input.", valueName: "file"),
        completion: .file())
    var importedFile: String?

    @Option(
        name: .customLong("export"),
        help: .words("Write an OPML file; - is standard output.", valueName: "file"), completion: .file())
    var exportedFile: String?

    @Option(
        name: .customLong("moved"), parsing: .upToNextOption,
        help: .words("The book, and the address that its feed has by now.", valueName: "ref"))
    var moved: [String] = []

    func validate() throws {
        if !moved.isEmpty, moved.count != 2 || importedFile != nil || exportedFile != nil {
            throw ValidationError(.words("--moved takes a book and its new address, and nothing else."))
        }
        if importedFile != nil, exportedFile != nil {
            throw ValidationError(.words("--import and --export cannot be done at once."))
        }
        if importedFile == "" || exportedFile == "" {
            throw ValidationError(.words("--import and --export take the path of a file, or -."))
        }
    }

    func perform(in program: Program) async throws -> ExitStatus {
        let configuration = try await program.libraryConfiguration(naming: Array(moved.prefix(1)))
        if let name = moved.first, let address = moved.last {
            return try await program.inLibraries(of: [name], configuration) { own, _ in
                try await move(name, to: address, own, program)
            }
        }
        if let importedFile { return try await follow(importedFile, configuration, program) }
        if let exportedFile {
            return try await program.exportSubscriptions(of: configuration, books: [], to: exportedFile) { $0 }
        }
        let (stored, status) = try await program.ask(configuration) { configuration, _ in
            try await ShelfReader.read(configuration.library) { try await $0.subscriptions() } ?? []
        }
        let subscriptions = try await configuration.allSubscriptions(with: stored.answers.flatMap(\.value))
            .withAddresses(in: configuration.libraries)
        await program.print(
            .array(subscriptions.map { JSONDocument($0) }), or: Self.table(subscriptions, program.words))
        return status
    }

    private static func table(_ subscriptions: [Subscription], _ words: Wordings) -> TextTable {
        var columns: [TextTable.ItemColumn<Subscription>] = [
            .init(title: "book") { "\($0.book)" },
            .init(title: "title", isFlexible: true) { $0.title ?? "" },
            .init(title: "episodes") { words($0.wishes.joined(separator: ", ")) },
        ]
        if subscriptions.contains(where: { !$0.tags.isEmpty }) {
            columns.append(
                .init(title: "tags", isFlexible: true) { $0.tags.map(\.description).joined(separator: ", ") })
        }
        return subscriptions.table(columns)
    }

    // MARK: Moves

    private func move(
        _ name: String, to text: String, _ configuration: Configuration, _ program: Program
    ) async throws -> ExitStatus {
        let references = [try BookReference(parsing: name), try BookReference(parsing: text)]
        let known = try await configuration.knowing(references)
        let book = try known.book(references[0])
        guard let address = references[1].address, book.id.contains("://"),
            [nil, book].contains(known.recognised[address])
        else {
            throw Failure(
                .usage, what: "\(book) cannot be at \(references[1])",
                why: "it is not a feed known by its address, or the other is not an address or another book's",
                remedy: "see booksync list; if both addresses are followed, unsubscribe from one of them")
        }
        try await configuration.requireFeed(of: book, at: address, logger: program.logger)
        try await SubscriptionBook.open(of: configuration, knownLibraries: program.knownLibraries) {
            try await $0.move(book, to: address)
        }
        await program.print(
            [
                "event": "feed_moved", "source": .string(book.source), "id": .string(book.id),
                "address": .string("\(address)"),
            ],
            or: program.options.quiet ? [] : ["\(book) is asked for at \(address) from now on"])
        return .done
    }

    // MARK: Import

    private func follow(
        _ file: String, _ configuration: Configuration, _ program: Program
    ) async throws -> ExitStatus {
        let name = file == "-" ? "standard input" : Message(verbatim: file)
        let bytes = try await runBlocking {
            try InputFile.bytes(of: file, named: name, upTo: OPMLReader.maxLength)
        }
        let imported = try await SubscriptionImport(
            bytes, from: name, configuration: configuration, knownLibraries: program.knownLibraries)
        let status = ExitStatus(of: imported.failures)
        let (counts, refused) = (imported.counts, imported.failures.count)
        await program.print(
            [
                "event": "imported", "subscribed": .init(counts.subscribed), "already": .init(counts.already),
                "refused": .init(refused), "feeds": .array(imported.entries.map { JSONDocument($0) }),
                "notices": .array(imported.notices.map { .string($0.description) }),
                "exit_code": .init(Int(status.rawValue)),
            ], or: program.options.quiet ? [] : imported.entries.compactMap(Self.line))
        for failure in imported.failures { await program.streams.writeError("\(failure)") }
        for notice in imported.notices { await program.note(notice) }
        await program.note(
            "\(name): \(counts.subscribed) subscribed, \(counts.already) followed already, \(refused) refused")
        return status
    }

    private static func line(_ entry: SubscriptionImport.Entry) -> Message? {
        guard let book = entry.book else { return nil }
        let tags = entry.tags.isEmpty ? "" : " [\(entry.tags.map(\.description).joined(separator: ", "))]"
        let subject = DisplayWidth.printable("\(book) \(entry.title ?? "")\(tags)")
        let line: Message = entry.outcome == .subscribed ? "subscribed \(subject)" : "already \(subject)"
        return entry.repeats == 0 ? line : "\(line) (in the list \(entry.repeats + 1) times)"
    }
}

extension Subscription {
    /// Which episodes it follows, and how.
    fileprivate var wishes: [Message] {
        let rest: [Message?] = [
            order.map { "order \($0.rawValue)" }, limits.episodes.map { "\($0) a run" },
            limits.bytes.map { "\(describeBytes($0)) a run" }, naming.map { "named \($0)" },
            keep.map { Message(verbatim: "\($0)") }, collection.language.map { "in \($0)" },
            collection.minHours.map { "of \(String(format: "%g", $0)) h at least" },
            collection.maxBooks.map { Message($0, "book") },
            FeedSettings.newAddress(of: self).map { "moved to \($0)" },
        ]
        return (filter.conditions.isEmpty ? ["all"] : filter.conditions) + rest.compactMap(\.self)
    }
}

extension Program {
    /// Writes the subscriptions as OPML, and says of which books no other program can make anything.
    /// - Parameters:
    ///   - books: those that are wanted; none for all.
    ///   - output: a path, or `-` for standard output.
    ///   - document: of what was written.
    func exportSubscriptions(
        of configuration: Configuration, books: [BookIdentity], to output: String,
        document: (JSONDocument) -> JSONDocument
    ) async throws -> ExitStatus {
        let outline = try await SubscriptionOutline(of: configuration, books: books)
        if output == "-" {
            await streams.writeOutput(bytes: try outline.bytes())
        } else {
            let written = try await outline.write(to: output)
            await print(
                document(.exported("opml", to: written.path, isWritten: written.isWritten)),
                or: written.isWritten ? ["wrote \(written.path)"] : [])
        }
        for notice in outline.notices { await note(notice) }
        switch outline.booksWithoutFeed.count {
        case 0: break
        case 1: await note("1 book has no feed that other programs could follow: booksync alone reads it back")
        case let count:
            await note("\(count) books have no feed that other programs could follow: booksync alone reads them back")
        }
        return .done
    }
}

extension JSONDocument {
    init(_ entry: SubscriptionImport.Entry) {
        let (word, error): (String, String?) =
            switch entry.outcome {
            case .subscribed: ("subscribed", nil)
            case .followedAlready: ("already", nil)
            case .refused(let failure): ("refused", failure.description)
            }
        self = [
            "title": .init(entry.title), "address": .init(entry.address), "source": .init(entry.book?.source),
            "id": .init(entry.book?.id), "tags": .array(entry.tags.map { .string($0.description) }),
            "repeats": .init(entry.repeats), "outcome": .string(word), "error": .init(error),
        ]
    }
}
