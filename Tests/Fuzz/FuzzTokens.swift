/// The words of each format, and small whole answers, so that there is something to alter without a corpus.
enum FuzzTokens {
    static func tokens(of reader: FuzzedReader) -> [[UInt8]] {
        switch reader {
        case .feed: bytes(addresses + markup + feed) + marks
        case .json: bytes(addresses + json) + marks
        case .html: bytes(addresses + markup + html + json) + marks
        }
    }

    private static func bytes(_ words: [String]) -> [[UInt8]] { words.map { Array($0.utf8) } }

    /// What is no text: byte order marks, a compressed beginning, halves of characters.
    private static let marks: [[UInt8]] = [
        [0xEF, 0xBB, 0xBF], [0xFE, 0xFF], [0xFF, 0xFE], [0x00, 0x00, 0xFE, 0xFF], [0x00, 0x3C, 0x00, 0x3F],
        [0x3C, 0x00, 0x3F, 0x00], [0x1F, 0x8B], [0x00], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xC0, 0x80],
        [0xE7, 0xAC], [0xB5, 0xDA], [0x1B, 0x24, 0x42], [0x4C, 0x6F, 0xA7, 0x94], [0x0D], [0x0D, 0x0A], [0x0B],
    ]

    private static let addresses = [
        "http://", "https://a.example/1.mp3", "HTTP://A.EXAMPLE:80/1.mp3?sig=x&t=1#f", "//a.example/x.mp3", "../1.mp3",
        "?C=N;O=D", "javascript:alert(1)", "file:///etc/passwd", "ftp://a.example/1.mp3", "data:audio/mpeg;base64,AA",
        "http://u:p@a.example/1.mp3", "http://[::1]:99999/1.mp3", "http://bücher.example/第1集.mp3", "%00", "%2F..%2F",
        "%E7%AC", "%zz", "/././..//", "http://a.example:x/", "http:///1.mp3", "http://%31/", "mailto:a@b", "#", "\\",
        "@",
        "\u{202E}", "\u{FEFF}", "\u{85}", "\u{2028}", "e\u{301}", "👩‍👩‍👧‍👦", "第001集_", "٣",
    ]

    private static let markup = [
        "<", ">", "/>", "</", "<!--", "-->", "--", "<![CDATA[", "]]>", "<!DOCTYPE html>", "<?xml version=\"1.0\"?>",
        "&", "&amp;", "&#0;", "&#x110000;", "&#xD800;", "&#65", "&nbsp;", "&hellip", "&auml;", "&unknown;", "&amp;lt;",
        "&#x1F600;", "=\"", "='", "\"", "'", "<!ENTITY a \"b\">", "<!DOCTYPE rss [", "]>", "%p;",
        "<x:y z:w='1' z:w='2'>",
        "<title>", "</title>", "<a href=\"", "</a>",
    ]

    private static let feed = [
        "<rss version=\"2.0\">", "<channel>", "</channel>", "</rss>", "<item>", "</item>", "<entry>", "</entry>",
        "<feed xmlns=\"http://www.w3.org/2005/Atom\">", "<rdf:RDF xmlns=\"http://purl.org/rss/1.0/\">",
        "<enclosure url=\"http://a.example/1.mp3\" type=\"audio/mpeg\" length=\"1\"/>",
        "<guid isPermaLink=\"false\">", "</guid>", "<pubDate>", "</pubDate>", "<itunes:duration>", "</itunes:duration>",
        "<itunes:episode>", "</itunes:episode>", "<itunes:season>", "<media:group>",
        "<media:content url='1.mp3' duration='1e9'/>",
        "<link rel=\"next\" href=\"?page=2\"/>", "<link rel='enclosure' href='1.mp3'/>", "<itunes:image href='c.jpg'/>",
        " xml:base=\"http://b.example/c/\"", " xmlns=\"\"", " xmlns:itunes=\"urn:x\"", " encoding=\"gb18030\"",
        "<?xml version='1.0' encoding='utf-16'?>", "<?xml version=\"1.0\" encoding=\"windows-1252\"?>",
        "<?xml version=\"1.1\" encoding=\"iso-2022-jp\"?>", "<?xml-stylesheet href='x'?>",
        "<podcast:chapters url='c'/>",
        "<podcast:transcript url='t' type='text/vtt'/>", "<image><url>c.jpg</url></image>", "<description>",
        "<published>", "2024-02-30T25:61:61Z", "Thu, 01 Jan 1970 00:00:00 +9999", "31 Dec 9999 23:59:60 GMT",
        "-0001-01-01", "0000-00-00", "1:99:99.999", "12:34", "1e400", "-5", "PT1H", " type=\"html\"",
    ]

    private static let json = [
        "{", "}", "[", "]", ":", ",", "\"", "null", "true", "false", "{}", "[]", "\"\"", "\\u0000", "\\ud800",
        "\\udc00\\ud800", "\\uFEFF", "\\\"", "\\", "\\/", "\\n", "1e999", "-0", "1E-400", "0.1", "12345678901234567890",
        "\"list\":[", "\"data\":{", "\"sections\":", "\"bookId\":", "\"status\":4", "\"apiStatus\":\"0\"", "\"msg\":\"",
        "\"id\":1", "\"id\":\"7.0\"", "\"section\":", "\"name\":\"", "\"resName\":\"%E7%AC\"", "\"path\":\"",
        "\"size\":",
        "\"length\":", "\"lastModify\":", "\"onlineTime\":", "\"files\":[", "\"metadata\":{", "\"identifier\":\"",
        "\"format\":\"VBR MP3\"", "\"source\":\"original\"", "\"original\":\"", "\"track\":\"1/2\"", "\"disc\":\"2\"",
        "\"md5\":\"", "\"sha1\":\"", "\"mtime\":\"", "\"is_dark\":true", "\"error\":\"", "\"books\":[",
        "\"num_sections\":",
        "\"section_number\":", "\"listen_url\":\"", "\"playtime\":\"", "\"url_iarchive\":\"", "\"coverart_jpg\":\"",
        "\"type\":\"directory\"", "\"type\":\"file\"", "\"mtime\":\"Sun, 09 Sep 2001 01:46:40 GMT\"", "\"title\":[",
    ]

    private static let html = [
        "<pre>", "</pre>", "<table>", "<tr>", "</tr>", "<td>", "</td>", "<ul><li>", "<hr>", "<h1>Index of /", "</h1>",
        "<a href=\"1.mp3\">1.mp3</a>", "<a href=\"disc%201/\">disc 1/</a>", "<a href=\"../\">Parent Directory</a>",
        "<img src=\"/icons/sound2.gif\" alt=\"[SND]\">", " 13-Sep-2020 12:26   9876543210\n", "2020-09-13 12:26  4.5M",
        "2001-Sep-09 01:46:40", "31-Feb-0000 24:00", "<time datetime=\"2001-09-09T01:46:40+99:99\">",
        "<base href=\"http://b.example/\">", "<meta charset=\"gbk\">", "<script>", "</script>", "<style>", "<textarea>",
        "<template>", "<svg>", "<plaintext>", "<tbody class=\"x\">", "<file mtime=\"2001-09-09T01:46:40Z\" size=\"1\">",
        "<directory>", "</directory>", "<list>", " -\n",
    ]

    static func samples(of reader: FuzzedReader) -> [String] {
        switch reader {
        case .feed:
            [
                """
                <?xml version="1.0" encoding="UTF-8"?><rss version="2.0"><channel><title>T</title><link>http://a.example/</link>
                <item><title>1 &amp; 2</title><guid>g1</guid><pubDate>Thu, 01 Feb 2024 10:00:00 GMT</pubDate>
                <enclosure url="1.mp3" length="9" type="audio/mpeg"/><itunes:duration>1:02:03</itunes:duration></item>
                <item><title>3</title><enclosure url="http://a.example/2.mp3?id=2"/></item></channel></rss>
                """,
                """
                <feed xmlns="http://www.w3.org/2005/Atom" xml:base="http://a.example/x/"><title>T</title>
                <link rel="next" href="2"/><entry><id>urn:1</id><title type="html">&lt;b&gt;x</title>
                <updated>2024-02-01T10:00:00Z</updated><link rel="enclosure" href="1.mp3" length="9"/></entry></feed>
                """,
            ]
        case .json:
            [
                #"{"status":0,"sections":2,"list":[{"id":7,"section":1,"name":"第001集","path":"http://a.example/1.mp3"}]}"#,
                #"{"metadata":{"identifier":"x"},"files":[{"name":"1.mp3","format":"VBR MP3","source":"original"}]}"#,
                #"{"books":[{"id":"52","title":"T","sections":[{"section_number":"1","title":"a","playtime":"9"}]}]}"#,
                #"[{"name":"1.mp3","type":"file","mtime":"Sun, 09 Sep 2001 01:46:40 GMT","size":9}]"#,
            ]
        case .html:
            [
                """
                <html><head><title>Index of /plain/</title></head><body><h1>Index of /plain/</h1><hr><pre><a href="../">../</a>
                <a href="01.mp3">01.mp3</a>      13-Sep-2020 12:26      987</pre></body></html>
                """
            ]
        }
    }
}
