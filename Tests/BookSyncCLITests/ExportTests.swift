import BookSyncWeb
import Foundation
import Support
import Testing

extension ProductTests {
    @Suite struct Exporting {
        private let folder = "演示作者二/夜航船"

        private func withShelf(_ body: (Workbench) async throws -> Void) async throws {
            try await withWorkbench { bench async throws in
                _ = try await bench.run("fetch", "40111", "--only", "1-4", "-q")
                try await body(bench)
            }
        }

        private func text(_ bench: Workbench, _ path: String) throws -> String {
            try String(contentsOf: bench.folder.appending(path: path), encoding: .utf8)
        }

        @Test(arguments: [
            ("m3u8", "夜航船.m3u8"), ("opf", "metadata.opf"), ("metadata", "metadata.json"), ("rss", "feed.xml"),
            ("csv", "episodes.csv"),
        ])
        func `each kind goes into the book's folder, once`(kind: String, name: String) async throws {
            try await withShelf { bench async throws in
                let first = try await bench.run("export", kind, "40111")
                #expect(first.exitCode == 0)
                #expect(first.output == "wrote \(folder)/\(name)\n")
                let written = try text(bench, "L/\(folder)/\(name)")
                #expect(written.contains("夜航船"))
                let second = try await bench.run("export", kind, "--json")
                #expect(second.exitCode == 0)
                let outcome = try #require(try JSONObject.list(second.output).first)
                #expect(outcome["outcome"] == "unchanged" && outcome["path"] == "\(folder)/\(name)")
                // The same as on standard output.
                #expect(try await bench.run("export", kind, "40111", "--output", "-").output == written)
                // And no run takes it for audio, or stumbles over it.
                #expect(
                    try await bench.run("fetch", "40111", "--only", "1-4", "-q", "--json").summary().number("kept") == 4
                )
            }
        }

        @Test func `a playlist lists what is on disk, and is right wherever it lies`() async throws {
            try await withShelf { bench async throws in
                _ = try await bench.run("export", "m3u8", "40111/2-3", "--output", "list.m3u8")
                let lines = try text(bench, "list.m3u8").split(separator: "\n").map(String.init)
                #expect(lines.count == 5)
                for path in [lines[2], lines[4]] {
                    #expect(path.hasPrefix("L/\(folder)/00"))
                    #expect(FileManager.default.fileExists(atPath: bench.folder.appending(path: path).path))
                }
            }
        }

        @Test func `the user's own file is left, and overwritten by force`() async throws {
            try await withShelf { bench async throws in
                let place = bench.library.appending(path: "\(folder)/metadata.opf")
                try Data("mine".utf8).write(to: place)
                let refused = try await bench.run("export", "opf", "40111")
                #expect(refused.exitCode == 75)
                #expect(refused.errors.contains("booksync did not write it"))
                #expect(refused.errorLines.count == 1)
                #expect(try text(bench, "L/\(folder)/metadata.opf") == "mine")
                #expect(try await bench.run("export", "opf", "40111", "--force").exitCode == 0)
                #expect(try text(bench, "L/\(folder)/metadata.opf").contains("<dc:title>夜航船</dc:title>"))
            }
        }

        @Test func `a table of the whole library is one file`() async throws {
            try await withShelf { bench async throws in
                _ = try await bench.run("fetch", "30776", "--only", "1", "-q")
                let result = try await bench.run("export", "csv", "--output", "all.csv")
                #expect(result.output == "wrote \(bench.folder.resolvingSymlinksInPath().path)/all.csv\n")
                let rows = try text(bench, "all.csv").split(separator: "\r\n")
                #expect(rows.count == 1 + 6 + 112)
                #expect(try await bench.run("export", "csv", "--output", "all.csv").output == "")
            }
        }

        @Test func `several books go into a folder`() async throws {
            try await withShelf { bench async throws in
                _ = try await bench.run("fetch", "30776", "--only", "1", "-q")
                #expect(try await bench.run("export", "opf", "--output", "-").exitCode == 64)
                let result = try await bench.run("export", "opf", "--output", "opfs")
                #expect(result.exitCode == 0)
                #expect(
                    try bench.files(in: bench.folder.appending(path: "opfs")).keys.sorted()
                        == [
                            "演示作者/回到古代当兽医/metadata.opf", "\(folder)/metadata.opf",
                        ].sorted())
            }
        }

        @Test func `a device is written into and not replaced`() async throws {
            try await withShelf { bench async throws in
                let result = try await bench.shell(
                    "\"$BOOKSYNC\" export opf 40111 --library L --output /dev/stdout -q | head -c 5")
                #expect(result.output.hasPrefix("<?xml"))
                #expect(FileManager.default.fileExists(atPath: "/dev/stdout"))
            }
        }

        @Test func `what cannot be exported is said so`() async throws {
            try await withWorkbench { bench async throws in
                #expect(try await bench.run("export", "opf").exitCode == 66)
                #expect(try await bench.run("export", "opf", "--output", "x").exitCode == 66)
                #expect(try await bench.run("export", "tarot").exitCode == 64)
                #expect(try await bench.run("export", "cover", "--output", "x").exitCode == 64)
                #expect(!bench.exists)
                _ = try await bench.run("fetch", "40111", "--only", "1", "-q")
                #expect(try await bench.run("export", "opf", "30776").exitCode == 66)
                let none = try await bench.run("export", "m3u8", "40111/77")
                #expect(none.exitCode == 66 && none.errors.contains("it has no such section"), "\(none.errors)")
                #expect(try bench.files().count == 1)
                let cover = try await bench.run("export", "cover", "40111")
                #expect(cover.exitCode == 0)
                #expect(cover.errors.contains("the catalog names no cover"))
            }
        }

        @Test func `a run writes what the configuration lists`() async throws {
            try await withCatalog(
                ScriptedCatalog(episodes: 2).script, more: "downloads: { export: [m3u8, opf] }"
            ) { bench, _ in
                let result = try await bench.run("fetch", "7", environment: bench.configured)
                #expect(result.exitCode == 0)
                #expect(try bench.files().keys.count { $0.hasSuffix(".m3u8") || $0.hasSuffix("metadata.opf") } == 2)
            }
        }
    }
}
