import BookModel
import CatalogFetcher
import Foundation
import Logging
import Support
import Transport

@testable import BookSync
@testable import Settings

/// All catalogs on one server, which answers what is recorded.
enum StandIn {
    static let archive = "/archive/advancedsearch.php"
    static let scrape = "/archive/services/search/v1/scrape"
    static let librivox = "/librivox/api/feed/audiobooks"
    static let itunes = "/itunes/search"
    static let fyyd = "/fyyd/search/podcast"
    static let books = "/books/search.action"
    /// Which file has the answer for which path.
    static let files = [
        archive: "advanced-search", librivox: "librivox", itunes: "itunes", fyyd: "fyyd", books: "book-resource",
    ]

    static func recorded(_ name: String) throws -> String {
        try String(contentsOf: Corpus.fixture("search/\(name).json"), encoding: .utf8)
    }

    /// - Parameter others: paths that are answered otherwise.
    static func script(_ others: [String: ServerScript] = [:]) throws -> ServerScript {
        .paths(try files.mapValues { .always(.text(try recorded($0))) }.merging(others) { $1 })
    }

    /// Where all of them are configured at that server; the library is empty.
    static func configuration(_ server: MisbehavingServer) -> Configuration {
        var configuration = Configuration.builtIn
        configuration.library = "/nonexistent/library"
        func add(_ name: String, _ kind: SourceKind, _ change: (inout SourceConfiguration) -> Void) {
            var source = SourceConfiguration(name: name, kind: kind)
            change(&source)
            configuration.sources[name] = source
        }
        add("archive", .internetArchive) { $0.url = server.address("/archive") }
        add("librivox", .librivox) {
            $0.url = server.address("/librivox")
            $0.archiveURL = server.address("/archive")
        }
        add("books", .bookResource) {
            $0.url = server.address("/books/list.action")
            $0.searchURL = ResourceAddress(server.url("/books/search.action?keyWord={query}&token=s3cr3t-token"))
            $0.query = [.init(name: "imei", value: Secret("12345678"))]
            $0.signature = .init(parameter: "sc", secret: Secret("signing-secret"))
        }
        configuration.find.itunesURL = server.address("/itunes")
        configuration.find.fyydURL = server.address("/fyyd")
        return configuration
    }

    static func withTransport<Result: Sendable>(
        _ configuration: Configuration, _ body: (HTTPTransport) async throws -> Result
    ) async throws -> Result {
        try await withHTTPTransport(
            options: configuration.transportOptions, logger: Logger(label: "test"), body)
    }
}

/// Searches the stand-ins.
func search(
    _ query: CatalogQuery, in names: String..., at server: MisbehavingServer,
    _ change: (inout Configuration) -> Void = { _ in }
) async throws -> FoundBooks {
    var configuration = StandIn.configuration(server)
    change(&configuration)
    let changed = configuration
    return try await StandIn.withTransport(changed) { transport in
        try await changed.catalogSearch(in: names, over: transport).search(query)
    }
}

extension FoundBooks {
    var references: [String] { books.map(\.entry.reference) }
}
