import BookModel
import Foundation
import Testing

@testable import BookSync

@Suite struct CatalogFailuresTests {
    private static let now = Date(timeIntervalSince1970: 1_700_000_000)

    private func book(_ id: Int, source: String = "cat") -> BookIdentity { BookIdentity(source: source, id: "\(id)") }

    private func failure(_ kind: Failure.Kind, _ what: Message = "page 1 cannot be fetched") -> Failure {
        // What is unavailable may be tried again; what is refused may not.
        Failure(
            kind, disposition: kind == .catalogUnavailable ? .retry : .skip, what: what, why: "it is refused",
            remedy: "try again later")
    }

    @Test func `a server that is down is one report with all its books`() throws {
        var troubles = CatalogFailures()
        for place in [2, 0, 1, 3] {
            troubles.record(
                failure(.catalogUnavailable), of: book(place), at: "http://a", index: place,
                with: place < 3 ? nil : book(0))
        }
        troubles.recordListing(of: book(9, source: "other"), at: "http://b")
        let reports = troubles.reports(known: [:], at: Self.now)
        try #require(reports.count == 1)
        #expect(reports[0].report.books == (0...3).map { book($0) })
        #expect(
            reports[0].report.failure.description
                == "the catalogs of 4 books cannot be fetched from http://a: it is refused; 3 of them were tried, "
                + "the rest skipped; try again later")
        #expect(
            reports[0].outage
                == Outage(
                    subject: "http://a", since: Self.now, error: reports[0].report.failure.message))
    }

    @Test func `a book that one server cannot give while it gives others is the book's own trouble`() {
        var troubles = CatalogFailures()
        troubles.record(failure(.catalogUnavailable), of: book(1), at: "http://a", index: 0)
        troubles.record(failure(.unknownBook, "no book 2"), of: book(2), at: "http://a", index: 1)
        troubles.recordListing(of: book(3), at: "http://a")
        let subjects = troubles.reports(known: [:], at: Self.now).map(\.outage.subject)
        #expect(subjects == ["book cat:1", "book cat:2"])
    }

    @Test func `books that are given up with another one of a server that answers are told with it`() throws {
        var troubles = CatalogFailures()
        troubles.recordListing(of: book(9), at: "http://a")
        for id in 1...3 {
            troubles.record(
                failure(.catalogUnavailable), of: book(id), at: "http://a", index: id, with: id > 1 ? book(1) : nil)
        }
        let reports = troubles.reports(known: [:], at: Self.now)
        #expect(reports.map(\.outage.subject) == ["book cat:1"])
        #expect(
            reports.first?.report.failure.what.description == "the catalogs of 3 books cannot be fetched from http://a")
    }

    @Test func `rejected credentials are told once for their source`() {
        var troubles = CatalogFailures()
        for id in 1...5 { troubles.record(failure(.credentialsRejected, "rejected"), of: book(id), at: "a", index: id) }
        let reports = troubles.reports(known: [:], at: Self.now)
        #expect(reports.map(\.outage.subject) == ["source cat"])
        #expect(reports.first?.report.failure.what.description == "rejected, for 5 books")
        #expect(troubles.answered == ["a"])
    }

    @Test func `rejected credentials are those of one server, and a refused book is its own trouble`() {
        var troubles = CatalogFailures()
        func feed(_ address: String) -> BookIdentity { BookIdentity(source: "feed", id: "http://\(address)") }
        for id in 1...2 { troubles.record(failure(.credentialsRejected), of: feed("a/\(id)"), at: "a", index: id) }
        troubles.record(failure(.credentialsRejected), of: feed("b/3"), at: "b", index: 3)
        let refused = Failure(.catalogUnavailable, what: "refused", why: "it answers with HTTP status 403")
        troubles.record(refused, of: book(4), at: "c", index: 4)
        troubles.recordListing(of: feed("d/5"), at: "d")
        let reports = troubles.reports(known: [:], at: Self.now)
        #expect(reports.map(\.outage.subject) == ["source feed at a", "source feed at b", "book cat:4"])
        #expect(troubles.answered.isSuperset(of: ["a", "b", "c", "d", "source feed at d"]))
    }

    @Test func `of many books three are named, and the others counted`() {
        func what(_ titles: [String]) -> String? {
            var troubles = CatalogFailures()
            for (id, title) in titles.enumerated() {
                troubles.record(failure(.catalogUnavailable), of: book(id), at: "http://a", index: id)
                troubles.titles[book(id)] = title
            }
            return troubles.reports(known: [:], at: Self.now).first?.report.failure.what.description
        }
        let all = "the catalogs of 4 books cannot be fetched from http://a"
        #expect(what(["A", "B", "C", "D"]) == "A, B, C and 1 more: " + all)
        #expect(what(["", "B", "", "D"]) == "B, D and 2 more: " + all)
        #expect(what(["", "", "", ""]) == all)
        #expect(what(["A"]) == "A: page 1 cannot be fetched")
    }

    @Test func `what goes on from run to run says since when`() {
        var troubles = CatalogFailures()
        troubles.record(failure(.catalogUnavailable), of: book(1), at: "http://a", index: 0)
        let before = Outage(
            subject: "http://a", since: Date(timeIntervalSince1970: 1_699_900_000), runs: 2, error: "old",
            isReported: true)
        let reports = troubles.reports(known: ["http://a": before], at: Self.now)
        #expect(
            reports.first?.report.failure.why.description == "it is refused; failing since 2023-11-13T18:26:40Z, 3 runs"
        )
        #expect(reports.first?.outage.isReported == true)
        #expect(reports.first?.outage.since == before.since)
    }
}
