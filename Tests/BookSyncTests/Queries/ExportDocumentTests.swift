import BookModel
import Foundation
import Testing

@testable import BookSync
@testable import Settings

@Suite struct ExportDocumentTests {
    private static let book = BookIdentity(source: "kting", id: "30776")

    private static func episode(
        _ section: Int, _ name: String, path: String?, duration: Double? = 61.6, of book: BookIdentity = book
    ) -> EpisodeRecord {
        let identity = EpisodeIdentity(book: book, key: "id\(section)")
        var episode = Episode(identity: identity, section: section, name: name, duration: duration)
        episode.address = ResourceAddress("http://user:password@a.example/\(section).mp3?token=SECRET")
        episode.publishedAt = section == 2 ? Date(timeIntervalSince1970: 1_388_534_400) : nil
        let file = path.map {
            LocalFile(
                episode: identity, path: $0, size: 1000 + Int64(section), sha256: String(repeating: "a", count: 64),
                modificationTime: 0, inode: 1, fetchedAt: Date(timeIntervalSince1970: 1_700_000_000),
                verification: .length)
        }
        return EpisodeRecord(episode: episode, file: file)
    }

    static func sample(_ episodes: [EpisodeRecord]? = nil) -> ExportedBook {
        var book = Book(identity: Self.book, title: "回到古代当兽医", author: "萧 & Co <x>", narrator: "乙")
        book.summary = "一个\u{B}兽医 \"说\"]]>"
        book.cover = ResourceAddress("http://a.example/c.jpg?token=SECRET")
        return ExportedBook(
            book: book,
            episodes: episodes ?? [
                episode(1, "第001集", path: "萧/回到/001 第001集.mp3"),
                episode(2, "第002集\n<&>", path: "萧/回到/CD 2/002.m4b", duration: nil), episode(3, "第003集", path: nil),
            ],
            library: "/shelf", folder: "萧/回到")
    }

    private func text(_ kind: ExportKind, _ book: ExportedBook = sample(), at path: String = "/shelf/萧/回到/x") throws
        -> String
    {
        String(decoding: try book.document(kind, at: path), as: UTF8.self)
    }

    @Test func `a playlist lists what is on disk`() throws {
        #expect(
            try text(.m3u8) == """
                #EXTM3U
                #EXTINF:62,第001集
                001 第001集.mp3
                #EXTINF:-1,第002集 <&>
                CD 2/002.m4b

                """)
    }

    @Test func `a playlist elsewhere names the way back`() throws {
        let lines = try text(.m3u8, at: "/shelf/lists/x.m3u8").split(separator: "\n")
        #expect(lines[2] == "../萧/回到/001 第001集.mp3")
        #expect(try text(.m3u8, at: "/x.m3u8").contains("\nshelf/萧/回到/001 第001集.mp3\n"))
    }

    @Test(arguments: [
        ("#1.mp3", "./#1.mp3"), ("a:b.mp3", "./a:b.mp3"), ("50%25 off.mp3", "50%25 off.mp3"), (" x.mp3", "./ x.mp3"),
    ])
    func `a path that a player would mistake is made plain`(name: String, expected: String) throws {
        let book = Self.sample([Self.episode(1, "x", path: "萧/回到/\(name)")])
        #expect(try text(.m3u8, book).split(separator: "\n").last.map(String.init) == expected)
    }

    @Test func `a file with a line end in its name is not listed`() throws {
        let book = Self.sample([Self.episode(1, "x", path: "萧/回到/a\nb.mp3")])
        #expect(try text(.m3u8, book) == "#EXTM3U\n")
    }

    @Test func `a package document describes the book`() throws {
        #expect(
            try text(.opf) == """
                <?xml version="1.0" encoding="UTF-8"?>
                <package xmlns="http://www.idpf.org/2007/opf" version="2.0" unique-identifier="booksync">
                  <metadata xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:opf="http://www.idpf.org/2007/opf">
                    <dc:identifier id="booksync" opf:scheme="booksync">kting:30776</dc:identifier>
                    <dc:title>回到古代当兽医</dc:title>
                    <dc:creator opf:role="aut">萧 &amp; Co &lt;x&gt;</dc:creator>
                    <dc:creator opf:role="nrt">乙</dc:creator>
                    <dc:description>一个兽医 &quot;说&quot;]]&gt;</dc:description>
                    <dc:language>zh</dc:language>
                  </metadata>
                </package>

                """)
    }

    @Test func `Audiobookshelf's metadata holds only what is known`() throws {
        #expect(
            try text(.metadata) == """
                {
                  "title": "回到古代当兽医",
                  "authors": [
                    "萧 & Co <x>"
                  ],
                  "narrators": [
                    "乙"
                  ],
                  "description": "一个\\u000b兽医 \\"说\\"]]>",
                  "language": "zh"
                }

                """)
        var bare = Self.sample([])
        bare.book = Book(identity: Self.book, title: "X")
        #expect(try text(.metadata, bare) == "{\n  \"title\": \"X\"\n}\n")
    }

    @Test func `a feed lists what is on disk`() throws {
        let guids = [1, 2].map { FeedExport.guid(of: EpisodeIdentity(book: Self.book, key: "id\($0)")) }
        #expect(
            try text(.rss, at: "/shelf/萧/feed.xml") == """
                <?xml version="1.0" encoding="UTF-8"?>
                <rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd">
                  <channel>
                    <title>回到古代当兽医</title>
                    <link>file:///shelf/%E8%90%A7/%E5%9B%9E%E5%88%B0/</link>
                    <atom:link rel="self" type="application/rss+xml" href="file:///shelf/%E8%90%A7/feed.xml"/>
                    <description>一个兽医 &quot;说&quot;]]&gt;</description>
                    <language>zh</language>
                    <itunes:author>萧 &amp; Co &lt;x&gt;</itunes:author>
                    <itunes:type>serial</itunes:type>
                    <itunes:explicit>false</itunes:explicit>
                    <itunes:category text="Arts">
                      <itunes:category text="Books"/>
                    </itunes:category>
                    <item>
                      <title>第001集</title>
                      <guid isPermaLink="false">\(guids[0])</guid>
                      <enclosure url="file:///shelf/%E8%90%A7/%E5%9B%9E%E5%88%B0/001%20%E7%AC%AC001%E9%9B%86.mp3" length="1001" type="audio/mpeg"/>
                      <pubDate>Tue, 14 Nov 2023 22:13:20 +0000</pubDate>
                      <itunes:episode>1</itunes:episode>
                      <itunes:duration>62</itunes:duration>
                    </item>
                    <item>
                      <title>第002集
                &lt;&amp;&gt;</title>
                      <guid isPermaLink="false">\(guids[1])</guid>
                      <enclosure url="file:///shelf/%E8%90%A7/%E5%9B%9E%E5%88%B0/CD%202/002.m4b" length="1002" type="audio/mp4"/>
                      <pubDate>Wed, 01 Jan 2014 00:00:00 +0000</pubDate>
                      <itunes:episode>2</itunes:episode>
                    </item>
                  </channel>
                </rss>

                """)
    }

    @Test func `a feed names the cover beside it, or the catalog's where no secret is in its address`() throws {
        var book = Self.sample([])
        let exported = try FeedExport(book, at: "/shelf/feed.xml", cover: "/shelf/萧/cover.jpg").bytes()
        #expect(String(decoding: exported, as: UTF8.self).contains("href=\"file:///shelf/%E8%90%A7/cover.jpg\""))
        #expect(try !text(.rss, book).contains("itunes:image"))
        book.book.cover = ResourceAddress("http://a.example/c.jpg")
        #expect(try text(.rss, book).contains("<itunes:image href=\"http://a.example/c.jpg\"/>"))
    }

    @Test func `a table has a row for every episode, and nothing in it is a formula`() throws {
        var book = Self.sample([
            Self.episode(1, "=HYPERLINK(\"x\")", path: "a,b/1.mp3"),
            Self.episode(2, "a\r\nb", path: nil, duration: nil),
            Self.episode(3, "@x", path: nil), Self.episode(4, "-1", path: nil), Self.episode(5, "第005集", path: nil),
        ])
        book.book.author = nil
        let digest = String(repeating: "a", count: 64)
        func url(_ section: Int) -> String { "http://a.example/\(section).mp3?token=***" }
        let rows = [
            "source,book_id,title,author,section,id,name,state,url,size,duration,published_at,path,sha256",
            "kting,30776,回到古代当兽医,,1,id1,\"'=HYPERLINK(\"\"x\"\")\",finished,\(url(1)),1001,61.6,,\"a,b/1.mp3\",\(digest)",
            "kting,30776,回到古代当兽医,,2,id2,\"a\r\nb\",waiting,\(url(2)),,,2014-01-01T00:00:00Z,,",
            "kting,30776,回到古代当兽医,,3,id3,'@x,waiting,\(url(3)),,61.6,,,",
            "kting,30776,回到古代当兽医,,4,id4,'-1,waiting,\(url(4)),,61.6,,,",
            "kting,30776,回到古代当兽医,,5,id5,第005集,waiting,\(url(5)),,61.6,,,",
        ]
        #expect(try text(.csv, book) == rows.map { $0 + "\r\n" }.joined())
    }

    @Test(arguments: ExportKind.allCases)
    func `no secret is in what is exported`(kind: ExportKind) throws {
        var book = Self.sample()
        let identity = BookIdentity(source: "feeds", id: "https://user:password@f.example/feed?token=SECRET")
        book.book.identity = identity
        book.episodes = [Self.episode(1, "x", path: "a/1.mp3", of: identity)]
        let exported = try text(kind, book)
        #expect(!exported.contains("SECRET") && !exported.contains("password"))
    }

    @Test(
        arguments: [
            ("短", nil, "zh"), ("ノルウェイの森", nil, "ja"), ("채식주의자", nil, "ko"), ("The Hound", nil, nil),
            ("銀河鉄道の夜", nil, "ja"),
        ] as [(String, String?, String?)])
    func `the language is what the script tells`(title: String, summary: String?, expected: String?) {
        var book = Self.sample([])
        book.book = Book(identity: Self.book, title: title, summary: summary)
        #expect(book.language == expected)
    }

    @Test func `the language that the catalog says comes before what the script tells`() {
        var book = Self.sample([])
        book.book = Book(identity: Self.book, title: "銀河鉄道の夜", language: "en-GB")
        #expect(book.language == "en-GB")
    }

    @Test(arguments: [
        ("回到古代当兽医", "回到古代当兽医.m3u8"), ("a/b: c?", "a／b： c？.m3u8"), ("..", "Book 30776.m3u8"),
    ])
    func `a playlist is called after its book`(title: String, expected: String) {
        #expect(ExportKind.m3u8.fileName(for: Book(identity: Self.book, title: title)) == expected)
    }

    @Test(
        arguments: [
            ([0xFF, 0xD8, 0xFF, 0xE0, 0], "jpg"), ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0], "png"),
            (Array("GIF89a".utf8), "gif"), (Array("RIFF\0\0\0\0WEBPVP8".utf8), "webp"), (Array("<html>".utf8), nil),
            ([], nil),
            (Array("RIFF\0\0\0\0WAVE".utf8), nil),
        ] as [([UInt8], String?)])
    func `a picture is what its first bytes say`(bytes: [UInt8], expected: String?) {
        #expect(CoverPicture.fileExtension(of: bytes) == expected)
    }

    @Test(arguments: [
        ("/a/b/c.mp3", "/a/b", "c.mp3"), ("/a/b/c.mp3", "/a/x/y", "../../b/c.mp3"), ("/a/b", "/a/b/c", "../../b"),
        ("/a/c.mp3", "/", "a/c.mp3"),
    ])
    func `one place is named as seen from another`(path: String, folder: String, expected: String) {
        #expect(ExportPath.relative(path, from: folder) == expected)
    }
}
