import ArgumentParser
import BookCollections
import BookModel
import BookSync
import LibraryFiles
import Settings
import ShelfQueries

struct PlanCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "plan", abstract: .words("Print what a run would do, and change nothing."),
        discussion: .words("Without a REF: for every subscription. With --json each book is one line."))

    @OptionGroup var common: CommonOptions

    @Argument(help: .words("Books.", valueName: "ref"), completion: .books)
    var references: [String] = []

    @OptionGroup var selection: SelectionOptions

    @OptionGroup var books: CollectionOptions

    @OptionGroup var transfer: TransferOptions

    @Flag(help: .words("Plan from the stored catalog instead of asking for it."))
    var offline = false

    @Option(
        help: .words(
            "Plan with this naming instead of all that are configured, to see what it would rename.",
            valueName: "template"))
    var naming: String?

    @Flag(help: .words("As with fetch --force."))
    var force = false

    func perform(in program: Program) async throws -> ExitStatus {
        let filter = try selection.filter()
        var configuration = try await program.libraryConfiguration(transfer.overrides(), naming: references)
        configuration.namingOverride = try naming.map(NamingTemplate.init(option:))
        var references = try references.map(BookReference.init(parsing:))
        let collections = try references.map(configuration.book).filter(\.isCollection)
        for collection in collections {
            let preview = try await CollectionPreview.read(
                Subscription(book: collection, filter: filter, collection: books.collection), configuration,
                logger: program.logger)
            if common.json {
                await program.streams.writeOutput(JSONDocument(preview).text())
            } else {
                await program.streams.writeOutput([preview.sentence])
            }
        }
        references = try references.filter { try !configuration.book($0).isCollection }
        if references.isEmpty, !collections.isEmpty { return .done }
        if !offline {
            configuration = try await program.recognising(
                references, andSubscriptions: references.isEmpty, configuration)
        }
        var items = try configuration.items(naming: references, filter: filter)
        if items.isEmpty {
            let stored = try await ShelfReader.read(configuration.library) { try await $0.subscriptions() } ?? []
            items = try configuration.items(with: stored, order: transfer.order)
        }
        let request = try RunRequest(
            items: items, order: configuration.downloads.order, force: force,
            detail: common.json ? .everything : .skips)
        if items.isEmpty { await program.sayThatNothingIsSubscribedTo() }
        if offline || items.isEmpty {
            return try await program.printPlans(request, configuration: configuration, offline: true)
        }
        return try await program.withCatalogs(configuration, for: items.map(\.book)) { configuration in
            try await program.printPlans(request, configuration: configuration, offline: false)
        }
    }
}

extension CollectionPreview {
    fileprivate var sentence: Message {
        let bytes = describeBytes(size)
        let parts: [Message?] = [
            books < listed ? "\(books) of \(Message(listed, "book"))" : Message(books, "book"),
            seconds > 0 ? "\(Int((seconds / 3600).rounded())) h" : nil,
            unknownSizes > 0
                ? "\(bytes) and \(Message(unknownSizes, "book")) of unknown size" : Message(verbatim: bytes),
            free.map { free in
                size <= free
                    ? "\(describeBytes(free)) may be written to the library's disk"
                    : "only \(describeBytes(free)) may be written to the library's disk"
            },
        ]
        return "\(collection): \(parts.compactMap(\.self).joined(separator: ", "))"
    }
}

extension JSONDocument {
    fileprivate init(_ preview: CollectionPreview) {
        self = [
            "event": "collection", "source": .string(preview.collection.source), "id": .string(preview.collection.id),
            "listed": .init(preview.listed), "books": .init(preview.books), "seconds": .init(preview.seconds),
            "size": .init(preview.size), "unknown_sizes": .init(preview.unknownSizes), "free": .init(preview.free),
        ]
    }
}
