import BookModel
import CatalogStore
import Foundation
import GRDB
import Support
import Testing

@Suite(.limitedConcurrency) struct FileTests {
    private let now = time(milliseconds: 1_800_000_000_000)

    private func withFiles<Value>(
        _ paths: [String], _ body: (CatalogStore) async throws -> Value
    ) async throws -> Value {
        try await withStore { store async throws in
            _ = try await store.merge(samples(1...9), startingAt: 0, of: veterinary)
            try await store.finish(paths.enumerated().map { .sample($0 + 1, path: $1) })
            return try await body(store)
        }
    }

    private func paths(_ store: CatalogStore) async throws -> [String] {
        try await store.episodes(of: veterinary).compactMap(\.file?.path)
    }

    @Test func `a forgotten file makes the episode missing`() async throws {
        try await withFiles(["a"]) { store in
            try await store.forgetFile(of: .sample(1))
            try await store.forgetFile(of: .sample(2))
            #expect(try await store.episode(.sample(1))?.state == .waiting)
        }
    }

    @Test func `what was fetched under a clock of another age is recorded as removed, too`() async throws {
        try await withFiles(["a"]) { store in
            let then = time(milliseconds: 300_000_000_000_000)
            var file = LocalFile.sample(1, path: "a")
            file.fetchedAt = then
            try await store.finish([file])
            let removal = try await store.begin(.trash, [(.sample(1), to: ".booksync/trash/1/a")], batch: then)
            try await store.complete(removal, at: then)
            #expect(try await paths(store) == [])
            #expect(try await store.doneOperations(of: removal[0].batch).count == 1)
        }
    }

    @Test func `what was done last is that, whatever the clock said of what was done before`() async throws {
        try await withFiles(["a", "b"]) { store in
            let (now, ahead) = (time(milliseconds: 1_800_000_000_000), time(milliseconds: 1_900_000_000_000))
            for (section, time) in [(1, ahead), (2, now)] {
                let removal = try await store.begin(
                    .trash, [(.sample(section), to: ".booksync/trash/\(section)")], batch: time)
                try await store.complete(removal, at: time)
            }
            #expect(try await store.doneOperations().map(\.episode) == [.sample(2)])
        }
    }

    @Test func `what is removed under a clock that was set back has been in the trash since the last run`()
        async throws
    {
        try await withFiles(["a"]) { store in
            let (now, behind) = (time(milliseconds: 1_800_000_000_000), time(milliseconds: 1_700_000_000_000))
            _ = try await store.beginRun("mirror", of: [], at: now)
            let removal = try await store.begin(.trash, [(.sample(1), to: ".booksync/trash/1")], batch: behind)
            try await store.complete(removal, at: behind)
            #expect(try await store.trashedFiles().map(\.doneAt) == [now])
        }
    }

    @Test(arguments: [([0, 1, 2], true), ([0, 1], false), ([0, 20, 40], false), ([0, 20, 40, 49], true)])
    func `three replacements within 30 days are too many`(days: [Double], isOften: Bool) async throws {
        try await withFiles(["a", "b"]) { store in
            let begin = time(milliseconds: 1_800_000_000_000)
            for day in days {
                let now = begin.addingTimeInterval(day * 86400)
                try store.commit(replacing: .sample(1), at: "a", to: ".booksync/trash/\(day)/a", batch: now)
                try await store.finish([.sample(1, path: "a")])
            }
            #expect(try await store.trashedFiles().count == days.count)
            // What is in the trash has no say.
            try await store.forget(try await store.trashedFiles())
            #expect(try await store.oftenReplaced(in: veterinary) == (isOften ? ["id1"] : []))
        }
    }

    @Test func `what this program cannot decode is said to be that`() async throws {
        try await withFiles(["a"]) { store in
            try await store.record(.success(MediaInfo(container: "mp3", codec: "mp3")), of: .sample(1, path: "a"))
            var record = TransferRecord.sample(2)
            record.error = "why"
            try await store.save([record])
            try await DatabaseQueue(path: store.path).write { database in
                try database.execute(sql: "UPDATE media SET info = '{'; UPDATE transfer SET error = '[1]'")
            }
            for failure in [
                try await failure { _ = try await store.media(of: .sample(1)) },
                try await failure { _ = try await store.episode(.sample(2)) },
            ] {
                #expect(failure?.kind == .defect && failure?.why.description.contains("does not know") == true)
            }
        }
    }

    @Test func `a file can be noted anew without touching its transfer`() async throws {
        try await withFiles(["a"]) { store in
            try await store.save([.sample(1)])
            var file = LocalFile.sample(1, path: "a")
            file.modificationTime += 1
            file.catalogSize = nil
            file.catalogModifiedAt = time(milliseconds: 1_700_000_000_999)
            file.verification = .digest
            try await store.updateFiles([file])
            let shelved = try await store.episode(.sample(1))
            #expect(shelved?.file == file)
            #expect(shelved?.transfer == .sample(1))
            let failure = try await failure { try await store.updateFiles([.sample(2)]) }
            #expect(failure?.why.description == "the store knows no file of the episode")
        }
    }

    @Test func `files that change places are renamed in one go`() async throws {
        try await withFiles(["a", "b", "c", "d"]) { store in
            // 1 and 2 swap; 3 takes the place that 4 leaves.
            let renames = [(1, "b"), (2, "a"), (3, "d"), (4, "e")]
                .map { (episode: EpisodeIdentity.sample($0), to: $1) }
            let begun = try await store.begin(.rename, renames, batch: now)
            #expect(try await paths(store) == ["a", "b", "c", "d"])
            #expect(try await store.operationsUnderWay() == begun)
            #expect(begun.map(\.to) == ["b", "a", "d", "e"] && begun.allSatisfy { $0.state == .begun })
            #expect(begun.map(\.file) == zip(1...4, ["a", "b", "c", "d"]).map { .sample($0, path: $1) })
            try await store.complete(begun)
            #expect(try await paths(store) == ["b", "a", "d", "e"])
            #expect(try await store.operationsUnderWay().isEmpty)
            #expect(try await store.books().first?.path == ".")
        }
    }

    @Test func `files that the user swapped are noted in one go, under names that are the user's`() async throws {
        try await withFiles(["a", "b"]) { store in
            var swapped = [LocalFile.sample(1, path: "b"), .sample(2, path: "a")]
            swapped[0].isNamedByUser = true
            let files = swapped
            try await store.updateFiles(files)
            #expect(try await paths(store) == ["b", "a"])
            #expect(try await store.episode(.sample(1))?.file == files[0])
            // A new version keeps the name; another place, or a rename of ours, ends that it is the user's.
            try await store.finish([.sample(1, path: "b")])
            #expect(try await store.episode(.sample(1))?.file?.isNamedByUser == true)
            try await store.complete(try await store.begin(.rename, [(.sample(1), to: "c")], batch: now))
            #expect(try await store.episode(.sample(1))?.file?.isNamedByUser == false)
        }
    }

    @Test func `a rename that is dropped, or begun anew, leaves the file where it was`() async throws {
        try await withFiles(["a", "b"]) { store in
            let begun = try await store.begin(.rename, [(.sample(1), to: "x"), (.sample(2), to: "y")], batch: now)
            try await store.drop([begun[0]])
            #expect(try await store.operationsUnderWay() == [begun[1]])
            _ = try await store.begin(.rename, [(.sample(2), to: "z")], batch: now)
            #expect(try await store.operationsUnderWay().map(\.to) == ["z"])
            #expect(try await paths(store) == ["a", "b"])
        }
    }

    @Test func `what is under way survives a rename that is taken back and is then dropped`() async throws {
        try await withFiles(["a"]) { store in
            try await store.complete(try await store.begin(.rename, [(.sample(1), to: "x")], batch: now))
            let reversing = try await store.beginReversing(try await store.doneOperations())
            #expect(try await store.operationsUnderWay().map(\.state) == [.reversing])
            #expect(reversing.map(\.source) == ["x"] && reversing.map(\.target) == ["a"])
            #expect(try await store.doneOperations().isEmpty)
            try await store.drop(reversing)
            #expect(try await store.doneOperations().map(\.to) == ["x"])
        }
    }

    @Test func `a place that a file keeps cannot be taken by a rename`() async throws {
        try await withFiles(["a", "b", "c"]) { store in
            let begun = try await store.begin(.rename, [(.sample(1), to: "b"), (.sample(3), to: "d")], batch: now)
            let failure = try await failure { try await store.complete(begun.reversed()) }
            #expect(failure?.why.description == "it is recorded as the file of kting:30776#id2")
            #expect(try await paths(store) == ["a", "b", "c"])
            #expect(try await store.operationsUnderWay().count == 2)
        }
    }

    @Test func `two files cannot mean to go to one place`() async throws {
        try await withFiles(["a", "b"]) { store in
            let failure = try await failure {
                _ = try await store.begin(.rename, [(.sample(1), to: "x"), (.sample(2), to: "x")], batch: now)
            }
            #expect(failure?.why.description == "it is recorded as the file of kting:30776#id1")
            #expect(try await store.operationsUnderWay().isEmpty)
        }
    }

    @Test func `a rename that is not under way cannot be completed`() async throws {
        try await withFiles(["a"]) { store in
            let begun = try await store.begin(.rename, [(.sample(1), to: "x")], batch: now)
            try await store.drop(begun)
            let failure = try await failure { try await store.complete(begun) }
            #expect(failure?.kind == .defect)
            #expect(try await paths(store) == ["a"])
        }
    }
}
