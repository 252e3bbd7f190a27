import BookSyncWeb
import Foundation
import Support
import Testing

extension ProductTests {
    /// Files that are there before booksync is.
    @Suite struct Adopting {
        private let book = DemoCatalog.shortBook
        private let files = FileManager.default

        private func audio(_ section: Int) throws -> Data {
            Data(try #require(DemoCatalog.audio(book: DemoCatalog.shortBook, section: section)))
        }

        /// A folder outside the library: two by exact size and number, one by number and name, one that fits twice, one
        /// that fits nothing.
        private func makeFolder(_ bench: Workbench, _ name: String = "old") throws -> URL {
            let folder = bench.folder.appending(path: name)
            try files.createDirectory(at: folder.appending(path: "CD 1"), withIntermediateDirectories: true)
            try audio(1).write(to: folder.appending(path: "CD 1/01.mp3"))
            try audio(2).write(to: folder.appending(path: "CD 1/Track 2.mp3"))
            try (audio(3) + Data([0])).write(to: folder.appending(path: "03 夜航船.mp3"))
            for copy in ["4.mp3", "04.mp3"] { try audio(4).write(to: folder.appending(path: copy)) }
            try audio(5).write(to: folder.appending(path: "unnumbered.mp3"))
            try Data("a cover".utf8).write(to: folder.appending(path: "cover.jpg"))
            return folder
        }

        private func listing(_ folder: URL, _ bench: Workbench) throws -> [String: String] {
            try bench.files(in: folder).mapValues { sha256(try Data(contentsOf: $0)) }
        }

        @Test(arguments: ["--copy", "--link", "--move"])
        func `a folder elsewhere is adopted, and what was adopted is not fetched`(way: String) async throws {
            try await withWorkbench { bench in
                let folder = try makeFolder(bench)
                let before = try listing(folder, bench)
                let dry = try await bench.run("adopt", "old", "--book", "demo:\(book)", way, "--dry-run", "--json")
                #expect(dry.exitCode == 0)
                #expect(!bench.exists)
                let plan = try JSONObject(dry.output)
                #expect(plan.members["dry_run"] as? Bool == true)
                #expect(plan.objects("recognised").compactMap { $0["confidence"] } == ["size", "size", "name"])
                #expect(plan.objects("ambiguous").compactMap { $0["from"] } == ["04.mp3", "4.mp3"])
                #expect(plan.members["unmatched"] as? [String] == ["unnumbered.mp3"])
                #expect(try listing(folder, bench) == before)

                let result = try await bench.run("adopt", "old", "--book", "demo:\(book)", way)
                #expect(result.exitCode == 0)
                let sentence = "\(book) 夜航船: 3 adopted, 2 ambiguous and left alone, 1 not recognised and left alone"
                #expect(result.outputLines.last == sentence)
                #expect(result.errorLines.count { $0.hasPrefix("adopted ") } == 3)
                let left = try listing(folder, bench)
                let expected = before.filter { file in
                    way != "--move" || !["CD 1/01.mp3", "CD 1/Track 2.mp3", "03 夜航船.mp3"].contains(file.key)
                }
                #expect(left == expected)
                #expect(try bench.files().count == 3)

                let summary = try await bench.run("fetch", book, "--json").summary()
                #expect(summary.number("fetched") == 3)
                #expect(summary.number("kept") == 3)
                let received = try [4, 5, 6].reduce(0) { try $0 + audio($1).count }
                #expect(summary.number("bytes_received") == received)
                #expect(try listing(folder, bench) == expected)
                #expect(try bench.partialFiles.isEmpty)

                let again = try JSONObject(
                    try await bench.run("adopt", "old", "--book", "demo:\(book)", way, "--json").output)
                #expect(again.object("totals")?.number("adopted") == 0)
            }
        }

        @Test func `a folder of the library is adopted where it is, under its own names`() async throws {
            try await withWorkbench { bench in
                try files.createDirectory(at: bench.library, withIntermediateDirectories: true)
                _ = try makeFolder(bench, "L/old")
                let result = try await bench.run("adopt", "L/old", "--book", "demo:\(book)")
                #expect(result.exitCode == 0, "\(result.errors)")
                let before = try listing(bench.library, bench)
                let summary = try await bench.run("fetch", book, "--json").summary()
                #expect(summary.number("fetched") == 3 && summary.number("renamed") == 0)
                let after = try listing(bench.library, bench)
                #expect(before.allSatisfy { after[$0.key] == $0.value })
                let again = try JSONObject(
                    try await bench.run("adopt", "L/old", "--book", "demo:\(book)", "--json").output)
                #expect(again.object("totals")?.number("known") == 3)
                #expect(again.object("totals")?.number("adopted") == 0)
            }
        }

        #if os(Linux)
            @Test(
                .needsMounting, .needsCompiler)
            func `an original that is written to while it moves to another disk is not deleted`() async throws {
                try await withWorkbench { bench in
                    let place = bench.folder.appending(path: "old")
                    try files.createDirectory(at: place, withIntermediateDirectories: true)
                    let disk = try SmallDisk.mount(at: place.path, kilobytes: 8192)
                    defer { disk.unmount() }
                    let original = try makeFolder(bench).appending(path: "CD 1/01.mp3")
                    let preloaded = try await PreloadedLibrary.make("writer", in: bench.folder)
                    let result = try await bench.run(
                        "adopt", "old", "--book", "demo:\(book)", "--move",
                        environment: ["LD_PRELOAD": preloaded.path, "WRITTEN": original.path])
                    #expect(result.exitCode == 75)
                    #expect(result.errors.contains("is not deleted: it was written to after"), "\(result.errors)")
                    #expect(try Data(contentsOf: original) == Data("mine".utf8) + (try audio(1).dropFirst(4)))
                    #expect(try bench.files().values.map { try Data(contentsOf: $0) }.contains(try audio(1)))
                    #expect(!files.fileExists(atPath: place.appending(path: "CD 1/Track 2.mp3").path))
                }
            }
        #endif

        @Test func `what cannot be adopted so is said with its exit code`() async throws {
            try await withWorkbench { bench in
                _ = try makeFolder(bench)
                let outside = try await bench.run("adopt", "old", "--book", "demo:\(book)")
                #expect(outside.exitCode == 64)
                #expect(outside.errors.contains("say --link, --copy or --move"))
                #expect(try await bench.run("adopt", "nowhere", "--book", "demo:\(book)", "--copy").exitCode == 64)
                #expect(!bench.exists, "no library is begun for it")
                #expect(try await bench.run("adopt", "old", "--book", "demo:9", "--copy").exitCode == 66)
                #expect(
                    try await bench.run("adopt", "old", "--book", "demo:\(book)", "--copy", "--move").exitCode == 64)
                #expect(try bench.files().isEmpty)
            }
        }

        @Test func `a place that is taken fails its file alone`() async throws {
            try await withWorkbench { bench in
                let folder = try makeFolder(bench)
                let plan = try JSONObject(
                    try await bench.run("adopt", "old", "--book", "demo:\(book)", "--move", "--dry-run", "--json")
                        .output)
                let place = bench.library.appending(path: try #require(plan.objects("recognised").first?["path"]))
                try files.createDirectory(at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data("mine".utf8).write(to: place)
                let result = try await bench.run("adopt", "old", "--book", "demo:\(book)", "--move")
                #expect(result.exitCode == 75)
                #expect(try Data(contentsOf: place) == Data("mine".utf8))
                #expect(files.fileExists(atPath: folder.appending(path: "CD 1/01.mp3").path))
                #expect(result.outputLines.last?.contains("2 adopted, 1 failed") == true)
            }
        }
    }
}
