import ArgumentParser
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
        let references = try references.map(BookReference.init(parsing:))
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
