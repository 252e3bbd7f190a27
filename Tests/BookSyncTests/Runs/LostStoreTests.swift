import BookModel
import CatalogStore
import Foundation
import Settings
import Support
import Testing

@testable import BookSync
@testable import LibraryFiles

/// Case 44: a store that is damaged or lost costs no byte that is on disk.
@Suite(.full, .limitedConcurrency) struct LostStoreTests {
    private let files = FileManager.default

    enum Loss: String, CaseIterable {
        case deleted, databaseDeleted, emptied, garbageAtStart, garbageInTheMiddle, garbageInTheHeader, halved,
            allDeleted
    }

    private func inflict(_ loss: Loss, on bench: RunBench) throws {
        let path = LibraryFolder.existing(at: bench.library).storePath
        var bytes = try Data(contentsOf: URL(filePath: path))
        switch loss {
        case .allDeleted:
            return try files.removeItem(atPath: LibraryFolder.existing(at: bench.library).ownFolder)
        case .deleted:
            return try files.removeItem(atPath: path)
        case .databaseDeleted:
            // What a killed run left of its log stays behind.
            try files.removeItem(atPath: path)
            return try Data(repeating: 0x37, count: 9000).write(to: URL(filePath: path + "-wal"))
        case .emptied:
            bytes = Data()
        case .garbageAtStart:
            bytes.replaceSubrange(0..<4096, with: Data(repeating: 0xA5, count: 4096))
        case .garbageInTheHeader:
            bytes.replaceSubrange(16..<100, with: Data(repeating: 0xA5, count: 84))
        case .garbageInTheMiddle:
            let middle = bytes.count / 2 / 4096 * 4096
            bytes.replaceSubrange(middle..<middle + 8192, with: Data(repeating: 0xA5, count: 8192))
        case .halved:
            bytes.removeLast(bytes.count / 2)
        }
        try bytes.write(to: URL(filePath: path))
    }

    @Test(arguments: [
        "{title}/{section:4} - {name}.{ext}", "{year}/{title}/{name}.{ext}", "{author}/{title}/{section}.{ext}",
    ])
    func `case 44: nor what lies under the names of a naming that was given up`(former: String) async throws {
        try await withRunBench(.episodes(5)) { bench in
            var bench = bench
            let naming = bench.configuration.naming
            bench.configuration.naming = try NamingTemplate(parsing: former)
            try await bench.run(title: "A Book")
            try inflict(.allDeleted, on: bench)
            bench.configuration.naming = try NamingTemplate(parsing: "shelf/{title}/{section} {name}.{ext}")
            let planned = try await bench.plan(title: "A Book")
            #expect(planned?.totals.adopt == 5)
            let report = try await bench.run(title: "A Book")
            #expect(report.summary.adopted == 5 && report.summary.fetched == 0)
            #expect(try await bench.run(title: "A Book").summary.kept == 5)
            bench.configuration.naming = naming
            #expect(try await bench.run(title: "A Book").summary.kept == 5)
            #expect(bench.audioRequests.count == 5)
        }
    }

    @Test(arguments: [true, false])
    func `case 44: nor what lies under a title that the book no longer has`(areMarked: Bool) async throws {
        var catalog = ScriptedCatalog.episodes(5)
        for index in catalog.elements.indices {
            catalog.elements[index].size = 40_000 + index
            catalog.audio["/audio/\(index + 1).mp3"] = .file(ScriptedCatalog.bytes(index + 1, 40_000 + index))
        }
        try await withRunBench(catalog) { bench in
            try await bench.run(title: "Old")
            if !areMarked { try bench.removeMarks() }
            try inflict(.allDeleted, on: bench)
            let report = try await bench.run(title: "Quite Another")
            #expect(report.summary.adopted == 5 && report.summary.fetched == 0, "\(bench.lastPlan)")
            #expect(try await bench.run(title: "Quite Another").summary.kept == 5)
            #expect(bench.audioRequests.count == 5)
        }
    }

    @Test func `case 44: a file is found by its mark alone, wherever it is, while its bytes are those it speaks of`()
        async throws
    {
        var catalog = ScriptedCatalog.episodes(3)
        for index in catalog.elements.indices { catalog.elements[index].size = nil }
        try await withRunBench(catalog) { bench in
            try await bench.run()
            try files.createDirectory(atPath: bench.library + "/else", withIntermediateDirectories: true)
            for section in 1...3 {
                let path = try #require(try await bench.recordedPath(section))
                try files.moveItem(atPath: path, toPath: bench.library + "/else/x\(section % 3).bin")
            }
            // Episode 2: one byte more than it had.
            let edited = bench.library + "/else/x2.bin"
            try Data(try bench.read(edited) + [0]).write(to: URL(filePath: edited))
            try inflict(.allDeleted, on: bench)
            let report = try await bench.run()
            #expect(report.summary.adopted == 2 && report.summary.fetched == 1, "\(bench.lastPlan)")
            #expect(try await bench.shelved(3)?.file?.path == "else/x0.bin")
            #expect(try await bench.shelved(3)?.file?.fetchedFrom == nil)
            #expect(try bench.read(edited).count == ScriptedCatalog.bytes(2).count + 1)
            #expect(bench.lastPlan[1]?.reason.description.contains("mark") == true)
        }
    }

    @Test(arguments: [true, false])
    func `case 44: a file that got tags after the copy of the store was made is known by its mark`(
        isVerified: Bool
    ) async throws {
        try await withRunBench(.episodes(3)) { bench in
            try await bench.run()
            let former = try #require(try await bench.shelved(2)?.file)
            let path = try #require(try await bench.recordedPath(2))
            let tagged = try bench.read(path) + [1, 2, 3]
            try Data(tagged).write(to: URL(filePath: path))
            let descriptor = try opened(path, O_RDWR | O_CLOEXEC)
            defer { close(descriptor) }
            let original = LocalFile.Original(size: former.size, sha256: former.sha256, streamSHA256: former.sha256)
            FileMark(
                episode: former.episode, sha256: sha256(tagged), original: FileMark.Original(original)
            ).write(to: descriptor)
            if isVerified {
                let report = try await bench.verify()
                #expect(report.intact == 3 && report.bad.isEmpty, "\(report.outline)")
            } else {
                #expect(try await bench.plan()?.totals.keep == 3)
                #expect(try await bench.run().summary.kept == 3)
            }
            let record = try #require(try await bench.shelved(2)?.file)
            #expect(record.sha256 == sha256(tagged) && record.original == original)
            #expect(record.validator == former.validator && record.fetchedAt == former.fetchedAt)
            #expect(try await bench.verify(anew: true).intact == 3)
            #expect(bench.audioRequests.count == 3)
            // What the mark does not speak of is somebody's edit.
            try Data(tagged + [4]).write(to: URL(filePath: path))
            #expect(try await bench.verify(anew: true).outline == ["2 longer"])
        }
    }

    @Test func `case 44: files whose sizes are those of another book are not taken for it`() async throws {
        // All parts as long as each other, as an encoder with a constant rate makes them: the sizes prove nothing.
        try await withRunBench(.episodes(4)) { bench in
            let folder = bench.library + "/Another book"
            try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
            for section in 1...4 {
                try Data(ScriptedCatalog.bytes(section + 10)).write(to: URL(filePath: "\(folder)/\(section).mp3"))
            }
            #expect(try await bench.run().summary.fetched == 4)
        }
    }

    @Test(arguments: Loss.allCases)
    func `case 44: the next run recognises what is on disk and fetches nothing of it`(loss: Loss) async throws {
        try await withRunBench(.episodes(12)) { bench in
            try await bench.run()
            try bench.removeMarks()
            try inflict(loss, on: bench)
            bench.events.update { $0 = [] }
            let report = try await bench.run()
            #expect(report.failures.isEmpty, "\(report.failures)")
            #expect(report.summary.adopted == 12)
            #expect(report.summary.fetched == 0 && report.summary.bytesReceived == 0)
            #expect(bench.audioRequests.count == 12)
            for section in 1...12 {
                let file = try #require(try await bench.shelved(section)?.file)
                #expect(file.sha256 == sha256(ScriptedCatalog.bytes(section)))
                #expect(file.verification == .length && !file.isNamedByUser)
            }
            let told = bench.notices.joined(separator: " ")
            #expect(told.contains("store") == (loss != .allDeleted))
            #expect(told.contains("subscribe again") == (loss != .allDeleted))
            let kept = try files.contentsOfDirectory(atPath: LibraryFolder.existing(at: bench.library).ownFolder)
                .filter { $0.contains(".damaged-") }
            #expect(kept.isEmpty == [.deleted, .emptied, .allDeleted].contains(loss), "\(kept)")
            #expect(try await bench.run().summary.kept == 12)
        }
    }

    @Test func `case 44: where the catalog's size is stale, the server is asked for the length and sends no byte`()
        async throws
    {
        var catalog = ScriptedCatalog.episodes(3)
        catalog.elements[1].size = 39_000
        try await withRunBench(catalog) { bench in
            try await bench.run()
            try bench.removeMarks()
            let sent = bench.audioBytesSent
            try inflict(.deleted, on: bench)
            let report = try await bench.run()
            #expect(report.summary.adopted == 3 && report.summary.fetched == 0)
            #expect(bench.audioBytesSent == sent)
            #expect(bench.lastPlan[2]?.reason.description.contains("its server tells") == true)
            #expect(try await bench.run().summary.kept == 3)
            #expect(bench.audioRequests.count == 4)
        }
    }

    @Test func `case 44: without sizes, what stands in its place and begins as audio is recorded as unverified`()
        async throws
    {
        var catalog = ScriptedCatalog.episodes(3)
        for index in catalog.elements.indices { catalog.elements[index].size = nil }
        try await withRunBench(catalog) { bench in
            try await bench.run()
            let page = try #require(try await bench.recordedPath(3))
            try inflict(.deleted, on: bench)
            try Data("<html><body>no audio</body></html>".utf8).write(to: URL(filePath: page))
            let report = try await bench.run()
            #expect(report.summary.adopted == 2)
            #expect(bench.lastPlan[3]?.kind == .skip(.obstructed))
            #expect(try await bench.shelved(1)?.file?.verification == .unverified)
            #expect(bench.audioRequests.count == 3)
        }
    }

    @Test func `case 44: what is not whole is not taken, and unfinished downloads are said to begin anew`() async throws
    {
        try await withRunBench(.episodes(4)) { bench in
            try await bench.run()
            try files.removeItem(atPath: try #require(try await bench.recordedPath(4)))
            try Data(ScriptedCatalog.bytes(4).prefix(20_000)).write(to: URL(filePath: bench.partialFile(4)))
            let half = try #require(try await bench.recordedPath(2))
            try Data(ScriptedCatalog.bytes(2).prefix(20_000)).write(to: URL(filePath: half))
            try inflict(.deleted, on: bench)
            let report = try await bench.run()
            #expect(report.summary.adopted == 2 && report.summary.fetched == 1)
            #expect(report.summary.bytesReceived == 40_000 && report.summary.bytesReused == 0)
            #expect(bench.lastPlan[2]?.kind == .skip(.obstructed))
            #expect(bench.notices.contains { $0.hasPrefix("1 unfinished download (20.0 kB)") })
            #expect(try await bench.bytes(4) == ScriptedCatalog.bytes(4))
            #expect(try bench.partialNames() == [])
        }
    }

    @Test(arguments: [Loss.deleted, .emptied, .garbageAtStart])
    func `case 44: what only reads says what is wrong and makes nothing`(loss: Loss) async throws {
        try await withRunBench(.episodes(2)) { bench in
            try await bench.run()
            try inflict(loss, on: bench)
            let own = LibraryFolder.existing(at: bench.library).ownFolder
            let before = try files.contentsOfDirectory(atPath: own).sorted()
            for attempt in 1...3 {
                let failure = try await #require(throws: Failure.self) {
                    switch attempt {
                    case 1: _ = try await ShelfReader.read(bench.library) { try await $0.books() }
                    case 2: _ = try await bench.control { try await $0.pause(.everything) }
                    default:
                        try await SubscriptionBook.open(of: bench.configuration) {
                            _ = try await $0.subscribe(Subscription(book: RunBench.book))
                        }
                    }
                }
                #expect(failure.kind == .inputOutput)
                #expect(failure.remedy?.description.contains("booksync fetch") == true)
                #expect(try files.contentsOfDirectory(atPath: own).sorted() == before)
            }
        }
    }
}
