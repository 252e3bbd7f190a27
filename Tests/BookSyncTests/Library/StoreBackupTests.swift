import BookModel
import CatalogStore
import Foundation
import Support
import Testing

@testable import BookSync
@testable import LibraryFiles

/// Copies of the store, and what comes of them when it is damaged or lost.
@Suite(.full, .limitedConcurrency) struct StoreBackupTests {
    @Test(arguments: ["damaged", "lost"])
    func `what was removed and subscribed to outlives the store`(fate: String) async throws {
        try await withRunBench(.episodes(4)) { bench in
            try await bench.runRecorded()
            // A clock that was ahead once makes of an old copy none of the newest.
            let backups = StoreBackups(folder: .existing(at: bench.library))
            let old = try backups.path(of: #require(try await backups.copies().first))
            let ahead = old.replacing(/store-20../, with: "store-2999")
            try FileManager.default.copyItem(atPath: old, toPath: ahead)
            #expect(try await bench.control { try await $0.remove(bench.sections(2...2)).files } == 1)
            try await bench.withStore {
                _ = try await $0.subscribe(Subscription(book: RunBench.book, filter: EpisodeFilter(latest: 3)))
            }
            // The run that brings the copy.
            bench.catalog.update { $0 = .episodes(5) }
            try await bench.runRecorded()
            #expect(try await backups.copies().count >= 2)
            let store = LibraryFolder.existing(at: bench.library).storePath
            if fate == "damaged" {
                let file = try FileHandle(forWritingTo: URL(filePath: store))
                try file.seek(toOffset: 4096)
                try file.write(contentsOf: Data(repeating: 0x5A, count: 30_000))
                try file.close()
            } else {
                try FileManager.default.removeItem(atPath: store)
            }
            bench.events.update { $0 = [] }
            let report = try await bench.runRecorded()
            #expect(report.failures.isEmpty, "\(report.failures)")
            #expect(report.summary.kept == 4 && report.summary.removed == 1, "\(report.summary)")
            #expect(bench.notices.contains { $0.contains("and the copy of 20") }, "\(bench.notices)")
            #expect(bench.audioDownloads == 5)
            #expect(try await bench.withStore { try await $0.subscriptions() }.map(\.book) == [RunBench.book])
            let kept = try FileManager.default.contentsOfDirectory(atPath: bench.library + "/.booksync")
            #expect(kept.contains { $0.contains(".damaged-") } == (fate == "damaged"))
            #expect(try await Trash.list(in: bench.library).count == 1)
        }
    }

    @Test func `a damaged copy is passed over, and one of older bytes splices nothing`() async throws {
        var catalog = ScriptedCatalog.episodes(2)
        catalog.audio["/audio/2.mp3"] = .file(
            ScriptedCatalog.bytes(2), etag: "\"old\"",
            [.change { reply, _ in reply.ending = .cutAfter(bytes: 25_000) }])
        try await withRunBench(catalog) { bench in
            try await bench.runRecorded()
            #expect(try await bench.shelved(2)?.transfer?.validator.entityTag == "\"old\"")
            let backups = StoreBackups(folder: .existing(at: bench.library))
            let copy = try #require(try await backups.copies().first)
            // Since the copy another version was begun, which does not bear the mark of the one before.
            let other = sampleMP3(bytes: 60_000, seed: 9)
            try FileManager.default.removeItem(atPath: bench.partialFile(2))
            try Data(other[..<40_000]).write(to: URL(filePath: bench.partialFile(2)))
            let older = bench.library + "/.booksync/backup/store-20200101T000000Z.sqlite"
            try FileManager.default.copyItem(atPath: backups.path(of: copy), toPath: older)
            let file = try FileHandle(forWritingTo: URL(filePath: backups.path(of: copy)))
            try file.write(contentsOf: Data(repeating: 0, count: 5000))
            try file.close()
            try FileManager.default.removeItem(atPath: LibraryFolder.existing(at: bench.library).storePath)
            bench.catalog.update { $0.audio["/audio/2.mp3"] = .file(ScriptedCatalog.bytes(2), etag: "\"old\"") }
            try await bench.runRecorded()
            #expect(try await bench.bytes(2) == ScriptedCatalog.bytes(2))
            #expect(bench.audioRequests.last?.header("Range") == nil)
        }
    }

    @Test func `the last three copies are kept, and one of each of four weeks before`() {
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        let copies = (0...60).map { day in
            StoreBackups.Copy(name: "\(day)", madeAt: now.addingTimeInterval(-Double(day) * 86_400))
        }
        let superfluous = Set(StoreBackups.superfluous(copies).map(\.name))
        let kept = copies.map(\.name).filter { !superfluous.contains($0) }
        #expect(kept.prefix(3) == ["0", "1", "2"] && (7...8).contains(kept.count), "\(kept)")
        #expect(kept.last.flatMap { Int($0) }.map { (22...35).contains($0) } == true, "\(kept)")
        // One a day, and what need not be kept is deleted at once.
        var daily: [StoreBackups.Copy] = []
        for copy in copies.reversed() {
            daily.insert(copy, at: 0)
            let old = Set(StoreBackups.superfluous(daily))
            daily.removeAll(where: old.contains)
        }
        #expect(daily.map(\.name) == kept)
        #expect(StoreBackups.superfluous([]) == [])
        #expect(StoreBackups.superfluous(Array(copies.prefix(3))) == [])
    }
}
