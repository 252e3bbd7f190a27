import BookModel
import Support
import Testing

@testable import CatalogFetcher

/// Recorded answers, cut off and altered: what is read of them is sane, or there is a sentence.
@Suite struct SpoiltCorpusTests {
    private static let kinds: [(folder: String, format: any CatalogFormat)] = [
        ("html-index", DirectorySettings()), ("json-ia", InternetArchiveSettings()),
        ("json-librivox", LibriVoxSettings()), ("opds", OPDSSettings()),
        ("audiobookshelf", AudiobookshelfSettings(address: ResourceAddress("http://example.com/"))),
    ]

    @Test(arguments: ["html-index", "json-ia", "json-librivox", "opds", "audiobookshelf"])
    func `damaged answers are read or refused in a sentence`(folder: String) async throws {
        let format = try #require(Self.kinds.first { $0.folder == folder }?.format)
        try await withTaskExecutorPreference(OwnThread()) {
            let others = ["MANIFEST.tsv", "expected.json"]
            let names = Corpus.names(in: folder).filter { !others.contains($0) && !$0.hasPrefix("pairs/ia-") }
            #expect(!names.isEmpty)
            for (place, name) in names.enumerated() {
                let whole = try Corpus.bytes("\(folder)/\(name)")
                for (turn, bytes) in SpoiltInput.of(whole, seed: UInt64(place)).enumerated() {
                    let answer = CatalogResponse(bytes: bytes, address: ResourceAddress("http://example.com/plain/"))
                    for (_, other) in Self.kinds where turn % 4 == 0 { _ = type(of: other).bookID(in: answer) }
                    do {
                        let contents = try format.read(answer, source: "mine", id: nil)
                        #expect(contents.episodes.count <= bytes.count)
                        #expect(contents.listing.proof.collected == contents.episodes.count)
                        #expect(Set(contents.episodes.map(\.identity.key)).count == contents.episodes.count)
                        #expect(contents.episodes.allSatisfy { $0.address?.isOfWeb != false })
                    } catch let failure as Failure {
                        #expect([.unknownBook, .unreadableCatalog].contains(failure.kind))
                        #expect(failure.description.utf8.count < 2000)
                    }
                }
            }
        }
    }
}
