import BookModel
import Foundation
import GRDB
import Support
import Testing

@testable import CatalogStore

@Suite(.limitedConcurrency) struct ActivitySnapshotTests {
    @Test func `a look is about what moves, however much waits`() async throws {
        try await withStore { store in
            _ = try await store.merge(samples(1...1000), startingAt: 0, of: veterinary)
            try await store.save((5...1000).map { .sample($0, state: .waiting) })
            try await store.save([.sample(1), .sample(2), .sample(3, state: .failed)])
            _ = try await store.pause([.sample(4)])
            let look = try await store.activitySnapshot(recordedAfter: nil)
            #expect(look.waiting == 996)
            #expect(
                look.transfers.values.map(\.state.rawValue).sorted() == [
                    "downloading", "downloading", "failed", "paused",
                ])
            let episodes = try await store.episodes(inRows: look.transfers.keys.sorted() + [999_999])
            #expect(Set(episodes.values.map(\.episode.identity)) == Set((1...4).map { .sample($0) }))
            #expect(episodes.values.first { $0.episode.section == 1 }?.transfer?.total == 1000)
        }
    }

    @Test func `files that came since are told, with what the run brought`() async throws {
        try await withStore { store in
            _ = try await store.merge(samples(1...3), startingAt: 0, of: veterinary)
            #expect(try await store.activitySnapshot(recordedAfter: 0).run == nil)
            func file(_ number: Int, at milliseconds: Int64) -> LocalFile {
                var file = LocalFile.sample(number)
                file.fetchedAt = time(milliseconds: milliseconds)
                return file
            }
            try await store.finish([file(1, at: 1000)])
            let number = try await store.beginRun("fetch", of: [veterinary], at: time(milliseconds: 2000))
            try await store.finish([file(2, at: 3000), file(3, at: 4000)])
            let look = try await store.activitySnapshot(recordedAfter: 3000)
            let recorded = try await store.episodes(inRows: look.recorded)
            #expect(recorded.values.map(\.episode.identity) == [.sample(3)])
            #expect(look.lastFile == 4000)
            #expect(try await store.activitySnapshot(recordedAfter: nil).recorded.isEmpty)
            #expect(
                look.run == ActivitySnapshot.Run(number: number, command: "fetch", isEnded: false, done: 2, bytes: 2000)
            )
            try await store.endRun(
                RunRecord(
                    number: number, command: "fetch", startedAt: time(milliseconds: 2000),
                    endedAt: time(milliseconds: 3500), exitCode: 0))
            let ended = try await store.activitySnapshot(recordedAfter: nil).run
            #expect(
                ended == ActivitySnapshot.Run(number: number, command: "fetch", isEnded: true, done: 1, bytes: 1000))
        }
    }

    @Test func `files that a clock ahead of time recorded are none of a later run's`() async throws {
        try await withStore { store in
            _ = try await store.merge(samples(1...2), startingAt: 0, of: veterinary)
            let begin = Date.now
            var (early, late) = (LocalFile.sample(1), LocalFile.sample(2))
            early.fetchedAt = begin.addingTimeInterval(8 * 86_400)
            late.fetchedAt = .now
            try await store.finish([early])
            _ = try await store.beginRun("fetch", of: [veterinary], at: begin)
            try await store.finish([late])
            let look = try await store.activitySnapshot(recordedAfter: nil)
            #expect(look.run?.done == 1)
            // What comes from now on is not earlier than the last one.
            #expect(try #require(look.lastFile) <= Int64(Date.now.timeIntervalSince1970 * 1000 + 1))
        }
    }

    @Test func `a store that nobody wrote looks the same`() async throws {
        try await withStore { store in
            _ = try await store.merge(samples(1...1), startingAt: 0, of: veterinary)
            let reader = try await CatalogStore(path: store.path, access: .readOnly)
            // A store reads by several connections, each of which has a version of its own.
            func versions() async throws -> Set<StoreVersion> {
                var versions: Set<StoreVersion> = []
                for _ in 1...20 {
                    versions.insert(try await reader.version())
                    _ = try await reader.activitySnapshot(recordedAfter: 0)
                }
                return versions
            }
            let before = try await versions()
            #expect(before.count <= 5)
            _ = try await store.pause([.sample(1)])
            #expect(try await versions().isDisjoint(with: before))
            try await reader.close()
        }
    }
}
