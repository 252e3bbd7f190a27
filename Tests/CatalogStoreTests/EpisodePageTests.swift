import BookModel
import Foundation
import Support
import Testing

@testable import CatalogStore

@Suite(.limitedConcurrency) struct EpisodePageTests {
    /// 1 to 3 on disk, 4 removed, 5 locked, 6 paused, 7 under way, 8 failed with its old file, 9 on disk and gone, 10 missing.
    private func withShelf(_ body: (CatalogStore) async throws -> Void) async throws {
        try await withStore { store in
            var page = samples(1...10)
            page[4].address = nil
            _ = try await store.merge(page, startingAt: 0, of: veterinary)
            try await store.finish([.sample(1), .sample(2), .sample(3), .sample(8), .sample(9)])
            try await store.remove([.sample(4)], at: time(milliseconds: 5))
            for (number, state) in [(6, TransferState.paused), (7, .downloading), (8, .failed)] {
                try await store.save([.sample(number, state: state)])
            }
            _ = try await store.finishListing(
                of: Book(identity: veterinary, title: "T"), proof: complete(9),
                seen: Set((1...10).filter { $0 != 9 }.map { "id\($0)" }))
            try await body(store)
        }
    }

    private static let states: [EpisodeState] = [
        .finished, .finished, .finished, .removed, .locked, .paused, .downloading, .failed, .gone, .waiting,
    ]

    @Test(arguments: [true, false])
    func `the counts and the pages say of each episode what its state says`(isRunUnderWay: Bool) async throws {
        try await withShelf { store in
            let all = try await store.episodes(of: veterinary)
            #expect(all.map(\.state) == Self.states)
            var expected = Self.states
            if !isRunUnderWay { expected[6] = .waiting }
            let counts = try await store.stateCounts(of: veterinary, isRunUnderWay: isRunUnderWay)
            #expect(counts == Dictionary(grouping: expected, by: \.self).mapValues(\.count))
            for state in EpisodeState.allCases {
                let page = try await store.episodes(
                    of: veterinary, EpisodeSelection(state: state), isRunUnderWay: isRunUnderWay, from: 0, count: 100)
                let sections = zip(1..., expected).filter { $0.1 == state }.map(\.0)
                #expect(page.map(\.episode.section) == sections, "\(state)")
            }
        }
    }

    @Test func `a page is a part of the whole, in its order`() async throws {
        try await withShelf { store in
            let all = try await store.episodes(of: veterinary)
            for (first, count) in [(0, 3), (3, 3), (9, 5), (10, 5), (0, 0)] {
                let page = try await store.episodes(
                    of: veterinary, EpisodeSelection(), isRunUnderWay: true, from: first, count: count)
                #expect(page == Array(all.dropFirst(first).prefix(count)))
            }
            let other = BookIdentity(source: "no", id: "book")
            let none = try await store.episodes(
                of: other, EpisodeSelection(), isRunUnderWay: true, from: 0, count: 5)
            #expect(none.isEmpty)
            #expect(try await store.stateCounts(of: other, isRunUnderWay: true).isEmpty)
        }
    }

    @Test func `a part is found by names, from either end, and an episode by its number`() async throws {
        try await withShelf { store in
            func sections(_ selection: EpisodeSelection, from first: Int = 0) async throws -> [Int] {
                try await store.episodes(of: veterinary, selection, isRunUnderWay: true, from: first, count: 4)
                    .map(\.episode.section)
            }
            #expect(try await sections(EpisodeSelection(isReversed: true), from: 1) == [9, 8, 7, 6])
            #expect(try await sections(EpisodeSelection(text: "第1")) == [1, 10])
            #expect(try await sections(EpisodeSelection(state: .waiting, text: "第1", isReversed: true)) == [10])
            #expect(try await sections(EpisodeSelection(text: "%")) == [], "no pattern")
            let counts = try await store.stateCounts(of: veterinary, named: "第1", isRunUnderWay: true)
            #expect(counts == [.finished: 1, .waiting: 1])
            #expect(try await store.index(of: 4, in: veterinary, isReversed: false) == 3)
            #expect(try await store.index(of: 4, in: veterinary, isReversed: true) == 6)
            #expect(try await store.index(of: 10, in: veterinary, isReversed: false) == 9)
            #expect(try await store.index(of: 99, in: veterinary, isReversed: false) == nil)
            #expect(try await store.index(of: .max, in: veterinary, isReversed: false) == nil)
        }
    }

    @Test func `the neighbours of an episode are those that can be heard`() async throws {
        try await withShelf { store in
            let middle = try await store.neighbours(of: .sample(2))
            #expect(middle.before == .sample(1) && middle.after == .sample(3))
            let edge = try await store.neighbours(of: .sample(3))
            #expect(edge.before == .sample(2) && edge.after == .sample(8))
            let first = try await store.neighbours(of: .sample(1))
            #expect(first.before == nil && first.after == .sample(2))
            let absent = try await store.neighbours(of: .sample(10))
            #expect(absent.before == .sample(9) && absent.after == nil)
            #expect(try await store.firstOnDisk(of: veterinary) == .sample(1))
            try await store.remove([.sample(1)], at: time(milliseconds: 5))
            #expect(try await store.firstOnDisk(of: veterinary) == .sample(2))
        }
    }
}
