import ArgumentParser
import BookModel
import BookSync
import BookSyncWeb
import Logging
import Settings

struct ServeCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: .words("Serve the shelf: audio, podcast feeds, and a catalog for other booksyncs."),
        discussion: .words(
            """
            /feeds/all.opml lists a podcast feed for each book. A source of type book-resource whose url is \
            ADDRESS/catalog/SOURCE/ClientGetBookResource.action (its detail-url the same with ClientGetBookDetail.action) \
            mirrors this library. /api/v1/ has books, search, queue, subscriptions and runs, as --json prints them.

            By POST to /api/v1/fetch, pause, resume, cancel, remove, subscribe, unsubscribe, position and mirror clients \
            have things done; /api/v1/openapi.json describes it all, and /api/v1/events tells what happens.

            Where a password is set, whoever comes is asked for it; without one only this machine is listened to. \
            Programs send the token of serve.token instead, and podcast apps need neither: their address, below /apps/, \
            is shown on the subscriptions page. Printed is the address; a signal ends the server once its answers are \
            given.
            """))

    /// Nobody watches a server: what is tried at its door is told without being asked for.
    static let minLogLevel = Logger.Level.warning

    @OptionGroup var common: CommonOptions

    @Option(
        help: .words(
            "Where to listen: an address of this machine (port 0 takes a free one), or unix:PATH. Default: serve.listen, "
                + "else 127.0.0.1:8731.", valueName: "host:port"))
    var listen: String?

    @Option(help: .words("What all paths begin with, as in /shelf. Default: serve.base-path.", valueName: "path"))
    var basePath: String?

    @Option(
        help: .words(
            "The address under which clients reach the server, for feeds. Default: serve.public-url, else what each "
                + "client says.", valueName: "url"))
    var publicURL: String?

    @Flag(
        inversion: .prefixedNo,
        help: .words(
            "Let clients look and listen, and change nothing; with --add-user and --books-of that user only. Default: "
                + "serve.read-only, and for --books-of as it is."))
    var readOnly: Bool?

    @Option(
        help: .words(
            "Fetch what is missing of every subscription again and again, as in 6h. Default: serve.mirror-every, else "
                + "never.", valueName: "time"))
    var mirrorEvery: String?

    @Flag(help: .words("Ask for a new password, put its hash into the configuration, and end."))
    var setPassword = false

    @Flag(
        help: .words(
            "Give the feeds of podcast apps a new address, so that the old one ends, and end; those of users stay: see "
                + "--passwd."))
    var rotateApps = false

    @OptionGroup var users: UserOptions

    func validate() throws {
        if (setPassword ? 1 : 0) + (rotateApps ? 1 : 0) + users.count > 1 {
            throw ValidationError(.words("Passwords, users and the apps' address are changed one after the other."))
        }
        if readOnly != nil, setPassword || rotateApps || users.count > (users.takesRights ? 1 : 0) {
            throw ValidationError(.words("--read-only is for the server, --add-user and --books-of."))
        }
        if let mirrorEvery, ServeSettings.mirrorInterval(mirrorEvery) == nil {
            throw ValidationError(.words("--mirror-every takes a time such as 6h, from 1m on, not '\(mirrorEvery)'."))
        }
        if let basePath, !ServeSettings.canBeBasePath(basePath) {
            throw ValidationError(.words("--base-path is a path such as /shelf, without a slash at its end."))
        }
        if let publicURL, !isServerAddress(publicURL) {
            throw ValidationError(.words("--public-url is an http or https address without user, query and fragment."))
        }
    }

    func perform(in program: Program) async throws -> ExitStatus {
        if setPassword { return try await setPassword(in: program) }
        if rotateApps { return try await rotateApps(in: program) }
        if users.count > 0 { return try await changeUsers(in: program) }
        var loaded = try await program.configuration().configuration.knowing([])
        loaded.trustsReferences = false
        let configuration = loaded
        let settings = configuration.serve
        let target = try ListenTarget(parsing: listen ?? settings.listen)
        let publicURL = publicURL ?? settings.publicURL
        let hosts = HostRule(target: target, publicURL: publicURL, hosts: settings.hosts)
        // A password guards the server also while the disk with the users is not mounted.
        let knownLibraries = settings.asksWhoComes ? nil : program.knownLibraries
        let users = try await UserBook(of: configuration.library, knownLibraries: knownLibraries).users()
        for place in configuration.libraries where users.isEmpty && !settings.asksWhoComes {
            guard try await UserBook(of: place.path).users().isEmpty else {
                throw Failure(
                    .configuration, disposition: .stop, what: "the shelf is not served",
                    why: "its users are in the library \(place.path), and those of \(configuration.library) count",
                    remedy: "set a password with 'booksync serve --set-password', or make \(place.path) the 'library'")
            }
        }
        try target.requireGuard(asksWhoComes: settings.asksWhoComes || !users.isEmpty, names: hosts)
        let interval = mirrorEvery.flatMap(ServeSettings.mirrorInterval) ?? settings.mirrorInterval
        let isReadOnly = readOnly ?? settings.isReadOnly
        if isReadOnly, interval != nil {
            throw Failure(
                .usage, what: "nothing can be mirrored", why: "the server is read-only",
                remedy: "leave out --read-only, or --mirror-every")
        }
        let shelf = ServedShelf(
            configuration, knownLibraries: program.knownLibraries,
            desks: isReadOnly ? [] : try await program.runQueues(configuration))
        // What is wrong with a library is better told now than to each client, who then finds all this known.
        let fronts = try await shelf.front()
        for (place, failure) in fronts.failures {
            await program.streams.writeError("booksync: \(place.name): \(failure)")
        }
        let books = fronts.answers.saturatedSum(of: \.value.sum.books)
        let pages = try ShelfPages(shelf) { try await program.findings(asksSources: $0) }
        let certificate = try await certificate(settings, program)
        if certificate == nil, publicURL?.hasPrefix("https:") != true, !target.isThisMachine {
            await program.note("plain HTTP: others on the network can read passwords; use serve.tls or an HTTPS proxy")
        }
        let server = ShelfServer(
            configuration, at: target, basePath: basePath ?? settings.basePath,
            publicURL: publicURL, users: users, pages: pages, certificate: certificate,
            mirrorInterval: interval, logger: program.logger,
            changedSettings: await changes(of: settings, program))
        try await server.run { address in
            // Runs print a line for each of their events.
            await program.printLine(["event": "serving", "address": .string(address)])
            if !common.json { await program.streams.writeOutput([Message(verbatim: address)]) }
            let shelf = books > 0 ? Message(books, "book") : "an empty shelf"
            let libraries = configuration.libraries.map(\.name)
            let places: Message =
                switch libraries.count {
                case 1: Message(verbatim: configuration.library)
                case ...8: Message(verbatim: libraries.joined(separator: ", "))
                default: "\(libraries.count) libraries"
                }
            await program.note("serving \(shelf) from \(places); Ctrl-C ends it")
        }
        return .done
    }

    /// What the server proves itself with; nil where it speaks plain HTTP.
    private func certificate(_ settings: ServeSettings, _ program: Program) async throws -> ServerCertificate? {
        switch (settings.certificatePath, settings.keyPath) {
        case (nil, nil): return nil
        case (let certificate?, let key?): return try await .read((certificate, key), logger: program.logger)
        default:
            throw Failure(
                .configuration, disposition: .stop, what: "the shelf cannot be served over HTTPS",
                why: "only one of serve.tls.certificate and serve.tls.key is set", remedy: "set both, or neither")
        }
    }
}
