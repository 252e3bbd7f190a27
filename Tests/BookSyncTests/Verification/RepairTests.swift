import BookModel
import CatalogStore
import Foundation
import Settings
import Support
import Testing

@testable import BookSync
@testable import LibraryFiles

/// What `verify --repair` brings back, and what it never takes away.
@Suite(.full, .limitedConcurrency) struct RepairTests {
    private let files = FileManager.default

    @Test(arguments: VerificationTests.harms.filter { $0.whole != nil && $0.whole != "displaced" })
    func `a bad file is fetched again, to where it was, and nothing else is`(
        harm: VerificationTests.Harm
    ) async throws {
        try await withRunBench(.episodes(3)) { bench in
            try await bench.run()
            // Longer ago than clocks may differ by: what touches the file now is seen.
            try await bench.setFetched(2, at: Date() - 10)
            let path = try await bench.path(2)
            try harm.inflict(path)
            let damaged = files.fileExists(atPath: path) ? try bench.read(path) : nil
            // Were there a run, it would rename everything.
            var bench = bench
            bench.configuration.naming = try NamingTemplate(parsing: "{name}.{ext}")
            let report = try await bench.verifyAndRepair()
            #expect(report.repaired == 1 && report.stillBad == 0, "\(report.bad)")
            #expect(report.failures.isEmpty)
            #expect(try bench.read(path) == ScriptedCatalog.bytes(2))
            #expect(bench.audioRequests.map(\.path).sorted() == [1, 2, 2, 3].map { "/audio/\($0).mp3" })
            #expect(try await Array(bench.trashed().values) == (damaged.map { [$0] } ?? []))
            #expect(try await bench.verify().intact == 3)
            #expect(try bench.partialNames().isEmpty)
        }
    }

    @Test func `what is replaced is in the trash, and the report says where`() async throws {
        try await withRunBench(.episodes(2)) { bench in
            try await bench.run()
            try flipBit(of: try await bench.path(1), at: 20_000)
            try await bench.forgetThatItWasTouched(1)
            try flipBit(of: try await bench.path(2), at: 20_000, isSeen: true)
            let damaged = [try await bench.bytes(1), try await bench.bytes(2)]
            let report = try await bench.verifyAndRepair()
            #expect(report.outline == ["1 bit_rot", "2 changed"])
            let kept = try report.bad.map { bad -> [UInt8]? in
                guard case .repaired(let path?) = bad.repair else { return nil }
                return try bench.read(bench.library + "/" + path)
            }
            #expect(kept == damaged)
            #expect(try await bench.trashed().count == 2)
        }
    }

    @Test func `a file that cannot be fetched again stays as it is, and the reason is told`() async throws {
        try await withRunBench(.episodes(4)) { bench in
            try await bench.run()
            for section in 1...3 { try flipBit(of: try await bench.path(section), at: 20_000) }
            try files.removeItem(atPath: try await bench.path(4))
            bench.catalog.update { catalog in
                catalog.elements[0].path = nil
                catalog.audio["/audio/2.mp3"] = .file(
                    ScriptedCatalog.bytes(2), [.wellBehaved, .cut(at: 30_000), .instead(.notFound)])
                catalog.elements.remove(at: 2)
                catalog.audio["/audio/4.mp3"] = .always(.notFound)
            }
            let damaged = try await bench.bytes(2)
            let report = try await bench.verifyAndRepair()
            #expect(report.repaired == 0 && report.stillBad == 4)
            let reasons = report.bad.map { file -> String in
                if case .left(let why) = file.repair { why.description } else { "" }
            }
            #expect(reasons[0].contains("the catalog gives no address"))
            #expect(reasons[1].contains("the connection was cut"), "\(reasons[1])")
            #expect(reasons[2].contains("no longer in the catalog, so its file is kept"))
            #expect(reasons[3].contains("404"), "\(reasons[3])")
            #expect(report.failures.count == 2)
            #expect(try await bench.bytes(2) == damaged)
            #expect(try await bench.trashed().isEmpty)
            // What had come of the second one is gone on with.
            bench.catalog.update { catalog in
                catalog.audio["/audio/2.mp3"] = .file(ScriptedCatalog.bytes(2))
                catalog.elements[1].path = "/audio/2.mp3"
            }
            let sent = bench.server.bodyBytesSent(path: "/audio/2.mp3")
            let again = try await bench.verifyAndRepair()
            #expect(again.repaired == 1)
            #expect(bench.server.bodyBytesSent(path: "/audio/2.mp3") - sent == 10_000)
            #expect(try await bench.bytes(2) == ScriptedCatalog.bytes(2))
        }
    }

    @Test func `a deleted file counts as removed where the rules say so`() async throws {
        try await withRunBench(.episodes(2)) { bench in
            var bench = bench
            bench.configuration.downloads.onMissingFile = .tombstone
            try await bench.run()
            try files.removeItem(atPath: try await bench.path(2))
            let report = try await bench.verifyAndRepair()
            #expect(report.bad.map(\.repair) == [.countsAsRemoved])
            #expect(report.stillBad == 0)
            #expect(try await bench.verify().checked == 1)
        }
    }

    @Test func `a file that the user moved is found again instead of fetched`() async throws {
        try await withRunBench(.episodes(2)) { bench in
            try await bench.run()
            let moved = bench.library + "/Book/mine.mp3"
            try files.moveItem(atPath: try await bench.path(2), toPath: moved)
            let report = try await bench.verifyAndRepair()
            #expect(report.outline == ["2 missing"] && report.repaired == 1)
            #expect(try await bench.path(2) == moved)
            #expect(bench.audioRequests.count == 2)
            #expect(try await bench.shelved(2)?.file?.isNamedByUser == true)
        }
    }

    @Test func `what stands in a file's place is left alone`() async throws {
        try await withRunBench(.episodes(2)) { bench in
            try await bench.run()
            let path = try await bench.path(2)
            try files.removeItem(atPath: path)
            try files.createDirectory(atPath: path, withIntermediateDirectories: false)
            let report = try await bench.repair(try await bench.verify())
            #expect(report.stillBad == 1)
            #expect(bench.audioRequests.count == 2)
        }
    }

    @Test func `what was put right meanwhile is not fetched, and what was written meanwhile is kept`() async throws {
        try await withRunBench(.episodes(2)) { bench in
            try await bench.run()
            let (one, two) = (try await bench.path(1), try await bench.path(2))
            try flipBit(of: one, at: 20_000)
            try flipBit(of: two, at: 20_000)
            try await bench.forgetThatItWasTouched(2)
            let found = try await bench.verify()
            #expect(found.outline == ["1 bit_rot", "2 bit_rot"])
            try flipBit(of: one, at: 20_000)
            try flipBit(of: two, at: 30_000, isSeen: true)
            let report = try await bench.repair(found)
            #expect(report.intact == 1 && report.outline == ["2 changed"] && report.repaired == 1)
            #expect(bench.audioRequests.count == 3)
            #expect(try await bench.trashed().count == 1)
        }
    }

    @Test func `a paused episode waits, one that failed often is tried`() async throws {
        try await withRunBench(.episodes(2)) { bench in
            try await bench.run()
            for section in 1...2 { try flipBit(of: try await bench.path(section), at: 20_000) }
            let failed = try #require(try await bench.shelved(2)).episode.identity
            try await bench.withStore { store in
                try await store.save([
                    TransferRecord(episode: failed, state: .failed, attempts: 5, nextTryAt: Date() + 3600)
                ])
            }
            let identity = try #require(try await bench.shelved(1)).episode.identity
            try await bench.withStore { try await $0.save([TransferRecord(episode: identity, state: .paused)]) }
            let report = try await bench.verifyAndRepair()
            #expect(report.bad[0].isBad && !report.bad[1].isBad)
            guard case .left(let why) = report.bad[0].repair else {
                Issue.record("\(report.bad[0])")
                return
            }
            #expect(why.description.contains("paused"))
        }
    }
}
