import BookModel
import Testing

@testable import CatalogFetcher

@Suite struct CatalogChaptersTests {
    private static func read(_ list: String, within seconds: Double? = 100) throws -> [MediaInfo.Chapter] {
        CatalogChapters.chapters(try JSONReader.read(Array(list.utf8)), within: seconds)
    }

    private static func chapter(_ start: Double, _ end: Double, _ title: String?) -> MediaInfo.Chapter {
        MediaInfo.Chapter(start: start, end: end, title: title)
    }

    @Test func `each chapter ends where it says, where the next one begins, or with the audio`() throws {
        let list = #"[{"startTime":0,"endTime":5,"title":"A"},{"startTime":7,"title":"B"},{"startTime":9.5}]"#
        #expect(
            try Self.read(list) == [Self.chapter(0, 5, "A"), Self.chapter(7, 9.5, "B"), Self.chapter(9.5, 100, nil)])
    }

    @Test(
        arguments: [
            #"[{"startTime":-1},{"startTime":"NaN"},{"startTime":1e999},{"startTime":"x"},{},7,"a",[],null]"#,
            #"[{"startTime":100,"title":"behind the end"},{"startTime":3,"toc":false}]"#, "{}", "7", "[]",
        ])
    func `what is no chapter of the audio is left out`(_ list: String) throws {
        #expect(try Self.read(list) == [])
    }

    @Test func `times out of order, twice, and with an end before the start become an order`() throws {
        let list = """
            [{"startTime":50,"endTime":2,"title":"C"},{"startTime":10,"endTime":80,"title":"B"},{"startTime":10,"title":"b"},
             {"startTime":0,"endTime":1e300,"title":"  A\\n "},{"startTime":"60.5","endTime":9000,"title":"D"}]
            """
        #expect(
            try Self.read(list) == [
                Self.chapter(0, 10, "A"), Self.chapter(10, 50, "B"), Self.chapter(50, 60.5, "C"),
                Self.chapter(60.5, 100, "D"),
            ])
    }

    @Test func `of ten thousand chapters the first two thousand are kept, and long titles are cut`() throws {
        let title = String(repeating: "x", count: 5000)
        let marks = (0..<10_000).reversed().map {
            #"{"startTime":\#($0),"title":"\#(title.prefix($0 == 3 ? 5000 : 1))"}"#
        }
        let read = try Self.read("[" + marks.joined(separator: ",") + "]", within: nil)
        #expect(read.count == MediaInfo.maxChapters)
        #expect(read.map(\.start) == (0..<MediaInfo.maxChapters).map(Double.init))
        #expect(read.last?.end == Double(MediaInfo.maxChapters))
        #expect(read[3].title?.count == 1000)
    }

    @Test func `simple chapters of an item are kept with it`() throws {
        let audio = #"<enclosure url="http://a.example/1.mp3" length="7" type="audio/mpeg"/>"#
        let many = (0..<10_000).map { "<psc:chapter start=\"\($0)\" title=\"t\"/>" }.joined()
        let feed = rss(
            """
            <item><guid>a</guid>\(audio)<psc:chapters version="1.2"><psc:chapter start="0" title="Eins &amp; &quot;zwei&quot;"/>
            <psc:chapter start="00:01:02.500" title="第二章" href="http://a.example/"/><psc:chapter start="-3"/>
            <psc:chapter start="NaN" title="no"/><psc:chapter title="no"/></psc:chapters></item>
            <item><guid>b</guid>\(audio.replacing("1.mp3", with: "2.mp3"))<psc:chapters>\(many)</psc:chapters></item>
            """, attributes: #"xmlns:psc="http://podlove.org/simple-chapters""#)
        let episodes = try readFeed(feed).episodes
        #expect(
            episodes.first?.chapters
                == #"[{"startTime":0.0,"title":"Eins & \"zwei\""},{"startTime":62.5,"title":"第二章"}]"#)
        let last = try #require(episodes.last?.chapters)
        #expect(try JSONReader.read(Array(last.utf8)).elements.reduce(0) { count, _ in count + 1 } == 2000)
    }

    @Test(arguments: ["http://a.example/c.json?token=t", "https://u:p@a.example/c.json", ""])
    func `an address with secrets, or none, is not kept`(_ address: String) throws {
        let item = "<item><guid>a</guid><enclosure url=\"http://a.example/1.mp3\" length=\"7\" type=\"audio/mpeg\"/>"
        let feed = rss(item + "<podcast:chapters url=\"\(address)\" type=\"application/json+chapters\"/></item>")
        let episode = try #require(try readFeed(feed).episodes.first)
        #expect(episode.chaptersAddress == nil && CatalogChapters(of: episode) == nil)
    }
}
