import BookModel
import Testing

@testable import BookSyncCLI

@Suite struct FilterTests {
    private static func ranges(_ text: String) -> [ClosedRange<Int>] {
        text.split(separator: ",").map { part in
            let bounds = part.split(separator: "-").compactMap { Int($0) }
            return bounds[0]...bounds[bounds.count - 1]
        }
    }

    private static func filter(_ only: String? = nil, _ latest: Int? = nil) -> EpisodeFilter {
        EpisodeFilter(only: only.map { SectionRanges(Self.ranges($0)) }, latest: latest)
    }

    @Test(arguments: [
        (filter("1-2"), filter("5"), filter("1-2,5")), (filter("1-2"), filter(), filter()),
        (filter("1-2"), filter("1-2"), filter("1-2")), (filter(nil, 2), filter(nil, 5), filter(nil, 5)),
        (filter(nil, 2), filter(), filter()), (filter(), filter("3"), filter()),
        (filter("1", 3), filter("2", 3), filter("1,2", 3)), (filter("1", 3), filter(), filter()),
        (filter("1"), filter(nil, 3), nil), (filter("1", 3), filter("2", 4), nil),
    ])
    func `two filters for one book become one`(
        _ one: EpisodeFilter, _ other: EpisodeFilter, _ united: EpisodeFilter?
    ) {
        #expect(one.united(with: other) == united)
    }

    @Test func `names are never mixed`() {
        #expect(EpisodeFilter(match: "a").united(with: EpisodeFilter(match: "b")) == nil)
        #expect(EpisodeFilter(only: nil, match: "a").united(with: EpisodeFilter(match: "a"))?.match == "a")
    }

    @Test func `what stands behind a REF wins`() throws {
        let options = EpisodeFilter(only: try SectionRanges(parsing: "1-3"), match: "a")
        let reference = EpisodeFilter(only: try SectionRanges(parsing: "7"))
        let both = options.overridden(by: reference)
        #expect(both.only?.description == "7")
        #expect(both.match == "a")
    }
}
