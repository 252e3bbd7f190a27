import BookModel
import Foundation
import Support
import Testing

@testable import CatalogFetcher

@Suite struct FeedReadingTests {
    private static let audio = #"<enclosure url="http://a.example/1.mp3" length="7" type="audio/mpeg"/>"#

    @Test func `a podcast's item is read with all that it says`() throws {
        let read = try readFeed(
            rss(
                """
                <item><title>One &amp; only</title><guid isPermaLink="false">g-1</guid>
                <pubDate>Mon, 06 Sep 2010 10:00:00 +0000</pubDate><itunes:duration>1:02:03</itunes:duration>
                <itunes:episode>7</itunes:episode><itunes:season>2</itunes:season>
                <itunes:image href="/cover.jpg"/><podcast:chapters url="c.json" type="application/json+chapters"/>
                \(Self.audio)</item>
                """,
                head: """
                    <title> The
                       Show </title><itunes:author>Anna</itunes:author>
                    <description>&lt;p&gt;About &lt;b&gt;it&lt;/b&gt;.&lt;/p&gt;</description>
                    <itunes:image href="http://a.example/show.jpg"/><itunes:type>serial</itunes:type>
                    """))
        let description = read.listing.description
        #expect(description.title == "The Show")
        #expect(description.author == "Anna")
        #expect(description.summary == "About it.")
        #expect(description.cover?.secretText == "http://a.example/show.jpg")
        let episode = try #require(read.episodes.first)
        #expect(episode.identity == EpisodeIdentity(book: feedBook, key: "g-1"))
        #expect(episode.name == "One & only")
        #expect(episode.section == 7)
        #expect(episode.number == 7)
        #expect(episode.season == 2)
        #expect(episode.duration == 3723)
        #expect(episode.size == 7)
        #expect(episode.mediaType == "audio/mpeg")
        #expect(episode.publishedAt == Date(timeIntervalSince1970: 1_283_767_200))
        #expect(episode.chaptersAddress?.secretText == "http://example.com/podcast/c.json")
        #expect(read.listing.proof == ListingProof(declared: nil, collected: 1, isComplete: true))
    }

    @Test func `a feed without end is listed up to a limit, and incomplete`() throws {
        var listing = FeedListing(maxEpisodes: 3)
        for number in 1...4 {
            var document = FeedDocument()
            document.items = [2 * number, 2 * number + 1].map { id in
                var item = FeedItem()
                item.guid = "g\(id)"
                item.media.address = "http://a.example/\(id).mp3"
                return item
            }
            document.isWhole = true
            #expect(listing.add(document) == [2, 1, 0, 0][number - 1])
            #expect(listing.isBeyondCeiling == (number > 1))
        }
        let contents = listing.contents(as: feedBook)
        #expect(contents.episodes.count == 3)
        let proof = contents.listing.proof
        #expect(
            !proof.isComplete && proof.warnings.map(\.description).contains { $0.contains("more than 3 items") },
            "\(proof.warnings)")
    }

    @Test func `Atom without its namespace is Atom`() throws {
        let read = try readFeed(
            """
            <feed><title>T</title><id>f</id><link rel="next" href="http://a.example/2"/><entry><title>One</title>
            <id>e1</id><published>2020-01-02T03:04:05Z</published>
            <link rel="enclosure" type="audio/mpeg" length="7" href="http://a.example/1.mp3"/></entry></feed>
            """)
        #expect(read.listing.description.title == "T")
        #expect(read.episodes.map(\.identity.key) == ["e1"])
        #expect(read.episodes.map(\.name) == ["One"])
        #expect(read.episodes.first?.publishedAt == Date(timeIntervalSince1970: 1_577_934_245))
        #expect(read.addresses == ["http://a.example/1.mp3"])
    }

    @Test func `titles and numbers of other vocabularies are read where the usual ones are absent`() throws {
        let dublin = #"xmlns:dc="http://purl.org/dc/elements/1.1/""#
        let read = try readFeed(
            rss(
                """
                <item><dc:title>One</dc:title><podcast:episode display="1a">11</podcast:episode>\(Self.audio)</item>
                <item><dc:title>no</dc:title><title>Two</title><podcast:episode>99</podcast:episode>
                <itunes:episode>12</itunes:episode><enclosure url="http://a.example/2.mp3" type="audio/mpeg"/></item>
                """, head: "<dc:title>The Show</dc:title><language>en_gb</language>", attributes: dublin))
        #expect(read.listing.description.title == "The Show")
        #expect(read.listing.description.language == "en-GB")
        #expect(read.episodes.map(\.name) == ["One", "Two"])
        #expect(read.episodes.map(\.number) == [11, 12])
    }

    @Test func `what Windows-1252 means by C1 characters is read, and they end no word`() throws {
        let read = try readFeed(rss("<item><title>It\u{92}s an un\u{81}broken na\u{9C}ud</title>\(Self.audio)</item>"))
        #expect(read.episodes.map(\.name) == ["It’s an unbroken naœud"])
    }

    @Test func `a description's scripts and styles are no text, and 100 kB of open tags take no time`() throws {
        let html = "<p>One<script>if (a < b) alert('<p>')</script> two</p><style>p { color: red }</style><br>three"
        let flood = String(repeating: "<a", count: 50_000)
        func summary(_ text: String) throws -> String? {
            try readFeed(
                rss("<item>\(Self.audio)</item>", head: "<description><![CDATA[\(text)]]></description>")
            ).listing.description.summary
        }
        #expect(try summary(html) == "One two\nthree")
        #expect((try summary(flood)?.utf8.count ?? 0) <= 64 << 10)
    }

    @Test(arguments: ["&amp;", "&#38;", "&#x26;", "&"])
    func `an ampersand in an address is one, however it is written`(ampersand: String) throws {
        let query = ["page=1", "id=2", "x=3"].joined(separator: ampersand)
        let read = try readFeed(
            rss(
                """
                <item><title>1</title><enclosure url="http://a.example/a.mp3?\(query)" type="audio/mpeg"/></item>
                <item><title>2</title><enclosure url="b.mp3?c=1&amp;amp;d=2" type="audio/mpeg"/></item>
                """,
                head: """
                    <title>T</title><itunes:image href="http://a.example/c.jpg?\(query)"/>
                    <atom:link rel="next" href="http://a.example/p?\(query)"/>
                    """))
        #expect(
            read.addresses == [
                "http://a.example/a.mp3?page=1&id=2&x=3", "http://example.com/podcast/b.mp3?c=1&amp;d=2",
            ])
        #expect(read.listing.description.cover?.secretText == "http://a.example/c.jpg?page=1&id=2&x=3")
    }

    @Test(arguments: ["description", "content:encoded"])
    func `long notes in Chinese end no feed`(element: String) throws {
        let notes = "<\(element)><![CDATA[" + String(repeating: "第一集：夜航船，卷一。", count: 1000) + "]]></\(element)>"
        let items = (1...3).map { number in
            "<item><title>\(number)</title>\(notes)<guid>g\(number)</guid>"
                + "<enclosure url=\"http://a.example/\(number).mp3\" type=\"audio/mpeg\"/></item>"
        }
        let read = try readFeed(rss(items.joined(), head: "<title>T</title>" + notes))
        #expect(read.episodes.map(\.name) == ["1", "2", "3"])
        #expect(read.listing.proof.isComplete)
    }

    @Test func `a LibriVox feed without guids and dates is in reading order`() throws {
        let read = try readFeed(try Corpus.bytes("rss/librivox/librivox_rss_8225.xml"))
        #expect(read.episodes.count > 10)
        #expect(read.episodes.map(\.section) == Array(1...read.episodes.count))
        #expect(read.episodes.allSatisfy { $0.size == nil && ($0.duration ?? 0) > 0 && $0.publishedAt == nil })
        #expect(read.episodes.allSatisfy { $0.identity.key.hasPrefix("file-") && $0.address != nil })
        #expect(read.listing.proof.isComplete)
        let old = try readFeed(try Corpus.bytes("rss/librivox/old_librivox_item_shape.xml"))
        #expect(old.episodes.map(\.name) == ["01 – Kapitel 1: Hinab in den Kaninchenbau", "02 – Kapitel 2"])
        #expect(old.episodes.map(\.size) == [nil, nil])
        #expect(old.episodes.map(\.duration) == [1033, nil])
    }

    @Test func `Atom with nested bases, an HTML title and a XHTML title`() throws {
        let read = try readFeed(
            """
            <feed xmlns="http://www.w3.org/2005/Atom" xml:base="http://b.example/x/"><title type="html">A &lt;i&gt;b&lt;/i&gt; &amp;amp; c</title>
            <author><name>Anna</name></author><logo>logo.png</logo>
            <entry xml:base="sub/"><id>urn:1</id><title type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">T<b>w</b>o</div></title>
            <updated>2020-01-03T00:00:00Z</updated><published>2020-01-01T12:00:00+02:00</published>
            <link rel="enclosure" href="2.mp3" length="42" type="audio/mpeg"/></entry>
            <entry><id>urn:2</id><title>One</title><link rel='enclosure' href='1.mp3'/></entry></feed>
            """)
        #expect(read.listing.description.title == "A b & c")
        #expect(read.listing.description.author == "Anna")
        #expect(read.listing.description.cover?.secretText == "http://b.example/x/logo.png")
        #expect(read.episodes.map(\.name) == ["Two", "One"])
        #expect(read.addresses == ["http://b.example/x/sub/2.mp3", "http://b.example/x/1.mp3"])
        #expect(read.episodes[0].publishedAt == Date(timeIntervalSince1970: 1_577_872_800))
    }

    @Test func `RSS 1.0 has its items beside the channel`() throws {
        let read = try readFeed(
            """
            <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
             xmlns:dc="http://purl.org/dc/elements/1.1/"><channel rdf:about="http://a/"><title>R</title></channel>
            <item rdf:about="http://a.example/one"><title>One</title><dc:date>2003-12-31T10:14:55Z</dc:date>\(Self.audio)</item>
            </rdf:RDF>
            """)
        #expect(read.listing.description.title == "R")
        #expect(read.episodes.map(\.name) == ["One"])
        #expect(read.episodes.first?.guid == "http://a.example/one")
        #expect(read.episodes.first?.publishedAt == Date(timeIntervalSince1970: 1_072_865_695))
    }

    @Test func `the first audio file of several is taken, a media content where there is no enclosure`() throws {
        let read = try readFeed(
            rss(
                """
                <item><title>a</title><media:content url="http://a.example/m.mp3" type="audio/mpeg"/>
                <enclosure url="http://a.example/a.jpg" type="image/jpeg"/>
                <enclosure url="http://a.example/a.ogg" type="audio/ogg" length="0" fileSize="12 345"/><enclosure url="http://a.example/a.mp3" type="audio/mpeg"/></item>
                <item><title>b</title><media:group><media:content url="http://a.example/b.mp3" fileSize="5" duration="61"/></media:group></item>
                <item><title>c</title><enclosure url="http://a.example/c.mp3" type="video/mpeg"/></item>
                <item><title>d</title><enclosure url="http://a.example/d.pdf" type="application/pdf"/></item>
                <item><title>e</title></item>
                """))
        #expect(read.addresses == ["http://a.example/a.ogg", "http://a.example/b.mp3", "http://a.example/c.mp3"])
        #expect(read.episodes.prefix(2).map(\.size) == [12345, 5])
        #expect(read.episodes[1].duration == 61)
        #expect(read.warnings.contains("1 item without a file: left out"))
        #expect(read.warnings.contains("1 item with something else than audio: left out"))
    }

    @Test func `where nothing is declared as audio all is listed, because types are often wrong`() throws {
        let read = try readFeed(
            rss(#"<item><title>a</title><enclosure url="http://a.example/a.mp4" type="video/mpeg4"/></item>"#))
        #expect(read.episodes.count == 1)
        #expect(read.warnings.contains("declares none of its files as audio"))
        let blog = try readFeed(
            rss(
                #"<item><title>a</title><media:content url="http://a.example/photo" medium="image"/></item>"#
                    + #"<item><title>b</title><enclosure url="http://a.example/b.jpg" type="image/jpeg"/></item>"#))
        #expect(blog.episodes.isEmpty)
        #expect(blog.warnings.contains("2 items with something else than audio: left out"))
    }

    @Test func `a feed that lists nothing is whole, and says that it lists nothing`() throws {
        let read = try readFeed(rss(""))
        #expect(read.episodes.isEmpty)
        #expect(read.listing.proof.isComplete)
        #expect(read.warnings.contains("lists no episodes"))
    }

    @Test func `what is no address that can be fetched makes a locked episode`() throws {
        let bad = [
            "javascript:alert(1)", "file:///etc/passwd", "ftp://a.example/1.mp3", "data:audio/mpeg;base64,AAAA",
            "http://",
            "http:///x.mp3", "http://a.example:99999/x.mp3", "http://a.example:x/1.mp3", "HTTP:x.mp3",
            "http://a b/x.mp3",
            "http://a.example/" + String(repeating: "x", count: 10_000),
        ]
        let good = [
            "http://user:pw@a.example/x.mp3", "https://a.example:8443/x.mp3", "http://[::1]:80/x.mp3",
            "http://例え.example/音.mp3", "//cdn.example/p.mp3", "../up.mp3", "HTTPS://A.example/x.mp3",
            " http://a.example/z.mp3 ",
        ]
        let items = (bad + good).enumerated().map {
            #"<item><guid>\#($0)</guid><enclosure url="\#($1)" type="audio/mpeg"/></item>"#
        }
        let read = try readFeed(rss(items.joined()))
        #expect(read.episodes.count == bad.count + good.count)
        #expect(read.episodes.prefix(bad.count).allSatisfy { $0.isLocked })
        #expect(
            read.addresses.dropFirst(bad.count) == [
                "http://user:pw@a.example/x.mp3", "https://a.example:8443/x.mp3", "http://[::1]:80/x.mp3",
                "http://例え.example/音.mp3", "http://cdn.example/p.mp3", "http://example.com/up.mp3",
                "https://A.example/x.mp3",
                "http://a.example/z.mp3",
            ])
        #expect(read.warnings.contains("\(bad.count) items with an address that cannot be fetched"))
    }

    @Test(arguments: [
        ("", "the answer is empty"), ("  \n", "the answer is empty"), ("<?xml version='1.0'?>", "neither RSS nor Atom"),
        (#"{"list": []}"#, "neither RSS nor Atom"),
        ("<!DOCTYPE html><html><head><title>Login", "an HTML page and no feed"),
        ("<opml version='2.0'><body/></opml>", "neither RSS nor Atom"),
    ])
    func `what is no feed is told in a sentence`(text: String, why: String) {
        let failure = #expect(throws: Failure.self) { try readFeed(text) }
        #expect(failure?.kind == .unreadableCatalog)
        #expect(failure?.why.description.contains(why) == true, "\(failure?.why ?? "")")
    }

    @Test func `feeds are recognised by how they begin`() {
        let feeds = [
            rss(""), "<feed xmlns='http://www.w3.org/2005/Atom'>", "\u{FEFF}\n<!-- x --><rss>",
            "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns='http://purl.org/rss/1.0/'>",
            "<?xml version='1.0'?><?xml-stylesheet href='a>b'?><!DOCTYPE rss [<!ENTITY a 'x'>]><rss>",
        ]
        for text in feeds { #expect(FeedReader.recognises(Array(text.utf8)), "\(text)") }
        let utf16 = rss("").utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
        #expect(FeedReader.recognises([0xFF, 0xFE] + utf16))
        for text in ["", "<html><body><rss>", "{}", "<opml>", "<feed xmlns='urn:other'>", "text <rss"] {
            #expect(!FeedReader.recognises(Array(text.utf8)), "\(text)")
        }
    }
}
