import BookModel
import CatalogStore
import Foundation
import Settings
import Support
import Testing

@testable import BookSync
@testable import LibraryFiles

@Suite(.full, .limitedConcurrency) struct UndoTests {
    private let files = FileManager.default
    private static let mistaken = "{title}/{name} ({section}).{ext}"

    private func undo(_ bench: RunBench) async throws -> UndoReport {
        try await LibrarySession.withLibrary(at: bench.library, command: "test") {
            try await Undo().execute(in: $0)
        }
    }

    private func names(_ bench: RunBench) throws -> [String] {
        try files.contentsOfDirectory(atPath: bench.library + "/Book").sorted()
    }

    private static let right = ["001 第1集.mp3", "002 第2集.mp3", "003 第3集.mp3"]
    private static let wrong = ["第1集 (001).mp3", "第2集 (002).mp3", "第3集 (003).mp3"]

    @Test func `a naming that was changed by mistake is undone, and not done again at once`() async throws {
        try await withRunBench(.episodes(3)) { bench in
            var bench = bench
            try await bench.run()
            #expect(try await undo(bench).batch == nil)
            let naming = bench.configuration.naming
            bench.configuration.naming = try NamingTemplate(parsing: Self.mistaken)
            #expect(try await bench.run().summary.renamed == 3)
            #expect(try names(bench) == Self.wrong)
            let plan = try await Undo().plan(in: bench.library)
            #expect(plan.renames.count == 3 && plan.isDryRun)
            #expect(try names(bench) == Self.wrong)

            let report = try await undo(bench)
            #expect(report.renames.count == 3 && report.left.isEmpty && report.failures.isEmpty)
            #expect(try names(bench) == Self.right)
            // The naming is still the mistaken one.
            #expect(try await bench.run().summary.renamed == 0)
            #expect(try names(bench) == Self.right)
            // It is set back, and followed again when it changes on purpose.
            bench.configuration.naming = naming
            #expect(try await bench.run().summary.kept == 3)
            bench.configuration.naming = try NamingTemplate(parsing: "{title}/{section}.{ext}")
            #expect(try await bench.run().summary.renamed == 3)
            #expect(bench.audioRequests.count == 3)
            for section in 1...3 { #expect(try await bench.bytes(section) == ScriptedCatalog.bytes(section)) }
        }
    }

    @Test func `numbers that went round in a circle go round the other way`() async throws {
        try await withRunBench(.episodes(3)) { bench in
            try await bench.run()
            bench.catalog.update { catalog in
                for (index, section) in [2, 3, 1].enumerated() {
                    catalog.elements[index].section = section
                    catalog.elements[index].name = "第\(section)集"
                }
            }
            #expect(try await bench.run().summary.renamed == 3)
            #expect(try await undo(bench).renames.count == 3)
            for number in 1...3 {
                let bytes = try bench.read(bench.library + "/Book/" + Self.right[number - 1])
                #expect(bytes == ScriptedCatalog.bytes(number))
            }
            #expect(try names(bench) == Self.right)
        }
    }

    @Test func `what is in the way or was changed is left, and undone when the way is free`() async throws {
        try await withRunBench(.episodes(3)) { bench in
            var bench = bench
            try await bench.run()
            bench.configuration.naming = try NamingTemplate(parsing: Self.mistaken)
            try await bench.run()
            let stranger = bench.library + "/Book/" + Self.right[0]
            try Data("mine".utf8).write(to: URL(filePath: stranger))
            try Data("edited".utf8).write(to: URL(filePath: bench.library + "/Book/" + Self.wrong[1]))
            let report = try await undo(bench)
            #expect(report.renames.map(\.section) == [3])
            #expect(report.left.map(\.operation.section).sorted() == [1, 2])
            #expect(report.failures.map(\.kind) == [.temporary])
            #expect(try bench.read(stranger) == Array("mine".utf8))
            try files.removeItem(atPath: stranger)
            let again = try await undo(bench)
            #expect(again.renames.map(\.section) == [1] && again.left.isEmpty)
            #expect(try await undo(bench).batch == nil)
        }
    }

    @Test func `each undo goes one run further back`() async throws {
        try await withRunBench(.episodes(3)) { bench in
            var bench = bench
            try await bench.run()
            bench.configuration.naming = try NamingTemplate(parsing: Self.mistaken)
            try await bench.run()
            bench.configuration.naming = try NamingTemplate(parsing: "{title}/{name}.{ext}")
            try await bench.run()
            #expect(try await undo(bench).renames.count == 3)
            #expect(try names(bench) == Self.wrong)
            #expect(try await undo(bench).renames.count == 3)
            #expect(try names(bench) == Self.right)
        }
    }

    @Test(arguments: 0...4)
    func `an undo that was stopped after any step is settled by the next run`(stoppedAfter: Int) async throws {
        try await withRunBench(.episodes(2)) { bench in
            try await bench.run()
            bench.catalog.update { catalog in
                for (index, section) in [2, 1].enumerated() {
                    catalog.elements[index].section = section
                    catalog.elements[index].name = "第\(section)集"
                }
            }
            #expect(try await bench.run().summary.renamed == 2)
            try await bench.withStore { store in
                let renames = try await store.beginReversing(try await store.doneOperations())
                let steps = RenameSteps.steps(
                    for: renames.map { .init(episode: $0.episode, from: $0.source, to: $0.target) })
                for step in steps.prefix(stoppedAfter) {
                    try OperationExecution.move(step.from, to: step.to, in: bench.library)
                }
            }
            let report = try await bench.run()
            #expect(report.failures.isEmpty && report.summary.fetched == 0)
            // Without a step made, the next run is as free to forget the intention as any.
            let isUndone = stoppedAfter > 0
            let first = try bench.read(bench.library + "/Book/001 第1集.mp3")
            #expect(first == ScriptedCatalog.bytes(isUndone ? 1 : 2))
            #expect(try names(bench) == Array(Self.right.prefix(2)))
            let left = try await bench.withStore { try await $0.doneOperations().count }
            #expect(left == (isUndone ? 0 : 2))
            #expect(try await bench.run().summary.kept == 2)
        }
    }

    @Test func `one undo takes back all that a run did: what it renamed, and what it replaced`() async throws {
        try await withRunBench(.episodes(2)) { bench in
            try await bench.run()
            let newer = sampleMP3(bytes: 45_000, seed: 7)
            bench.catalog.update {
                $0.elements[0].size = newer.count
                $0.audio["/audio/1.mp3"] = .file(newer, etag: "\"v2\"")
                $0.elements[1].name = "第2集 (corrected)"
            }
            let run = try await bench.run().summary
            #expect(run.replaced == 1 && run.renamed == 1)
            let plan = try await Undo().plan(in: bench.library)
            #expect(plan.restored.map(\.section) == [1] && plan.renames.map(\.section) == [2])
            let report = try await undo(bench)
            #expect(report.restored.map(\.section) == [1] && report.renames.map(\.section) == [2])
            #expect(report.failures.isEmpty && report.left.isEmpty)
            #expect(try names(bench) == Array(Self.right.prefix(2)))
            #expect(try await bench.bytes(1) == ScriptedCatalog.bytes(1))
            #expect(try await bench.bytes(2) == ScriptedCatalog.bytes(2))
        }
    }
}
