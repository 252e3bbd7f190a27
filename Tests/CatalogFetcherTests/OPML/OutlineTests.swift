import BookModel
import Support
import Testing

@testable import CatalogFetcher

@Suite struct OutlineTests {
    private static func read(_ body: String) throws -> OPMLDocument {
        try OPMLReader.read(Array("<opml version='2.0'><body>\(body)</body></opml>".utf8), from: "it")
    }

    @Test(arguments: [
        ("feed://h/x.xml", "http://h/x.xml"), ("feed:https://h/x.xml", "https://h/x.xml"),
        ("ITPC://h/x", "http://h/x"), ("pcast://h/x?a=1&amp;b=2", "http://h/x?a=1&b=2"), (" http://h/ ", "http://h/"),
        ("mailto:a@h", "mailto:a@h"),
    ])
    func `the addresses that programs register for feeds are those of the web`(written: String, meant: String) throws {
        #expect(try Self.read("<outline xmlUrl='\(written)'/>").feeds.first?.address?.secretText == meant)
    }

    @Test func `a feed in several folders is one feed with several tags`() throws {
        let feeds = try Self.read(
            """
            <outline text='a'><outline text='F' xmlUrl='http://h/f'/></outline>
            <outline text='b'><outline text='c'><outline text='G' xmlUrl='http://h/f'/></outline></outline>
            <outline text='b'><outline text='c'><outline text='G' xmlUrl='http://h/f'/></outline></outline>
            """
        ).feeds
        #expect(feeds.count == 1)
        #expect(feeds.first?.title == "F")
        #expect(feeds.first?.tags.map(\.path) == [["a"], ["b", "c"]])
        #expect(feeds.first?.repeats == 1)
    }

    @Test func `a byte that is wrong far behind does not change what the rest is written in`() throws {
        let filling = String(repeating: "<outline text='x'/>", count: 10_000)
        var bytes = Array("<opml><body><outline text='é第' xmlUrl='http://h/1'/>\(filling)<outline text='a".utf8)
        bytes += [0xE9] + Array("b' xmlUrl='http://h/2'/></body></opml>".utf8)
        #expect(try OPMLReader.read(bytes, from: "it").feeds.map(\.title) == ["é第", "a\u{FFFD}b"])
    }

    @Test func `what is cut in the middle is read as far as it goes, and told`() throws {
        let whole = "<opml><body><outline xmlUrl='http://h/1'/><outline xmlUrl='http://h/2'/></body></opml>"
        let cut = try OPMLReader.read(Array(whole.utf8.dropLast(30)), from: "it")
        #expect(cut.feeds.count == 1 && !cut.isWhole)
        #expect(try OPMLReader.read(Array(whole.utf8), from: "it").isWhole)
    }

    @Test(arguments: ["", "{}", "<html><body>Login</body></html>", "<rss><channel><title>t</title></channel></rss>"])
    func `what is no list is refused in a sentence`(text: String) {
        let failure = #expect(throws: Failure.self) { try OPMLReader.read(Array(text.utf8), from: "x.opml") }
        #expect(failure?.kind == .unreadableCatalog && failure?.what.description.contains("x.opml") == true)
    }

    @Test func `no list takes more than it may`() throws {
        let folder = "<outline text='\(String(repeating: "n", count: 1000))'>"
        let bottomless = String(repeating: folder, count: 5000)
        #expect(try Self.read(bottomless + "<outline xmlUrl='http://h/f'/>").feeds.isEmpty)
        let deep = String(repeating: folder, count: 200) + "<outline xmlUrl='http://h/f'/>"
        let feed = try #require(try Self.read(deep).feeds.first)
        let path = try #require(feed.tags.first?.path)
        #expect(path.count == 16 && path.allSatisfy { $0.count == 300 })
        let many = try Self.read((1...50_100).map { "<outline xmlUrl='http://h/\($0)'/>" }.joined())
        #expect(many.feeds.count == 50_000 && many.isBeyondCeiling)
        let categories = (1...1000).map { "c\($0)" }.joined(separator: ",")
        #expect(try Self.read("<outline category='\(categories)' xmlUrl='http://h/f'/>").feeds.first?.tags.count == 64)
        let bomb = """
            <!DOCTYPE opml [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
            <!ENTITY c SYSTEM "file:///etc/passwd">]><opml><outline text="&b;&c;" xmlUrl="http://h/f"/></opml>
            """
        let title = try OPMLReader.read(Array(bomb.utf8), from: "it").feeds.first?.title ?? ""
        #expect(!title.contains("aaaa") && !title.contains("root"))
    }

    @Test func `what is written is read back the same`() throws {
        let names = ["Sci/Fi, & more", "<b>\"it's\"</b>", "睡前 📚", "a&amp;b", "x", "&#38;", "\u{0}\u{B}y", "é"]
        var random = SeededGenerator(seed: 7)
        for round in 0..<200 {
            var document = OPMLDocument()
            document.title = names.randomElement(using: &random)
            for index in 0..<Int.random(in: 0...6, using: &random) {
                var feed = OPMLFeed(
                    title: names.randomElement(using: &random)?.filter { $0 >= " " },
                    address: ResourceAddress("http://h/\(round)/\(index)?a=1&page=\(index)"))
                let paths = (0..<Int.random(in: 0...3, using: &random)).map { _ in
                    (0...Int.random(in: 0...2, using: &random)).compactMap { _ in
                        names.randomElement(using: &random)?.filter { $0 >= " " }
                    }
                }
                for tag in paths.compactMap(SubscriptionTag.init(path:)) where !feed.tags.contains(tag) {
                    feed.tags.append(tag)
                }
                if Bool.random(using: &random) {
                    feed.booksync = Subscription(
                        book: BookIdentity(source: "kting", id: "\(index)"),
                        title: Bool.random(using: &random) ? "T" : nil,
                        filter: EpisodeFilter(
                            latest: Bool.random(using: &random) ? 3 : nil, match: "^<&\"'",
                            since: Bool.random(using: &random) ? try PublicationStart(parsing: "30d") : nil),
                        order: TransferOrder.allCases.randomElement(using: &random),
                        limits: RunLimits(episodes: Bool.random(using: &random) ? 5 : nil, bytes: 2_000_000))
                    if Bool.random(using: &random) { feed.address = nil }
                }
                document.feeds.append(feed)
            }
            let read = try OPMLReader.read(try document.bytes(), from: "it")
            #expect(read.isWhole && read.title == document.title?.filter { $0 >= " " })
            #expect(Self.comparable(read.feeds) == Self.comparable(document.feeds))
        }
    }

    /// Folders gather what lies in them, so the order is another one.
    private static func comparable(_ feeds: [OPMLFeed]) -> Set<[String]> {
        Set(
            feeds.map { feed in
                ["\(feed.title ?? "-")", feed.address?.secretText ?? "-", "\(feed.booksync.map { "\($0)" } ?? "-")"]
                    + feed.tags.map { $0.path.joined(separator: "|") }.sorted()
            })
    }
}
