import ArgumentParser
import BookModel
import BookSync
import LibraryFiles
import Settings

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

    @Flag(help: .words("As with fetch --renumber."))
    var renumber = false

    func perform(in program: Program) async throws -> ExitStatus {
        let configuration = try await program.libraryConfiguration(
            transfer.overrides(), naming: references, mayLackRecords: true)
        return try await program.inLibraries(of: references, configuration) {
            try await plan($1, in: try await $0.withOwnSubscriptions(), program)
        }
    }

    private func plan(
        _ references: [String], in library: Configuration, _ program: Program
    ) async throws -> ExitStatus {
        let filter = try selection.filter()
        var configuration = library
        configuration.namingOverride = try naming.map(NamingTemplate.init(option:))
        var references = try references.map(BookReference.init(parsing:))
        let lists = try references.map(configuration.book).filter(\.isCollection)
        let chosen = lists.map { Subscription(book: $0, filter: filter, collection: books.collection) }
        try await program.printPreviews(of: chosen, configuration)
        references = try references.filter { try !configuration.book($0).isCollection }
        if references.isEmpty, !lists.isEmpty { return .done }
        if !offline {
            configuration = try await program.recognising(
                references, andSubscriptions: references.isEmpty, goesOn: true, configuration)
        }
        var items = try configuration.items(naming: references, filter: filter)
        if references.isEmpty {
            let subscriptions = try await program.subscriptions(configuration)
            if !offline { try await program.printPreviews(of: subscriptions, configuration) }
            items = configuration.items(of: subscriptions, order: transfer.order)
        }
        let request = try RunRequest(
            items: items, lists: configuration.unread(references), order: configuration.downloads.order, force: force,
            renumbers: renumber, detail: common.json ? .everything : .skips,
            // As a mirror would do it.
            bringsNewsFirst: references.isEmpty)
        if offline || items.isEmpty && request.lists.isEmpty {
            return try await program.printPlans(request, configuration: configuration, offline: true)
        }
        return try await program.withCatalogs(configuration, for: items.map(\.book)) { configuration in
            try await program.printPlans(request, configuration: configuration, offline: false)
        }
    }
}
