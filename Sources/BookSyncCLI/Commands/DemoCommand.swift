import ArgumentParser
import BookModel
import BookSync
import BookSyncWeb

struct DemoCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "demo", abstract: "Serve the built-in demo catalog until interrupted.",
        discussion: "Prints the address of the catalog, which a source of type book-resource can be given.")

    @OptionGroup var common: CommonOptions

    @Option(help: ArgumentHelp("Where to listen; port 0 takes a free one.", valueName: "host:port"))
    var listen = "127.0.0.1:0"

    private var endpoint: (host: String, port: Int)? {
        guard let colon = listen.lastIndex(of: ":"), let port = Int(listen[listen.index(after: colon)...]),
            (0...65535).contains(port), colon > listen.startIndex
        else { return nil }
        return (String(listen[..<colon]), port)
    }

    func validate() throws {
        if endpoint == nil {
            throw ValidationError("--listen takes HOST:PORT, as in 127.0.0.1:8730, not '\(listen)'.")
        }
    }

    func perform(in program: Program) async throws -> ExitStatus {
        guard let endpoint else { return .usage }
        return try await DemoCatalog(pace: program.demoPace).serving(on: endpoint.host, port: endpoint.port) { address in
            await program.print(
                [
                    "address": .string(address.baseURL), "url": .string(address.listURL),
                    "detail_url": .string(address.detailURL),
                ], or: [address.baseURL])
            if !program.options.quiet {
                await program.streams.writeError("the catalog is at \(address.listURL); Ctrl-C ends it")
            }
            // Nothing is left to do but to be interrupted.
            try await Task.sleep(for: .seconds(365 * 86400))
            return .done
        }
    }
}
