import BookModel
import Testing

@Suite struct BookReferenceTests {
    @Test(arguments: [
        ("30776", BookReference.Target.id("30776"), EpisodeFilter()),
        ("kting:30776", .book(BookIdentity(source: "kting", id: "30776")), EpisodeFilter()),
        ("kting:a:b", .book(BookIdentity(source: "kting", id: "a:b")), EpisodeFilter()),
        ("30776/12", .id("30776"), EpisodeFilter(only: SectionRanges([12...12]))),
        (
            "kting:30776/12-40,55", .book(BookIdentity(source: "kting", id: "30776")),
            EpisodeFilter(only: SectionRanges([12...40, 55...55]))
        ),
        ("30776/latest:5", .id("30776"), EpisodeFilter(latest: 5)),
        ("回到古代", .id("回到古代"), EpisodeFilter()),
        (
            "https://feeds.example/a/12?token=t", .address(ResourceAddress("https://feeds.example/a/12?token=t")),
            EpisodeFilter()
        ),
        (
            "https://feeds.example/a.xml#6", .address(ResourceAddress("https://feeds.example/a.xml")),
            EpisodeFilter(only: SectionRanges([6...6]))
        ),
        (
            "https://feeds.example/a#b#1-3,5", .address(ResourceAddress("https://feeds.example/a#b")),
            EpisodeFilter(only: SectionRanges([1...3, 5...5]))
        ),
        (
            "feeds:https://feeds.example/a.xml#latest:2",
            .book(BookIdentity(source: "feeds", id: "https://feeds.example/a.xml")), EpisodeFilter(latest: 2)
        ),
        (
            "https://feeds.example/a#1-intro", .address(ResourceAddress("https://feeds.example/a#1-intro")),
            EpisodeFilter()
        ),
        ("https://feeds.example/a#", .address(ResourceAddress("https://feeds.example/a#")), EpisodeFilter()),
        (
            "https://feeds.example/a?key=***#1234",
            .address(ResourceAddress("https://feeds.example/a?key=***#1234")), EpisodeFilter()
        ),
        (
            "https://feeds.example/a#12345678#5", .address(ResourceAddress("https://feeds.example/a#12345678")),
            EpisodeFilter(only: SectionRanges([5...5]))
        ),
        (
            "https://feeds.example/a#12345678", .address(ResourceAddress("https://feeds.example/a#12345678")),
            EpisodeFilter()
        ),
    ])
    func `a REF names a book and its episodes`(
        text: String, target: BookReference.Target, filter: EpisodeFilter
    ) throws {
        let reference = try BookReference(parsing: text)
        #expect(reference.target == target)
        #expect(reference.filter == filter)
    }

    @Test(arguments: [
        "", "/", "/12", ":", "kting:", ":30776", ":/1", "30776/", "30776/5-2", "30776/x", "30776/12/13",
        "30776/latest:", "30776/latest:0", "30776/latest:-1", "30776/latest:+1", "30776/latest:many",
        "https://feeds.example/a#5-2", "https://feeds.example/a#latest:0",
    ])
    func `what names nothing is a usage failure with an example`(text: String) throws {
        let failure = try #require(throws: Failure.self) { try BookReference(parsing: text) }
        #expect(failure.kind == .usage)
        #expect(failure.remedy != nil)
    }

    @Test(arguments: [
        ("example.org/feed.xml", "write https://example.org/feed.xml"),
        ("a.example:8080/feed", "write https://a.example"),
        ("\"https://feeds.example/a\"", "as a browser shows it"), ("htp://feeds.example/a", "as a browser shows it"),
        ("file:///a.xml", "as a browser shows it"),
    ])
    func `what is nearly an address is told how to become one`(text: String, remedy: String) throws {
        let failure = try #require(throws: Failure.self) { try BookReference(parsing: text) }
        #expect(failure.kind == .usage)
        #expect(try #require(failure.remedy).description.contains(remedy))
    }

    @Test(arguments: ["feed://a.example/f", "PCAST://a.example/f", "itpc://a.example/f", "rss://a.example/f"])
    func `an address for podcast apps is the feed's`(text: String) throws {
        #expect(try BookReference(parsing: text).target == .address(ResourceAddress("http://a.example/f")))
    }

    @Test(arguments: [("feed:https://feeds.example/a.xml", "#12"), ("kting:30776", "/12")])
    func `an episode is named as its REF is read`(book: String, ending: String) throws {
        let text = BookReference.example(12, of: try BookReference(parsing: book))
        #expect(text == book + ending)
        #expect(try BookReference(parsing: text).filter.only == SectionRanges([12...12]))
    }

    @Test func `an address is shown without its secrets`() throws {
        let reference = try BookReference(parsing: "https://me:word@feeds.example/a?token=t")
        #expect("\(reference)" == "https://feeds.example/a?token=***")
    }
}
