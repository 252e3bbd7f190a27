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

    @Test func `a kind of a later version is told in a sentence`() async throws {
        try await withHTTPTransport(options: .init(), logger: Logger(label: "test")) { transport in
            let failure = #expect(throws: Failure.self) {
                try SourceSettings.feed.source(named: "mine", transport: transport)
            }
            #expect(failure?.kind == .configuration)
            #expect(failure?.description.contains("sources of type feed cannot be read by this version") == true)
        }
    }

    @Test func `each type is read by its own source`() async throws {
        try await withHTTPTransport(options: .init(), logger: Logger(label: "test")) { transport in
            let kinds: [SourceSettings] = [
                .bookResource(BookResourceSettings("http://catalog.example")), .internetArchive(.init()),
                .librivox(.init()), .directory(.init()),
            ]
            let sources = try kinds.map { try $0.source(named: "mine", transport: transport) }
            #expect(sources[0] is BookResourceSource)
            #expect(sources[1] is InternetArchiveSource)
            #expect(sources[2] is LibriVoxSource)
            #expect(sources[3] is DirectorySource)
        }
    }
}
