import BookModel
import Foundation
import Support
import Testing

@testable import CatalogFetcher

/// Feeds that are made to do harm, larger than the corpus holds them.
@Suite struct HostileFeedTests {
    private static let item =
        #"<item><title>x</title><enclosure url="http://a.example/1.mp3" type="audio/mpeg"/></item>"#

    @Test func `no entity is expanded, whatever the DTD declares`() throws {
        let bomb = """
            <!DOCTYPE rss [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY x SYSTEM "file:///etc/passwd">
            <!ENTITY % p SYSTEM "http://127.0.0.1:1/x.dtd"> %p;]><rss><channel><title>&b;&x;</title>\(Self.item)</channel></rss>
            """
        let read = try readFeed(bomb)
        #expect(read.listing.description.title == nil)
        #expect(read.episodes.count == 1)
    }

    @Test func `a hundred thousand nested elements are stepped over`() throws {
        let depth = 100_000
        let read = try readFeed(
            rss(String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth) + Self.item))
        #expect(read.episodes.count == 1)
        #expect(read.listing.proof.isComplete)
    }

    @Test func `nesting to 256 levels is read`() throws {
        // rss, channel, item and enclosure take four.
        let depth = XMLNesting.maxDepth - 5
        let read = try readFeed(
            rss(String(repeating: "<a>", count: depth) + Self.item + String(repeating: "</a>", count: depth)))
        #expect(read.episodes.count == 1)
    }

    @Test func `a text above a megabyte is cut off with a warning`() throws {
        let read = try readFeed(
            rss(
                Self.item, head: "<title>T</title><description>\(String(repeating: "x ", count: 1 << 20))</description>"
            ))
        #expect((read.listing.description.summary?.utf8.count ?? 0) <= 100_000)
        #expect(read.warnings.contains("above 1 MB"))
    }

    @Test(arguments: [
        "<a " + String(repeating: "b='' ", count: 100_000) + "/>", String(repeating: "<a xmlns:b='c'>", count: 100_000),
        String(repeating: "&", count: 500_000), String(repeating: "<", count: 500_000),
        String(repeating: "</a>", count: 200_000), "<![CDATA[" + String(repeating: "]", count: 500_000),
        "<!--" + String(repeating: "-", count: 500_000), String(repeating: "&#x41;", count: 100_000),
        String(repeating: "<![CDATA[]]>", count: 50_000),
        "<a b=\"" + String(repeating: "&amp;", count: 100_000) + "\"/>",
        String(repeating: "<item>", count: 50_000), (0..<20_000).map { "<n\($0)/>" }.joined(),
        String(repeating: "<title>", count: 50_000), "<title>" + String(repeating: "第", count: 300_000),
    ])
    func `what is repeated without end takes time in proportion`(attack: String) async throws {
        let seconds = try await withTaskExecutorPreference(OwnThread()) {
            let start = OwnThread.processorTime
            _ = try readFeed(rss(attack))
            return OwnThread.processorTime - start
        }
        // A second in a build for testing; what is quadratic takes minutes. What else the machine does is not counted.
        #expect(seconds < 20)
    }

    @Test func `an item that was cut is left out and the listing is incomplete`() throws {
        let whole = rss(Self.item + #"<item><title>y</title><enclosure url="http://a.example/2.mp3"/></item>"#)
        for cut in [20, 40, 60] {
            let read = try readFeed(Array(whole.utf8.dropLast(cut)))
            #expect(read.episodes.count == 1, "without \(cut) bytes")
            #expect(!read.listing.proof.isComplete)
            #expect(read.warnings.contains("ends in the middle"))
        }
    }

    @Test func `ends that are missing or too many lose no other item`() throws {
        let items = (1...5).map { #"<item><title>\#($0)<enclosure url="http://a.example/\#($0).mp3"></b></item>"# }
        let read = try readFeed(
            rss(
                items.joined() + "</x></y>"
                    + #"<item><enclosure url="http://a.example/6.mp3"><item><enclosure url="http://a.example/7.mp3"/></item>"#
            ))
        #expect(read.addresses.suffix(2) == ["http://a.example/6.mp3", "http://a.example/7.mp3"])
    }

    @Test(
        arguments: [
            ("billion_laughs", nil, ["I1"]), ("bom_then_decl", "T", ["I1"]), ("control_chars", "T", ["I1"]),
            ("deep_nesting_10000", "T", ["I"]), ("declared_gb18030", "T", ["第一集·𠀀"]),
            ("declared_utf8_is_latin1", "T", ["Café"]), ("leading_blank_lines", "T", ["I1"]), ("nul_byte", "T", ["I1"]),
            ("truncated_mid_item", "T", ["I1", "I2"]), ("unescaped_ampersand_in_url", "T", ["Q & A"]),
            ("duplicate_guid_different_items", "T", ["I1", "I2", "I3"]), ("same_url_different_guid", "T", ["I1"]),
            ("multiple_enclosures", "T", ["M"]), ("atom_enclosures", "A", ["E1 & co", "E2"]),
            ("xxe_file", nil, ["I1"]), ("quadratic_blowup", nil, ["I1"]),
        ] as [(String, String?, [String])])
    func `the corpus's attacks are read as its manifest says`(file: String, title: String?, names: [String]) throws {
        let read = try readFeed(try Corpus.bytes("rss-hostile/synthetic/\(file).xml"))
        #expect(read.listing.description.title == title)
        #expect(read.episodes.map(\.name) == names)
    }
}
