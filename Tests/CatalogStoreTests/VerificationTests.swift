import BookModel
import CatalogStore
import Foundation
import Support
import Testing

@Suite(.limitedConcurrency) struct VerificationTests {
    private let now = time(milliseconds: 1_800_000_000_000)

    private func withFiles(_ body: (CatalogStore) async throws -> Void) async throws {
        try await withStore { store in
            _ = try await store.merge(samples(1...3), startingAt: 0, of: veterinary)
            try await store.finish([.sample(1), .sample(2), .sample(3)])
            try await body(store)
        }
    }

    @Test func `a round that was cut off is gone on with, and one that ended is not`() async throws {
        try await withFiles { store in
            let round = try await store.beginVerification(of: "", anew: false, at: now)
            #expect(try await store.verifiedFiles(since: round).isEmpty)
            try await store.recordVerified([.sample(1), .sample(3)], in: round, at: now)
            let again = try await store.beginVerification(of: "", anew: false, at: now + 60)
            #expect(again == round)
            #expect(try await store.verifiedFiles(since: again) == [.sample(1), .sample(3)])
            try await store.endVerification(again, at: now + 61)
            let next = try await store.beginVerification(of: "", anew: false, at: now - 3600)
            #expect(next.number > round.number)
            // Whatever the clock says.
            #expect(try await store.verifiedFiles(since: next).isEmpty)
        }
    }

    @Test func `each scope has its own round, and a file counts for all that are under way`() async throws {
        try await withFiles { store in
            let all = try await store.beginVerification(of: "", anew: false, at: now)
            let book = try await store.beginVerification(of: "kting:30776", anew: false, at: now)
            #expect(book.number > all.number)
            try await store.recordVerified([.sample(2)], in: book, at: now)
            #expect(try await store.verifiedFiles(since: all) == [.sample(2)])
            try await store.recordVerified([.sample(2)], in: all, at: now)
            #expect(try await store.verifiedFiles(since: book) == [.sample(2)])
        }
    }

    @Test func `a round that is given up is not gone on with`() async throws {
        try await withFiles { store in
            let round = try await store.beginVerification(of: "", anew: false, at: now)
            try await store.recordVerified([.sample(1)], in: round, at: now)
            let anew = try await store.beginVerification(of: "", anew: true, at: now)
            #expect(try await store.verifiedFiles(since: anew).isEmpty)
            #expect(try await store.beginVerification(of: "", anew: false, at: now) == anew)
        }
    }

    @Test func `a file whose record changed since it was verified is not verified`() async throws {
        try await withFiles { store in
            let round = try await store.beginVerification(of: "", anew: false, at: now)
            try await store.recordVerified([.sample(1), .sample(2)], in: round, at: now)
            #expect(try await store.lastVerified(.sample(1)) == now)
            var new = LocalFile.sample(1)
            new.sha256 = String(repeating: "f", count: 64)
            try await store.finish([new])
            try await store.forgetFile(of: .sample(2))
            // What was read is what was recorded then.
            try await store.recordVerified([.sample(1), .sample(2)], in: round, at: now)
            #expect(try await store.verifiedFiles(since: round).isEmpty)
            for number in 1...3 { #expect(try await store.lastVerified(.sample(number)) == nil) }
        }
    }

    @Test func `where a file was fetched from is kept with it`() async throws {
        try await withFiles { store in
            var file = LocalFile.sample(1)
            file.fetchedFrom = "http://kting.info:81/1.mp3?sign=***"
            try await store.finish([file])
            #expect(try await store.episode(.sample(1))?.file == file)
            file.path = "elsewhere.mp3"
            try await store.updateFiles([file])
            #expect(try await store.episode(.sample(1))?.file == file)
        }
    }
}
