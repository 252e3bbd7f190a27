import Foundation
import Testing

@testable import BookModel

@Suite struct OverdueBooksTests {
    private static let book = BookIdentity(source: "feeds", id: "x")
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)
    private static let day = 86400.0

    /// Times so many days ago.
    private func dates(_ daysAgo: [Double]) -> [Date] { daysAgo.map { Self.now - $0 * Self.day } }

    @Test(
        arguments: [
            ([1, 2, 3, 4], 1.0), ([1, 2, 3, 30], 1), ([1, 8, 15, 22, 29], 7), ([1, 1, 2, 2, 3, 3, 4], 0.5),
            ([1, 2, 3], nil),
            ([], nil), ([5, 5, 5, 5, 5], nil), ([1, 1, 1, 1, 200], nil),
        ] as [([Double], Double?)])
    func `the usual gap is the median of the last ones`(_ daysAgo: [Double], _ days: Double?) {
        #expect(PublicationWatch.usualGap(dates(daysAgo)) == days.map { $0 * Self.day })
    }

    private func next(_ daysAgo: [Double], after before: PublicationWatch?) -> PublicationWatch? {
        PublicationWatch.next(of: Self.book, title: "T", before: before, dates: dates(daysAgo), now: Self.now)
    }

    @Test func `a book is overdue after three usual gaps without an episode`() throws {
        let fresh = try #require(next([1, 2, 3, 4], after: nil))
        #expect(!fresh.isReported)
        #expect(!fresh.isOverdue(at: Self.now + 2 * Self.day))
        #expect(fresh.isOverdue(at: Self.now + 2.01 * Self.day))
    }

    @Test func `a book that has ended before it is followed is never overdue`() throws {
        #expect(try #require(next([400, 401, 402, 403], after: nil)).isReported)
    }

    @Test func `it is told once, and again only after another episode`() throws {
        var watch = try #require(next([1, 2, 3, 4], after: nil))
        watch.isReported = true
        #expect(try #require(next([1, 2, 3, 4], after: watch)).isReported)
        #expect(try #require(next([0, 1, 2, 3, 4], after: watch)).isReported == false)
    }
}
