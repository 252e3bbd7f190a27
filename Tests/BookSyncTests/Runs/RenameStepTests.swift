import BookModel
import CatalogStore
import DownloadEngine
import Foundation
import Support
import Testing

@testable import BookSync

@Suite(.full, .limitedConcurrency) struct RenameStepTests {
    private func episode(_ key: String) -> EpisodeIdentity { EpisodeIdentity(book: RunBench.book, key: key) }

    private func steps(_ renames: [(String, String, String)]) -> [RenameStep] {
        RenameSteps.steps(for: renames.map { .init(episode: episode($0), from: $1, to: $2) })
    }

    private func outline(_ renames: [(String, String, String)]) -> [String] {
        steps(renames).map { step in
            [step.from, step.to].map { $0.contains(".booksync-") ? "aside \(step.episode.key)" : $0 }
                .joined(separator: " → ")
        }
    }

    @Test func `a chain needs no step more than it has files`() {
        #expect(outline([("2", "b", "c"), ("1", "a", "b")]) == ["b → c", "a → b"])
    }

    @Test func `who swaps steps aside until the name is free`() {
        #expect(outline([("1", "a", "b"), ("2", "b", "a")]) == ["a → aside 1", "b → a", "aside 1 → b"])
        #expect(
            outline([("1", "a", "b"), ("3", "c", "a"), ("2", "b", "c")])
                == ["a → aside 1", "c → a", "b → c", "aside 1 → b"])
    }

    @Test func `a name that differs only in case is reached by way of another`() {
        #expect(outline([("1", "F/ab.mp3", "F/AB.mp3")]) == ["F/ab.mp3 → aside 1", "aside 1 → F/AB.mp3"])
    }

    @Test func `no step meets a file, however names differ`() {
        for seed in 0..<300 {
            var chance = SeededGenerator(seed: UInt64(seed))
            let count = Int.random(in: 1...9, using: &chance)
            let names = (1...count).map { "F/\($0)" }
            // A plan's order: what is free first. Rotations have none, so any order must do for the rest.
            let targets = names.shuffled(using: &chance)
            let renames = (0..<count).map { ("\($0)", names[$0], targets[$0]) }.filter { $0.1 != $0.2 }
            var standing = Dictionary(names.enumerated().map { ($1, "\($0)") }) { first, _ in first }
            for step in steps(renames) {
                #expect(standing[step.to] == nil, "seed \(seed): \(step)")
                standing[step.to] = standing.removeValue(forKey: step.from)
            }
            #expect(standing.count == count)
            for (key, _, target) in renames { #expect(standing[target] == key) }
        }
    }

    /// Shuffles the numbers of four episodes: a swap and a circle of three need one step more for each circle.
    private static let shuffles = [[2, 1, 3, 4], [2, 3, 1, 4], [2, 3, 4, 1], [2, 1, 4, 3]]

    @Test(arguments: shuffles, 0...6)
    func `renames that were stopped after any step are finished by the next run`(
        sections: [Int], stoppedAfter: Int
    ) async throws {
        try await withRunBench(.episodes(4)) { bench in
            try await bench.run()
            bench.catalog.update { catalog in
                for index in catalog.elements.indices {
                    catalog.elements[index].section = sections[index]
                    catalog.elements[index].name = "第\(sections[index])集"
                }
            }
            let plan = try #require(try await bench.plan())
            let renames = plan.actions.filter { $0.kind == .rename }
            #expect(renames.count == sections.enumerated().count { $0 + 1 != $1 })
            let steps = RenameSteps.steps(
                for: renames.map {
                    .init(episode: $0.episode.identity, from: $0.fromPath ?? "", to: $0.path)
                })
            try await bench.withStore { store in
                _ = try await store.begin(.rename, renames.map { ($0.episode.identity, $0.path) }, batch: Date())
                for step in steps.prefix(stoppedAfter) {
                    try OperationExecution.move(step.from, to: step.to, in: bench.library)
                }
            }
            let report = try await bench.run()
            #expect(report.failures.isEmpty, "\(report.failures)")
            #expect(report.summary.fetched + report.summary.adopted == 0)
            #expect(bench.audioRequests.count == 4)
            for (index, section) in sections.enumerated() {
                let path = "Book/00\(section) 第\(section)集.mp3"
                #expect(try bench.read(bench.library + "/" + path) == ScriptedCatalog.bytes(index + 1))
                #expect(try await bench.recordedPath(section) == bench.library + "/" + path)
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: bench.library + "/Book")
            #expect(names.count == 4, "\(names)")
            #expect(try await bench.run().summary.kept == 4)
        }
    }

    @Test func `a rename that was stopped is found on a shelf that was copied to another disk since`() async throws {
        try await withRunBench(.episodes(2)) { bench in
            try await bench.run()
            let file = try #require(try await bench.shelved(1)?.file)
            let (old, new) = (bench.library + "/" + file.path, bench.library + "/Book/new.mp3")
            // The same bytes and the same time under another inode.
            try await bench.withStore { store in
                var other = file
                other.inode += 1_000_000
                try await store.updateFiles([other])
                _ = try await store.begin(.rename, [(file.episode, to: "Book/new.mp3")], batch: Date())
            }
            try FileManager.default.moveItem(atPath: old, toPath: new)
            let report = try await bench.run()
            #expect(report.failures.isEmpty && report.summary.fetched + report.summary.adopted == 0)
            #expect(report.summary.renamed == 1)
            #expect(try await bench.bytes(1) == ScriptedCatalog.bytes(1))
        }
    }

    @Test func `a file that waits aside while a stranger takes both its names is recorded where it is`() async throws {
        try await withRunBench(.episodes(2)) { bench in
            try await bench.run()
            let file = try #require(try await bench.shelved(1)?.file)
            let aside = RenameSteps.aside(file.episode, from: file.path)
            try await bench.withStore { store in
                _ = try await store.begin(.rename, [(file.episode, to: "Book/new.mp3")], batch: Date())
                try OperationExecution.move(file.path, to: aside, in: bench.library)
            }
            for path in [file.path, "Book/new.mp3"] {
                try Data("mine".utf8).write(to: URL(filePath: bench.library + "/" + path))
            }
            let report = try await bench.run()
            #expect(report.failures.isEmpty && report.summary.fetched == 0)
            #expect(try await bench.recordedPath(1) == bench.library + "/" + aside)
            #expect(try await bench.bytes(1) == ScriptedCatalog.bytes(1))
            // When the stranger is gone, it comes to its name.
            try FileManager.default.removeItem(atPath: bench.library + "/" + file.path)
            #expect(try await bench.run().summary.renamed == 1)
            #expect(try await bench.recordedPath(1) == bench.library + "/" + file.path)
        }
    }

    @Test func `two files that are one by a hard link and were to swap names keep both`() async throws {
        try await withRunBench(.episodes(2)) { bench in
            try await bench.run()
            var files: [LocalFile] = []
            for section in 1...2 { files.append(try #require(try await bench.shelved(section)?.file)) }
            let paths = files.map { bench.library + "/" + $0.path }
            try FileManager.default.removeItem(atPath: paths[1])
            try FileManager.default.linkItem(atPath: paths[0], toPath: paths[1])
            files[1].size = files[0].size
            files[1].inode = files[0].inode
            let linked = files
            try await bench.withStore { store in
                try await store.updateFiles(linked)
                let swap = [(linked[0].episode, to: linked[1].path), (linked[1].episode, to: linked[0].path)]
                _ = try await store.begin(.rename, swap, batch: Date())
                try await OperationExecution(library: bench.library, store: store).recover()
                #expect(try await store.operationsUnderWay().isEmpty)
            }
            for path in paths { #expect(FileManager.default.fileExists(atPath: path)) }
        }
    }

    @Test func `an operation whose path is another's by now is taken back, and keeps nobody out of the library`()
        async throws
    {
        try await withRunBench(.episodes(2)) { bench in
            try await bench.run()
            var files: [LocalFile] = []
            for section in 1...2 { files.append(try #require(try await bench.shelved(section)?.file)) }
            let (first, second) = (files[0], files[1])
            try await bench.withStore { store in
                _ = try await store.begin(.rename, [(first.episode, to: "Book/new.mp3")], batch: Date())
                try OperationExecution.move(first.path, to: "Book/new.mp3", in: bench.library)
                // The record of another episode has the path meanwhile.
                var moved = second
                moved.path = "Book/new.mp3"
                try await store.updateFiles([moved])
                try await OperationExecution(library: bench.library, store: store).recover()
                #expect(try await store.operationsUnderWay().isEmpty)
                #expect(try await store.episode(first.episode)?.file?.path == first.path)
            }
            #expect(try bench.read(bench.library + "/" + first.path) == ScriptedCatalog.bytes(1))
            let report = try await bench.run()
            #expect(report.failures.isEmpty && report.summary.fetched == 0)
        }
    }
}
