import BookModel
import CatalogStore
import Foundation
import LibraryFiles
import Support
import Testing

@testable import BookSync
@testable import Settings

/// What `downloads.export` has a run write.
@Suite(.full, .limitedConcurrency) struct RunExportTests {
    private static let picture: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3]

    /// A run bench whose catalog describes the book, cover included, and whose runs export.
    private func withExports(
        _ kinds: [ExportKind], cover: String = "/cover", picture: [UInt8] = picture,
        _ body: (RunBench) async throws -> Void
    ) async throws {
        var catalog = ScriptedCatalog.episodes(2)
        let detail = "{\"status\":0,\"data\":{\"id\":30776,\"name\":\"兽医\",\"author\":\"甲\",\"cover\":\"\(cover)\"}}"
        catalog.audio["/detail"] = .always(.text(detail))
        catalog.audio["/cover"] = .always(.reply(headers: ["Content-Type": "image/jpeg"], body: picture))
        try await withRunBench(catalog) { bench async throws in
            var bench = bench
            bench.configuration.sources["kting"]?.detailURL = bench.server.address("/detail")
            bench.configuration.downloads.export = kinds
            try await body(bench)
        }
    }

    private func folder(_ bench: RunBench) async throws -> String {
        let path = try #require(try await bench.recordedPath(1))
        return URL(filePath: path).deletingLastPathComponent().path
    }

    @Test func `a run leaves what its settings list, and nothing else`() async throws {
        try await withExports([.m3u8, .opf]) { bench async throws in
            let report = try await bench.run()
            #expect(report.failures.isEmpty, "\(report.failures)")
            let folder = try await folder(bench)
            let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
            #expect(names == ["001 第1集.mp3", "002 第2集.mp3", "Book.m3u8", "metadata.opf"])
            let playlist = String(decoding: try bench.read(folder + "/Book.m3u8"), as: UTF8.self)
            #expect(playlist == "#EXTM3U\n#EXTINF:-1,第1集\n001 第1集.mp3\n#EXTINF:-1,第2集\n002 第2集.mp3\n")
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: bench.library + "/.booksync").sorted().filter {
                    $0.contains("export")
                } == [])
        }
    }

    @Test func `what is the same is not written again`() async throws {
        try await withExports([.m3u8, .opf]) { bench async throws in
            try await bench.run()
            let path = try await folder(bench) + "/metadata.opf"
            let inode = try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int
            try await bench.run()
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int == inode)
            bench.catalog.update { $0.elements[1].name = "新名" }
            try await bench.run()
            let playlist = try await folder(bench) + "/Book.m3u8"
            #expect(String(decoding: try bench.read(playlist), as: UTF8.self).contains("002 新名.mp3"))
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int == inode)
        }
    }

    @Test(arguments: [true, false])
    func `a file that the user made or changed is left, and said so`(isTheirs: Bool) async throws {
        try await withExports(isTheirs ? [] : [.opf]) { bench async throws in
            try await bench.run()
            let path = try await folder(bench) + "/metadata.opf"
            try write("mine", to: path)
            var bench = bench
            bench.configuration.downloads.export = [.opf]
            let report = try await bench.run()
            #expect(report.failures.isEmpty)
            #expect(String(decoding: try bench.read(path), as: UTF8.self) == "mine")
            let why = isTheirs ? "booksync did not write it" : "it was changed since booksync wrote it"
            #expect(bench.notices.contains { $0.contains("metadata.opf is left as it is: \(why)") })
        }
    }

    @Test func `a run that was killed between recording and writing goes on where it was`() async throws {
        try await withExports([.opf]) { bench async throws in
            try await bench.run()
            let path = try await folder(bench) + "/metadata.opf"
            let relative = String(path.dropFirst(bench.library.count + 1))
            try await bench.withStore { store in
                var record = try #require(try await store.exportedFile(at: relative))
                record.previous = record.sha256
                record.sha256 = String(repeating: "0", count: 64)
                try await store.recordExport(record)
            }
            // Another content now than the one on disk, which is the one before.
            try await bench.run(title: "Book")
            #expect(!bench.notices.contains { $0.contains("left") })
            #expect(
                try await bench.withStore { try await $0.exportedFile(at: relative) }?.sha256
                    == sha256(try bench.read(path)))
        }
    }

    @Test func `what was exported goes along when the book gets another folder`() async throws {
        try await withExports([.m3u8, .opf]) { bench async throws in
            try await bench.run(title: "Old")
            let old = try await folder(bench)
            try await bench.run(title: "New")
            let new = try await folder(bench)
            #expect(old != new)
            #expect(!FileManager.default.fileExists(atPath: old))
            #expect(FileManager.default.fileExists(atPath: new + "/New.m3u8"))
            #expect(String(decoding: try bench.read(new + "/metadata.opf"), as: UTF8.self).contains("<dc:title>New<"))
        }
    }

    @Test func `what was exported goes when nothing of the book is left, and the user's stays`() async throws {
        try await withExports([.m3u8, .opf]) { bench async throws in
            try await bench.run()
            let folder = try await folder(bench)
            try write("mine", to: folder + "/metadata.opf")
            _ = try await bench.control { try await $0.remove(.everything) }
            try await bench.run()
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["metadata.opf"])
        }
    }

    @Test func `a cover is fetched once, and called by what it is`() async throws {
        try await withExports([.cover, .rss]) { bench async throws in
            for _ in 1...2 { #expect(try await bench.run().failures.isEmpty) }
            let folder = try await folder(bench)
            #expect(try bench.read(folder + "/cover.png") == Self.picture)
            #expect(bench.server.requests(path: "/cover").count == 1)
            #expect(String(decoding: try bench.read(folder + "/feed.xml"), as: UTF8.self).contains("/cover.png\"/>"))
        }
    }

    @Test func `a cover is served while it is a file of the library, and feeds name it`() async throws {
        try await withExports([.cover]) { bench async throws in
            try await bench.run()
            let shelf = ServedShelf(bench.configuration)
            func served() async throws -> (picture: [UInt8]?, feed: String) {
                let addresses = ShelfAddresses(root: "http://h.example", apps: "KEY")
                let feed = try #require(try await shelf.feed(of: "30776", of: "kting", at: addresses))
                let text = String(decoding: feed, as: UTF8.self)
                guard case .picture(let bytes, "image/png") = try await shelf.cover(of: "30776", of: "kting") else {
                    return (nil, text)
                }
                return (bytes, text)
            }
            let image = "<itunes:image href=\"http://h.example/apps/KEY/covers/kting/30776\"/>"
            let before = try await served()
            #expect(before.picture == Self.picture && before.feed.contains(image))
            let path = try await folder(bench) + "/cover.png"
            let files = FileManager.default
            try files.moveItem(atPath: path, toPath: path + ".elsewhere")
            try files.createSymbolicLink(atPath: path, withDestinationPath: path + ".elsewhere")
            let after = try await served()
            #expect(after.picture == nil && !after.feed.contains("/covers/"))
        }
    }

    @Test func `a cover of the user's is left and served, and no other is asked for`() async throws {
        try await withExports([]) { bench async throws in
            try await bench.run()
            let own: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 7]
            try Data(own).write(to: URL(filePath: try await folder(bench) + "/cover.jpeg"))
            var bench = bench
            bench.configuration.downloads.export = [.cover]
            for _ in 1...2 { #expect(try await bench.run().failures.isEmpty) }
            #expect(bench.server.requests(path: "/cover").isEmpty && bench.notices == [])
            guard
                case .picture(own, "image/jpeg") = try await ServedShelf(bench.configuration).cover(
                    of: "30776", of: "kting")
            else {
                Issue.record("it is not served")
                return
            }
        }
    }

    private static let ffmpeg = "/usr/bin/ffmpeg"

    /// A picture that is not easily made smaller.
    private static func largePicture() async throws -> [UInt8] {
        try await onThread {
            let path = FileManager.default.temporaryDirectory.appending(path: "picture-\(UUID()).png").path
            let maker = try Process.run(
                URL(filePath: ffmpeg),
                arguments: [
                    "-v", "error", "-f", "lavfi", "-i", "color=gray:s=900x1200,noise=alls=100", "-frames:v", "1", path,
                ])
            maker.waitUntilExit()
            defer { unlink(path) }
            return Array(try Data(contentsOf: URL(filePath: path)))
        }
    }

    private func small(_ bench: RunBench) async throws -> [UInt8]? {
        let shelf = ServedShelf(bench.configuration)
        guard case .picture(let bytes, let type)? = try await shelf.cover(of: "30776", of: "kting", isSmall: true)
        else { return nil }
        return type == "image/jpeg" ? bytes : nil
    }

    @Test(.needs("ffmpeg"))
    func `of a large cover a smaller copy is made once, for lists`() async throws {
        let picture = try await Self.largePicture()
        try await withExports([.cover], picture: picture) { bench async throws in
            #expect(try await bench.run().failures.isEmpty)
            #expect(try bench.read(try await folder(bench) + "/cover.png") == picture)
            let small = try #require(try await small(bench))
            #expect(small.count < picture.count / 4)
            let folder = bench.library + "/.booksync/covers"
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(names.count == 1)
            let copy = folder + "/" + names[0]
            let inode = try FileManager.default.attributesOfItem(atPath: copy)[.systemFileNumber] as? Int
            try await bench.run()
            #expect(try FileManager.default.attributesOfItem(atPath: copy)[.systemFileNumber] as? Int == inode)
            // Lost, it is made again of what is there.
            try FileManager.default.removeItem(atPath: copy)
            try await bench.run()
            #expect(try await self.small(bench) == small)
            #expect(bench.server.requests(path: "/cover").count == 1)
            // The user's own over it has another copy, and never the old one.
            let other = try await Self.largePicture()
            let cover = try await self.folder(bench) + "/cover.png"
            try Data(other + [0]).write(to: URL(filePath: cover))
            #expect(try await self.small(bench) != nil)
            #expect(!FileManager.default.fileExists(atPath: copy))
            try await bench.run()
            #expect(try bench.read(cover) == other + [0])
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 1)
            // One of another kind beside it comes first, and is in no list where it cannot be made smaller.
            let own: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 7]
            try Data(own).write(to: URL(filePath: try await self.folder(bench) + "/cover.jpg"))
            #expect(try await self.small(bench) == nil)
        }
    }

    @Test(.needs("ffmpeg"))
    func `what only looks like a picture has no smaller copy, and is tried once`() async throws {
        let picture = Self.picture + [UInt8](repeating: 7, count: 200_000)
        try await withExports([.cover], picture: picture) { bench async throws in
            #expect(try await bench.run().failures.isEmpty)
            #expect(try await small(bench) == nil)
            let folder = bench.library + "/.booksync/covers"
            func tried() throws -> [FileAttributes?] {
                try FileManager.default.subpathsOfDirectory(atPath: folder).map { fileAttributes("\(folder)/\($0)") }
            }
            let first = try tried()
            #expect(first.map { $0?.size } == [0])
            try await bench.run()
            #expect(try tried() == first)
        }
    }

    @Test(arguments: ["/catalog", "/nowhere"])
    func `a cover that is none fails no run`(cover: String) async throws {
        try await withExports([.cover], cover: cover) { bench async throws in
            let report = try await bench.run()
            #expect(report.failures.isEmpty)
            // It would be the same every night.
            #expect(bench.notices == [])
            let names = try FileManager.default.contentsOfDirectory(atPath: try await folder(bench))
            #expect(!names.contains { $0.hasPrefix("cover") })
        }
    }

    @Test func `a cover whose address has secrets is fetched by a run, and none of them is kept`() async throws {
        try await withExports([.cover], cover: "/cover?token=SECRET") { bench async throws in
            for _ in 1...2 { try await bench.run() }
            #expect(bench.server.requests(path: "/cover").map(\.query) == [["token": "SECRET"]])
            let exported = try await bench.withStore { try await $0.exportedFiles(of: RunBench.book, kind: "cover") }
            #expect(exported.compactMap(\.origin).allSatisfy { !$0.contains("SECRET") } && exported.count == 1)
        }
    }

    @Test func `where a folder stands in the place nothing is written`() async throws {
        try await withExports([]) { bench async throws in
            try await bench.run()
            let path = try await folder(bench) + "/metadata.opf"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            var bench = bench
            bench.configuration.downloads.export = [.opf]
            #expect(try await bench.run().failures.isEmpty)
            #expect(bench.notices.contains { $0.contains("a folder or a link stands there") })
        }
    }

    @Test func `a link in the place is not followed`() async throws {
        try await withExports([]) { bench async throws in
            try await bench.run()
            let target = URL(filePath: bench.library).deletingLastPathComponent().path + "/target"
            try write("precious", to: target)
            let path = try await folder(bench) + "/metadata.opf"
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
            var bench = bench
            bench.configuration.downloads.export = [.opf]
            try await bench.run()
            #expect(String(decoding: try bench.read(target), as: UTF8.self) == "precious")
        }
    }
}
