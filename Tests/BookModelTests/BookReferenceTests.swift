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
    ])
    func `what names nothing is a usage failure with an example`(text: String) throws {
        let failure = try #require(throws: Failure.self) { try BookReference(parsing: text) }
        #expect(failure.kind == .usage)
        #expect(failure.remedy != nil)
    }

    @Test func `an address is shown without its secrets`() throws {
        let reference = try BookReference(parsing: "https://me:word@feeds.example/a?token=t")
        #expect("\(reference)" == "https://feeds.example/a?token=***")
    }
}
