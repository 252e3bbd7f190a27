import BookModel
import CatalogStore
import Foundation
import Settings
import Support
import Testing

@testable import BookSync
@testable import LibraryFiles

/// That a book in which nothing changed is not planned again, and one in which anything did is.
@Suite(.limitedConcurrency) struct SettledBookTests {
    private let files = FileManager.default

    /// A run as `mirror` makes it, which wants no list of what is kept.
    private func mirror(_ bench: RunBench, filter: EpisodeFilter = .init(), title: String? = "Book") async throws
        -> RunReport
    {
        let request = try RunRequest(
            items: [.init(book: RunBench.book, filter: filter, title: title)], detail: .changes)
        return try await LibrarySession.withLibrary(at: bench.library, command: "test") { session in
            try await bench.syncRun.execute(request, in: session)
        }
    }

    private func remembered(_ bench: RunBench) async throws -> CachedPlan? {
        try await bench.withStore { try await $0.cachedPlan(of: RunBench.book) }
    }

    /// Whether the last plan was made anew, and not only remembered.
    private func wasPlanned(_ bench: RunBench) -> Bool {
        for case .planned(let plan) in bench.events.value.reversed() { return plan.unlisted.keep == 0 }
        return false
    }

    @Test func `what was settled is remembered, and comes to the same`() async throws {
        var catalog = ScriptedCatalog.episodes(4)
        catalog.elements[3].path = nil
        try await withRunBench(catalog) { bench in
            #expect(try await mirror(bench).summary.fetched == 3)
            #expect(try await remembered(bench) == nil)
            let planned = try await mirror(bench).summary
            #expect(wasPlanned(bench))
            #expect(try await remembered(bench)?.folders == ["Book"])
            var again = try await mirror(bench).summary
            #expect(!wasPlanned(bench))
            again.seconds = planned.seconds
            #expect(again == planned && again.kept == 3 && again.locked == 1)
            // Who wants to see what is kept gets a plan that lists it.
            #expect(try await bench.run().summary.kept == 3)
            #expect(bench.lastPlan.count == 4)
        }
    }

    struct Touch: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let apply: @Sendable (RunBench) throws -> Void
    }

    static let touches = [
        Touch(testDescription: "a file that was deleted") { bench in
            try FileManager.default.removeItem(atPath: bench.library + "/Book/002 第2集.mp3")
        },
        Touch(testDescription: "a file that was renamed") { bench in
            try FileManager.default.moveItem(
                atPath: bench.library + "/Book/002 第2集.mp3", toPath: bench.library + "/Book/mine.mp3")
        },
        Touch(testDescription: "a file that was cut") { bench in
            try Data([1, 2, 3]).write(to: URL(filePath: bench.library + "/Book/002 第2集.mp3"))
        },
        Touch(testDescription: "a file that was touched") { bench in
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1_000_000)],
                ofItemAtPath: bench.library + "/Book/002 第2集.mp3")
        },
        Touch(testDescription: "a file that came") { bench in
            try Data([1]).write(to: URL(filePath: bench.library + "/Book/notes.txt"))
        },
        Touch(testDescription: "the folder's name") { bench in
            try FileManager.default.moveItem(atPath: bench.library + "/Book", toPath: bench.library + "/Other")
        },
        Touch(testDescription: "a link in the folder's place") { bench in
            try FileManager.default.moveItem(atPath: bench.library + "/Book", toPath: bench.library + "/Other")
            try FileManager.default.createSymbolicLink(
                atPath: bench.library + "/Book", withDestinationPath: bench.library + "/Other")
        },
        Touch(testDescription: "a new episode") { bench in
            bench.catalog.update { $0 = ScriptedCatalog.episodes(4) }
        },
        Touch(testDescription: "a corrected name") { bench in
            bench.catalog.update { $0.elements[1].name = "corrected" }
        },
    ]

    @Test(arguments: touches)
    func `whatever changes has the book planned anew`(_ touch: Touch) async throws {
        try await withRunBench(.episodes(3)) { bench in
            for _ in 1...3 { _ = try await mirror(bench) }
            #expect(!wasPlanned(bench))
            try touch.apply(bench)
            _ = try await mirror(bench)
            #expect(wasPlanned(bench))
        }
    }

    @Test func `a book in the library's own folder is remembered as well`() async throws {
        try await withRunBench(.episodes(3)) { bench in
            var bench = bench
            bench.configuration.naming = try NamingTemplate(parsing: "{section} {name}.{ext}")
            for _ in 1...3 { _ = try await mirror(bench) }
            #expect(try await remembered(bench)?.folders == [""])
            #expect(!wasPlanned(bench))
            try files.removeItem(atPath: bench.library + "/002 第2集.mp3")
            #expect(try await mirror(bench).summary.fetched == 1)
        }
    }

    @Test func `other rules have the book planned anew`() async throws {
        try await withRunBench(.episodes(3)) { bench in
            for _ in 1...3 { _ = try await mirror(bench) }
            #expect(!wasPlanned(bench))
            _ = try await mirror(bench, filter: EpisodeFilter(latest: 1))
            #expect(wasPlanned(bench))
            _ = try await mirror(bench, title: "Another")
            #expect(wasPlanned(bench))
            #expect(try await bench.recordedPath(2) == bench.library + "/Another/002 第2集.mp3")
            for _ in 1...2 { _ = try await mirror(bench, title: "Another") }
            #expect(!wasPlanned(bench))
            var other = bench
            other.configuration.naming = try NamingTemplate(parsing: "{title}/{name}.{ext}")
            #expect(try await mirror(other, title: "Another").summary.renamed == 3)
            #expect(bench.audioRequests.count == 3)
        }
    }

    /// Whatever happens between two runs, the run that remembers comes to what one comes to that does not.
    @Test(arguments: 1...Tier.choose(quick: 1, full: 8, long: 200))
    func `a remembered plan is the plan that would be made`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        try await withRunBench(.episodes(5)) { bench in
            for _ in 1...3 { _ = try await mirror(bench) }
            // Else every plan below might be made anew.
            #expect(!wasPlanned(bench))
            for _ in 1...6 {
                _ = try await mirror(bench)
                let section = Int.random(in: 1...5, using: &random)
                let path = try await bench.recordedPath(section) ?? ""
                let isThere = files.fileExists(atPath: path)
                switch Int.random(in: 0...6, using: &random) {
                case 0 where isThere: try files.removeItem(atPath: path)
                case 1 where isThere:
                    try files.moveItem(atPath: path, toPath: bench.library + "/Book/\(random.next()).mp3")
                case 2: bench.catalog.update { $0.elements[section - 1].name = "name \(random.next())" }
                case 3:
                    try await bench.withStore {
                        try await $0.remove(
                            [EpisodeIdentity(book: RunBench.book, key: String(301_500_957 + section))], at: Date())
                    }
                default: break
                }
                let made = try #require(try await bench.plan()?.totals)
                let changes = made.fetch + made.resume + made.replace + made.rename + made.adopt
                let report = try await mirror(bench).summary
                if !wasPlanned(bench) {
                    #expect(changes == 0)
                    #expect(report.kept == made.keep && report.locked == made.skip(.locked))
                }
            }
        }
    }
}
