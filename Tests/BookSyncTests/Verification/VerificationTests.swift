import BookModel
import CatalogStore
import Foundation
import Support
import Testing

@testable import BookSync

@Suite(.full, .limitedConcurrency) struct VerificationTests {
    private let files = FileManager.default

    @Test func `a library that is as it was fetched is verified whole`() async throws {
        try await withRunBench(.episodes(5)) { bench in
            try await bench.run()
            let report = try await bench.verify()
            #expect(report.intact == 5 && report.bad.isEmpty && report.isComplete)
            #expect(report.bytes == 200_000)
            #expect(try await bench.verify(quick: true).intact == 5)
            // A round that ended is not gone on with.
            #expect(try await bench.verify().verifiedBefore == 0)
        }
    }

    /// What is done to a file, and what a whole and a quick verification call it.
    struct Harm: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var whole: String?
        var quick: String?
        var inflict: @Sendable (String) throws -> Void
    }

    static let harms = [
        Harm(testDescription: "a flipped bit", whole: "bit_rot", quick: nil) { try flipBit(of: $0, at: 20_000) },
        Harm(testDescription: "a flipped bit of the header", whole: "bit_rot", quick: "bit_rot") {
            try flipBit(of: $0, at: 0)
        },
        Harm(testDescription: "an edit in place", whole: "changed", quick: nil) {
            try flipBit(of: $0, at: 20_000, isSeen: true)
        },
        Harm(testDescription: "truncated", whole: "truncated", quick: "truncated") { path in
            try FileHandle(forUpdating: URL(filePath: path)).truncate(atOffset: 39_999)
        },
        Harm(testDescription: "emptied", whole: "truncated", quick: "truncated") { path in
            try Data().write(to: URL(filePath: path))
        },
        Harm(testDescription: "longer", whole: "longer", quick: "longer") { path in
            try Data(ScriptedCatalog.bytes(2) + [0]).write(to: URL(filePath: path))
        },
        Harm(testDescription: "a page of the same length", whole: "wrong_header", quick: "wrong_header") { path in
            try Data("<html>".utf8 + [UInt8](repeating: 32, count: 39_994)).write(to: URL(filePath: path))
        },
        Harm(testDescription: "nothing but zeros", whole: "wrong_header", quick: "wrong_header") { path in
            try Data(count: 40_000).write(to: URL(filePath: path))
        },
        Harm(testDescription: "deleted", whole: "missing", quick: "missing") { path in
            try FileManager.default.removeItem(atPath: path)
        },
        Harm(testDescription: "a folder", whole: "displaced", quick: "displaced") { path in
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        },
        Harm(testDescription: "a link", whole: "displaced", quick: "displaced") { path in
            try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path + ".away")
        },
        Harm(testDescription: "only touched", whole: nil, quick: nil) { path in
            try FileManager.default.setAttributes([.modificationDate: Date()], ofItemAtPath: path)
        },
    ]

    @Test(arguments: harms)
    func `what became of a file is told, and of no other`(harm: Harm) async throws {
        try await withRunBench(.episodes(3)) { bench in
            try await bench.run()
            try harm.inflict(try await bench.path(2))
            let report = try await bench.verify()
            #expect(report.outline == (harm.whole.map { ["2 \($0)"] } ?? []))
            #expect(report.checked == 3 && report.isComplete)
            #expect(try await bench.verify(quick: true).outline == (harm.quick.map { ["2 \($0)"] } ?? []))
        }
    }

    @Test func `a verification that was cut off goes on with the rest, and names what was bad before`() async throws {
        try await withRunBench(.episodes(6)) { bench in
            try await bench.run()
            try flipBit(of: try await bench.path(1), at: 9)
            // As a killed verification leaves it: three were found right.
            try await bench.withStore { store in
                let round = try await store.beginVerification(of: "", anew: false, at: Date())
                let files = try await store.episodes(of: RunBench.book).compactMap(\.file)
                try await store.recordVerified(Array(files[2...4]), in: round, at: Date())
            }
            // What rots meanwhile is found by the next round.
            try flipBit(of: try await bench.path(3), at: 9)
            let notices = Watched<[String]>([])
            let report = try await bench.verify { event in
                if case .notice(let text) = event { notices.update { $0.append(text.description) } }
            }
            #expect(report.verifiedBefore == 3 && report.checked == 3)
            #expect(report.outline == ["1 bit_rot"])
            #expect(report.continuesRoundOf != nil)
            #expect(notices.value.count == 1 && notices.value[0].contains("3 of 6 files were found right already"))
            let next = try await bench.verify()
            #expect(next.verifiedBefore == 0 && next.outline == ["1 bit_rot", "3 bit_rot"])
        }
    }

    @Test func `a verification that is cancelled tells what it came to, and notes it`() async throws {
        try await withRunBench(.episodes(40, bytes: 2000)) { bench in
            try await bench.run()
            let first = Task { try await bench.verify() }
            first.cancel()
            let report = try await first.value
            #expect(report.checked + report.left == 40)
            #expect(report.isComplete == (report.left == 0))
            let second = try await bench.verify()
            #expect(second.verifiedBefore == (report.isComplete ? 0 : report.intact))
            #expect(second.checked == 40 - second.verifiedBefore && second.isComplete)
        }
    }

    @Test func `only what is named is verified, in rounds of its own`() async throws {
        try await withRunBench(.episodes(4)) { bench in
            try await bench.run()
            try flipBit(of: try await bench.path(3), at: 9)
            #expect(try await bench.verify(bench.sections(1...2)).checked == 2)
            #expect(try await bench.verify(bench.sections(3...3)).outline == ["3 bit_rot"])
            try await bench.withStore { _ = try await $0.beginVerification(of: "", anew: false, at: Date()) }
            #expect(try await bench.verify(bench.sections(1...4)).verifiedBefore == 0)
            // What the narrower one read since counts for the wider one, which was begun before.
            #expect(try await bench.verify().verifiedBefore == 3)
            #expect(try await bench.verify(anew: true).verifiedBefore == 0)
        }
    }

    @Test func `what a run that was cut off had renamed or replaced already is not bad`() async throws {
        try await withRunBench(.episodes(3)) { bench in
            try await bench.run()
            let renamed = try #require(try await bench.shelved(1)?.file)
            let replaced = try #require(try await bench.shelved(2))
            let new = sampleMP3(bytes: 50_000, seed: 77)
            try await bench.withStore { store in
                _ = try await store.begin(.rename, [(renamed.episode, to: "Book/new.mp3")], batch: Date())
                var file = try #require(replaced.file)
                (file.size, file.sha256, file.fetchedAt) = (50_000, sha256(new), Date())
                _ = try await store.begin(publishing: file)
            }
            try files.moveItem(atPath: bench.library + "/" + renamed.path, toPath: bench.library + "/Book/new.mp3")
            #expect(try await bench.verify().outline == [])
            try Data(new).write(to: URL(filePath: bench.library + "/" + (replaced.file?.path ?? "")))
            #expect(try await bench.verify().outline == [])
            #expect(try await bench.verify(quick: true).outline == [])
            try flipBit(of: try await bench.path(2), at: 9)
            #expect(try await bench.verify().outline == ["2 longer"])
        }
    }

    @Test func `there is nothing to verify where there is no library, no book, no section`() async throws {
        try await withRunBench(.episodes(1)) { bench in
            func kind(_ scope: TransferControl.Scope) async throws -> Failure.Kind? {
                do {
                    _ = try await bench.verify(scope)
                    return nil
                } catch let failure as Failure {
                    return failure.kind
                }
            }
            #expect(try await kind(.everything) == .unknownBook)
            #expect(!files.fileExists(atPath: bench.library))
            try await bench.run()
            #expect(try await kind(.everything) == nil)
            #expect(try await kind(bench.sections(9...9)) == .unknownBook)
            let other = BookIdentity(source: "kting", id: "9")
            #expect(try await kind(.books([(book: other, filter: EpisodeFilter())])) == .unknownBook)
        }
    }
}
