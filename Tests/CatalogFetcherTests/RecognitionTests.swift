import BookModel
import Foundation
import Support
import Testing

@testable import CatalogFetcher

/// Every recorded answer is recognised as what it is, and as nothing else.
@Suite struct RecognitionTests {
    private func kinds(of bytes: [UInt8]) -> [SourceKind] {
        let answer = CatalogResponse(bytes: bytes, address: ResourceAddress("http://example.com/plain/"))
        let formats: [(SourceKind, any CatalogFormat.Type)] = [
            (.bookResource, BookResourceSettings.self), (.internetArchive, InternetArchiveSettings.self),
            (.librivox, LibriVoxSettings.self), (.directory, DirectorySettings.self), (.opds, OPDSSettings.self),
            (.audiobookshelf, AudiobookshelfSettings.self),
        ]
        return formats.filter { $0.1.bookID(in: answer) != nil }.map(\.0)
    }

    /// Answers of a book-resource catalog by which it is not told.
    private static let noListings: Set<String> = [
        "hostile_gbk_bytes.json", "hostile_html_login.html", "hostile_truncated.json",
        "synthetic_status_114_rate_limit.json", "synthetic_status_4_illegal.json",
    ]

    @Test(
        arguments: [
            ("html-index", .directory, 24, 26), ("json-ia", .internetArchive, 4, 4),
            ("json-librivox", .librivox, 13, 13), ("json-lrts", .bookResource, 11, 11),
        ] as [(String, SourceKind, Int, Int)])
    func `recorded answers are told apart`(folder: String, kind: SourceKind, chosen: Int, whole: Int) throws {
        let others = ["MANIFEST.tsv", "FIELDS.tsv", "expected.json", "error_not_found.json"]
        var recognised = 0
        for name in Corpus.names(in: folder) where !others.contains(name) {
            let found = kinds(of: try Corpus.bytes("\(folder)/\(name)"))
            let isListing = !Self.noListings.contains(name)
            // Books of LibriVox lie beside the items of the archive that they belong to.
            let kind = name.hasPrefix("pairs/ia-") ? .internetArchive : kind
            #expect(found == (isListing ? [kind] : []), "\(name): \(found)")
            if isListing { recognised += 1 }
        }
        #expect(recognised == Corpus.count(ofChosen: chosen, ofWhole: whole))
    }

    @Test func `feeds and shops are no directories`() throws {
        for name in Corpus.names(in: "rss").filter({ $0.hasSuffix(".xml") }).prefix(40) {
            #expect(kinds(of: try Corpus.bytes("rss/\(name)")).isEmpty, "\(name)")
        }
        let shop = "<html><title>Index of Prices</title><a href='?sort=price'>price</a><a href='a.html'>a</a></html>"
        #expect(kinds(of: Array(shop.utf8)).isEmpty)
    }

    @Test func `a saved book-resource page is read as one page`() throws {
        let settings = BookResourceSettings("http://catalog.example")
        let part = CatalogResponse(bytes: try Corpus.bytes("json-lrts/real_425_free_2items.json"))
        let contents = try settings.read(part, source: "kting", id: "425")
        #expect(contents.episodes.map(\.section) == [1, 2])
        #expect(contents.book.title == "白眉大侠" && contents.book.declaredEpisodes == 400)
        #expect(!contents.book.isComplete && contents.listing.proof.warnings.count == 1)

        let whole = CatalogResponse(bytes: try Corpus.bytes("json-lrts/real_item_30776_TTBookModel.json"))
        #expect(try settings.read(whole, source: "kting", id: "30776").book.isComplete)
        let endless = Array(WirePage.json(1...50).utf8)
        let page = try settings.read(CatalogResponse(bytes: endless), source: "kting", id: nil)
        #expect(page.identity.id == "saved" && page.episodes.count == 50 && !page.book.isComplete)
        let refused = try failure(reading: #"{"status":114,"msg":"x"}"#, as: settings)
        #expect(refused?.kind == .unreadableCatalog)
        #expect(
            BookResourceSettings.bookID(
                in: ResourceAddress("http://h/yyting/bookclient/ClientGetBookResource.action?q=1&bookId=30776"))
                == "30776")
    }
}
