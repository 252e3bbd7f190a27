import BookModel
import CatalogStore
import Foundation
import Support
import Testing

@testable import BookSync

/// What `verify --accept` takes for the user's work, and what it does not.
@Suite(.limitedConcurrency) struct AcceptanceTests {
    private let files = FileManager.default

    private func accept(_ bench: RunBench) async throws -> VerificationReport {
        let report = try await bench.verify()
        return try await LibrarySession.withLibrary(at: bench.library, command: "test") {
            try await report.accepted(in: $0)
        }
    }

    /// Edits as a tag editor does: some bytes more, less, or others.
    private func edit(_ bench: RunBench, _ section: Int, _ change: (inout [UInt8]) -> Void) async throws {
        let path = try await bench.path(section)
        var bytes = try bench.read(path)
        change(&bytes)
        try Data(bytes).write(to: URL(filePath: path))
    }

    @Test func `what was edited is recorded as it is, and left in peace from then on`() async throws {
        try await withRunBench(.episodes(4)) { bench in
            try await bench.run()
            try await edit(bench, 1) { $0 += [1, 2, 3] }
            try await edit(bench, 2) { $0.removeLast(500) }
            try await edit(bench, 3) { $0[20_000] ^= 1 }
            let mine = try await [bench.bytes(1), bench.bytes(2), bench.bytes(3)]
            let report = try await accept(bench)
            #expect(report.accepted == 3 && report.stillBad == 0, "\(report.bad)")
            #expect(report.sentence.description.contains(": 1 intact, 3 accepted in "))
            #expect(try await bench.shelved(1)?.file?.verification == .unverified)
            #expect(try await bench.verify(anew: true).intact == 4)
            let run = try await bench.run()
            #expect(run.summary.kept == 4 && run.summary.fetched + run.summary.replaced == 0)
            #expect(bench.audioRequests.count == 4)
            #expect(try await [bench.bytes(1), bench.bytes(2), bench.bytes(3)] == mine)
            // A new version of the catalog's replaces it all the same, and the user's is kept.
            bench.catalog.update {
                $0.elements[0].size = 45_000
                $0.audio["/audio/1.mp3"] = .file(sampleMP3(bytes: 45_000, seed: 7), etag: "\"v2\"")
            }
            #expect(try await bench.run().summary.replaced == 1)
            #expect(try await Array(bench.trashed().values) == mine.prefix(1).compactMap(\.self))
        }
    }

    @Test func `what nobody edited, or is no audio, is not accepted`() async throws {
        try await withRunBench(.episodes(5)) { bench in
            try await bench.run()
            try flipBit(of: try await bench.path(1), at: 20_000)
            try await bench.forgetThatItWasTouched(1)
            try files.removeItem(atPath: try await bench.path(2))
            try await edit(bench, 3) { $0 = Array("<html><body>sorry</body></html>".utf8) }
            try await edit(bench, 4) { $0 = [] }
            let before = try await bench.shelved(3)?.file
            let report = try await accept(bench)
            #expect(report.accepted == 0 && report.stillBad == 4, "\(report.bad)")
            #expect(report.intact == 1)
            #expect(try await bench.shelved(3)?.file == before)
        }
    }

    @Test func `a file that is gone on being written is not accepted`() async throws {
        try await withRunBench(.episodes(1)) { bench in
            try await bench.run()
            try await edit(bench, 1) { $0 += [1] }
            let report = try await bench.verify()
            try await edit(bench, 1) { $0 += [2] }
            let outcome = try await LibrarySession.withLibrary(at: bench.library, command: "test") {
                try await report.accepted(in: $0)
            }
            #expect(outcome.stillBad == 1)
        }
    }
}
