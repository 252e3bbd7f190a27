import BookModel
import Logging
import Testing
import Transport

@testable import CatalogFetcher

@Suite struct SourceKindTests {
    @Test func `every kind has its word`() {
        #expect(
            SourceKind.allCases.map(\.rawValue) == [
                "book-resource", "feed", "internet-archive", "librivox", "directory",
            ])
    }

    @Test(arguments: [SourceSettings.internetArchive, .librivox, .directory])
    func `kinds of later versions are told in a sentence`(settings: SourceSettings) async throws {
        try await withHTTPTransport(options: .init(), logger: Logger(label: "test")) { transport in
            let failure = #expect(throws: Failure.self) {
                try settings.source(named: "mine", transport: transport)
            }
            #expect(failure?.kind == .configuration)
            #expect(
                failure?.description.contains(
                    "sources of type \(settings.kind.rawValue) cannot be read by this version") == true)
        }
    }

    @Test func `a book-resource source is made`() async throws {
        try await withHTTPTransport(options: .init(), logger: Logger(label: "test")) { transport in
            let settings = SourceSettings.bookResource(BookResourceSettings("http://catalog.example"))
            let source = try settings.source(named: "kting", transport: transport)
            #expect(source is BookResourceSource)
        }
    }
}
