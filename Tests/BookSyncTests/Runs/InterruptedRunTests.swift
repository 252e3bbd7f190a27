import BookModel
import CatalogStore
import DownloadEngine
import Foundation
import Support
import Testing

@testable import BookSync
@testable import LibraryFiles

/// The states that a run can be killed in between two steps, set up by hand, and what the next run makes of them: the
/// right shelf, without a byte fetched twice.
@Suite(.limitedConcurrency) struct InterruptedRunTests {
    private let files = FileManager.default

    /// Takes back the last step of an episode's publication: the store has announced the file and not recorded it.
    private func unrecord(_ section: Int, _ bench: RunBench) async throws -> String {
        let file = try #require(try await bench.shelved(section)?.file)
        try await bench.withStore { store in
            try await store.forgetFile(of: file.episode)
            try await store.save([TransferRecord(episode: file.episode)])
            _ = try await store.begin(publishing: file)
        }
        return bench.library + "/" + file.path
    }

    @Test func `a file that was renamed and not recorded is recorded without a request`() async throws {
        try await withRunBench(.episodes(3)) { bench in
            try await bench.run()
            let path = try await unrecord(2, bench)
            let report = try await bench.run()
            #expect(report.summary.kept == 3)
            #expect(report.summary.fetched + report.summary.resumed == 0)
            #expect(bench.audioRequests.count == 3)
            #expect(try await bench.recordedPath(2) == path)
            let shelved = try #require(try await bench.shelved(2))
            #expect(shelved.transfer == nil)
            #expect(shelved.file?.sha256 == sha256(ScriptedCatalog.bytes(2)))
            #expect(shelved.file?.verification == .length)
            #expect(try await bench.run().summary.kept == 3)
        }
    }

    @Test func `what a killed run was fetching is not called downloading while another run works`() async throws {
        try await withRunBench(.episodes(3)) { bench in
            try await bench.run()
            let episode = try #require(try await bench.shelved(2)).episode.identity
            try await bench.withStore { store in
                try await store.forgetFile(of: episode)
                try await store.save([
                    TransferRecord(episode: episode, state: .downloading, total: 40_000, committedLength: 1000)
                ])
            }
            let other = try await LibrarySession.withLibrary(at: bench.library, command: "test") { session in
                try await session.store.episode(episode)?.transfer
            }
            #expect(other?.state == .waiting && other?.committedLength == 1000)
        }
    }

    @Test func `a file that was announced and not renamed is published without a request`() async throws {
        try await withRunBench(.episodes(3)) { bench in
            try await bench.run()
            let path = try await unrecord(2, bench)
            try files.moveItem(atPath: path, toPath: bench.partialFile(2))
            let report = try await bench.run()
            #expect(report.summary.resumed + report.summary.fetched == 0)
            #expect(report.summary.kept == 3)
            #expect(report.summary.bytesReceived == 0)
            #expect(bench.audioRequests.count == 3)
            #expect(try await bench.bytes(2) == ScriptedCatalog.bytes(2))
            #expect(try bench.partialNames() == [])
        }
    }

    @Test func `what was begun of an episode stays when its adoption was cut off`() async throws {
        try await withRunBench(.episodes(2)) { bench in
            try await bench.run()
            var adopted = try #require(try await bench.shelved(2)?.file)
            (adopted.fetchedFrom, adopted.fetchedAt, adopted.path) = (nil, Date(), "Book/adopted.mp3")
            let begun = TransferRecord(
                episode: adopted.episode, state: .paused, validator: .init(entityTag: "\"a\""), total: 40_000,
                committedLength: 30_000, bootID: BootIdentity.current)
            let transfer = try await bench.withStore { [adopted] store in
                try await store.forgetFile(of: adopted.episode)
                try await store.save([begun])
                _ = try await store.begin(publishing: adopted)
                return try await LibrarySession.withLibrary(at: bench.library, command: "test") { session in
                    #expect(try await session.store.operationsUnderWay().isEmpty)
                    return try await session.store.episode(adopted.episode)?.transfer
                }
            }
            #expect(transfer == begun)
        }
    }

    @Test func `another file where one was announced is not taken for it`() async throws {
        try await withRunBench(.episodes(3)) { bench in
            try await bench.run()
            let path = try await unrecord(2, bench)
            let mine = sampleMP3(bytes: 40_000, seed: 99)
            try Data(mine).write(to: URL(filePath: path))
            let state = try await LibrarySession.withLibrary(at: bench.library, command: "test") { session in
                #expect(try await session.store.operationsUnderWay().isEmpty)
                return try await session.store.episode(section: 2, of: RunBench.book)?.transfer?.state
            }
            #expect(state == .waiting)
            try await bench.run()
            #expect(bench.lastPlan[2]?.kind == .skip(.obstructed))
            #expect(try bench.read(path) == mine)
            #expect(try await bench.shelved(2)?.file == nil)
            try files.removeItem(atPath: path)
            #expect(try await bench.run().summary.fetched == 1)
            #expect(try await bench.bytes(2) == ScriptedCatalog.bytes(2))
        }
    }

    @Test func `a file that vanished before it was recorded is fetched again`() async throws {
        try await withRunBench(.episodes(2)) { bench in
            try await bench.run()
            try files.removeItem(atPath: try await unrecord(2, bench))
            let report = try await bench.run()
            #expect(report.summary.fetched == 1)
            #expect(try await bench.bytes(2) == ScriptedCatalog.bytes(2))
        }
    }

    @Test(arguments: [false, true])
    func `a replacement that was announced takes the old file's place without a request`(wasRenamed: Bool) async throws
    {
        let corrected = sampleMP3(bytes: 45_000, seed: 77)
        try await withRunBench(.episodes(2)) { bench in
            try await bench.run()
            let shelved = try #require(try await bench.shelved(2))
            let old = try #require(shelved.file)
            bench.catalog.update {
                $0.elements[1].size = 45_000
                $0.audio["/audio/2.mp3"] = .file(corrected, etag: "\"v2\"")
            }
            try await bench.withStore { store in
                // The run that announced it had read the catalog before.
                var listed = shelved.episode
                listed.size = 45_000
                _ = try await store.merge([listed], startingAt: 1, of: RunBench.book)
                var new = old
                (new.size, new.sha256, new.validator) = (45_000, sha256(corrected), .init(entityTag: "\"v2\""))
                new.fetchedAt = Date()
                new.recordClaims(of: listed)
                _ = try await store.begin(publishing: new)
            }
            let place = wasRenamed ? bench.library + "/" + old.path : bench.partialFile(2)
            try Data(corrected).write(to: URL(filePath: place))
            let report = try await bench.run()
            #expect(report.failures.isEmpty, "\(report.failures)")
            #expect(report.summary.replaced == (wasRenamed ? 0 : 1))
            #expect(bench.audioRequests.count == 2)
            #expect(try await bench.bytes(2) == corrected)
            #expect(try await bench.shelved(2)?.file?.sha256 == sha256(corrected))
            #expect(try await bench.shelved(2)?.transfer == nil)
        }
    }

    @Test func `a publication that cannot be recorded does not lock the library`() async throws {
        try await withRunBench(.episodes(3)) { bench in
            try await bench.run()
            let place = try await unrecord(2, bench)
            // Its path is recorded as another episode's.
            var taken = try #require(try await bench.shelved(1)?.file)
            taken.path = String(place.dropFirst(bench.library.count + 1))
            let file = taken
            try await bench.withStore { try await $0.updateFiles([file]) }
            let report = try await bench.run()
            #expect(report.summary.kept == 2 && report.summary.failed == 1)
            #expect(report.failures.map(\.what.description) == ["Book, episode 2 '第2集' cannot be put in place"])
            #expect(try bench.read(place) == ScriptedCatalog.bytes(2))
        }
    }

    @Test(arguments: [false, true])
    func `what cannot be read where a file was announced keeps no run from its work`(isLink: Bool) async throws {
        try await withRunBench(.episodes(3)) { bench in
            try await bench.run()
            let place = try await unrecord(2, bench)
            let folder = URL(filePath: place).deletingLastPathComponent().path
            if isLink {
                try files.moveItem(atPath: folder, toPath: bench.library + "/elsewhere")
                try files.createSymbolicLink(atPath: folder, withDestinationPath: bench.library + "/elsewhere")
            } else {
                try files.removeItem(atPath: place)
                try files.createDirectory(atPath: place, withIntermediateDirectories: false)
            }
            let isForgotten = try await LibrarySession.withLibrary(at: bench.library, command: "test") { session in
                try await session.store.operationsUnderWay().isEmpty
            }
            #expect(isForgotten)
        }
    }

    @Test(arguments: [false, true])
    func `a rename that was intended is found at either name`(wasMoved: Bool) async throws {
        try await withRunBench(.episodes(3)) { bench in
            try await bench.run()
            bench.catalog.update { $0.elements[1].name = "第2集 (corrected)" }
            let plan = try #require(try await bench.plan())
            let rename = try #require(plan.actions.first { $0.kind == .rename })
            let old = bench.library + "/" + (try #require(rename.fromPath))
            let new = bench.library + "/" + rename.path
            try await bench.withStore { store in
                _ = try await store.begin(.rename, [(rename.episode.identity, to: rename.path)], batch: Date())
            }
            if wasMoved { try files.moveItem(atPath: old, toPath: new) }
            let report = try await bench.run()
            #expect(report.failures.isEmpty, "\(report.failures)")
            #expect(report.summary.renamed == (wasMoved ? 0 : 1))
            #expect(report.summary.kept == (wasMoved ? 3 : 2))
            #expect(report.summary.fetched == 0)
            #expect(bench.audioRequests.count == 3)
            #expect(try await bench.recordedPath(2) == new)
            #expect(!files.fileExists(atPath: old))
            #expect(try await bench.bytes(2) == ScriptedCatalog.bytes(2))
            #expect(try await bench.withStore { try await $0.operationsUnderWay().isEmpty })
        }
    }
}
