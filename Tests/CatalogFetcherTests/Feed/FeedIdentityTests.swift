import BookModel
import Foundation
import Testing

@testable import CatalogFetcher

@Suite struct FeedIdentityTests {
    private func item(_ title: String, guid: String? = nil, url: String, date: String? = nil, more: String = "")
        -> String
    {
        "<item><title>\(title)</title>" + (guid.map { "<guid>\($0)</guid>" } ?? "")
            + (date.map { "<pubDate>\($0)</pubDate>" } ?? "") + more
            + #"<enclosure url="\#(url)" type="audio/mpeg"/></item>"#
    }

    private func keys(_ items: String...) throws -> [String] {
        try readFeed(rss(items.joined())).episodes.map(\.identity.key)
    }

    @Test func `the guid names an episode, and not its address or title`() throws {
        let before = try keys(item("One", guid: "g", url: "http://a.example/1.mp3"))
        #expect(before == ["g"])
        #expect(try keys(item("Uno", guid: "g", url: "http://b.example/x.mp3?token=2")) == before)
    }

    @Test func `a guid that is an address stays the same when its site moves to HTTPS`() throws {
        let before = try keys(item("One", guid: "http://a.example/e1", url: "http://a.example/1.mp3"))
        #expect(try keys(item("One", guid: "https://a.example/e1", url: "https://a.example/1.mp3")) == before)
    }

    @Test func `without a guid the address counts, without what changes of it`() throws {
        let first = try keys(item("One", url: "http://a.example/1.mp3?Expires=1&Signature=abc"))
        #expect(try keys(item("Uno", url: "https://A.example:443/1.mp3?Expires=2&Signature=def#t")) == first)
        #expect(try keys(item("One", url: "http://u:p@a.example/1.mp3")) == first)
        #expect(try keys(item("One", url: "http://a.example/2.mp3")) != first)
        let script = try keys(item("One", url: "http://a.example/get.php?id=1&token=x"))
        #expect(try keys(item("One", url: "http://a.example/get.php?id=1&token=y")) == script)
        #expect(try keys(item("One", url: "http://a.example/get.php?id=2&token=x")) != script)
    }

    @Test func `two files that only the query tells apart are two episodes`() throws {
        let keys = try keys(
            item("One", url: "http://a.example/play.mp3?id=1"), item("Two", url: "http://a.example/play.mp3?id=2"))
        #expect(Set(keys).count == 2)
    }

    @Test func `of items that share a guid the address tells which is which`() throws {
        let shared = try keys(
            item("1", guid: "same", url: "http://a.example/1.mp3"),
            item("2", guid: "same", url: "http://a.example/2.mp3"),
            item("3", guid: "same", url: "http://a.example/3.mp3"))
        #expect(Set(shared).count == 3)
        #expect(!shared.contains("same"))
        // In another order they are the same three.
        let reordered = try keys(
            item("3", guid: "same", url: "http://a.example/3.mp3"),
            item("1", guid: "same", url: "http://a.example/1.mp3"),
            item("2", guid: "same", url: "http://a.example/2.mp3"))
        #expect(reordered == [shared[2], shared[0], shared[1]])
    }

    @Test func `a file that is listed twice is one episode`() throws {
        let read = try readFeed(
            rss(
                item("1", guid: "a", url: "http://a.example/1.mp3")
                    + item("1", guid: "b", url: "http://a.example/1.mp3")))
        #expect(read.episodes.map(\.identity.key) == ["a"])
        #expect(read.warnings.contains("1 item listed a second time"))
    }

    @Test(arguments: [("News", "News", 1, 2), ("Monday", "Tuesday", 1, 1)])
    func `two guids, and two titles or dates, at one address are two episodes`(
        one: String, other: String, first: Int, second: Int
    ) throws {
        func item(_ title: String, _ guid: String, _ day: Int) -> String {
            self.item(title, guid: guid, url: "http://a.example/latest.mp3", date: "0\(day) Sep 2010 10:00:00 GMT")
        }
        let read = try readFeed(rss(item(one, "a", first) + item(other, "b", second)))
        #expect(read.episodes.map(\.identity.key) == ["a", "b"])
    }

    @Test func `a locked item without a guid is known by title and date`() throws {
        let first = try keys(item("One", url: "ftp://x/1", date: "Mon, 06 Sep 2010 10:00:00 GMT"))
        #expect(first.count == 1 && first[0].hasPrefix("item-"))
        #expect(try keys(item("One", url: "ftp://x/2", date: "Mon, 06 Sep 2010 12:00:00 +0200")) == first)
    }

    @Test func `no key and no guid shows a secret`() throws {
        let read = try readFeed(
            rss(item("One", guid: "https://u:sesame@a.example/e?p=12&amp;token=sesame", url: "https://a.example/1.mp3"))
        )
        let episode = try #require(read.episodes.first)
        #expect(!episode.identity.key.contains("sesame"))
        #expect(episode.guid == "https://a.example/e?p=12&token=***")
    }

    private func sections(_ items: [String], head: String = "<title>T</title>") throws -> [Int] {
        try readFeed(rss(items.joined(), head: head)).episodes.map(\.section)
    }

    private func dated(_ days: Int...) -> [String] {
        days.map { day in
            item(
                ["a", "b", "c", "d"][day - 1], url: "http://a.example/\(day).mp3", date: "0\(day) Sep 2010 10:00:00 GMT"
            )
        }
    }

    @Test func `the oldest is 1 where the newest comes first, also in a serial`() throws {
        #expect(try sections(dated(4, 3, 2, 1)) == [4, 3, 2, 1])
        #expect(try sections(dated(4, 2, 3, 1)) == [4, 3, 2, 1])
        #expect(try sections(dated(3, 2, 1), head: "<itunes:type>serial</itunes:type>") == [3, 2, 1])
    }

    @Test func `the feed's order counts where the oldest comes first or nothing is dated`() throws {
        #expect(try sections(dated(1, 2, 3)) == [1, 2, 3])
        #expect(try sections([item("b", url: "http://a/b.mp3"), item("a", url: "http://a/a.mp3")]) == [1, 2])
    }

    @Test func `episode numbers count where every item has its own`() throws {
        func numbered(_ number: Int) -> String {
            item("\(number)", url: "http://a.example/\(number).mp3", more: "<itunes:episode>\(number)</itunes:episode>")
        }
        #expect(try sections([numbered(12), numbered(10), numbered(11)]) == [12, 10, 11])
        let twice = item("x", url: "http://a.example/x.mp3", more: "<itunes:episode>12</itunes:episode>")
        #expect(try sections([numbered(12), twice]) == [1, 2])
        #expect(try sections([numbered(12), item("x", url: "http://a.example/x.mp3")]) == [1, 2])
    }

    @Test func `numbers that begin anew with each season count by season`() throws {
        func episode(_ season: Int, _ number: Int) -> String {
            item(
                "\(number). \(season)", url: "http://a.example/\(season)-\(number).mp3",
                more: "<itunes:season>\(season)</itunes:season><itunes:episode>\(number)</itunes:episode>")
        }
        let trailer = item("Trailer", url: "http://a.example/trailer.mp3")
        #expect(
            try sections([episode(2, 2), trailer, episode(2, 1), episode(1, 2), episode(1, 1)]) == [4, 0, 3, 2, 1])
    }

    @Test(
        arguments: [
            (["3. A Novel", "2. A Novel", "1. A Novel"], [3, 2, 1]),
            (["Il nome - Lettura III", "Il nome - Lettura II", "Il nome - Lettura I"], [3, 2, 1]),
            // Before the first and behind the last, whichever end comes first.
            (["Preface", "Part 1", "Part 2", "Part 3", "Part 4"], [0, 1, 2, 3, 4]),
            (["Epilogue", "Part 4", "Part 3", "Part 2", "Part 1"], [5, 4, 3, 2, 1]),
            // The best of a year is no episode of that number, nor are the last five of many.
            (["The best of 2020", "The best of 2019"], [1, 2]), (["8", "7", "6", "5", "4"], [1, 2, 3, 4, 5]),
        ] as [([String], [Int])])
    func `the numbers of titles count where nearly all have one of their own`(titles: [String], numbers: [Int]) throws {
        let items = titles.enumerated().map { item($1, url: "http://a.example/\($0).mp3") }
        #expect(try sections(items) == numbers)
        // What dates say counts less.
        let dated = titles.enumerated().map {
            item($1, url: "http://a.example/\($0).mp3", date: "0\($0 + 1) Sep 2010 10:00:00 GMT")
        }
        #expect(try sections(dated) == numbers)
    }

    @Test(arguments: [
        ("https://a.example/feed.xml", "https://a.example/feed.xml"),
        ("https://a.example/podcast.php?show=5", "https://a.example/podcast.php?show=5"),
        ("HTTPS://a.example/feed#x", "https://a.example/feed"),
    ])
    func `a feed's id is its address`(address: String, id: String) {
        #expect(FeedSettings.bookID(of: ResourceAddress(address)) == id)
    }

    @Test func `a feed's id holds no secret, and two feeds have two ids`() {
        let one = FeedSettings.bookID(of: ResourceAddress("https://u:sesame@a.example/feed?token=sesame1&show=1"))
        let two = FeedSettings.bookID(of: ResourceAddress("https://u:sesame@a.example/feed?token=sesame2&show=1"))
        #expect(one.hasPrefix("https://a.example/feed?token=***&show=1#"))
        #expect(!one.contains("sesame") && one != two)
    }

    @Test(arguments: [
        (
            FeedSettings.bookID(of: ResourceAddress("https://u:sesame@a.example/feed?token=sesame1&show=1")),
            "https://u:sesame@a.example/feed?token=sesame2&show=1", false
        ),
        ("https://a.example/files/?token=***", "https://a.example/files/?token=sesame", true),
        ("https://a.example/feed#12345678", "http://u:renewed@A.example/./feed", true),
        ("https://a.example/feed", "https://u:p@a.example/feed", true),
        ("https://a.example/feed#12345678", "https://a.example/food", false),
        ("https://a.example/三体/", "https://a.example/%e4%b8%89%E4%BD%93/", true),
    ])
    func `a book is known by its address, however that is spelled and whoever asks`(
        id: String, address: String, isIt: Bool
    ) {
        #expect(FeedSettings.isID(id, of: ResourceAddress(address)) == isIt)
    }

    @Test func `another password or spelling makes no other book, and another token does`() {
        func id(_ text: String) -> String { FeedSettings.bookID(of: ResourceAddress(text)) }
        let one = id("https://u:p@ss@a.example/feed?token=1")
        #expect(one == id("https://u:p%40ss@a.example/feed?token=1"))
        #expect(
            one == id("https://v:new@a.example/feed?token=%31") && one != id("https://u:p@ss@a.example/feed?token=2"))
    }
}
