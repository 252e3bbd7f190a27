import BookModel
import CatalogStore
import Foundation
import Settings
import Support
import Testing

@testable import BookSync
@testable import LibraryFiles

/// Case 42: what the user does to files between two runs is noticed, and what is still there is never fetched again.
@Suite(.full, .limitedConcurrency) struct ListenersHandTests {
    private let files = FileManager.default

    /// Moves an episode's file within the library.
    private func move(_ section: Int, to path: String, _ bench: RunBench) async throws {
        let from = try #require(try await bench.recordedPath(section))
        let target = bench.library + "/" + path
        try files.createDirectory(
            atPath: URL(filePath: target).deletingLastPathComponent().path, withIntermediateDirectories: true)
        try files.moveItem(atPath: from, toPath: target)
    }

    @Test(arguments: ["Book/my own name.mp3", "Book/read already/002 第2集.mp3", "Book/.. 2.mp3", "Read/2.mp3", "2.mp3"])
    func `case 42: a file that was renamed or moved is followed, and keeps the user's name`(path: String)
        async throws
    {
        try await withRunBench(.episodes(3)) { bench in
            try await bench.run()
            try await move(2, to: path, bench)
            #expect(try await bench.plan()?.totals.adopt == 1)
            let report = try await bench.run()
            #expect(report.summary.adopted == 1)
            #expect(report.summary.fetched == 0)
            #expect(
                bench.lastPlan[2]?.reason.description.contains("stays where it is now; it has the same inode") == true)
            #expect(bench.audioRequests.count == 3)
            #expect(try await bench.recordedPath(2) == bench.library + "/" + path)
            let again = try await bench.run()
            #expect(again.summary.kept == 3 && again.summary.adopted + again.summary.renamed == 0)
            #expect(try await bench.bytes(2) == ScriptedCatalog.bytes(2))
        }
    }

    @Test func `case 42: a file that was copied elsewhere and deleted is recognised by its digest`() async throws {
        try await withRunBench(.episodes(3)) { bench in
            try await bench.run()
            let path = try #require(try await bench.recordedPath(2))
            // Of the same size and not the file; looked into, and left alone.
            try Data(sampleMP3(bytes: 40_000, seed: 9)).write(to: URL(filePath: bench.library + "/Book/a.mp3"))
            try Data(bench.read(path)).write(to: URL(filePath: bench.library + "/Book/b.mp3"))
            try files.removeItem(atPath: path)
            let report = try await bench.run()
            #expect(report.summary.adopted == 1 && report.summary.fetched == 0)
            #expect(bench.lastPlan[2]?.reason.description.contains("its SHA-256 is the recorded one") == true)
            #expect(try await bench.recordedPath(2) == bench.library + "/Book/b.mp3")
            #expect(try await bench.run().summary.kept == 3)
            #expect(bench.audioRequests.count == 3)
        }
    }

    @Test func `case 42: a book's folder that was renamed is followed with all that is in it`() async throws {
        try await withRunBench(.episodes(4)) { bench in
            try await bench.run()
            try files.moveItem(atPath: bench.library + "/Book", toPath: bench.library + "/My favourite")
            let report = try await bench.run()
            #expect(report.summary.adopted == 4 && report.summary.fetched == 0)
            #expect(try await bench.run().summary.kept == 4)
            #expect(bench.audioRequests.count == 4)
            // The user's title by configuration: then these are the names that the naming wants.
            #expect(try await bench.run(title: "My favourite").summary.kept == 4)
            #expect(try await bench.shelved(1)?.file?.isNamedByUser == false)
        }
    }

    @Test func `case 42: files that were moved away from the book's cover are followed`() async throws {
        try await withRunBench(.episodes(3)) { bench in
            try await bench.run()
            try Data([0xFF, 0xD8, 0xFF, 1]).write(to: URL(filePath: bench.library + "/Book/cover.jpg"))
            for section in 1...3 { try await move(section, to: "Elsewhere/\(section).mp3", bench) }
            let report = try await bench.run()
            #expect(report.summary.adopted == 3 && report.summary.fetched == 0)
            #expect(bench.audioRequests.count == 3)
        }
    }

    @Test func `case 42: a name that the user chose outlives a new version and a corrected title`() async throws {
        try await withRunBench(.episodes(2)) { bench in
            try await bench.run()
            try await move(2, to: "Book/mine.mp3", bench)
            offer(45_000, of: bench)
            let report = try await bench.run()
            #expect(report.summary.kept == 1 && report.summary.replaced == 1)
            bench.catalog.update { $0.elements[1].name = "corrected" }
            #expect(try await bench.run().summary.renamed == 0)
            #expect(try await bench.recordedPath(2) == bench.library + "/Book/mine.mp3")
            #expect(try await bench.bytes(2)?.count == 45_000)
        }
    }

    @Test(arguments: ["Book/002 第2集.mp3", "Elsewhere/2.mp3"])
    func `case 44: a new version that an older copy of the store does not know is recorded where it is`(path: String)
        async throws
    {
        try await withRunBench(.episodes(2)) { bench in
            try await bench.run()
            try await withOlderStore(of: bench) {
                if path.hasPrefix("Else") { try await move(2, to: path, bench) }
                offer(45_000, of: bench)
                #expect(try await bench.run().summary.replaced == 1)
            }
            let requests = bench.audioRequests.count
            let report = try await bench.run()
            #expect(report.summary.adopted == 1 && report.summary.kept == 1 && report.summary.replaced == 0)
            #expect(bench.audioRequests.count == requests)
            #expect(try await bench.bytes(2)?.count == 45_000)
            #expect(try await bench.run().summary.kept == 2)
        }
    }

    @Test func `case 44: a version that is newer than the copy of the store and older than the catalog is replaced`()
        async throws
    {
        try await withRunBench(.episodes(2)) { bench in
            try await bench.runRecorded()
            try await withOlderStore(of: bench) {
                offer(45_000, of: bench)
                let report = try await bench.runRecorded()
                #expect(report.summary.replaced == 1)
                // What was begun of the next one outlives that the older is recorded.
                let cut = Deed.change { $0.ending = .cutAfter(bytes: $1.header("Range") == nil ? 30_000 : 0) }
                offer(50_000, of: bench, [cut])
                try await bench.runRecorded()
            }
            offer(50_000, of: bench)
            #expect(try await bench.runRecorded().summary.adopted == 1)
            #expect(try await bench.runRecorded().summary.replaced == 1)
            #expect(bench.audioRequests.last?.header("Range") == "bytes=30000-")
            let size = try await bench.bytes(2)?.count
            #expect(size == 50_000)
            #expect(try await bench.runRecorded().summary.kept == 2)
        }
    }

    /// Has the catalog and the server offer a new version of the second episode.
    private func offer(_ size: Int, of bench: RunBench, _ deeds: [Deed] = []) {
        bench.catalog.update {
            $0.elements[1].size = size
            $0.audio["/audio/2.mp3"] = .file(
                sampleMP3(bytes: size, seed: UInt64(size)), etag: "\"\(size)\"", deeds)
        }
    }

    @Test func `case 44: what an older copy of the store does not know is found where it was moved to`() async throws {
        try await withRunBench(.episodes(4)) { bench in
            let all = bench.catalog.value.elements
            bench.catalog.update { $0.elements.removeLast(2) }
            try await bench.runRecorded()
            try await withOlderStore(of: bench) {
                bench.catalog.update { $0.elements = all }
                try await bench.runRecorded()
                try await move(3, to: "Elsewhere/3.mp3", bench)
            }
            #expect(try await bench.plan()?.totals.adopt == 2)
            #expect(try await bench.runRecorded().summary.adopted == 2)
            #expect(bench.audioRequests.count == 4)
            #expect(try await bench.recordedPath(3) == bench.library + "/Elsewhere/3.mp3")
        }
    }

    @Test func `case 44: a new store also finds what the first run was not asked for`() async throws {
        try await withRunBench(.episodes(3)) { bench in
            try await bench.runRecorded()
            try await move(2, to: "Book/old/2 mine.mp3", bench)
            try removeStore(of: bench)
            try files.removeItem(atPath: bench.library + "/.booksync/backup")
            let report = try await bench.run(only: "1")
            #expect(report.summary.adopted == 3 && report.summary.fetched == 0)
            #expect(try await bench.recordedPath(2) == bench.library + "/Book/old/2 mine.mp3")
            #expect(try await bench.run().summary.fetched == 0)
            #expect(bench.audioDownloads == 3)
        }
    }

    @Test func `case 44: a file that rotted before the store was lost is not sound when it is recognised`()
        async throws
    {
        try await withRunBench(.episodes(2)) { bench in
            try await bench.runRecorded()
            let before = try #require(try await bench.shelved(2)?.file)
            let path = bench.library + "/" + before.path
            let file = try FileHandle(forUpdating: URL(filePath: path))
            try file.seek(toOffset: 20_000)
            try file.write(contentsOf: Data("rot".utf8))
            try file.close()
            try files.removeItem(atPath: bench.library + "/.booksync")
            #expect(try await bench.run().summary.adopted == 2)
            #expect(try await bench.shelved(2)?.file?.sha256 == before.sha256)
        }
    }

    @Test(arguments: [true, false])
    func `case 44: a file that a new store recognises is replaced if its server has another version`(isNew: Bool)
        async throws
    {
        try await withRunBench(.episodes(2)) { bench in
            try await bench.run()
            try files.removeItem(atPath: bench.library + "/.booksync")
            bench.catalog.update {
                $0.elements[1].size = 45_000
                if isNew { $0.audio["/audio/2.mp3"] = .file(sampleMP3(bytes: 45_000, seed: 7), etag: "\"v2\"") }
            }
            let requests = bench.audioDownloads
            #expect(try await bench.run().summary.adopted == 2)
            #expect(bench.audioDownloads == requests)
            let next = try await bench.run()
            #expect(next.summary.replaced == (isNew ? 1 : 0))
            #expect(try await bench.bytes(2)?.count == (isNew ? 45_000 : 40_000))
            #expect(bench.audioDownloads == requests + (isNew ? 1 : 0))
            #expect(try await bench.run().summary.kept == 2)
        }
    }

    @Test func `case 44: a file that could not be recorded is found under the name that the user gave it`()
        async throws
    {
        try await withRunBench(.episodes(2)) { bench in
            try await bench.run()
            let before = try #require(try await bench.shelved(2)?.file)
            try await move(2, to: "Book/mine.mp3", bench)
            // As a run leaves it that was killed, or had no room, between placing the file and recording it.
            try await bench.withStore { store in
                try await store.forgetFile(of: before.episode)
                _ = try await store.begin(publishing: before)
            }
            #expect(try await bench.run().summary.adopted == 1)
            #expect(bench.audioRequests.count == 2)
        }
    }

    /// Puts the store back to what it was before the body.
    private func withOlderStore(of bench: RunBench, _ body: () async throws -> Void) async throws {
        let (store, copy) = (LibraryFolder.existing(at: bench.library).storePath, bench.library + "/copy")
        try files.copyItem(atPath: store, toPath: copy)
        try await body()
        try removeStore(of: bench)
        try files.moveItem(atPath: copy, toPath: store)
    }

    private func removeStore(of bench: RunBench) throws {
        let store = LibraryFolder.existing(at: bench.library).storePath
        for end in ["", "-wal", "-shm"] where files.fileExists(atPath: store + end) {
            try files.removeItem(atPath: store + end)
        }
    }

    @Test(arguments: [MissingFileRule.fetch, .tombstone])
    func `case 42: what becomes of a deleted file is for the rules to say`(rule: MissingFileRule) async throws {
        try await withRunBench(.episodes(3)) { bench in
            var bench = bench
            bench.configuration.downloads.onMissingFile = rule
            try await bench.run()
            try files.removeItem(atPath: try #require(try await bench.recordedPath(2)))
            let report = try await bench.run()
            #expect(report.summary.fetched == (rule == .fetch ? 1 : 0))
            #expect(try await bench.shelved(2)?.state == (rule == .fetch ? .finished : .removed))
            #expect(try await bench.run().summary.fetched == 0)
            #expect(bench.lastPlan[2]?.kind == (rule == .fetch ? .keep : .skip(.tombstone)))
            let told = bench.notices.filter { $0.contains("1 episode was deleted from disk") }
            #expect(told.count == (rule == .fetch ? 0 : 1))
            #expect(try await bench.run(force: true).summary.fetched == (rule == .fetch ? 0 : 1))
            #expect(try await bench.bytes(2) == ScriptedCatalog.bytes(2))
        }
    }

    @Test func `case 42: what was deleted and is elsewhere again by now is found by force`() async throws {
        try await withRunBench(.episodes(3)) { bench in
            var bench = bench
            bench.configuration.downloads.onMissingFile = .tombstone
            try await bench.run()
            try await move(2, to: ".booksync/aside.mp3", bench)
            try await bench.run()
            #expect(try await bench.shelved(2)?.state == .removed)
            try files.createDirectory(atPath: bench.library + "/Elsewhere", withIntermediateDirectories: true)
            try files.moveItem(
                atPath: bench.library + "/.booksync/aside.mp3", toPath: bench.library + "/Elsewhere/2.mp3")
            let report = try await bench.run(force: true)
            #expect(report.summary.adopted == 1 && report.summary.fetched == 0)
            #expect(bench.audioRequests.count == 3)
            #expect(try await bench.recordedPath(2) == bench.library + "/Elsewhere/2.mp3")
        }
    }

    @Test(arguments: [true, false])
    func `case 42: what the user wrote into a file is kept when a new version replaces it`(isServed: Bool)
        async throws
    {
        try await withRunBench(.episodes(2)) { bench in
            try await bench.run()
            let path = try #require(try await bench.recordedPath(2))
            var mine = try bench.read(path)
            mine.replaceSubrange(100..<200, with: repeatElement(7, count: 100))
            try Data(mine).write(to: URL(filePath: path))
            bench.catalog.update {
                $0.elements[1].size = 45_000
                $0.audio["/audio/2.mp3"] = isServed ? .file(sampleMP3(bytes: 45_000, seed: 7), etag: "\"v2\"") : nil
            }
            let report = try await bench.run()
            #expect(report.summary.replaced == (isServed ? 1 : 0) && report.summary.failed == (isServed ? 0 : 1))
            #expect(try bench.read(path).count == (isServed ? 45_000 : 40_000))
            #expect(try await Array(bench.trashed().values) == (isServed ? [mine] : []))
            if !isServed { #expect(try bench.read(path) == mine) }
        }
    }

    @Test func `case 42: what the user writes into a file while its new version comes is not overwritten`()
        async throws
    {
        try await withRunBench(.episodes(2)) { bench in
            try await bench.run()
            let path = try #require(try await bench.recordedPath(2))
            let (mine, new) = (sampleMP3(bytes: 40_000, seed: 5), sampleMP3(bytes: 45_000, seed: 7))
            bench.catalog.update {
                $0.elements[1].size = new.count
                $0.audio["/audio/2.mp3"] = ServerScript { request in
                    #expect(FileManager.default.createFile(atPath: path, contents: Data(mine)))
                    return ServerScript.file(new, etag: "\"v2\"").answer(request)
                }
            }
            let report = try await bench.run()
            #expect(report.summary.replaced == 0 && report.summary.failed == 1)
            #expect(
                report.failures.first?.why.description.contains("somebody wrote to it") == true, "\(report.failures)")
            #expect(try bench.read(path) == mine)
            #expect(try await bench.run().summary.replaced == 1)
            #expect(try bench.read(path) == new)
            #expect(bench.audioDownloads == 3, "nothing is fetched twice")
            #expect(try await Array(bench.trashed().values) == [mine])
        }
    }

    @Test(arguments: [(10_000, "truncated"), (50_000, "edited")])
    func `case 42: a file of another size is reported and left alone, until it is forced`(
        size: Int, word: String
    ) async throws {
        try await withRunBench(.episodes(2)) { bench in
            try await bench.run()
            let path = try #require(try await bench.recordedPath(2))
            let mine = sampleMP3(bytes: size, seed: 5)
            try Data(mine).write(to: URL(filePath: path))
            #expect(try await bench.run().summary.fetched == 0)
            #expect(bench.lastPlan[2]?.reason.description.contains("was \(word): it had 40000 bytes") == true)
            #expect(try bench.read(path) == mine)
            // The server gives half of the file: what the user has stays.
            bench.catalog.update {
                $0.audio["/audio/2.mp3"] = .file(
                    ScriptedCatalog.bytes(2), [.wellBehaved, .cut(at: 20_000), .instead(.notFound)])
            }
            #expect(try await bench.run(force: true).summary.failed == 1)
            #expect(try bench.read(path) == mine)
            bench.catalog.update { $0.audio["/audio/2.mp3"] = .file(ScriptedCatalog.bytes(2)) }
            #expect(try await bench.run(force: true).summary.replaced == 1)
            #expect(try bench.read(path) == ScriptedCatalog.bytes(2))
        }
    }

    @Test func `case 42: a file that is there before it is fetched is taken by exact size and number`() async throws {
        try await withRunBench(.episodes(4)) { bench in
            let folder = bench.library + "/Book"
            try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try Data(ScriptedCatalog.bytes(1)).write(to: URL(filePath: folder + "/001 第1集.mp3"))
            try Data(ScriptedCatalog.bytes(2)).write(to: URL(filePath: folder + "/2 old name.mp3"))
            // The number fits and not the size; a page of the right size; the size fits and not the number.
            try Data(ScriptedCatalog.bytes(3, 39_999)).write(to: URL(filePath: folder + "/3.mp3"))
            try Data(Array("<html>".utf8) + [UInt8](repeating: 32, count: 39_994)).write(
                to: URL(filePath: folder + "/4.mp3"))
            try Data(sampleMP3(bytes: 40_000, seed: 99)).write(to: URL(filePath: folder + "/7.mp3"))
            let report = try await bench.run()
            #expect(report.summary.adopted == 2 && report.summary.fetched == 2)
            #expect(try await bench.recordedPath(2) == folder + "/2 old name.mp3")
            #expect(try await bench.shelved(2)?.file?.sha256 == sha256(ScriptedCatalog.bytes(2)))
            #expect(try await bench.run().summary.kept == 4)
            #expect(try files.contentsOfDirectory(atPath: folder).count == 7)
        }
    }
}
