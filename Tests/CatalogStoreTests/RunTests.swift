import BookModel
import Foundation
import Support
import Testing

@testable import CatalogStore

@Suite(.limitedConcurrency) struct RunTests {
    private let unknown = BookIdentity(source: "nowhere", id: "1")

    @Test func `a run is recorded when it begins, and again with all its counts when it ends`() async throws {
        try await withStore { store async throws in
            let first = try await store.beginRun("mirror", of: [], at: time(milliseconds: 1_700_000_000_000))
            let second = try await store.beginRun(
                "fetch", of: [veterinary, unknown], at: time(milliseconds: 1_700_000_060_000))
            let book = Book(identity: veterinary, title: "回到古代当兽医", isComplete: true)
            _ = try await store.finishListing(of: book, proof: complete(0), seen: [])
            var record = RunRecord(
                number: first, command: "mirror", startedAt: time(milliseconds: 1_700_000_000_000),
                endedAt: time(milliseconds: 1_700_000_041_500), exitCode: 75, books: 7,
                named: [.init(unknown)], error: "it was cut")
            var counts = RunSummary()
            (counts.fetched, counts.resumed, counts.replaced, counts.renamed, counts.adopted) = (1, 2, 3, 4, 5)
            (counts.kept, counts.locked, counts.failed, counts.left) = (6, 7, 8, 9)
            (counts.bytesReceived, counts.bytesReused, counts.seconds) = (10, 11, 41.5)
            record.summary = counts
            try await store.endRun(record)
            let cutOff = RunRecord(
                number: second, command: "fetch", startedAt: time(milliseconds: 1_700_000_060_000), books: 2,
                named: [.init(veterinary, title: "回到古代当兽医"), .init(unknown)])
            #expect(try await store.runs(last: 9) == [cutOff, record])
            #expect(try await store.runs(last: 1) == [cutOff])
        }
    }

    @Test func `the last thousand runs are kept`() async throws {
        try await withStore { store async throws in
            for minute in 0..<1003 {
                _ = try await store.beginRun("mirror", of: [], at: time(milliseconds: Int64(minute)))
            }
            let kept = try await store.runs(last: 2000)
            #expect(kept.count == 1000)
            #expect(kept.last?.startedAt == time(milliseconds: 3))
        }
    }

    @Test func `an outage is noted, counted on, and forgotten when it ends`() async throws {
        try await withStore { store async throws in
            var outage = Outage(subject: "http://a.example", since: time(milliseconds: 5), error: "refused")
            let other = Outage(subject: "source b", since: time(milliseconds: 4), error: "401")
            try await store.record([outage, other], ended: [])
            outage.runs = 2
            outage.isReported = true
            try await store.record([outage], ended: ["source b", "book c:1"])
            #expect(try await store.outages() == [outage])
        }
    }

    @Test func `publication times come newest first, and what is waited for is kept`() async throws {
        try await withStore { store async throws in
            _ = try await store.merge(samples(1...3), startingAt: 0, of: veterinary)
            let dates = try await store.publicationDates(of: veterinary, last: 2)
            #expect(dates == dates.sorted(by: >))
            var watch = PublicationWatch(
                book: veterinary, title: "", latest: time(milliseconds: 9), usualGap: 3600, isReported: false)
            try await store.record([watch])
            watch.isReported = true
            let unknown = PublicationWatch(
                book: BookIdentity(source: "x", id: "y"), title: "", latest: .distantPast, usualGap: 1, isReported: true
            )
            try await store.record([watch, unknown])
            #expect(try await store.publicationWatches() == [watch])
        }
    }

    @Test func `what a listing no longer has is told before it is gone, and once`() async throws {
        try await withStore { store async throws in
            _ = try await store.merge(samples(1...3), startingAt: 0, of: veterinary)
            let seen = Set(samples(1...2).map(\.identity.key))
            #expect(try await store.dropped(from: veterinary, seen: seen).map(\.section) == [3])
            let book = Book(identity: veterinary, title: "T", isComplete: true)
            let proof = ListingProof(declared: 2, collected: 2, isComplete: true)
            _ = try await store.finishListing(of: book, proof: proof, seen: seen)
            #expect(try await store.dropped(from: veterinary, seen: seen).isEmpty)
        }
    }
}
