import BookModel
import CatalogStore
import Foundation
import Support
import Testing

@Suite(.limitedConcurrency) struct RenameBatchTests {
    private let now = time(milliseconds: 1_800_000_000_000)

    /// Three files, `1`, `2` and `3`.
    private func withFiles(_ body: (CatalogStore) async throws -> Void) async throws {
        try await withStore { store in
            _ = try await store.merge(samples(1...3), startingAt: 0, of: veterinary)
            try await store.finish((1...3).map { .sample($0, path: "\($0)") })
            try await body(store)
        }
    }

    private func rename(_ number: Int, to path: String, batch: Int = 1, _ store: CatalogStore) async throws {
        let begun = try await store.begin(
            .rename, [(.sample(number), to: path)], batch: now.addingTimeInterval(Double(batch)))
        try await store.complete(begun)
    }

    @Test func `former numbers are restored, and what came since and has one of them goes behind`() async throws {
        try await withFiles { store in
            func sections() async throws -> [Int] {
                try await store.episodes(of: veterinary).sorted { $0.episode.identity.key < $1.episode.identity.key }
                    .map(\.episode.section)
            }
            try await store.setNumbers(of: [veterinary], .record)
            var renumbered = samples(1...3)
            for (index, section) in [3, 1, 4].enumerated() { renumbered[index].section = section }
            _ = try await store.merge(renumbered, startingAt: 0, of: veterinary)
            var new = samples(4...4)
            new[0].section = 2
            _ = try await store.merge(new, startingAt: 3, of: veterinary)
            #expect(try await sections() == [3, 1, 4, 2])
            for _ in 1...2 { try await store.setNumbers(of: [veterinary], .restore) }
            let restored = try await sections()
            #expect(restored.prefix(3) == [1, 2, 3] && restored[3] > 3, "\(restored)")
            try await store.setNumbers(of: [veterinary], .forget)
            _ = try await store.merge(renumbered, startingAt: 0, of: veterinary)
            try await store.setNumbers(of: [veterinary], .restore)
            #expect(try await sections().prefix(3) == [3, 1, 4])
        }
    }

    private func outline(_ store: CatalogStore) async throws -> [String] {
        try await store.doneOperations().map { rename in
            "\(rename.section): \(rename.file.path) → \(rename.to), at \(rename.current?.path ?? "-")"
        }
    }

    @Test func `the renames of one run are one batch, and the last one is told`() async throws {
        try await withFiles { store in
            #expect(try await outline(store) == [])
            try await rename(2, to: "b", store)
            try await rename(1, to: "a", store)
            #expect(try await outline(store) == ["1: 1 → a, at a", "2: 2 → b, at b"])
            try await rename(3, to: "c", batch: 2, store)
            #expect(try await outline(store) == ["3: 3 → c, at c"])
            #expect(try await store.doneOperations(of: now.addingTimeInterval(1)).count == 2)
        }
    }

    @Test func `what is only begun, or was dropped, is not done`() async throws {
        try await withFiles { store in
            let begun = try await store.begin(.rename, [(.sample(1), to: "a"), (.sample(2), to: "b")], batch: now)
            #expect(try await outline(store) == [])
            try await store.drop([begun[1]])
            try await store.complete([begun[0]])
            #expect(try await outline(store) == ["1: 1 → a, at a"])
        }
    }

    @Test func `a rename that is taken back is forgotten, and its file keeps its name`() async throws {
        try await withFiles { store in
            try await rename(1, to: "a", store)
            try await rename(2, to: "b", store)
            let first = try await store.doneOperations()[0]
            try await store.complete(try await store.beginReversing([first]))
            #expect(try await outline(store) == ["2: 2 → b, at b"])
            #expect(try await store.episode(.sample(1))?.file?.path == "1")
            #expect(try await store.episode(.sample(1))?.file?.isNamedByUser == true)
            #expect(try await store.episode(.sample(2))?.file?.isNamedByUser == false)
            // Renamed once more by a run, it is the naming's again.
            try await rename(1, to: "x", batch: 2, store)
            #expect(try await store.episode(.sample(1))?.file?.isNamedByUser == false)
            #expect(try await outline(store) == ["1: 1 → x, at x"])
        }
    }

    @Test func `files that are gone or elsewhere are told with their batch until they are forgotten`() async throws {
        try await withFiles { store in
            try await rename(1, to: "a", store)
            try await rename(2, to: "b", store)
            try await store.forgetFile(of: .sample(1))
            var moved = LocalFile.sample(2, path: "elsewhere")
            moved.isNamedByUser = true
            try await store.updateFiles([moved])
            #expect(try await outline(store) == ["1: 1 → a, at -", "2: 2 → b, at elsewhere"])
            try await store.forget([try await store.doneOperations()[0]])
            #expect(try await outline(store) == ["2: 2 → b, at elsewhere"])
        }
    }

    @Test func `fifty batches are remembered`() async throws {
        try await withFiles { store in
            for turn in 1...60 { try await rename(1, to: "turn \(turn)", batch: turn, store) }
            var taken = 0
            while let last = try await store.doneOperations().first {
                try await store.complete(try await store.beginReversing([last]))
                taken += 1
            }
            #expect(taken == 50)
        }
    }
}
