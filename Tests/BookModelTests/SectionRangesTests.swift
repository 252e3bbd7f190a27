import BookModel
import Testing

@Suite struct SectionRangesTests {
    @Test(arguments: [
        ("7", [7...7]), ("1-20,35", [1...20, 35...35]), ("0", [0...0]), ("3-3", [3...3]),
        ("1 - 5, 8", [1...5, 8...8]), ("9,1-2", [9...9, 1...2]),
        ("1-9223372036854775807", [1...Int.max]),
    ])
    func `numbers and rising ranges are read`(text: String, ranges: [ClosedRange<Int>]) throws {
        #expect(try SectionRanges(parsing: text).ranges == ranges)
    }

    @Test(arguments: [
        ("", "a part of it is empty"), ("1,,2", "a part of it is empty"), ("1,", "a part of it is empty"),
        ("5-2", "the range 5-2 ends before it begins"), ("5-", "'5-' has no last number"),
        ("-5", "'-5' has no first number"), ("-", "'-' has no first number"), ("one", "'one' is not a number"),
        ("1-two", "'two' is not a number"), ("1--3", "'-3' is not a number"), ("+5", "'+5' is not a number"),
        ("1 2", "'1 2' is not a number"), ("1.5", "'1.5' is not a number"), ("٣", "'٣' is not a number"),
        ("99999999999999999999", "'99999999999999999999' is not a number"),
        ("1-99999999999999999999", "'99999999999999999999' is not a number"),
    ])
    func `anything else is a usage failure that quotes it`(text: String, why: String) throws {
        let failure = try #require(throws: Failure.self) { try SectionRanges(parsing: text) }
        #expect(failure.kind == .usage)
        #expect(failure.what.description == "'\(text)' does not name episodes")
        #expect(failure.why.description == why)
    }

    @Test func `a range of all numbers names no episode of its own`() throws {
        let filter = EpisodeFilter(only: try SectionRanges(parsing: "0-9223372036854775807"))
        #expect(!filter.namesEpisodes && !filter.namesOneEpisode)
    }

    @Test func `a section is contained when one of the ranges has it`() throws {
        let ranges = try SectionRanges(parsing: "1-3,7")
        #expect((0...8).filter(ranges.contains) == [1, 2, 3, 7])
    }

    @Test func `what is shown can be read again`() throws {
        let ranges = SectionRanges([1...20, 35...35, 4...4])
        #expect(ranges.description == "1-20,35,4")
        #expect(try SectionRanges(parsing: ranges.description) == ranges)
    }
}
