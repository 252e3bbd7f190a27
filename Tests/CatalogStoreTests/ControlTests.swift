import BookModel
import CatalogStore
import Foundation
import Support
import Testing

@Suite(.limitedConcurrency) struct ControlTests {
    /// Episodes 1–9; 7 is locked, 8 is gone, 9 was removed.
    private func withShelf<Value>(_ body: (CatalogStore) async throws -> Value) async throws -> Value {
        try await withStore { store async throws in
            var episodes = samples(1...9)
            episodes[6].address = nil
            _ = try await store.merge(episodes, startingAt: 0, of: veterinary)
            let seen = Set(episodes.filter { $0.section != 8 }.map(\.identity.key))
            _ = try await store.finishListing(
                of: Book(identity: veterinary, title: "B"), proof: complete(8), seen: seen)
            try await store.remove([.sample(9)], at: time(milliseconds: 1_700_000_000_000))
            return try await body(store)
        }
    }

    private func states(_ store: CatalogStore, _ numbers: ClosedRange<Int> = 1...9) async throws -> [TransferState?] {
        var states: [TransferState?] = []
        for number in numbers { states.append(try await store.episode(.sample(number))?.transfer?.state) }
        return states
    }

    @Test(arguments: [TransferState.waiting, .downloading, .failed, .cancelled])
    func `a transfer is paused with all that is known of it`(state: TransferState) async throws {
        try await withShelf { store in
            let record = TransferRecord.sample(1, state: state)
            try await store.save([record])
            #expect(try await store.pause([.sample(1)]) == 1)
            var paused = record
            paused.state = .paused
            #expect(try await store.episode(.sample(1))?.transfer == paused)
            #expect(try await store.pause([.sample(1)]) == 0)
            #expect(try await store.stoppedTransfers() == [.sample(1): .paused])
        }
    }

    @Test func `what was never begun can be paused, what is on disk, locked, gone or removed cannot`() async throws {
        try await withShelf { store in
            try await store.finish([.sample(2)])
            #expect(try await store.pause((1...9).map { .sample($0) }) == 5)
            #expect(try await states(store) == [.paused, nil, .paused, .paused, .paused, .paused, nil, nil, nil])
            #expect(try await store.resume((1...9).map { .sample($0) }) == 5)
            #expect(try await store.stoppedTransfers().isEmpty)
            #expect(try await store.cancel([.sample(2), .sample(7), .sample(8), .sample(9)]) == 0)
        }
    }

    @Test func `a replacement under way is paused, and its old file stays`() async throws {
        try await withShelf { store in
            try await store.finish([.sample(1)])
            try await store.save([.sample(1)])
            #expect(try await store.pause([.sample(1)]) == 1)
            #expect(try await store.episode(.sample(1))?.file == .sample(1))
        }
    }

    @Test(arguments: [TransferState.paused, .cancelled], [TransferState.waiting, .downloading, .failed])
    func `what a run saves does not take a pause back`(stopped: TransferState, saved: TransferState) async throws {
        try await withShelf { store in
            try await store.save([.sample(1)])
            _ = stopped == .paused ? try await store.pause([.sample(1)]) : try await store.cancel([.sample(1)])
            try await store.save([.sample(1, state: saved, committed: 700)])
            let record = try #require(try await store.episode(.sample(1))?.transfer)
            #expect(record.state == stopped)
            // The bytes that came meanwhile are there nevertheless.
            #expect(record.committedLength == 700)
            #expect(try await store.stoppedTransfers() == [.sample(1): stopped])
        }
    }

    @Test(arguments: [TransferState.paused, .failed, .cancelled, .waiting, .downloading])
    func `resuming lets what stands still wait for the next run`(state: TransferState) async throws {
        try await withShelf { store in
            try await store.save([.sample(1, state: state)])
            let stands = [.paused, .failed, .cancelled].contains(state)
            #expect(try await store.resume([.sample(1)]) == (stands ? 1 : 0))
            let record = try #require(try await store.episode(.sample(1))?.transfer)
            #expect(record.state == (stands ? .waiting : state))
            #expect(record.attempts == (stands ? 0 : 3))
            #expect((record.nextTryAt == nil) == stands)
            #expect(record.validator == TransferRecord.sample(1).validator)
            #expect(record.committedLength == 500)
        }
    }

    @Test func `what was broken off because it was removed is not resumed`() async throws {
        try await withShelf { store in
            try await store.save([.sample(1, state: .cancelled), .sample(9, state: .cancelled)])
            #expect(try await store.resume([.sample(1), .sample(9)]) == 1)
            #expect(try await store.episode(.sample(9))?.transfer?.state == .cancelled)
        }
    }

    @Test func `a cancelled transfer vouches for nothing any more`() async throws {
        try await withShelf { store in
            try await store.save([.sample(1), .sample(2, state: .paused)])
            #expect(try await store.cancel([.sample(1), .sample(2), .sample(3)]) == 2)
            for number in 1...2 {
                let record = try #require(try await store.episode(.sample(number))?.transfer)
                #expect(record.state == .cancelled)
                #expect(record.validator == ContentValidator())
                #expect(record.total == nil && record.committedLength == 0)
            }
            #expect(try await store.cancel([.sample(1), .sample(2)]) == 0)
            #expect(try await store.stoppedTransfers() == [.sample(1): .cancelled, .sample(2): .cancelled])
        }
    }

    @Test func `what was never listed is refused, and nothing of the rest is done`() async throws {
        try await withShelf { store in
            try await store.save([.sample(1)])
            let failure = try await failure { _ = try await store.pause([.sample(1), .sample(77)]) }
            #expect(failure?.what.description.contains("kting:30776#id77") == true)
            #expect(try await store.episode(.sample(1))?.transfer?.state == .downloading)
            #expect(try await store.pause([]) == 0)
        }
    }

    @Test func `another process sees at once what was paused`() async throws {
        try await withStorePath { path in
            let store = try await CatalogStore(path: path, access: .readWrite)
            _ = try await store.merge(samples(1...3), startingAt: 0, of: veterinary)
            try await store.save([.sample(1), .sample(2)])
            let other = try await CatalogStore(path: path, access: .readWrite)
            #expect(try await other.pause([.sample(2)]) == 1)
            #expect(try await store.stoppedTransfers() == [.sample(2): .paused])
            try await store.save([.sample(2)])
            #expect(try await other.episode(.sample(2))?.transfer?.state == .paused)
            try await other.close()
            try await store.close()
        }
    }

    @Test func `unfinished transfers are listed by book and section`() async throws {
        try await withShelf { store in
            let other = BookIdentity(source: "archive", id: "7")
            _ = try await store.merge(samples(1...2, of: other), startingAt: 0, of: other)
            try await store.save([.sample(3, state: .failed), .sample(1), .sample(2)])
            try await store.save([TransferRecord(episode: .sample(2, of: other))])
            try await store.finish([.sample(2)])
            let unfinished = try await store.unfinishedTransfers()
            #expect(unfinished.map(\.episode.identity) == [.sample(2, of: other), .sample(1), .sample(3)])
            #expect(unfinished.map(\.state) == [.waiting, .downloading, .failed])
        }
    }

    @Test func `the queue has what moves before what waits, and parts of it are read alone`() async throws {
        try await withShelf { store in
            let states: [(Int, TransferState)] = [
                (1, .paused), (2, .waiting), (3, .failed), (4, .downloading), (5, .cancelled), (6, .downloading),
            ]
            for (section, state) in states { try await store.save([.sample(section, state: state)]) }
            // Of these there is more to say than that they were once asked for.
            for section in 7...9 { try await store.save([.sample(section, state: .waiting)]) }
            func sections(_ isRunUnderWay: Bool, _ first: Int = 0, _ count: Int? = nil) async throws -> [Int] {
                try await store.queue(isRunUnderWay: isRunUnderWay, from: first, count: count)
                    .map(\.episode.section)
            }
            #expect(try await sections(true) == [4, 6, 2, 1, 3])
            #expect(try await sections(false) == [2, 4, 6, 1, 3], "without a run nothing moves")
            #expect(try await sections(true, 1, 3) == [6, 2, 1])
            #expect(try await sections(true, 5, 3) == [])
            #expect(
                try await store.queueCounts(isRunUnderWay: true)
                    == [.downloading: 2, .waiting: 1, .paused: 1, .failed: 1])
            #expect(try await store.queueCounts(isRunUnderWay: false) == [.waiting: 3, .paused: 1, .failed: 1])
        }
    }
}
