import ArgumentParser
import BookModel
import BookSync
import BookSyncWeb

struct DemoCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "demo", abstract: .words("Serve the built-in demo catalog until interrupted."),
        discussion: .words("Prints the address of the catalog, which a source of type book-resource can be given."))

    @OptionGroup var common: CommonOptions

    @Option(help: .words("Where to listen; port 0 takes a free one.", valueName: "host:port"))
    var listen = "127.0.0.1:0"

    func perform(in program: Program) async throws -> ExitStatus {
        let address = try ListenAddress(parsing: listen)
        try await DemoCatalog(pace: program.demoPace).run(listen: address) { address in
            let list = DemoCatalog.catalogURL(at: address)
            await program.print(
                [
                    "event": "serving", "address": .string(address.url), "url": .string(list),
                    "detail_url": .string(DemoCatalog.detailURL(at: address)),
                ], or: [Message(verbatim: address.url)])
            await program.note("the catalog is at \(list); Ctrl-C ends it")
        }
        return .done
    }
}
