import BookModel
import Foundation
import GRDB
import Support
import Testing

@testable import CatalogStore

@Suite(.limitedConcurrency) struct TransferJournalTests {
    private func withEpisodes<Value>(_ count: Int, _ body: (CatalogStore) async throws -> Value) async throws -> Value {
        try await withStore { store async throws in
            _ = try await store.merge(samples(1...count), startingAt: 0, of: veterinary)
            return try await body(store)
        }
    }

    @Test func `a record comes back as it was saved, and is replaced by the next`() async throws {
        try await withEpisodes(1) { store in
            #expect(try await store.episode(.sample(1))?.transfer == nil)
            for record in [TransferRecord.sample(1), TransferRecord(episode: .sample(1)), .sample(1, state: .paused)] {
                try await store.save([record])
                #expect(try await store.episode(.sample(1))?.transfer == record)
            }
        }
    }

    @Test func `announced episodes wait with the bytes that they had, unless they are paused or cancelled`()
        async throws
    {
        try await withEpisodes(5) { store in
            let failed = TransferRecord.sample(2, state: .failed)
            try await store.save([failed, .sample(3, state: .paused), .sample(4, state: .cancelled)])
            try store.commit(waiting: (1...4).map { .sample($0) } + [.sample(7)])
            var waiting = failed
            waiting.state = .waiting
            let expected: [TransferRecord?] = [
                TransferRecord(episode: .sample(1)), waiting, .sample(3, state: .paused), .sample(4, state: .cancelled),
                nil,
            ]
            for number in 1...5 {
                #expect(try await store.episode(.sample(number))?.transfer == expected[number - 1])
            }
            try store.commit(begun: (1...5).map { .sample($0) })
            let begun = try await store.unfinishedTransfers().filter { $0.transfer?.state == .downloading }
            #expect(begun.map(\.episode.identity.key).sorted() == ["id1", "id2"])
        }
    }

    @Test func `what was announced is under way until it is recorded, or failed`() async throws {
        try await withEpisodes(4) { store in
            try await store.save([.sample(1), .sample(2)])
            // Announced twice, as by a run that tries once more.
            for _ in 1...2 {
                try await runBlocking { try store.commit(publishing: [.sample(1), .sample(2), .sample(3)]) }
            }
            let open = try await store.operationsUnderWay()
            #expect(open.map(\.file) == [.sample(1), .sample(2), .sample(3)])
            #expect(open.allSatisfy { $0.kind == .publish && $0.state == .begun && $0.isNew })
            try await runBlocking { try store.commit(finished: [.sample(1)], failed: [.sample(2)]) }
            #expect(try await store.operationsUnderWay().map(\.episode) == [.sample(3)])
            #expect(try await store.episode(.sample(1))?.transfer == nil)
            #expect(try await store.episode(.sample(2))?.transfer == .sample(2))
            #expect(try await store.episode(.sample(2))?.file == nil)
        }
    }

    @Test func `finishing records the file and ends the transfer`() async throws {
        try await withEpisodes(2) { store in
            try await store.save([.sample(1), .sample(2)])
            try await store.finish([.sample(1)])
            let shelved = try #require(try await store.episode(.sample(1)))
            #expect(shelved.file == .sample(1))
            #expect(shelved.transfer == nil)
            #expect(shelved.state == .finished)
            #expect(try await store.episode(.sample(2))?.transfer == .sample(2))
        }
    }

    @Test func `a path that belongs to another episode is refused by name, and nothing is finished`() async throws {
        try await withEpisodes(3) { store in
            try await store.finish([.sample(1, path: "a.mp3")])
            try await store.save([.sample(2), .sample(3)])
            let failure = try await failure {
                try await store.finish([.sample(2, path: "b.mp3"), .sample(3, path: "a.mp3")])
            }
            #expect(failure?.what.description == "kting:30776#id3 cannot have the file 'a.mp3'")
            #expect(failure?.why.description == "it is recorded as the file of kting:30776#id1")
            #expect(try await store.episode(.sample(2))?.file == nil)
            #expect(try await store.episode(.sample(2))?.transfer != nil)
        }
    }

    @Test func `a replaced file takes the place of the old one`() async throws {
        try await withEpisodes(1) { store in
            try await store.finish([.sample(1, path: "a.mp3")])
            try await store.finish([.sample(1, path: "b.mp3")])
            #expect(try await store.episode(.sample(1))?.file == .sample(1, path: "b.mp3"))
        }
    }

    @Test func `what was never listed cannot be recorded`() async throws {
        try await withEpisodes(1) { store in
            for attempt: @Sendable (CatalogStore) async throws -> Void in [
                { try await $0.save([.sample(7)]) }, { try await $0.finish([.sample(7)]) },
                { try await $0.forgetRemovals(of: [.sample(7)]) }, { try await $0.updateFiles([.sample(7)]) },
            ] {
                let failure = try await failure { try await attempt(store) }
                #expect(failure?.kind == .defect)
                #expect(failure?.what.description.contains("kting:30776#id7") == true)
            }
        }
    }

    static let impossible: [TransferRecord] = [
        .sample(1, state: .finished), .sample(1, committed: 1001), .sample(1, committed: -1),
        TransferRecord(episode: .sample(1), attempts: -1),
    ]

    @Test(arguments: impossible)
    func `a record that cannot be true is refused`(record: TransferRecord) async throws {
        try await withEpisodes(1) { store in
            let failure = try await failure { try await store.save([record]) }
            #expect(failure?.kind == .defect)
            #expect(try await store.episode(.sample(1))?.transfer == nil)
        }
    }

    @Test func `a write is carried out though its task was cancelled`() async throws {
        try await withEpisodes(1) { store in
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await store.save([.sample(1)])
            }
            try await task.value
            #expect(try await store.episode(.sample(1))?.transfer == .sample(1))
        }
    }

    static let successions: [(stored: TransferRecord?, next: TransferRecord, durability: CatalogStore.Durability)] = [
        (nil, .sample(1), .relaxed),
        (TransferRecord(episode: .sample(1)), .sample(1), .relaxed),
        (.sample(1), .sample(1, committed: 600), .relaxed),
        (.sample(1), .sample(1, state: .failed), .relaxed),
        (.sample(1), .sample(1, committed: 499), .durable),
        (.sample(1), TransferRecord(episode: .sample(1), committedLength: 500), .durable),
    ]

    @Test(arguments: successions.indices)
    func `a record that promises less than the stored one must reach the disk`(index: Int) async throws {
        let succession = Self.successions[index]
        try await withEpisodes(1) { store in
            if let stored = succession.stored { try await store.save([stored]) }
            let durability = try await store.reader.unsafeRead { try $0.durability(of: [succession.next]) }
            #expect(durability == succession.durability)
        }
    }

    @Test func `a durable transaction is synced to disk, a relaxed one is not`() async throws {
        try await withStore { store async throws in
            for (durability, expected) in [(CatalogStore.Durability.durable, 2), (.relaxed, 1), (.durable, 2)] {
                let synchronous = try await store.write("test", durability) { database in
                    try Int.fetchOne(database, sql: "PRAGMA synchronous")
                }
                #expect(synchronous == expected)
            }
            // A transaction that fails leaves nothing behind for the next one.
            _ = try await failure {
                try await store.write("test", .durable) { _ in throw DatabaseError(resultCode: .SQLITE_FULL) }
            }
            let synchronous = try await store.write("test", .relaxed) { database in
                try Int.fetchOne(database, sql: "PRAGMA synchronous")
            }
            #expect(synchronous == 1)
        }
    }
}
