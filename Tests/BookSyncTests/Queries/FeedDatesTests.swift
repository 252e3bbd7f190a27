import Foundation
import Testing

@testable import BookSync

@Suite struct FeedDatesTests {
    private func dates(_ moments: [(published: Double?, fetched: Double)]) -> [Int64] {
        FeedDates.seconds(
            of: moments.map {
                FeedDates.Moment(
                    published: $0.published.map { Date(timeIntervalSince1970: $0) },
                    fetched: Date(timeIntervalSince1970: $0.fetched))
            })
    }

    @Test func `what the catalog says stands, in whatever order`() {
        #expect(dates([(300.9, 9), (100, 9), (200, 9)]) == [300, 100, 200])
    }

    @Test func `episodes published together follow each other by seconds`() {
        #expect(dates([(100, 9), (100.5, 9), (500, 9), (100.9, 9)]) == [100, 101, 500, 102])
    }

    @Test func `episodes without a date are as old as their files, in the order of the book`() {
        #expect(dates([(nil, 50), (nil, 50), (nil, 49), (nil, 60)]) == [47, 48, 49, 60])
        // The first was fetched anew a long time later.
        #expect(dates([(nil, 9000), (nil, 50), (nil, 60)]) == [49, 50, 60])
        #expect(dates([(nil, 50), (400, 9), (nil, 50)]) == [49, 400, 50])
    }

    @Test func `a new episode moves no other's date`() {
        let old: [(Double?, Double)] = [(nil, 40), (nil, 40), (70, 41), (70, 41)]
        #expect(Array(dates(old + [(nil, 80), (70, 80)]).prefix(4)) == dates(old))
    }

    @Test func `no date is beyond what four digits of a year can tell`() {
        let ends = dates([(-1e300, 0), (1e300, 0), (1e300, 0), (nil, -1e300), (nil, -1e300)])
        #expect(ends.allSatisfy { (-62_135_596_800...253_402_300_799).contains($0) })
    }
}
