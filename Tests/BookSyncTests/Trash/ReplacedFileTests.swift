import BookModel
import CatalogStore
import Foundation
import Support
import Testing

@testable import BookSync

/// What a download replaces goes to the trash, and comes back from there.
@Suite(.limitedConcurrency) struct ReplacedFileTests {
    private static let newer = sampleMP3(bytes: 45_000, seed: 7)

    /// Runs the body with a bench of two episodes on disk, of which the catalog has another version of the first.
    private func withNewVersion(_ body: (RunBench, _ path: String) async throws -> Void) async throws {
        try await withRunBench(ScriptedCatalog.episodes(2)) { bench in
            try await bench.run()
            bench.catalog.update {
                $0.elements[0].size = Self.newer.count
                $0.audio["/audio/1.mp3"] = .file(Self.newer, etag: "\"v2\"")
            }
            try await body(bench, try #require(try await bench.recordedPath(1)))
        }
    }

    private func trash<Value: Sendable>(_ bench: RunBench, _ body: (Trash) async throws -> Value) async throws -> Value
    {
        try await LibrarySession.withLibrary(at: bench.library, command: "test") { try await body($0.trash) }
    }

    private func trashedBytes(_ bench: RunBench) async throws -> [[UInt8]] {
        try await Trash.list(in: bench.library).map { try bench.read(bench.library + "/" + $0.to) }
    }

    @Test func `one night with a clock that is a year ahead deletes nothing of the trash`() async throws {
        try await withNewVersion { bench, _ in
            try await bench.runRecorded()
            #expect(try await Trash.list(in: bench.library).count == 1)
            try await trash(bench) { trash in
                #expect(await trash.deleteExpired(after: 30 * 86400, at: .now + 365 * 86400) == nil)
            }
            #expect(try await Trash.list(in: bench.library).count == 1)
            // The runs of that night and of the next one agree.
            _ = try await bench.withStore { store in
                for _ in 0..<2 { _ = try await store.beginRun("mirror", of: [], at: .now + 365 * 86400) }
            }
            try await trash(bench) { trash in
                #expect(await trash.deleteExpired(after: 30 * 86400, at: .now + 366 * 86400) == nil)
            }
            #expect(try await Trash.list(in: bench.library).isEmpty)
        }
    }

    @Test func `the old file and the new one swap places as often as one is restored, and no run fetches any again`()
        async throws
    {
        try await withNewVersion { bench, path in
            #expect(try await bench.run().summary.replaced == 1)
            #expect(bench.notices.contains("1 replaced file moved to the trash: booksync undo restores it"))
            let downloads = bench.audioDownloads
            for (inPlace, inTrash) in [(ScriptedCatalog.bytes(1), Self.newer), (Self.newer, ScriptedCatalog.bytes(1))] {
                let restored = try await trash(bench) { trash in
                    try await trash.restore(try await trash.list().filter { $0.section == 1 })
                }
                #expect(restored.failures.isEmpty && restored.files.count == 1)
                #expect(try bench.read(path) == inPlace)
                #expect(try await trashedBytes(bench).contains(inTrash))
                #expect(try await bench.run().summary.kept == 2)
                #expect(try await bench.verify().intact == 2)
            }
            #expect(bench.audioDownloads == downloads)
        }
    }

    @Test func `an old file takes the name that the user gave the new one, and no file is beside it`() async throws {
        try await withNewVersion { bench, path in
            try await bench.run()
            let renamed = bench.library + "/mine.mp3"
            try FileManager.default.moveItem(atPath: path, toPath: renamed)
            let restored = try await trash(bench) { try await $0.restore(try await $0.list()) }
            #expect(restored.failures.isEmpty && restored.files.map(\.file.path) == ["mine.mp3"])
            #expect(
                try bench.read(renamed) == ScriptedCatalog.bytes(1) && !FileManager.default.fileExists(atPath: path))
            #expect(try await trashedBytes(bench) == [Self.newer])
        }
    }

    @Test func `one undo brings back all that a run replaced`() async throws {
        try await withNewVersion { bench, path in
            bench.catalog.update {
                $0.elements[1].size = Self.newer.count
                $0.audio["/audio/2.mp3"] = .file(Self.newer, etag: "\"v2\"")
            }
            #expect(try await bench.run().summary.replaced == 2)
            let trashed = try await Trash.list(in: bench.library)
            #expect(Set(trashed.map(\.batch)).count == 1)
            let undone = try await LibrarySession.withLibrary(at: bench.library, command: "test") {
                try await Undo().execute(in: $0)
            }
            #expect(undone.restored.count == 2 && undone.failures.isEmpty)
            #expect(try bench.read(path) == ScriptedCatalog.bytes(1))
        }
    }

    @Test func `what cannot be kept is not replaced`() async throws {
        try await withNewVersion { bench, path in
            let place = bench.library + "/.booksync/trash"
            try Data("in the way".utf8).write(to: URL(filePath: place))
            let report = try await bench.run()
            #expect(report.summary.failed == 1 && report.summary.replaced == 0)
            #expect(try bench.read(path) == ScriptedCatalog.bytes(1))
            try FileManager.default.removeItem(atPath: place)
            #expect(try await bench.run(force: true).summary.replaced == 1)
            #expect(try bench.read(path) == Self.newer)
            #expect(bench.audioBytesSent == 80_000 + Self.newer.count)
        }
    }

    /// How far a run had come with keeping a file when it was killed, before the new one took its place.
    enum Step: CaseIterable {
        case recorded, named, copied
    }

    @Test(arguments: Step.allCases)
    func `a run that was killed before the new file took its place leaves nothing in the trash`(step: Step)
        async throws
    {
        try await withNewVersion { bench, path in
            let file = try #require(try await bench.shelved(1)?.file)
            let now = Date()
            try await bench.withStore { store in
                let operations = OperationExecution(library: bench.library, store: store)
                try await Task.detached {
                    guard step == .recorded else { return try operations.keep(file.episode, at: file.path, batch: now) }
                    let to = Trash.path(of: file.path, removedAt: now)
                    try store.commit(replacing: file.episode, at: file.path, to: to, batch: now)
                }.value
            }
            #expect(try await Trash.list(in: bench.library).isEmpty)
            let kept = try #require(try await bench.withStore { try await $0.operationsUnderWay() }.first).to
            if step == .copied { try FileManager.default.removeItem(atPath: bench.library + "/" + kept) }
            _ = try await trash(bench) { _ in }
            #expect(try await Trash.list(in: bench.library).isEmpty)
            #expect(!FileManager.default.fileExists(atPath: bench.library + "/" + kept))
            #expect(try bench.read(path) == ScriptedCatalog.bytes(1))
            #expect(try await bench.run().summary.replaced == 1)
            #expect(try await trashedBytes(bench) == [ScriptedCatalog.bytes(1)])
        }
    }

    @Test func `a restore that was killed when the two had swapped places is recorded by the next command`()
        async throws
    {
        try await withNewVersion { bench, path in
            try await bench.run()
            let old = try #require(try await Trash.list(in: bench.library).first)
            let file = try #require(try await bench.shelved(1)?.file)
            try await bench.withStore { store in
                let operations = OperationExecution(library: bench.library, store: store)
                _ = try await store.beginReversing([old])
                try await Task.detached { try operations.keep(file.episode, at: file.path, batch: Date()) }.value
            }
            #expect(rename(bench.library + "/" + old.to, path) == 0)
            _ = try await trash(bench) { _ in }
            #expect(try await bench.shelved(1)?.file?.sha256 == old.file.sha256)
            #expect(try await trashedBytes(bench) == [Self.newer])
            #expect(try await bench.run().summary.kept == 2)
        }
    }

    @Test func `a damaged file that was replaced does not come back by itself`() async throws {
        try await withRunBench(ScriptedCatalog.episodes(1)) { bench in
            try await bench.run()
            let path = try #require(try await bench.recordedPath(1))
            try flipBit(of: path, at: 20_000)
            try await bench.forgetThatItWasTouched(1)
            #expect(try await bench.verifyAndRepair().repaired == 1)
            try FileManager.default.removeItem(atPath: path)
            #expect(try await bench.run().summary.fetched == 1)
            #expect(try bench.read(path) == ScriptedCatalog.bytes(1))
        }
    }
}
