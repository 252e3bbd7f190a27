import BookModel
import CatalogStore
import Foundation
import Support
import Testing

@testable import BookSync

/// A command that moves files to the trash, or back, is killed between two of its steps; the next one finishes its work.
@Suite(.full, .limitedConcurrency) struct TrashRecoveryTests {
    /// Runs the body with a bench whose first episode is removed in the store and still has its file.
    private func withRemoved(_ body: (RunBench, _ path: String) async throws -> Void) async throws {
        try await withRunBench(ScriptedCatalog.episodes(2)) { bench in
            try await bench.run()
            let path = try #require(try await bench.recordedPath(1))
            let first = try #require(try await bench.shelved(1)).episode.identity
            #expect(try await bench.withStore { try await $0.remove([first], at: Date()) } == 1)
            try await body(bench, path)
        }
    }

    /// Records that the file goes to the trash, as a run does that is killed then.
    private func beginTrashing(_ bench: RunBench) async throws -> FileOperation {
        try await bench.withStore { store in
            let removed = try #require(try await store.removedWithFiles().first)
            let (file, time) = (try #require(removed.file), try #require(removed.removedAt))
            let to = Trash.path(of: file.path, removedAt: time)
            return try #require(try await store.begin(.trash, [(file.episode, to)], batch: time).first)
        }
    }

    private func expectTrashed(_ bench: RunBench, _ path: String) async throws {
        let report = try await bench.run()
        #expect(report.summary.removed == 1 && report.summary.kept == 1 && report.failures.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(try await bench.shelved(1)?.file == nil)
        let trashed = try await Trash.list(in: bench.library)
        #expect(trashed.count == 1)
        #expect(try trashed.map { try bench.read(bench.library + "/" + $0.to) } == [ScriptedCatalog.bytes(1)])
        #expect(bench.audioDownloads == 2)
    }

    @Test func `before anything of the file is recorded`() async throws {
        try await withRemoved { bench, path in try await expectTrashed(bench, path) }
    }

    @Test func `before the file is moved`() async throws {
        try await withRemoved { bench, path in
            _ = try await beginTrashing(bench)
            #expect(try await Trash.list(in: bench.library).isEmpty)
            try await expectTrashed(bench, path)
        }
    }

    @Test(arguments: [false, true])
    func `before the move is recorded, also where a power cut left both names`(hasBothNames: Bool) async throws {
        try await withRemoved { bench, path in
            let trashed = try await beginTrashing(bench)
            let target = URL(filePath: bench.library + "/" + trashed.to)
            let files = FileManager.default
            try files.createDirectory(at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
            try files.linkItem(at: URL(filePath: path), to: target)
            if !hasBothNames { try files.removeItem(atPath: path) }
            try await expectTrashed(bench, path)
        }
    }

    @Test func `on a disk where the files have each other's inodes`() async throws {
        try await withRunBench(ScriptedCatalog.episodes(2)) { bench in
            try await bench.run()
            var files: [LocalFile] = []
            for section in 1...2 { files.append(try #require(try await bench.shelved(section)?.file)) }
            (files[0].inode, files[1].inode) = (files[1].inode, files[0].inode)
            let (copied, time) = (files, Date())
            let begun = try await bench.withStore { store in
                try await store.updateFiles(copied)
                try await store.remove(copied.map(\.episode), at: time)
                return try await store.begin(
                    .trash, copied.map { ($0.episode, Trash.path(of: $0.path, removedAt: time)) }, batch: time)
            }
            for operation in begun {
                try OperationExecution.move(operation.source, to: operation.to, in: bench.library)
            }
            #expect(try await bench.run().summary.removed == 2)
            let trashed = try await Trash.list(in: bench.library)
            #expect(trashed.map(\.to).sorted() == begun.map(\.to).sorted())
            #expect(try await bench.withStore { try await $0.operationsUnderWay().isEmpty })
            for section in 1...2 { #expect(try await bench.shelved(section)?.file == nil) }
        }
    }

    @Test(arguments: [false, true])
    func `forgetting the removal in between leaves the file, or brings it back`(wasMoved: Bool) async throws {
        try await withRemoved { bench, path in
            let trashed = try await beginTrashing(bench)
            if wasMoved {
                let target = URL(filePath: bench.library + "/" + trashed.to)
                try FileManager.default.createDirectory(
                    at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
                try FileManager.default.moveItem(at: URL(filePath: path), to: target)
            }
            #expect(try await bench.control { try await $0.forgetRemovals(.everything) } == 1)
            let report = try await bench.run()
            #expect(report.summary.kept == 2 && report.summary.removed == 0, "\(report.summary)")
            #expect(try await bench.bytes(1) == ScriptedCatalog.bytes(1))
            #expect(try await Trash.list(in: bench.library).isEmpty)
            #expect(bench.audioDownloads == 2)
        }
    }

    @Test(arguments: [false, true])
    func `before what came back is recorded, or after somebody brought it back by hand`(byHand: Bool) async throws {
        try await withRemoved { bench, path in
            try await bench.run()
            let trashed = try #require(try await Trash.list(in: bench.library).first)
            // With its folder, which is empty by then.
            try FileManager.default.createDirectory(
                at: URL(filePath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
            try FileManager.default.moveItem(
                at: URL(filePath: bench.library + "/" + trashed.to), to: URL(filePath: path))
            if byHand {
                let restored = try await LibrarySession.withLibrary(at: bench.library, command: "test") {
                    try await $0.trash.restore([trashed])
                }
                #expect(restored.files == [trashed] && restored.failures.isEmpty)
            } else {
                _ = try await bench.withStore { try await $0.beginReversing([trashed]) }
            }
            #expect(try await bench.run().summary.kept == 2)
            #expect(try await Trash.list(in: bench.library).isEmpty)
            #expect(bench.audioDownloads == 2)
        }
    }

    @Test(arguments: [false, true])
    func `a file that the user moved goes from where it is, and comes back there`(isAnotherThere: Bool) async throws {
        try await withRemoved { bench, path in
            let (from, to) = (URL(filePath: path), URL(filePath: bench.library + "/by hand/mine.mp3"))
            try FileManager.default.createDirectory(
                at: to.deletingLastPathComponent(), withIntermediateDirectories: true)
            try FileManager.default.moveItem(at: from, to: to)
            if isAnotherThere { try Data("the listener's".utf8).write(to: from) }
            let report = try await bench.run()
            #expect(report.summary.removed == 1 && report.summary.kept == 1 && report.failures.isEmpty)
            #expect(
                !FileManager.default.fileExists(atPath: to.path)
                    && (FileManager.default.fileExists(atPath: path) == isAnotherThere))
            let trashed = try #require(try await Trash.list(in: bench.library).first)
            #expect(try bench.read(bench.library + "/" + trashed.to) == ScriptedCatalog.bytes(1))
            let restored = try await LibrarySession.withLibrary(at: bench.library, command: "test") {
                try await $0.trash.restore([trashed])
            }
            #expect(restored.files == [trashed] && FileManager.default.fileExists(atPath: to.path))
            #expect(try await bench.run().summary.kept == 2)
            #expect(FileManager.default.fileExists(atPath: to.path) && bench.audioDownloads == 2)
        }
    }

    @Test func `a file that is gone leaves nothing behind`() async throws {
        try await withRemoved { bench, path in
            try FileManager.default.removeItem(atPath: path)
            let report = try await bench.run()
            #expect(report.summary.removed == 1 && report.failures.isEmpty)
            #expect(try await Trash.list(in: bench.library).isEmpty)
            #expect(try await bench.withStore { try await $0.operationsUnderWay() }.isEmpty)
        }
    }
}
