import BookModel
import Logging
import Support
import Testing
import Transport

@testable import CatalogFetcher

@Suite(.limitedConcurrency) struct SourceKindTests {
    @Test func `every kind has its word`() {
        #expect(
            SourceKind.allCases.map(\.rawValue) == [
                "book-resource", "feed", "internet-archive", "librivox", "directory", "opds", "audiobookshelf",
            ])
    }

    @Test func `each type is read by its own source`() async throws {
        try await withHTTPTransport(options: .init(), logger: Logger(label: "test")) { transport in
            let formats: [any CatalogFormat] = [
                BookResourceSettings("http://catalog.example"), FeedSettings(), InternetArchiveSettings(),
                LibriVoxSettings(), DirectorySettings(), OPDSSettings(),
                AudiobookshelfSettings(address: ResourceAddress("http://books.example")),
            ]
            let sources = formats.map { $0.source(over: CatalogClient(transport: transport)) }
            #expect(sources[0] is BookResourceSource)
            #expect(sources[1] is FeedSource)
            #expect(sources[2] is InternetArchiveSource)
            #expect(sources[3] is LibriVoxSource)
            #expect(sources[4] is DirectorySource)
            #expect(sources[5] is OPDSSource)
            #expect(sources[6] is AudiobookshelfSource)
            #expect(formats.map { "\(type(of: $0))" } == SourceKind.allCases.map { "\($0.format)" })
        }
    }
}
